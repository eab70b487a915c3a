// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.Await;

/** Virtual threads that wait for events, in a JVM whose virtual threads share one carrier. */
abstract class VirtualThreadConformance extends Conformance {
    VirtualThreadConformance(ConformanceFixture fixture) {
        super(fixture);
    }

    /** Eight virtual threads wait on one carrier; since each is woken, none pins it. */
    @Test
    void waitingVirtualThreadsPark() throws Exception {
        PeerProcess one = ownPeer("-Djdk.virtualThreadScheduler.parallelism=1",
                "-Djdk.virtualThreadScheduler.maxPoolSize=1");
        int woken = one.run(fixture -> {
            List<End> ends = new ArrayList<>();
            List<FutureTask<Boolean>> waiters = new ArrayList<>();
            try {
                for (int i = 0; i < 8; i++) {
                    End e = End.open(fixture, EndOptions.defaults().channel());
                    ends.add(e);
                    e.toInit();
                    e.toRtr(e.address());
                    e.toRts();
                    assertPosted(e.postReceives(Op.receive(1).on(0, 8)));
                    assertPosted(e.receiveCq.requestNotify(false));
                    FutureTask<Boolean> t = new FutureTask<>(
                            () -> e.receiveCq.equals(Objects.requireNonNull(e.channel).await(Await.LIMIT)));
                    waiters.add(t);
                    Thread.ofVirtual().start(t);
                }
                FutureTask<Boolean> last = new FutureTask<>(() -> true);
                Thread.ofVirtual().start(last); // needs the carrier that the eight must have released
                assertThat(last.get(50, TimeUnit.SECONDS)).isTrue();
                int n = 0;
                for (int i = 7; i >= 0; i--) {
                    assertPosted(ends.get(i).post(Op.send(2).on(0, 8)));
                    n += waiters.get(i).get(50, TimeUnit.SECONDS) ? 1 : 0;
                }
                return n;
            } finally {
                for (End e : ends) {
                    e.close();
                }
            }
        });
        assertThat(woken).isEqualTo(8);
    }
}
