// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.util.List;

import org.verbena.shm.control.Session;
import org.verbena.verbs.CompletionQueue;

/**
 * What a completion queue reads of a queue pair apart from polling: the number of completions, and the sessions that they come
 * through. For any thread.
 */
interface CompletionSource {
    /** The sessions that messages come through. */
    List<Session> sessions();

    /** The number of completions that the queue pair has made for {@code cq}, polled or not. */
    long completions(CompletionQueue cq);

    /** The number of completions for {@code cq} that wait to be polled. */
    long waiting(CompletionQueue cq);

    /** True if a peer has signalled this arm word last. */
    boolean isNotified(long armWord);
}
