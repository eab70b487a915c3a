// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.shm.control.Session;
import org.verbena.shm.datagram.DatagramReceiver;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.spi.KeepAlive;

/** What the completion queues of a queue pair read of its queues. */
final class QueuePairSource implements CompletionSource {
    private final QueuePairBase qp;
    private final CompletionQueue sendCq;
    private final CompletionQueue receiveCq;
    private final ShmSendQueue sendQueue;
    private final ReceiveSide receiveSide;
    private final @Nullable DatagramReceiver datagramReceiver;

    QueuePairSource(QueuePairBase qp, CompletionQueue sendCq, CompletionQueue receiveCq, ShmSendQueue sendQueue,
            ReceiveSide receiveSide) {
        this.qp = qp;
        this.sendCq = sendCq;
        this.receiveCq = receiveCq;
        this.sendQueue = sendQueue;
        this.receiveSide = receiveSide;
        datagramReceiver = qp.datagramReceiver();
    }

    @Override
    public List<Session> sessions() {
        Session s = qp.session();
        return datagramReceiver != null ? datagramReceiver.sessions() : s == null ? List.of() : List.of(s);
    }

    @Override
    public long completions(CompletionQueue cq) {
        return (receiveCq == cq ? receiveSide.completions() : 0)
                + (sendCq == cq ? sendQueue.completions() : 0) + waiting(cq);
    }

    @Override
    public long waiting(CompletionQueue cq) {
        Session s = qp.session();
        long n = (receiveCq == cq ? receiveSide.completionsWaiting() : 0)
                + (sendCq == cq ? sendQueue.completionsWaiting() : 0);
        KeepAlive.until(s);
        return n;
    }

    @Override
    public boolean isNotified(long armWord) {
        return datagramReceiver != null ? datagramReceiver.isNotified(armWord) : qp.peer().isNotified(armWord);
    }
}
