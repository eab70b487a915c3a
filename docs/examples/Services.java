// SPDX-License-Identifier: Apache-2.0
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;

import org.verbena.verbs.*;

/** A datagram service that is found by an address and a port, as {@code RDMA_PS_UDP} of librdmacm; on the provider roce. */
public class Services {
    static final int GRH = GlobalRoutingHeader.BYTES;

    public static void main(String[] args) throws VerbsException {
        try (Context a = Verbs.open("roce_lo"); Context b = Verbs.open("roce_lo")) {
            CompletionQueue cqB = b.createCompletionQueue(16);
            ProtectionDomain pdB = b.allocateProtectionDomain();
            MemoryRegion memoryB = pdB.allocate(4096, AccessFlags.LOCAL_WRITE);
            QueuePair qpB = pdB.createQueuePair(
                    QueuePairInitAttributes.builder(cqB, cqB).type(QueuePairType.UD).maxReceiveWr(4).build());
            DatagramService service = b.connectionManager().provide(new InetSocketAddress(0), qpB);
            require(qpB.receiveQueue().post(1, memoryB, 0, GRH + 64));

            DatagramPeer peer = a.connectionManager().resolve(service.localAddress(), Duration.ofSeconds(10));
            System.out.println("found: " + (peer.queuePairNumber() == qpB.number()));

            CompletionQueue cqA = a.createCompletionQueue(16);
            ProtectionDomain pdA = a.allocateProtectionDomain();
            MemoryRegion memoryA = pdA.allocate(4096, AccessFlags.LOCAL_WRITE);
            QueuePair qpA = pdA.createQueuePair(QueuePairInitAttributes.builder(cqA, cqA).type(QueuePairType.UD).build());
            qpA.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).qkey(peer.qkey()).build());
            qpA.modify(QueuePairAttributes.to(QueuePairState.RTR).build());
            qpA.modify(QueuePairAttributes.to(QueuePairState.RTS).sqPsn(0).build());
            memoryA.segment().set(ValueLayout.JAVA_LONG, 0, 42);
            AddressHandle to = pdA.createAddressHandle(peer.addressVector());
            require(qpA.sendQueue().start()
                    .send(1, SendFlags.SIGNALED).datagram(to, peer.queuePairNumber(), peer.qkey()).sge(memoryA, 0, 8)
                    .complete());
            WorkCompletion[] got = WorkCompletion.array(1);
            while (cqB.poll(got) == 0) {
                Thread.onSpinWait();
            }
            System.out.println("received " + memoryB.segment().get(ValueLayout.JAVA_LONG_UNALIGNED, GRH));
        }
    }

    static void require(int error) {
        if (error != 0) {
            throw new IllegalStateException("error " + error);
        }
    }
}
