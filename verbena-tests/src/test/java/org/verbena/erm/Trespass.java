// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import org.verbena.linux.Errno;
import org.verbena.verbs.SendFlags;

/** What a hostile end does, which asks no check of its own for leave. */
public final class Trespass {
    /** How many bytes it writes or reads. */
    public static final int BYTES = 64;

    /**
     * What an end knows of a region of the other end's.
     *
     * @param rkey its key
     * @param address of its first byte
     */
    public record Place(int rkey, long address) {}

    private Trespass() {}

    /** Where a region of the other end's is. */
    public static Place place(RemoteMemory memory, int theirs) {
        RemoteRegion there = memory.remoteRegion(theirs);
        if (there == null) {
            throw new IllegalArgumentException("no region " + theirs);
        }
        return new Place(there.rkey(), there.address());
    }

    /**
     * Posts a write to a place, or a read from it; how it ends is the next completion of {@link RemoteMemory#copies()}.
     *
     * @param own {@value #BYTES} bytes at least
     */
    public static void post(RemoteMemory memory, boolean write, LocalRegion own, Place there) {
        var queue = memory.link().data().sendQueue();
        int error = write
                ? queue.postWrite(1, SendFlags.SIGNALED, own.memory(), 0, BYTES, there.rkey(), there.address())
                : queue.postRead(1, SendFlags.SIGNALED, own.memory(), 0, BYTES, there.rkey(), there.address());
        if (error != 0) {
            throw new IllegalStateException("not posted: " + Errno.name(error));
        }
    }
}
