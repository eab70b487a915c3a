package org.verbena.shm;

import java.lang.foreign.MemorySegment;

import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Mapping;
import org.verbena.linux.Memfd;
import org.verbena.linux.Sys;
import org.verbena.verbs.VerbsException;

/**
 * Memory that Verbena allocated: a memory file of its own, which peers of the protection domain map. Its pages are
 * reserved at once. The address range stays valid as long as anybody holds the segment, but {@link #free} takes the
 * pages away: what a peer that is stopped in the middle of a copy writes later goes to pages that nobody sees.
 */
final class Allocation {
    final long id;
    final int pd;
    final long bytes;
    final Fd fd;
    final Mapping mapping;
    private int regions;

    private Allocation(long id, int pd, long bytes, Fd fd, Mapping mapping) {
        this.id = id;
        this.pd = pd;
        this.bytes = bytes;
        this.fd = fd;
        this.mapping = mapping;
    }

    static Allocation make(String verb, long id, int pd, long bytes) throws VerbsException {
        long size = Extents.pages(bytes);
        long available = Sys.availableMemory();
        if (size > available) {
            // asking the kernel for it would first take all memory there is from everybody
            throw new VerbsException(verb, Errno.ENOMEM, "only " + available + " bytes of memory are available");
        }
        Fd fd = null;
        try {
            fd = Memfd.create("verbena-memory", size);
            Memfd.allocate(fd, 0, size);
            Memfd.addSeals(fd, Memfd.SEAL_SEAL | Memfd.SEAL_SHRINK | Memfd.SEAL_GROW);
            return new Allocation(id, pd, bytes, fd, Mapping.map(fd, 0, size, true));
        } catch (LinuxException e) {
            if (fd != null) {
                fd.close();
            }
            throw new VerbsException(verb, e);
        }
    }

    MemorySegment segment() {
        return mapping.segment().asSlice(0, bytes);
    }

    /** Counts a region in this memory. */
    synchronized void use() {
        regions++;
    }

    /** Counts a region off; answers true if it was the last. */
    synchronized boolean unuse() {
        return --regions == 0;
    }

    /** True if the segment's memory belongs to this allocation. */
    boolean holds(MemorySegment s) {
        long offset = s.address() - mapping.address();
        return offset >= 0 && offset <= bytes && s.byteSize() <= bytes - offset && !mapping.isDiscarded();
    }

    /** Gives the pages back; the address range then holds zeros that belong to nobody else. */
    void free() throws VerbsException {
        try {
            mapping.discard();
        } catch (LinuxException e) {
            throw new VerbsException("free memory", e);
        }
        fd.close();
    }

    /** The context closes: gives the descriptor back and leaves the pages to whoever still holds the segment. */
    void abandon() {
        fd.close();
    }
}
