// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

/** A side of a queue pair, where completions come from. */
interface Source {
    /** Moves completions to the batch, as many as there are and fit. Called by the thread that polls the queue. */
    void drain(CompletionBatch into);

    /** Changes when completions that were drained before are void, since the queue pair was reset or closed. */
    int generation();

    /** Whether there is something to drain, as far as can be seen without the lock. */
    boolean hasCompletions();

    /** Whether something is posted whose completion {@link QueueSocket#fd} does not show; looks what is done. */
    boolean isPending();

    /** Has the engine look for the next completion. */
    void watch();
}
