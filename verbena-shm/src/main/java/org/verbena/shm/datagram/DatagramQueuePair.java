// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.datagram;

import java.util.List;

import org.verbena.verbs.Gid;
import org.verbena.verbs.QueuePairState;

/**
 * A queue pair of type UD as its executor, its receiver and its groups see it. One class implements it, so that the calls
 * of the data path are monomorphic.
 */
public interface DatagramQueuePair {
    int number();

    /** Of its context. */
    long instance();

    QueuePairState state();

    /** In state SQD, and a request that was started before is not done. */
    boolean isDraining();

    int qkey();

    /** A send has completed; {@code solicited} as with a message, or if it has failed. */
    void sendCompleted(boolean solicited);

    /** A send has failed here: later sends are flushed, receiving continues. */
    void sendFailed(String reason);

    /** The oldest request waits: the engine makes progress if the application does not. */
    void requestProgress();

    /** There is another ring to read; {@code hasDatagrams} if it holds some already. */
    void ringAdded(boolean hasDatagrams);

    /** The multicast groups that it is attached to have changed. */
    void attachedTo(List<Gid> groups);
}
