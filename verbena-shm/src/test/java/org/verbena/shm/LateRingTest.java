// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import org.verbena.verbs.AddressHandle;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.WcStatus;

/** A receiver of datagrams has announced its position, and the thread that receives that is paused. */
class LateRingTest {
    private static final int MESSAGE = 2048;
    /** Several times the capacity of the ring. */
    private static final int MESSAGES = 200;

    @Test
    void datagramsWithPostedReceivesAreNotLost() throws Exception {
        try (PoolEnds e = new PoolEnds()) {
            QueuePair receiver = e.receiver.protectionDomain().createQueuePair(QueuePairInitAttributes.builder(
                    e.received, e.received).type(QueuePairType.UD).maxReceiveWr(4).build());
            ShmQueuePair sender = (ShmQueuePair) PoolEnds.ready(e.sender.protectionDomain().createQueuePair(
                    QueuePairInitAttributes.builder(e.sent, e.sent).type(QueuePairType.UD).maxSendWr(16).build()));
            AddressHandle way = sender.protectionDomain().createAddressHandle(AddressVector.to(e.owner.queryGid(1, 0)));
            send(e, sender, way, receiver); // makes the engine establish the session, with no receiver yet
            e.await(() -> isSent(e));
            PoolEnds.ready(receiver);
            try (PausedEngine held = new PausedEngine(e.peer.engine())) {
                for (int i = 0; i < MESSAGES; i++) {
                    assertThat(receiver.receiveQueue().post(i, e.to, 0, 4096)).isZero();
                    send(e, sender, way, receiver);
                    e.await(() -> isSent(e) || goesOn(sender, held));
                    assertThat(e.poll()).isEqualTo(i);
                }
                assertThat(held.isPaused()).as("nothing waited").isFalse();
            }
        }
    }

    private static void send(PoolEnds e, QueuePair from, AddressHandle way, QueuePair to) {
        assertThat(from.sendQueue().start().send(1, SendFlags.SIGNALED).sge(e.from, 0, MESSAGE).datagram(way, to
                .number(), 1).complete()).isZero();
    }

    private static boolean isSent(PoolEnds e) {
        boolean is = e.sent.startPoll() == 0;
        if (is) {
            assertThat(e.sent.status()).isEqualTo(WcStatus.SUCCESS);
            e.sent.endPoll();
        }
        return is;
    }

    /** Resumes the engine if the sender waits for it; the send is not done yet. */
    private static boolean goesOn(ShmQueuePair sender, PausedEngine held) {
        if (((ShmSendQueue) sender.sendQueue()).hasBegun()) {
            held.close();
        }
        return false;
    }
}
