// SPDX-License-Identifier: Apache-2.0
import org.verbena.verbs.*;

/** Counts what one queue pair does, then looks at this process as another one would. */
public class Counting {
    public static void main(String[] args) throws Exception {
        try (Context context = Verbs.open("shm0")) {
            ProtectionDomain pd = context.allocateProtectionDomain();
            CompletionQueue cq = context.createCompletionQueue(16);
            MemoryRegion region = pd.allocate(4096, AccessFlags.ALL);

            // described first: the queue pair is counted from its first moment on
            Counters counters = context.createCounters();
            counters.attach(CounterAttachAttributes.of(SamplePoint.QP_TX_WRITES, 0));
            counters.attach(CounterAttachAttributes.of(SamplePoint.QP_TX_BYTES, 1));
            QueuePair a = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).counters(counters).build());
            QueuePair b = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).build());
            connect(a, b);
            connect(b, a);
            // while it is there: counted from now on
            counters.attach(CounterAttachAttributes.of(SamplePoint.MR_REMOTE_WRITES, 2), region);

            for (int i = 0; i < 3; i++) {
                a.sendQueue().postWrite(i, SendFlags.SIGNALED, region, 0, 100, region.rkey(), region.address() + 1024);
                while (cq.startPoll() != 0) {
                    Thread.onSpinWait();
                }
                cq.endPoll();
            }
            long[] values = new long[3];
            counters.read(values, 0);
            System.out.println(values[0] + " writes, " + values[1] + " bytes, " + values[2] + " to the region");

            try (RemoteProcess process = RemoteProcess.open(ProcessHandle.current().pid())) {
                for (RemoteObject o : process.objects(0)) {
                    if (o.type() == ObjectType.QP && o.value(SamplePoint.QP_RX_WRITES) > 0) {
                        System.out.println(o.state() + ": " + o.value(SamplePoint.QP_RX_WRITE_BYTES) + " bytes written");
                    }
                }
            }
        }
    }

    static void connect(QueuePair qp, QueuePair to) throws VerbsException {
        Context context = qp.context();
        qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(AccessFlags.ALL).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RTR).addressVector(AddressVector.to(context.queryGid(1, 0)))
                .destinationQueuePair(to.number()).pathMtu(context.queryPort(1).activeMtu()).rqPsn(0)
                .maxDestReadAtomic(1).minRnrTimer(12).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RTS).sqPsn(0).timeout(14).retryCount(7).rnrRetry(7)
                .maxReadAtomic(1).build());
    }
}
