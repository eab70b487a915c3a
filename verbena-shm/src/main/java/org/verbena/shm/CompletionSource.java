// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.shm.control.Session;
import org.verbena.shm.datagram.DatagramReceiver;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.spi.KeepAlive;

/**
 * What a completion queue reads of a queue pair apart from polling: the number of completions, and the sessions that they come
 * through. For any thread.
 */
final class CompletionSource {
    private final ShmQueuePair qp;
    private final ShmSendQueue sendQueue;
    private final ReceiveSide receiveSide;
    private final @Nullable DatagramReceiver datagramReceiver;

    CompletionSource(ShmQueuePair qp, ShmSendQueue sendQueue, ReceiveSide receiveSide) {
        this.qp = qp;
        this.sendQueue = sendQueue;
        this.receiveSide = receiveSide;
        datagramReceiver = qp.datagramReceiver();
    }

    /** The sessions that messages come through. */
    List<Session> sessions() {
        Session s = qp.session();
        return datagramReceiver != null ? datagramReceiver.sessions() : s == null ? List.of() : List.of(s);
    }

    /** The number of completions that the queue pair has made for {@code cq}, polled or not. */
    long completions(CompletionQueue cq) {
        return (qp.receiveCompletionQueue() == cq ? receiveSide.completions() : 0)
                + (qp.sendCompletionQueue() == cq ? sendQueue.completions() : 0) + waiting(cq);
    }

    /** The number of completions for {@code cq} that wait to be polled. */
    long waiting(CompletionQueue cq) {
        Session s = qp.session();
        long n = (qp.receiveCompletionQueue() == cq ? receiveSide.completionsWaiting() : 0)
                + (qp.sendCompletionQueue() == cq ? sendQueue.completionsWaiting() : 0);
        KeepAlive.until(s);
        return n;
    }

    /** True if a peer has signalled this arm word last. */
    boolean isNotified(long armWord) {
        return datagramReceiver != null ? datagramReceiver.isNotified(armWord) : qp.peer().isNotified(armWord);
    }
}
