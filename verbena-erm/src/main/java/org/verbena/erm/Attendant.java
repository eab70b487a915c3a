// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.util.concurrent.Future;

import org.jspecify.annotations.Nullable;

/**
 * Who does for the remote memory of a connection what is not for the program's threads, and how they wait for it: the
 * {@link Engine}, or a test that decides what happens when.
 */
interface Attendant {
    /** Has something done that does not block, by the one thread that also takes what the other end says. */
    void submit(Runnable job);

    /** The same, of what is due again and again; allocates nothing. */
    void due(Engine.Duty duty);

    /** Has something done that may wait for a process that is stopped. */
    void close(Runnable task);

    /** Has something done that waits for this end's copies, for as long as they take. */
    void await(Runnable task);

    /** Has the program told of something, which may run what it likes then: nothing else may wait for that. */
    void tell(Runnable told);

    /** Waits; for who looks again then. */
    void pause(long nanos);

    /** Waits for an answer, uninterrupted; null if the time is over. */
    @Nullable
    Integer answer(Future<Integer> answer, long nanos);
}
