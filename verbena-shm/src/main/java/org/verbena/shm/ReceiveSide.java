// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import org.verbena.verbs.ReceiveQueue;

/** The receive side of a queue pair: what it posts, and where completions of receives come from. */
abstract class ReceiveSide extends ReceiveQueue {
    /** Moves the oldest completion into the cursor of {@code cq}, and counts it; answers false if there is none. */
    abstract boolean poll(ShmCompletionQueue cq);

    /** Receives completed, as far as the poller has seen it; asked for by any thread. */
    abstract long completions();

    /** Completions that the poller has not seen yet; any thread, which keeps the session from being unmapped meanwhile. */
    abstract long completionsWaiting();

    /** Starts to look for what the peer commits, whose directory entry lies there. */
    abstract void connect(long peerDirectoryEntry);

    /** The connection is over; {@code left} if the peer touches nothing any more. */
    void disconnect(boolean left) {}

    /** In state ERR the peer has left, and touches nothing any more. */
    void lastWqeReached() {}

    /** In state ERR: true while a poll that began before may take a receive still. */
    boolean isPollInProgress() {
        return false;
    }

    /** The session with the peer has ended, and the link was withdrawn. */
    void peerDied() {}

    /** Forgets everything; no thread posts or polls meanwhile. */
    abstract void reset();
}
