// SPDX-License-Identifier: Apache-2.0
import java.lang.foreign.ValueLayout;

import org.verbena.verbs.*;

/** Datagrams between queue pairs that are not connected: one to one, the way back, and to a group. */
public class Datagrams {
    static final int QKEY = 0x1111;
    static final int GRH = GlobalRoutingHeader.BYTES;

    public static void main(String[] args) throws VerbsException {
        try (Context a = Verbs.open("shm0"); Context b = Verbs.open("shm0")) {
            CompletionQueue cqA = a.createCompletionQueue(16);
            CompletionQueue cqB = b.createCompletionQueue(16);
            ProtectionDomain pdA = a.allocateProtectionDomain();
            ProtectionDomain pdB = b.allocateProtectionDomain();
            MemoryRegion memoryA = pdA.allocate(4096, AccessFlags.LOCAL_WRITE);
            MemoryRegion memoryB = pdB.allocate(4096, AccessFlags.LOCAL_WRITE);
            QueuePair qpA = create(pdA, cqA);
            QueuePair qpB = create(pdB, cqB);

            // a datagram is preceded by its header, so the buffer has room for both
            require(qpB.receiveQueue().post(1, memoryB, 0, GRH + 64));
            memoryA.segment().set(ValueLayout.JAVA_LONG, 0, 42);
            AddressHandle to = pdA.createAddressHandle(AddressVector.to(b.queryGid(1, 0)));
            require(qpA.sendQueue().start()
                    .send(1, SendFlags.SIGNALED).datagram(to, qpB.number(), QKEY).sge(memoryA, 0, 8)
                    .complete());
            await(cqA);
            WorkCompletion got = await(cqB);
            System.out.println("received " + got.byteLength() + " bytes with "
                    + memoryB.segment().get(ValueLayout.JAVA_LONG_UNALIGNED, GRH));

            // the way back is in the completion and in the header
            require(qpA.receiveQueue().post(2, memoryA, 1024, GRH + 64));
            AddressHandle back = pdB.createAddressHandleToSender(got.flags(), memoryB.segment(), 1);
            require(qpB.sendQueue().start()
                    .send(2, SendFlags.SIGNALED).datagram(back, got.sourceQueuePair(), QKEY).sge(memoryB, GRH, 8)
                    .complete());
            await(cqB);
            System.out.println("answered: " + (await(cqA).sourceQueuePair() == qpB.number()));

            Gid group = Gid.parse("ff12::4711");
            qpB.attachMulticast(group, 0);
            require(qpB.receiveQueue().post(3, memoryB, 0, GRH + 64));
            AddressHandle all = pdA.createAddressHandle(AddressVector.to(group));
            require(qpA.sendQueue().start()
                    .send(3, SendFlags.SIGNALED).datagram(all, QueuePair.MULTICAST, QKEY).sge(memoryA, 0, 8)
                    .complete());
            await(cqA);
            await(cqB);
            System.out.println("sent to " + GlobalRoutingHeader.of(memoryB.segment()).destination());
        }
    }

    static QueuePair create(ProtectionDomain pd, CompletionQueue cq) throws VerbsException {
        QueuePair qp = pd.createQueuePair(
                QueuePairInitAttributes.builder(cq, cq).type(QueuePairType.UD).maxReceiveWr(4).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).qkey(QKEY).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RTR).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RTS).sqPsn(0).build());
        return qp;
    }

    static WorkCompletion await(CompletionQueue cq) {
        WorkCompletion[] one = WorkCompletion.array(1);
        while (cq.poll(one) == 0) {
            Thread.onSpinWait();
        }
        require(one[0].status());
        return one[0];
    }

    static void require(int error) {
        if (error != 0) {
            throw new IllegalStateException("error or status " + error);
        }
    }
}
