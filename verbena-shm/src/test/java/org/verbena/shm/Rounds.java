package org.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.verbena.verbs.spi.Engine;

/** Counts what an engine does. */
final class Rounds implements Engine.Waiting {
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(60);

    final AtomicInteger count = new AtomicInteger();
    volatile boolean over;

    /** Until the engine has handled all messages that are there now: it has ended a round, then begun and ended another. */
    static void await(ShmContext context) {
        Rounds rounds = new Rounds();
        context.engine().lookAfter(rounds);
        long end = System.nanoTime() + LIMIT_NANOS;
        while (rounds.count.get() < 2) {
            assertThat(System.nanoTime() - end).as("the engine stands still").isNegative();
            Thread.onSpinWait();
        }
        rounds.over = true;
    }

    @Override
    public boolean wake() {
        count.incrementAndGet();
        return over;
    }

    @Override
    public boolean tick() {
        return true;
    }
}
