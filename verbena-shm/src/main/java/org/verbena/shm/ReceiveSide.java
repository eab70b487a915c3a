// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import org.verbena.shm.completion.CompletionCursor;
import org.verbena.verbs.ReceiveQueue;

/** The receive side of a queue pair: its posts, and the source of its receive completions. */
abstract class ReceiveSide extends ReceiveQueue {
    /** Moves the oldest completion into the cursor of {@code cq}, and counts it; false if there is none. */
    abstract boolean poll(CompletionCursor cq);

    /** Receives completed and polled; read by any thread. */
    abstract long completions();

    /** Completions that are not polled yet; any thread that keeps the session mapped meanwhile. */
    abstract long completionsWaiting();

    /** Starts to poll the entries committed by the peer whose directory entry lies at that address. */
    abstract void connect(long peerDirectoryEntry);

    /** The connection is over; {@code left} if the peer accesses nothing any more. */
    void disconnect(boolean left) {}

    /** In state ERR: the peer has left, and accesses nothing any more. */
    void lastWqeReached() {}

    /** In state ERR: true while a poll that began before may still take a receive. */
    boolean isPollInProgress() {
        return false;
    }

    /** The session with the peer has ended, and the link was withdrawn. */
    void peerDied() {}

    /** Forgets everything; no thread posts or polls meanwhile. */
    abstract void reset();
}
