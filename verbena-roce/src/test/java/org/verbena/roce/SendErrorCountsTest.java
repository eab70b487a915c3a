// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Netlink;
import org.verbena.linux.NetworkLinks;
import org.verbena.linux.NetworkNamespace;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Context;
import org.verbena.verbs.CounterAttachAttributes;
import org.verbena.verbs.Counters;
import org.verbena.verbs.Gid;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.SendFlags;

/**
 * A packet that the kernel does not accept is counted, in a network namespace whose interface MTU becomes too small for
 * it.
 */
class SendErrorCountsTest {
    private static final int SMALL = 600;

    @Test
    void reducedMtuCountsSendErrors() throws Exception {
        long counted = NetworkNamespace.callInNew(() -> {
            try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) {
                NetworkLinks.setUp(netlink, NetworkLinks.index(netlink, "lo"));
                return sendingWhileItGetsSmaller(netlink);
            }
        });
        assertThat(counted).isEqualTo(1);
    }

    private static long sendingWhileItGetsSmaller(Netlink netlink) throws Exception {
        try (Context context = RoceNetDevice.all().getFirst().open(); Counters counters = context.createCounters()) {
            ProtectionDomain pd = context.allocateProtectionDomain();
            CompletionQueue cq = context.createCompletionQueue(4);
            QueuePair qp = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).maxSendWr(4).build());
            MemoryRegion region = pd.allocate(4096, AccessFlags.LOCAL_WRITE);
            qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(0).build());
            qp.modify(QueuePairAttributes.to(QueuePairState.RTR).addressVector(AddressVector.to(Gid.parse(
                    "::ffff:127.66.6.8"))).pathMtu(1024).destinationQueuePair(0x123).rqPsn(1).maxDestReadAtomic(1)
                    .minRnrTimer(1).build());
            qp.modify(QueuePairAttributes.to(QueuePairState.RTS).sqPsn(1).timeout(0).retryCount(7).rnrRetry(7)
                    .maxReadAtomic(1).build()); // nothing is retransmitted
            counters.attach(CounterAttachAttributes.of(SamplePoint.DEVICE_TX_ERRORS, 0), context);
            assertThat(qp.sendQueue().postSend(1, SendFlags.SIGNALED, region, 0, 1000)).isZero();
            assertThat(HandMadePackets.read(counters)).as("there is no receiver, but it was sent").isZero();
            NetworkLinks.setMtu(netlink, NetworkLinks.index(netlink, "lo"), SMALL);
            assertThat(qp.sendQueue().postSend(2, SendFlags.SIGNALED, region, 0, 1000)).isZero();
            long errors = HandMadePackets.read(counters);
            counters.detach(context);
            return errors;
        }
    }
}
