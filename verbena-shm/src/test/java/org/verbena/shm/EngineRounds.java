// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.util.concurrent.atomic.AtomicInteger;

import org.verbena.testkit.Await;
import org.verbena.verbs.spi.Engine;

/** Counts the rounds of an engine. */
final class EngineRounds implements Engine.Waiting {
    final AtomicInteger count = new AtomicInteger();
    volatile boolean over;

    /** Until the engine has handled all messages that are there now: it has ended a round, then begun and ended another. */
    static void await(ShmContext context) {
        await(context, 2);
    }

    /** Until {@code n} rounds are over. */
    static void await(ShmContext context, int n) {
        EngineRounds rounds = new EngineRounds();
        context.engine().startPolling(rounds);
        Await.until("rounds of the engine", () -> rounds.count.get() >= n);
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
