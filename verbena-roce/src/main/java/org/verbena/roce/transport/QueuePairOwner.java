// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.QueuePairState;

/**
 * The provider's half of a queue pair: what it has, and what it is told. Everything is called under the context's lock
 * and from inside a call of the transport's, throws nothing and calls nothing of the transport.
 */
public interface QueuePairOwner {
    /** What the keys of its sends, and of its peer, name. Never asked of type XRC_RECV. */
    Memory memory();

    /** Where its receives come from; null for XRC types, whose receives {@link #sharedReceiveQueue} has. */
    @Nullable
    ReceiveSource receives();

    /** XRC_RECV: the shared receive queue of its domain with this number; null if there is none. */
    @Nullable
    ReceiveSource sharedReceiveQueue(int number);

    /**
     * A send work request has completed and was signaled, or has failed; its slot is free when this returns. Called in the
     * order of posting.
     *
     * @param wqe results are {@link SendWqe#status} and {@link SendWqe#byteLength}
     */
    void sent(SendWqe wqe);

    /** True if a datagram to a group is this queue pair's own, and it does not want those. */
    default boolean isUnwanted(long sourceHigh, long sourceLow, int sourceQueuePair) {
        return false;
    }

    /** A receive has completed. */
    void received(ReceiveSource source, ReceiveWqe wqe);

    /**
     * The transport has moved the queue pair to ERR, or (UC and UD, by a failed send) to SQE.
     *
     * @param reason one sentence, a constant
     * @param event {@link org.verbena.verbs.AsyncEventType} that tells it, -1 if completions do
     */
    void stateChanged(QueuePairState state, String reason, int event);

    /** The peer's first packet has come, in whatever state: the peer is ready. */
    default void communicates() {
        // who has no connection that is coming about does not wait for it
    }

    /** An event that changes no state: COMM_EST, SQ_DRAINED, QP_LAST_WQE_REACHED. */
    void event(int type);

    /** Adds to a counter of the queue pair, {@link org.verbena.verbs.SamplePoint}. */
    void count(int samplePoint, long n);
}
