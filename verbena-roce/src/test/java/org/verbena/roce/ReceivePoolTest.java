// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.verbena.roce.transport.ReceiveWqe;

/** Receives circulate between poster, transport and poller, and none is lost or duplicated. */
class ReceivePoolTest {
    private static final int CAPACITY = 16;
    private static final int ROUNDS = 200_000;

    private final ReceivePool pool = new ReceivePool(new DomainMemory(new KeyTable(), 0), true, CAPACITY, 64, 1);

    private int post(int wrId) {
        PooledReceive r = pool.allocate();
        if (r == null) {
            return 0;
        }
        r.wrId = wrId;
        pool.post(new @Nullable PooledReceive[] {r}, 1);
        return 1;
    }

    @Test
    void postedReceivesAreTakenInOrder() throws Exception {
        AtomicBoolean wrong = new AtomicBoolean();
        Thread taker = Thread.ofPlatform().start(() -> {
            for (int next = 0; next < ROUNDS && !wrong.get();) {
                ReceiveWqe w = pool.take();
                if (w == null) {
                    Thread.onSpinWait();
                } else {
                    wrong.set(w.wrId != next++);
                    pool.release((PooledReceive) w);
                }
            }
        });
        for (int i = 0; i < ROUNDS && !wrong.get();) {
            i += post(i);
        }
        taker.join();
        assertThat(wrong).isFalse();
        assertThat(pool.outstanding()).isZero();
        assertThat(free()).isEqualTo(CAPACITY);
    }

    private int free() {
        int n = 0;
        while (pool.allocate() != null) {
            n++;
        }
        return n;
    }

    @Test
    void capacityIsAsRequested() {
        for (int i = 0; i < CAPACITY; i++) {
            assertThat(post(i)).isOne();
        }
        assertThat(post(CAPACITY)).isZero();
        assertThat(pool.outstanding()).isEqualTo(CAPACITY);
        ReceiveWqe first = pool.take();
        assertThat(first).isNotNull();
        pool.putBack(first);
        assertThat(pool.take()).isSameAs(first);
        pool.release((PooledReceive) first);
        pool.resize(CAPACITY + 4);
        for (int i = 0; i < 5; i++) {
            assertThat(post(i)).isOne();
        }
        assertThat(post(5)).isZero();
        pool.reset();
        pool.resize(3);
        assertThat(free()).isEqualTo(3);
    }

    @Test
    void limitEventIsRaisedOnce() {
        int[] events = {0};
        ReceivePool p = new ReceivePool(new DomainMemory(new KeyTable(), 0), true, 4, 4, 1);
        p.onLimit(() -> events[0]++);
        p.setLimit(1);
        assertThat(events[0]).as("the capacity is smaller already").isOne();
        assertThat(p.limit()).isZero();
        p.setLimit(0);
        p.take();
        assertThat(events[0]).isOne();
    }
}
