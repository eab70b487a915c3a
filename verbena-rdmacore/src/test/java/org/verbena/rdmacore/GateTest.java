// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.verbs.VerbsException;

class GateTest {
    /** A thread that is inside nearly always, as one that posts long requests to a driver in software. */
    private static Thread passing(Gate gate, AtomicBoolean end, CountDownLatch inside) {
        return Thread.ofPlatform().daemon().start(() -> {
            while (!end.get() && gate.enter()) {
                inside.countDown();
                long until = System.nanoTime() + 20_000_000;
                while (System.nanoTime() - until < 0) {
                    Thread.onSpinWait();
                }
                gate.leave();
            }
        });
    }

    @Test
    void whoGoesInAgainHasComeOut() throws Exception {
        Gate gate = new Gate();
        AtomicBoolean end = new AtomicBoolean();
        CountDownLatch inside = new CountDownLatch(1);
        Thread t = passing(gate, end, inside);
        try {
            inside.await();
            for (int i = 0; i < 20; i++) {
                assertThat(gate.isEmptySoon()).isTrue();
            }
            assertThat(t.isAlive()).isTrue();
        } finally {
            end.set(true);
            t.join();
        }
    }

    @Test
    void nobodyIsInsideOnceItIsShut() throws Exception {
        Gate gate = new Gate();
        CountDownLatch inside = new CountDownLatch(1);
        Thread t = passing(gate, new AtomicBoolean(), inside);
        inside.await();
        gate.shut("close it");
        assertThat(gate.enter()).isFalse();
        t.join(); // for it is refused, too
        gate.open();
        assertThat(gate.enter()).isTrue();
    }

    @Test
    void whoStaysInsideKeepsItOpen() {
        Gate gate = new Gate();
        assertThat(gate.enter()).isTrue();
        assertThatThrownBy(() -> gate.shut("close it")).isInstanceOfSatisfying(VerbsException.class, e -> assertThat(e
                .errno()).isEqualTo(Errno.EBUSY));
        assertThat(gate.isShut()).isFalse();
        gate.leave();
        assertThat(gate.isEmptySoon()).isTrue();
    }
}
