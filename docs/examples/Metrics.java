// SPDX-License-Identifier: Apache-2.0
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;

import org.verbena.micrometer.VerbsMetrics;
import org.verbena.verbs.*;

/** Three messages, and what a Prometheus server sees of them. */
public class Metrics {
    public static void main(String[] args) throws VerbsException {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        VerbsMetrics metrics = VerbsMetrics.builder().objects(ObjectType.CQ).build();
        metrics.bindTo(registry);
        try (Context context = Verbs.open("shm0")) {
            ProtectionDomain pd = context.allocateProtectionDomain();
            MemoryRegion region = pd.allocate(4096, AccessFlags.LOCAL_WRITE);
            CompletionQueue cq = context.createCompletionQueue(16);
            QueuePairInitAttributes init = QueuePairInitAttributes.builder(cq, cq).maxSendWr(4).maxReceiveWr(4).build();
            QueuePair a = pd.createQueuePair(init);
            QueuePair b = pd.createQueuePair(init);
            connect(context, a, b);
            connect(context, b, a);
            for (int i = 0; i < 3; i++) {
                require(b.receiveQueue().post(i, region, 2048, 1024));
                require(a.sendQueue().postSend(i, SendFlags.SIGNALED, region, 0, 1000));
            }
            WorkCompletion[] done = WorkCompletion.array(6);
            for (int n = 0; n < 6; n += cq.poll(done)) {
                Thread.onSpinWait();
            }
            metrics.refresh(); // else what was opened a moment ago may be seen by the next scrape only
            registry.scrape().lines().filter(l -> l.matches(
                    "verbena_(port_tx_sends|port_tx_send_bytes|cq_completions|objects).*")).forEach(System.out::println);
        }
        metrics.close();
    }

    static void connect(Context context, QueuePair qp, QueuePair peer) throws VerbsException {
        qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(0).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RTR).addressVector(AddressVector.to(context.queryGid(1, 0)))
                .pathMtu(4096).destinationQueuePair(peer.number()).rqPsn(0).maxDestReadAtomic(1).minRnrTimer(12)
                .build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RTS).timeout(14).retryCount(7).rnrRetry(7).sqPsn(0)
                .maxReadAtomic(1).build());
    }

    static void require(int error) {
        if (error != 0) {
            throw new IllegalStateException("error " + error);
        }
    }
}
