// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.util.concurrent.Future;

import org.jspecify.annotations.Nullable;

/**
 * Who does for the remote memory of a connection what is not for the program's threads, and how they wait for it: the
 * {@link Engine}, or a test that decides what happens when.
 */
interface ProgressExecutor {
    /** Has something done that does not block, by the one thread that also takes what the other end says. */
    void submit(Runnable job);

    /** The same, of what is due again and again; allocates nothing. */
    void schedule(Engine.CoalescedTask duty);

    /** Has something done that may wait for a process that is stopped. */
    void executeBlocking(Runnable task);

    /** Has something done that waits for this end's copies, for as long as they take. */
    void executeLong(Runnable task);

    /** Has the program told of something, which may run what it likes then: nothing else may wait for that. */
    void executeCallback(Runnable callback);

    /** Waits; for who looks again then. */
    void pause(long nanos);

    /** Waits for an answer, uninterrupted; null if the time is over. */
    @Nullable
    Integer awaitReply(Future<Integer> answer, long nanos);
}
