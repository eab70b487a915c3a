// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

import org.verbena.verbs.spi.Engine;

/** Counts what an engine does. */
final class Rounds implements Engine.Waiting {
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(60);

    final AtomicInteger count = new AtomicInteger();
    volatile boolean over;

    /** Until the engine has handled all messages that are there now: it has ended a round, then begun and ended another. */
    static void await(ShmContext context) {
        await(context, 2);
    }

    /** So many rounds. */
    static void await(ShmContext context, int n) {
        Rounds rounds = new Rounds();
        context.engine().lookAfter(rounds);
        awaitTrue("the engine goes round", () -> rounds.count.get() >= n);
        rounds.over = true;
    }

    static void awaitTrue(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + LIMIT_NANOS;
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - end).as(what).isNegative();
            Thread.onSpinWait();
        }
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
