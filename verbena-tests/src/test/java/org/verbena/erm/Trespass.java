package org.verbena.erm;

import org.verbena.linux.Errno;
import org.verbena.verbs.SendFlags;

/** What a hostile end does, which asks no check of its own for leave: it knows the keys of the other end's regions. */
public final class Trespass {
    private static final int BYTES = 64;

    private Trespass() {}

    /**
     * Posts a write to a region of the other end's; how it ends is the next completion of {@link RemoteMemory#copies()}.
     *
     * @param own 64 bytes at least
     * @param offset of the first byte, from the region's beginning; anywhere
     * @param keyChange 0 for the region's key; else bits of it that are changed
     */
    public static void write(RemoteMemory memory, LocalRegion own, int theirs, long offset, int keyChange) {
        RemoteRegion there = memory.remoteRegion(theirs);
        if (there == null) {
            throw new IllegalArgumentException("no region " + theirs);
        }
        int error = memory.link().data().sendQueue().postWrite(1, SendFlags.SIGNALED, own.memory(), 0, BYTES,
                there.rkey() ^ keyChange, there.address() + offset);
        if (error != 0) {
            throw new IllegalStateException("not posted: " + Errno.name(error));
        }
    }
}
