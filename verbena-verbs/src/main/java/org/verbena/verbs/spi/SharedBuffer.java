// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

import java.lang.foreign.MemorySegment;

import org.verbena.linux.DmaBuf;
import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Mapping;
import org.verbena.linux.Sys;
import org.verbena.verbs.VerbsException;

/** A part of a buffer that another driver shares (dma-buf), mapped for the CPU. Thread-safe. */
public final class SharedBuffer implements AutoCloseable {
    private final Fd fd;
    private final Mapping mapping;
    private final long fileOffset;
    private final long start;
    private final long bytes;

    private SharedBuffer(Fd fd, Mapping mapping, long fileOffset, long start, long bytes) {
        this.fd = fd;
        this.mapping = mapping;
        this.fileOffset = fileOffset;
        this.start = start;
        this.bytes = bytes;
    }

    /**
     * Maps a part of a buffer.
     *
     * @param descriptor of the buffer; it stays the caller's
     * @throws VerbsException {@code EBADF}, {@code EINVAL} if it is no shared buffer or the range is not in it
     */
    public static SharedBuffer map(String verb, int descriptor, long offset, long bytes) throws VerbsException {
        Fd fd = null;
        try {
            fd = Fd.duplicate(descriptor);
            if (!DmaBuf.isDmaBuf(fd)) {
                throw new LinuxException("map fd " + descriptor, Errno.EINVAL, "it is no shared buffer (dma-buf)");
            }
            long size = DmaBuf.size(fd);
            if (offset > size || bytes > size - offset) {
                throw new LinuxException("map fd " + descriptor, Errno.EINVAL, "the buffer has " + size + " bytes");
            }
            long page = Sys.pageSize();
            long from = offset & -page;
            Mapping m = Mapping.map(fd, from, offset + bytes - from + page - 1 & -page, true);
            DmaBuf.beginAccess(fd);
            return new SharedBuffer(fd, m, from, offset - from, bytes);
        } catch (LinuxException e) {
            if (fd != null) {
                fd.close();
            }
            throw new VerbsException(verb, e);
        }
    }

    /** The part. */
    public MemorySegment segment() {
        return mapping.segment().asSlice(start, bytes);
    }

    /** A descriptor of the buffer; closed with this. */
    public Fd fd() {
        return fd;
    }

    /** The pages around the part. */
    public Mapping mapping() {
        return mapping;
    }

    /** Where in the buffer the mapping begins. */
    public long fileOffset() {
        return fileOffset;
    }

    /** Where in the mapping the part begins. */
    public long start() {
        return start;
    }

    /** Tells the driver that the CPU is done; the mapping stays. */
    @Override
    public void close() {
        try {
            DmaBuf.endAccess(fd);
        } catch (LinuxException e) {
            // the buffer goes back in any case, and nothing can be done for it here
            assert e != null;
        }
        fd.close();
    }
}
