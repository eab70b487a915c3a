// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

/** A thread that has paused the guard and found it quiescent has exclusive access. */
class QuiescenceGuardTest {
    private static final int ROUNDS = 2_000;

    private final QuiescenceGuard guard = new QuiescenceGuard();
    private final AtomicLong first = new AtomicLong();
    private long second;
    private volatile boolean stop;

    @Test
    void pausedAndQuiescentGuardIsExclusive() throws Exception {
        Thread goes = Thread.ofPlatform().start(() -> {
            while (!stop) {
                if (guard.enter() == QuiescenceGuard.OPEN) {
                    first.lazySet(first.getPlain() + 1);
                    second++;
                    guard.exit();
                }
            }
        });
        for (int i = 0; i < ROUNDS; i++) {
            guard.pause();
            while (!guard.isQuiescent()) {
                Thread.onSpinWait();
            }
            long seen = first.get();
            assertThat(second).isEqualTo(seen);
            for (int spin = 0; spin < 100; spin++) {
                Thread.onSpinWait();
            }
            assertThat(first.get()).isEqualTo(seen);
            first.set(seen + 10);
            second = seen + 10;
            guard.resume();
            while (first.get() == seen + 10) {
                Thread.onSpinWait();
            }
        }
        guard.pause();
        while (!guard.isQuiescent()) {
            Thread.onSpinWait();
        }
        guard.end();
        guard.resume();
        assertThat(guard.enter()).isEqualTo(QuiescenceGuard.ENDED);
        stop = true;
        goes.join();
        assertThat(first.get()).isEqualTo(second).isGreaterThan(10L * ROUNDS);
    }
}
