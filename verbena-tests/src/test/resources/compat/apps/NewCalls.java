// SPDX-License-Identifier: Apache-2.0
import java.lang.foreign.Arena;

import org.verbena.linux.Errno;
import org.verbena.verbs.*;

/** The calls of the next version: a class of their own, which an older version never links. */
final class NewCalls {
    private NewCalls() {}

    /** The provider says that it has them. */
    static void guarded(Traffic t) throws Exception {
        try (Beacon b = t.a.createBeacon(BeaconAttributes.builder().light(3).build())) {
            Say.line("beacon", b.light());
        }
    }

    /** The provider may not have them. */
    static void unguarded(Traffic t) throws Exception {
        Say.attempt("new verb", () -> t.a.createBeacon(BeaconAttributes.builder().build()).light());
        Say.attempt("new bit, QP creation", () -> t.pdA.createQueuePair(
                QueuePairInitAttributes.builder(t.cqA, t.cqA).pace(5).build()).type());
        Say.attempt("new bit, QP", () -> {
            t.qpA.modify(QueuePairAttributes.builder().pace(5).build());
            return "done";
        });
        Say.attempt("new bit, CQ creation", () -> t.a.createCompletionQueue(
                CompletionQueueAttributes.builder().pace(5).build()).cqe() > 0);
        Say.attempt("new flag, CQ creation", () -> t.a.createCompletionQueue(
                CompletionQueueAttributes.builder().flags(CompletionQueueAttributes.BEACON_FLAG).build()).cqe() > 0);
        Say.attempt("new completion field", () -> t.a.createCompletionQueue(
                CompletionQueueAttributes.builder().fields(CompletionQueueAttributes.WITH_BEACON).build()).cqe() > 0);
        Say.attempt("new bit, path", () -> {
            QueuePair qp = Traffic.queuePair(t.pdA, t.cqA);
            qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(0).build());
            qp.modify(QueuePairAttributes.to(QueuePairState.RTR)
                    .addressVector(AddressVector.builder(t.b.queryGid(1, 0)).pace(5).build())
                    .destinationQueuePair(t.qpB.number()).pathMtu(4096).rqPsn(0).maxDestReadAtomic(16).minRnrTimer(12)
                    .build());
            return qp.state();
        });
        Say.attempt("new bit, connection", () -> {
            QueuePair near = Traffic.queuePair(t.pdA, t.cqA);
            QueuePair far = Traffic.queuePair(t.pdB, t.cqB);
            t.connect(near, far, ConnectionParameters.builder().pace(5).build(), false);
            return "done";
        });
        Say.attempt("new bit, registration", () -> t.pdA.register(MemoryRegionAttributes.builder(AccessFlags.LOCAL_WRITE)
                .memory(Arena.ofAuto().allocate(64)).pace(5).build()).length());
        Say.attempt("new bit, parent domain", () -> t.a.allocateParentDomain(ParentDomainAttributes.builder()
                .protectionDomain(t.pdA).pace(5).build()).isParentDomain());
        Say.attempt("new bit, SRQ creation", () -> t.pdA.createSharedReceiveQueue(
                SharedReceiveQueueAttributes.builder().maxWr(3).pace(5).build()).query().maxWr());
        Say.attempt("new bit, XRC domain", () -> t.a.openXrcDomain(XrcDomainAttributes.builder().fd(-1)
                .openFlags(XrcDomainAttributes.CREATE).pace(5).build()).isClosed());
        Say.attempt("new bit, opening of a QP", () -> {
            XrcDomain d = t.a.openXrcDomain(XrcDomainAttributes.builder().fd(-1).openFlags(XrcDomainAttributes.CREATE)
                    .build());
            QueuePair qp = d.createQueuePair(QueuePairInitAttributes.builderXrcReceive().build());
            return d.openQueuePair(QueuePairOpenAttributes.builder().number(qp.number()).type(QueuePairType.XRC_RECV)
                    .pace(5).build()).state();
        });
        Say.attempt("new access right", () -> t.pdA.allocate(4096, AccessFlags.LOCAL_WRITE | AccessFlags.BEACON));
        Say.attempt("new hint", () -> t.pdA.allocate(4096, AccessFlags.LOCAL_WRITE | AccessFlags.BEACON_HINT)
                .segment().byteSize());
        Say.attempt("new value", () -> t.a.queryValues(Values.BEACONS).beacons());
        Say.line("new field, device", t.a.queryDevice().beacons());
        Say.line("new field, port", t.a.queryPort(1).beacons());
        Traffic.require(t.qpB.receiveQueue().start().receive(8).sge(t.mrB, 0, 64).complete());
        int error = t.qpA.sendQueue().start().beacon(9, SendFlags.SIGNALED).sge(t.mrA, 0, 8).complete();
        Say.line("new operation", error == 0 ? "posted" : Errno.name(error));
        if (error == 0) {
            Traffic.completions("receiver", t.cqB, 1);
        }
        error = t.qpA.sendQueue().beacon(10, 0).complete();
        Say.line("new operation without a batch", Errno.name(error));
    }
}
