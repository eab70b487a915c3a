// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import org.jspecify.annotations.Nullable;

import org.verbena.shm.completion.CompletionCursor;
import org.verbena.shm.control.ConnectedQueuePair;
import org.verbena.shm.control.Session;
import org.verbena.shm.counts.ReceiveCounts;
import org.verbena.shm.counts.SendCounts;
import org.verbena.shm.datagram.DatagramQueuePair;
import org.verbena.shm.datagram.DatagramReceiver;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.OwnEntry;
import org.verbena.shm.layout.ProtocolException;
import org.verbena.shm.memory.MemoryUser;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.SharedReceiveQueue;
import org.verbena.verbs.VerbsException;

/**
 * A queue pair as its queues and its completion queues know it.
 *
 * <p>A class and not an interface, with {@link ShmQueuePair} as its only concrete subclass: the compiler binds the calls of the data path to it.
 */
abstract class QueuePairBase extends QueuePair implements ConnectedQueuePair, MemoryUser, DatagramQueuePair {
    /** A message has arrived since one was sent: a hint from the poller to the poster, a plain field. */
    boolean answers;

    QueuePairBase(ProtectionDomain pd, QueuePairInitAttributes init) throws VerbsException {
        super(pd, init);
    }

    // ---- queries

    /** The index in tables that the whole number does not fit. */
    final int index() {
        return AdapterLayout.qpIndex(number());
    }

    /** The attributes set last. */
    abstract QueuePairAttributes attributes();

    abstract @Nullable Session session();

    /** What this end publishes for the peer. */
    abstract OwnEntry own();

    /** What the peer publishes of its end. */
    abstract PeerEntry peer();

    abstract SendCounts sendCounts();

    abstract ReceiveCounts receiveCounts();

    /** The receive side if the type is UD, else null. */
    abstract @Nullable DatagramReceiver datagramReceiver();

    /** In state ERR: true if the peer accesses no posted receive any more, or has exceeded the timeout. */
    abstract boolean peerHasLeft();

    /** Whether that request waited when the peer died: it is the one without an answer. A later one was never sent. */
    abstract boolean isUnanswered(long number);

    // ---- completions

    /** Polls the queues that complete on {@code cq}. */
    abstract boolean poll(CompletionCursor cq);

    /** For completion queues: what they read apart from polling. */
    abstract CompletionSource source();

    /** Receives complete on that queue. */
    abstract boolean receivesOn(CompletionCursor cq);

    /** Where receives complete. */
    abstract CompletionCursor receiveCursor();

    /** Wakes threads that wait for completions: posted requests are flushed. */
    abstract void wakePollers();

    /** In state ERR: true while a poll that began before may still take a receive. */
    abstract boolean isPollInProgress();

    /** Receives come from that shared queue. */
    abstract boolean receivesFrom(SharedReceiveQueue queue);

    // ---- progress

    /** Another wait for a receive is about to begin, perhaps at another queue. */
    abstract void restartReceiveWait();

    /** A send no longer waits for a receive. */
    abstract void receiveWaitEnded();

    /** In SQD: all started requests are done, unless the oldest request still waits. */
    abstract void drained();

    // ---- errors

    /** The peer violates the protocol. */
    abstract void fatal(ProtocolException e);

    /** A receive completed with an error, which the initiator has reported already. */
    abstract void receiveFailed(int status);

    /** That connection has failed, and the peer has left it: reported where the receives are shared. */
    abstract void lastWqeReached(long of);
}
