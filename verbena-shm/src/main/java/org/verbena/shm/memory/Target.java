// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.Mapping;
import org.verbena.linux.spi.RawMemory;
import org.verbena.linux.spi.RawProcessVm;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.Copy;
import org.verbena.shm.layout.Hazard;
import org.verbena.verbs.WcStatus;

/**
 * Memory of the peer as one queue pair's initiator sees it: looks keys up in the peer's key table, checks rights and
 * bounds, and copies. The last key is remembered; its entry's word is read each time, so an invalidated key is
 * noticed. Used by one thread at a time, inside a {@link Hazard}.
 */
public final class Target {
    /** Results of {@link #resolve} beside {@link WcStatus} values. */
    public static final int OK = 0;
    public static final int WAIT = -1;

    private static final MemorySegment ZEROS = Arena.global().allocate(1 << 16, 64);

    private final PeerMemories memories;
    private final int pd;
    /** The peer's queue pair that the requests go to, which memory windows may belong to. */
    private final int peerNumber;
    private final long keys;

    private int key;
    private long word;
    private long address;
    private long length;
    /** The offset from an address in requests to ours, or to the peer's if {@link #mapping} is null. */
    private long delta;
    private @Nullable Mapping mapping;
    /** There is no memory: it reads as zero, and writes are discarded. */
    private boolean nullRegion;
    private int errno;
    private int missing;
    /** Null until the first access. */
    private @Nullable InitiatorCounts counts;

    /** Memory that is accessed through no particular queue pair of the peer. */
    public Target(PeerMemories memories, int pd) {
        this(memories, pd, 0);
    }

    public Target(PeerMemories memories, int pd, int peerNumber) {
        this.memories = memories;
        this.peerNumber = peerNumber;
        this.pd = pd;
        this.keys = memories.peer.base();
    }

    /**
     * The counts of accesses to the memory.
     *
     * @param queuePair the number of our accessing queue pair
     */
    public InitiatorCounts counts(int queuePair) {
        InitiatorCounts c = counts;
        return c != null ? c : makeCounts(queuePair);
    }

    private InitiatorCounts makeCounts(int queuePair) {
        InitiatorCounts c = new InitiatorCounts(memories.counts(), queuePair, peerNumber);
        counts = c;
        return c;
    }

    /** No more accesses to the memory. */
    public void close() {
        InitiatorCounts c = counts;
        if (c != null) {
            counts = null;
            c.close();
        }
    }

    /**
     * Makes a range of the peer's memory the current one.
     *
     * @return {@link #OK}, {@link #WAIT} if the memory is in transit to us, or {@link WcStatus#REM_ACCESS_ERR}
     */
    public int resolve(int rkey, long at, long bytes, int access) {
        long w = RawMemory.getLongAcquire(keys + AdapterLayout.keyEntry(rkey));
        if (rkey != key || w != word || w == 0) {
            int status = load(rkey, w);
            if (status != OK) {
                return status;
            }
        }
        long offset = at - address;
        return (KeyTable.access(w) & access) == access && offset >= 0 && offset <= length && bytes <= length - offset
                ? OK
                : WcStatus.REM_ACCESS_ERR;
    }

    /** Makes all of a region the current range; returns as {@link #resolve(int, long, long, int)}. */
    int resolve(int rkey) {
        long w = RawMemory.getLongAcquire(keys + AdapterLayout.keyEntry(rkey));
        return rkey == key && w == word && w != 0 ? OK : load(rkey, w);
    }

    /** The rights to flush of the current range. */
    int flushAccess() {
        return KeyTable.flushAccess(word);
    }

    /** True if the key is now one of a memory window that was bound through the peer's queue pair. */
    public boolean isWindowOfPeer(int rkey) {
        long w = RawMemory.getLongAcquire(keys + AdapterLayout.keyEntry(rkey));
        return rkey >>> 8 < AdapterLayout.MAX_KEYS && KeyTable.isValid(w) && KeyTable.isWindow(w)
                && KeyTable.fits(w, rkey) && KeyTable.pd(w) == pd && peerNumber != 0 && owner(rkey) == peerNumber;
    }

    /** The queue pair that a window belongs to; 0 if to none. */
    private int owner(int rkey) {
        return RawMemory.getInt(keys + AdapterLayout.keyEntry(rkey) + AdapterLayout.KEY_OWNER);
    }

    private int load(int rkey, long w) {
        key = 0;
        word = 0;
        missing = 0;
        mapping = null;
        nullRegion = KeyTable.isNullRegion(w);
        if (rkey >>> 8 >= AdapterLayout.MAX_KEYS || !KeyTable.isValid(w) || !KeyTable.fits(w, rkey)
                || KeyTable.pd(w) != pd) {
            return WcStatus.REM_ACCESS_ERR;
        }
        if (KeyTable.isWindow(w)) {
            int owner = owner(rkey);
            if (owner != 0 && owner != peerNumber) {
                return WcStatus.REM_ACCESS_ERR;
            }
        }
        long e = keys + AdapterLayout.keyEntry(rkey);
        address = RawMemory.getLong(e + AdapterLayout.KEY_ADDRESS);
        length = RawMemory.getLong(e + AdapterLayout.KEY_LENGTH);
        if (length < 0) {
            return WcStatus.REM_ACCESS_ERR;
        }
        long offset = RawMemory.getLong(e + AdapterLayout.KEY_MEMORY_OFFSET);
        if (KeyTable.isShared(w)) {
            long memory = RawMemory.getLong(e + AdapterLayout.KEY_MEMORY);
            Mapping m = memories.find(memory);
            if (m == null) {
                missing = memories.request(memory);
                return WAIT;
            }
            if (offset < 0 || offset > m.length() || length > m.length() - offset) {
                return WcStatus.REM_ACCESS_ERR;
            }
            mapping = m;
            delta = m.address() + offset - address;
        } else {
            delta = offset - address;
        }
        key = rkey;
        word = w;
        return OK;
    }

    /**
     * Makes 8 bytes at an aligned address the current range, for an operation that must be atomic: they have to be
     * mapped here.
     */
    int resolveWord(int rkey, long at, int access) {
        int status = resolve(rkey, at, 8, access);
        if (status != OK) {
            return status;
        }
        if (!isMapped()) {
            return refuse(Errno.EOPNOTSUPP, WcStatus.REM_OP_ERR);
        }
        return (local(at) & 7) == 0 ? OK : refuse(Errno.EINVAL, WcStatus.REM_INV_REQ_ERR);
    }

    /** True if the current range is mapped here; else it is accessed through the kernel. */
    public boolean isMapped() {
        return mapping != null;
    }

    /** The local address of the peer's address; only if {@link #isMapped()}. */
    public long local(long at) {
        return at + delta;
    }

    /** A part of the current range, read-only; null if it is not mapped here. It stays mapped as long as it is reachable. */
    @Nullable
    public MemorySegment view(long at, long bytes) {
        Mapping m = mapping;
        return m == null ? null : m.segment().asSlice(local(at) - m.address(), bytes).asReadOnly();
    }

    /**
     * Copies from a buffer to the current range, which is mapped.
     *
     * @return false for memory that is too large for a buffer
     */
    public boolean write(ByteBuffer from, int position, int length, long at) {
        Mapping m = Objects.requireNonNull(mapping);
        ByteBuffer to = m.buffer();
        if (to == null) {
            return false;
        }
        to.put((int) (local(at) - m.address()), from, position, length);
        return true;
    }

    /** Copies from a region of ours to the current range; returns {@link #OK} or a status. */
    int write(Region from, long source, long at, long bytes) {
        if (mapping != null) {
            return from.copyOut(source, at + delta, bytes) ? OK : WcStatus.LOC_PROT_ERR;
        }
        return nullRegion
                ? OK
                : faultStatus(from, source, bytes, moved(transfer(true, from, from.local(source), at + delta, bytes),
                        bytes));
    }

    /** Copies from memory of ours that stays mapped. */
    int writeRaw(long source, long at, long bytes) {
        if (mapping != null) {
            Copy.bytes(source, at + delta, bytes);
            return OK;
        }
        return nullRegion
                ? OK
                : moved(bytes == 0 ? 0 : RawProcessVm.write(memories.peer.pid(), source, at + delta, bytes), bytes);
    }

    /** Copies from the current range to a region of ours; returns {@link #OK} or a status. */
    int read(Region to, long destination, long at, long bytes) {
        if (mapping != null) {
            return to.copyIn(at + delta, destination, bytes) ? OK : WcStatus.LOC_PROT_ERR;
        }
        return faultStatus(to, destination, bytes, moved(transfer(false, to, to.local(destination), at + delta, bytes),
                bytes));
    }

    /** The kernel does not tell which end's memory is gone: ours, if it cannot be read. */
    private static int faultStatus(Region own, long at, long bytes, int status) {
        return status == WcStatus.REM_ACCESS_ERR && !own.isReadable(at, bytes) ? WcStatus.LOC_PROT_ERR : status;
    }

    private long transfer(boolean write, Region local, long here, long at, long bytes) {
        if (bytes == 0) {
            return 0;
        }
        if (local.nullRegion) {
            return write ? writeZeros(at, bytes) : bytes;
        }
        try {
            int pid = memories.peer.pid();
            if (write) {
                return local.isRaw()
                        ? RawProcessVm.write(pid, here, at, bytes)
                        : RawProcessVm.write(local.segment, pid, here, at, bytes);
            }
            return local.isRaw()
                    ? RawProcessVm.read(pid, here, at, bytes)
                    : RawProcessVm.read(local.segment, pid, here, at, bytes);
        } catch (IllegalStateException | WrongThreadException e) {
            return -Errno.EFAULT;
        }
    }

    private long writeZeros(long at, long bytes) {
        long done = 0;
        while (done < bytes) {
            long n = RawProcessVm.write(memories.peer.pid(), ZEROS.address(), at + done,
                    Math.min(ZEROS.byteSize(), bytes - done));
            if (n <= 0) {
                return done > 0 ? done : n;
            }
            done += n;
        }
        return done;
    }

    private int moved(long n, long bytes) {
        if (n == bytes) {
            return OK;
        }
        errno = n < 0 ? (int) -n : Errno.EFAULT;
        return errno == Errno.ESRCH ? WcStatus.RETRY_EXC_ERR : WcStatus.REM_ACCESS_ERR;
    }

    /** After {@link #WAIT}: the errno for which arrived memory could not be mapped; 0 if it has not arrived yet. */
    public int missing() {
        return missing;
    }

    /** Records why an operation is refused; returns {@code status}. */
    int refuse(int reason, int status) {
        errno = reason;
        return status;
    }

    /** The errno of a failure since the last call; 0 if there is none. */
    public int takeErrno() {
        int e = errno;
        errno = 0;
        return e;
    }
}
