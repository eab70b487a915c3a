// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import org.verbena.linux.Errno;
import org.verbena.verbs.SendFlags;

/** The requests of a hostile end, which bypasses its own checks. */
public final class Trespass {
    /** The number of bytes that it writes or reads. */
    public static final int BYTES = 64;

    /**
     * The data that an end has about a region of the other end.
     *
     * @param rkey its key
     * @param address of its first byte
     */
    public record Place(int rkey, long address) {}

    private Trespass() {}

    /** The location of a region of the other end. */
    public static Place place(RemoteMemory memory, int theirs) {
        RemoteRegion there = memory.remoteRegion(theirs);
        if (there == null) {
            throw new IllegalArgumentException("no region " + theirs);
        }
        return new Place(there.rkey(), there.address());
    }

    /**
     * Posts a write to a place, or a read from it; the next completion has the result, see {@link
     * RemoteMemory#copies()}.
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
