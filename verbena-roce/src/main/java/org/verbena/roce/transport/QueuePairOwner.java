// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.QueuePairState;

/**
 * The provider's half of a queue pair: supplies its resources and receives its events. Every method is called under the
 * context's lock and from inside a call of the transport, throws nothing and does not call the transport.
 */
public interface QueuePairOwner {
    /** The memory that the keys of its sends, and of its peer, refer to. Never called for type XRC_RECV. */
    Memory memory();

    /** Where its receives come from; null for XRC types, which use {@link #sharedReceiveQueue}. */
    @Nullable
    ReceiveSource receives();

    /** XRC_RECV: the shared receive queue of its domain with this number; null if there is none. */
    @Nullable
    ReceiveSource sharedReceiveQueue(int number);

    /**
     * A send work request has completed and was signaled, or has failed; its slot is free when this returns. Called in
     * posting order.
     *
     * @param wqe has the results {@link SendWqe#status} and {@link SendWqe#byteLength}
     */
    void sent(SendWqe wqe);

    /** True if a multicast datagram was sent by this queue pair itself, which blocks its own. */
    default boolean blocksLoopback(long sourceHigh, long sourceLow, int sourceQueuePair) {
        return false;
    }

    /** A receive has completed. */
    void received(ReceiveSource source, ReceiveWqe wqe);

    /**
     * The transport has moved the queue pair to ERR, or (UC and UD, after a failed send) to SQE.
     *
     * @param reason one sentence, a constant
     * @param event the {@link org.verbena.verbs.AsyncEventType} that reports it, -1 if completions do
     */
    void stateChanged(QueuePairState state, String reason, int event);

    /** The peer's first packet was received, in whatever state: the peer is ready. */
    default void peerReady() {
        // a queue pair without a connection in establishment does not wait for it
    }

    /** An event that changes no state: COMM_EST, SQ_DRAINED, QP_LAST_WQE_REACHED. */
    void event(int type);

    /** Adds to a counter of the queue pair, {@link org.verbena.verbs.SamplePoint}. */
    void count(int samplePoint, long n);
}
