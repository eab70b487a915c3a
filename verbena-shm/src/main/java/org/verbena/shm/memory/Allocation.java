// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.memory;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Mapping;
import org.verbena.linux.Memfd;
import org.verbena.shm.layout.Extents;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.MemoryLimit;
import org.verbena.verbs.spi.SharedBuffer;

/**
 * Memory that peers of its protection domains map: a memory file of Verbena's own, or a buffer that another driver shares
 * (dma-buf). The pages of a file are reserved at once. The address range stays valid as long as the segment is
 * reachable, but {@link #free} takes the pages away: a peer that is stopped in the middle of a copy writes later
 * to pages that are not mapped here, unless they are another driver's.
 */
public final class Allocation {
    public final long id;
    public final long bytes;
    public final Fd fd;
    public final Mapping mapping;
    /** Where in the file the mapping begins. */
    public final long fileOffset;
    /** Where in the mapping the memory begins. */
    private final long start;
    /** Another driver's buffer; null for a file of Verbena's own. */
    private final @Nullable SharedBuffer foreign;
    /** It outlives its regions, for it is device memory. */
    private boolean held;
    /** It is not in use, and will not be. */
    private boolean retired;
    /** The number of its regions of each protection domain. */
    private final Map<Integer, Integer> users = new HashMap<>();

    private Allocation(long id, long bytes, Fd fd, Mapping mapping, long fileOffset, long start,
            @Nullable SharedBuffer foreign) {
        this.id = id;
        this.bytes = bytes;
        this.fd = fd;
        this.mapping = mapping;
        this.fileOffset = fileOffset;
        this.start = start;
        this.foreign = foreign;
    }

    static Allocation make(String verb, long id, long bytes) throws VerbsException {
        long size = Extents.pages(bytes);
        MemoryLimit.require(verb, size);
        Fd fd = null;
        try {
            fd = Memfd.create("verbena-memory", size);
            Memfd.allocate(fd, 0, size);
            Memfd.addSeals(fd, Memfd.SEAL_SEAL | Memfd.SEAL_SHRINK | Memfd.SEAL_GROW);
            return new Allocation(id, bytes, fd, Mapping.map(fd, 0, size, true), 0, 0, null);
        } catch (LinuxException e) {
            if (fd != null) {
                fd.close();
            }
            throw new VerbsException(verb, e);
        }
    }

    /** Maps a part of a shared buffer; the descriptor stays the caller's. */
    static Allocation ofDmaBuf(String verb, long id, int descriptor, long offset, long bytes) throws VerbsException {
        SharedBuffer b = SharedBuffer.map(verb, descriptor, offset, bytes);
        return new Allocation(id, bytes, b.fd(), b.mapping(), b.fileOffset(), b.start(), b);
    }

    public MemorySegment segment() {
        return mapping.segment().asSlice(start, bytes);
    }

    /** True if the pages are another driver's and stay when the mapping goes. */
    public boolean isForeign() {
        return foreign != null;
    }

    /** Counts a region of a protection domain; false if the memory is released already. */
    synchronized boolean use(int pd) {
        if (!retired) {
            users.merge(pd, 1, Integer::sum);
        }
        return !retired;
    }

    /** Removes a region from the count; true if it was the protection domain's last. */
    synchronized boolean unuse(int pd) {
        return users.computeIfPresent(pd, (_, n) -> n == 1 ? null : n - 1) == null;
    }

    /** Closes it to further use if it is not in use; true to the one caller that has to free it. */
    synchronized boolean retire() {
        boolean last = !retired && !held && users.isEmpty();
        retired |= last;
        return last;
    }

    /** Keeps it without regions, or ends that. */
    synchronized void hold(boolean on) {
        held = on;
    }

    public synchronized boolean isUsedBy(int pd) {
        return users.containsKey(pd);
    }

    /** True if the pages go when one region of the protection domain does. */
    synchronized boolean vanishesWithout(int pd) {
        return foreign == null && !held && users.size() == 1 && Integer.valueOf(1).equals(users.get(pd));
    }

    /** True if the segment's memory belongs to this allocation. */
    public boolean holds(MemorySegment s) {
        long offset = s.address() - mapping.address() - start;
        return offset >= 0 && offset <= bytes && s.byteSize() <= bytes - offset && !mapping.isDiscarded();
    }

    /** Releases the pages; the address range then holds private zeros. */
    void free() throws VerbsException {
        try {
            mapping.discard();
        } catch (LinuxException e) {
            throw new VerbsException("free memory", e);
        } finally {
            if (foreign != null) {
                foreign.close();
            } else {
                fd.close();
            }
        }
    }
}
