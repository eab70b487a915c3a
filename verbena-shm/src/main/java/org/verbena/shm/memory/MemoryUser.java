// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.memory;

import org.jspecify.annotations.Nullable;

import org.verbena.shm.layout.Hazard;
import org.verbena.shm.layout.Link;
import org.verbena.shm.layout.Peer;
import org.verbena.verbs.QueuePairState;

/**
 * A queue pair as seen by revocation: this process, or the peer, may be inside a transfer through it. For any
 * thread.
 */
public interface MemoryUser {
    int number();

    QueuePairState state();

    /** Index of its protection domain. */
    int pdIndex();

    /** The memory of its context. */
    Memories memories();

    /** The context that it is connected to; null if to none. */
    @Nullable
    Peer connectedPeer();

    /** Number of the queue pair that it is connected to; 0 if to none. */
    int peerNumber();

    /** Identity of the connection that it is in, see {@link Link}. */
    long linkIdentity();

    /** The hazard word of this process, see {@link Hazard}. */
    long ownHazard();

    /** The hazard word of the peer; 0 if it is dead or not connected. */
    long peerHazard();

    /** The budget of polls for waits for the peer. */
    WaitBudget waitBudget();

    /** Moves to ERR, in whatever connection it is; {@code event} -1: none is raised. */
    void enterError(String reason, int event);

    /** Moves to ERR if it is in that connection. */
    void enterError(long connection, String reason, int event);
}
