// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.layout;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.verbs.VerbsException;

/** The parts of the arena that we write for a peer, by their addresses in this process. Safe for use by several threads. */
public final class ArenaHeap {
    private final SharedFile arena;
    /** The parts that are in use. */
    private final Extents extents = new Extents(LaneLayout.HEAP, LaneLayout.SIZE);

    ArenaHeap(SharedFile arena) {
        this.arena = arena;
    }

    /** Takes a part of the arena, without pages yet; returns its address. */
    public long take(String verb, long bytes) throws VerbsException {
        long at = extents.take(bytes);
        if (at < 0) {
            throw new VerbsException(verb, Errno.ENOMEM, "the arena is full");
        }
        return arena.address() + at;
    }

    /** Reserves pages for a part of the arena. */
    public void reserve(long address, long bytes) throws LinuxException {
        arena.reserve(offset(address), bytes);
    }

    public void give(long address, long bytes) {
        extents.give(offset(address), bytes);
    }

    /** Offset in the arena of an address. */
    public long offset(long address) {
        return address - arena.address();
    }
}
