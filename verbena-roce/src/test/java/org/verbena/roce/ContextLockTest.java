// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;

import org.junit.jupiter.api.Test;

/** The lock of a context, between threads. */
class ContextLockTest {
    private static final int ROUNDS = 20_000;

    private final ContextLock lock = new ContextLock();
    private int guarded;

    private void count() {
        for (int i = 0; i < ROUNDS; i++) {
            lock.lock();
            guarded++;
            lock.unlock();
        }
    }

    @Test
    void lockIsExclusive() throws Exception {
        Thread[] threads = {Thread.ofPlatform().start(this::count), Thread.ofPlatform().start(this::count),
            Thread.ofPlatform().start(this::count)};
        for (Thread t : threads) {
            t.join();
        }
        assertThat(guarded).isEqualTo(threads.length * ROUNDS);
    }

    @Test
    void longWaiterAcquiresLock() throws Exception {
        lock.lock();
        assertThat(lock.tryLock()).isFalse();
        assertThat(lock.isHeld()).isTrue();
        Thread waiting = Thread.ofPlatform().start(this::count);
        while (waiting.getState() != Thread.State.TIMED_WAITING) { // it has finished spinning, and sleeps
            Thread.onSpinWait();
        }
        assertThat(waiting.join(Duration.ofMillis(20))).as("it continued without the lock").isFalse();
        assertThat(guarded).isZero();
        lock.unlock();
        waiting.join();
        assertThat(guarded).isEqualTo(ROUNDS);
        assertThat(lock.isHeld()).isFalse();
    }
}
