// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.verbs.VerbsException;

class QuiescenceGuardTest {
    /** A thread that is inside nearly always, like one that posts long requests to a driver in software. */
    private static Thread passing(QuiescenceGuard guard, AtomicBoolean end, CountDownLatch inside) {
        return Thread.ofPlatform().daemon().start(() -> {
            while (!end.get() && guard.enter()) {
                inside.countDown();
                long until = System.nanoTime() + 20_000_000;
                while (System.nanoTime() - until < 0) {
                    Thread.onSpinWait();
                }
                guard.exit();
            }
        });
    }

    @Test
    void reenteringThreadCountsAsQuiescent() throws Exception {
        QuiescenceGuard guard = new QuiescenceGuard();
        AtomicBoolean end = new AtomicBoolean();
        CountDownLatch inside = new CountDownLatch(1);
        Thread t = passing(guard, end, inside);
        try {
            inside.await();
            for (int i = 0; i < 20; i++) {
                assertThat(guard.awaitQuiescence()).isTrue();
            }
            assertThat(t.isAlive()).isTrue();
        } finally {
            end.set(true);
            t.join();
        }
    }

    @Test
    void closedGuardHasNoThreadInside() throws Exception {
        QuiescenceGuard guard = new QuiescenceGuard();
        CountDownLatch inside = new CountDownLatch(1);
        Thread t = passing(guard, new AtomicBoolean(), inside);
        inside.await();
        guard.close("close it");
        assertThat(guard.enter()).isFalse();
        t.join(); // it ends, since it is rejected too
        guard.reopen();
        assertThat(guard.enter()).isTrue();
    }

    @Test
    void threadInsideKeepsGuardOpen() {
        QuiescenceGuard guard = new QuiescenceGuard();
        assertThat(guard.enter()).isTrue();
        assertThatThrownBy(() -> guard.close("close it")).isInstanceOfSatisfying(VerbsException.class, e -> assertThat(e
                .errno()).isEqualTo(Errno.EBUSY));
        assertThat(guard.isClosed()).isFalse();
        guard.exit();
        assertThat(guard.awaitQuiescence()).isTrue();
    }
}
