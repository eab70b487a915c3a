// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.util.concurrent.Future;

import org.jspecify.annotations.Nullable;

/**
 * Runs background work of the remote memory of a connection, and implements waiting for it: the {@link Engine}, or a
 * test that controls the schedule.
 */
interface ProgressExecutor {
    /** Runs a non-blocking task on the one thread that also receives the other end's messages. */
    void submit(Runnable job);

    /** Likewise, for a recurring task; allocates nothing. */
    void schedule(Engine.CoalescedTask task);

    /** Runs a task that may wait for a stopped process. */
    void executeBlocking(Runnable task);

    /** Runs a task that waits for this end's copies, as long as they take. */
    void executeLong(Runnable task);

    /** Runs a callback into the program, which may do anything: nothing else may wait for it. */
    void executeCallback(Runnable callback);

    /** Waits between two polls. */
    void pause(long nanos);

    /** Waits for a reply, uninterruptibly; null after the timeout. */
    @Nullable
    Integer awaitReply(Future<Integer> answer, long nanos);
}
