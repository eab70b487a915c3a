// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.control;

import org.verbena.shm.layout.Link;

/**
 * A queue pair of ours that is connected to one of a session's peer, as the session sees it. A message may be
 * stale: a queue pair checks that it concerns its present connection, and acts on it, in one step.
 */
public interface ConnectedQueuePair {
    /**
     * Moves to ERR if it is still in that connection, and in use; for any thread.
     *
     * @param connection identity of its link, see {@link Link}
     * @param event the asynchronous event to raise, or -1
     */
    void enterError(long connection, String reason, int event);

    /** The peer of a session has died; does nothing if it is not connected by that session. */
    void peerDied(Session session, String reason);

    /** True if nothing has ended the connection: neither an application, nor an error. */
    boolean isUp();

    /** The protection domains whose memory the peer may access. */
    int[] pds();

    /** True if memory of that protection domain is sent, received or accessed through it. */
    boolean uses(int pd);
}
