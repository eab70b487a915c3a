// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

/**
 * How the frames of a queue pair are received. All under the lock of its {@link ReceiveSide}, but for {@link
 * #hasFrames}.
 */
interface FrameReceiver {
    /** There may be more, although there was room. */
    int MORE = -1;

    /** Gives it chunks of the region for frames to come. */
    void post(long[] offsets, int n);

    /** Moves frames that have come to the batch: 0, {@link #MORE}, or an errno if the interface is gone. */
    int take(CompletionBatch into);

    /** Whether a frame may have come, as far as can be seen without the lock. */
    boolean hasFrames();

    /**
     * Whether frames that belong to no flow come too, and are found out by {@link #take}. Then a readable descriptor does
     * not say that there is a completion, and changes of flows have to wait for frames that came before.
     */
    boolean isUnfiltered();
}
