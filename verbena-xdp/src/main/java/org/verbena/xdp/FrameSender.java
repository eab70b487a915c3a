// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import org.jspecify.annotations.Nullable;

/**
 * How the frames of a queue pair are sent. All under the lock of its {@link SendSide}, but for {@link #hasDone}.
 */
interface FrameSender {
    /** There is no room now; it is tried again. */
    int LATER = -1;

    /**
     * Takes the frame of a request, or says to the side why it is not sent.
     *
     * @param slot the request
     * @param total the frame's length
     * @param sum whether checksums are filled in
     * @return false if there is no room now
     */
    boolean send(int slot, int total, boolean sum);

    /** Has the kernel send what was taken: 0, {@link #LATER}, or an errno if the interface is gone. */
    int flush();

    /** The number of what was taken last. */
    long last();

    /** Looks what is done. */
    void reap();

    /** Whether all up to a number is done. */
    boolean isDone(long number);

    /** Whether there is something to reap, as far as can be seen without the lock. */
    boolean hasDone();

    /** For sends that are cut into segments; null without them. */
    @Nullable
    SegmentedSends segments();
}
