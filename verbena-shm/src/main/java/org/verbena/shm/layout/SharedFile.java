// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.layout;

import java.util.BitSet;

import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Mapping;
import org.verbena.linux.Memfd;

/**
 * A sparse memory file that this process writes and peers can only read: it is mapped writable once and then sealed
 * against every later writable mapping, truncation and hole. Pages are reserved before they are used, for the first access to a page
 * without memory would be a SIGBUS.
 */
public final class SharedFile {
    private static final int SIZE_SEALS = Memfd.SEAL_SEAL | Memfd.SEAL_SHRINK | Memfd.SEAL_GROW;
    private static final int SEALS = SIZE_SEALS | Memfd.SEAL_FUTURE_WRITE;
    private static final int PAGE_SHIFT = 12;

    private final Fd fd;
    private final Mapping mapping;
    private final BitSet reserved = new BitSet();

    /**
     * Makes one.
     *
     * @param head bytes at its beginning that are reserved at once
     */
    public SharedFile(String name, long size, long head) throws LinuxException {
        this(name, size, head, SEALS);
    }

    private SharedFile(String name, long size, long head, int seals) throws LinuxException {
        fd = Memfd.create(name, size);
        try {
            mapping = Mapping.map(fd, 0, size, true);
            Memfd.addSeals(fd, seals);
            reserve(0, head);
        } catch (LinuxException e) {
            fd.close();
            throw e;
        }
    }

    /** Makes one that peers may write as well; the arguments are those of the constructor. */
    public static SharedFile commons(String name, long size, long head) throws LinuxException {
        return new SharedFile(name, size, head, SIZE_SEALS);
    }

    /** Maps a peer's commons writable, after checking that the peer cannot shrink it. */
    public static Mapping mapPeerCommons(Fd fd, long size) throws ProtocolException, LinuxException {
        return mapPeer(fd, size, SIZE_SEALS, true);
    }

    /** Maps a peer's file read-only, after checking that the peer cannot shrink it. */
    public static Mapping mapPeer(Fd fd, long size) throws ProtocolException, LinuxException {
        return mapPeer(fd, size, SEALS, false);
    }

    private static Mapping mapPeer(Fd fd, long size, int seals, boolean writable)
            throws ProtocolException, LinuxException {
        if ((Memfd.seals(fd) & seals) != seals || Memfd.size(fd) != size) {
            throw new ProtocolException("a memory file is not sealed or has a wrong size");
        }
        return Mapping.map(fd, 0, size, writable);
    }

    public Fd fd() {
        return fd;
    }

    public Mapping mapping() {
        return mapping;
    }

    public long address() {
        return mapping.address();
    }

    /** Ensures that a range has pages. */
    public synchronized void reserve(long offset, long length) throws LinuxException {
        int from = (int) (offset >>> PAGE_SHIFT);
        int to = (int) (offset + length - 1 >>> PAGE_SHIFT) + 1;
        for (int a = reserved.nextClearBit(from); a < to; a = reserved.nextClearBit(a)) {
            int b = reserved.nextSetBit(a);
            int end = b < 0 || b > to ? to : b;
            Memfd.allocate(fd, (long) a << PAGE_SHIFT, (long) (end - a) << PAGE_SHIFT);
            reserved.set(a, end);
        }
    }

    public void close() {
        fd.close();
    }
}
