// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;

import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.ReadCountersFlags;
import org.verbena.verbs.RemoteProcess;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.VerbsException;

/** The counts of a port are those of its present and past queue pairs. */
class PortSumsTest {
    private static final int QUEUE_PAIRS = 500; // more than fit into a chunk of the file
    private static final int ROUNDS = 100;

    @Test
    void sumsStayExactWhileQueuePairsClose() throws Exception {
        try (Shown a = new Shown("a0"); RemoteProcess process = RemoteProcess.current()) {
            for (int round = 1; round <= ROUNDS; round++) {
                List<CounterEntry> open = new ArrayList<>();
                for (int i = 0; i < QUEUE_PAIRS; i++) {
                    CounterEntry qp = a.object(ObjectType.QP, i, SamplePoint.QP_TX_SENDS);
                    Shown.count(qp, SamplePoint.QP_TX_SENDS, 1);
                    open.add(qp);
                }
                CompletableFuture<Void> closing = CompletableFuture.runAsync(() -> open.forEach(CounterEntry::close),
                        t -> Thread.ofPlatform().daemon().start(t));
                do {
                    assertThat(sends(process)).isEqualTo((long) round * QUEUE_PAIRS);
                } while (!closing.isDone());
            }
        }
    }

    private static long sends(RemoteProcess process) throws VerbsException {
        return process.objects(ReadCountersFlags.PREFER_CACHED).stream()
                .filter(o -> o.type() == ObjectType.PORT && o.device().equals("a0"))
                .mapToLong(o -> o.value(SamplePoint.PORT + SamplePoint.QP_TX_SENDS)).sum();
    }
}
