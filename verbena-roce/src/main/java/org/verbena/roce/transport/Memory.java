// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.AccessFlags;

/**
 * The memory of one protection domain, as work requests and peers name it. Takes a key, an address and a length;
 * returns a native address, or a code below 0. Called under the context's lock, which every thread that deregisters
 * memory takes as well.
 *
 * <p>The copies and atomics here use that address. That is right for memory that stays valid as long as the lock is
 * held; an implementation for memory that its owner may free without the lock has to override them.
 */
public interface Memory {
    /** No such key. */
    long BAD_KEY = -1;
    /** The range exceeds the region or window. */
    long BAD_RANGE = -2;
    /** The key does not allow the access. */
    long BAD_ACCESS = -3;
    /** An atomic's operand is not aligned to its size. */
    long BAD_ALIGNMENT = -4;

    /**
     * Checks a memory reference of a local work request.
     *
     * @param lkey key of a region
     * @param address first byte, in the address space of the region
     * @param length bytes, above 0
     * @param access {@link org.verbena.verbs.AccessFlags#LOCAL_WRITE} for a write, 0 for a read
     * @return the native address of the first byte, or {@code BAD_…}
     */
    long local(int lkey, long address, long length, int access);

    /**
     * Checks a memory reference of the peer. Called once a message; {@link #remoteAgain} for its later packets.
     *
     * @param queuePair number of the local queue pair that received the packet: a window of type 2 is bound to one
     * @param rkey key of a region or window
     * @param address first byte, in the address space of the region or window
     * @param length bytes of the whole message; with 0 only key and access are checked
     * @param access exactly one of {@code REMOTE_WRITE}, {@code REMOTE_READ}, {@code REMOTE_ATOMIC},
     *        {@code FLUSH_GLOBAL}, {@code FLUSH_PERSISTENT} of {@link org.verbena.verbs.AccessFlags}
     * @return the native address of the first byte, or {@code BAD_…}
     */
    long remote(int queuePair, int rkey, long address, long length, int access);

    /**
     * As {@link #remote}, but counts no message: the key may have been invalidated since the message's first packet.
     */
    long remoteAgain(int queuePair, int rkey, long address, long length, int access);

    /** Copies out of memory that a local work request names; 0, or {@code BAD_…} with nothing copied. */
    default long copyOut(int lkey, long address, long to, int bytes) {
        long from = local(lkey, address, bytes, 0);
        if (from < 0) {
            return from;
        }
        RawMemory.copy(from, to, bytes);
        return 0;
    }

    /** Copies into memory that a local work request names; 0, or {@code BAD_…}. */
    default long copyIn(int lkey, long address, long from, int bytes) {
        long to = local(lkey, address, bytes, AccessFlags.LOCAL_WRITE);
        if (to < 0) {
            return to;
        }
        RawMemory.copy(from, to, bytes);
        return 0;
    }

    /** Copies out of memory that a peer names, as {@link #remoteAgain}; 0, or {@code BAD_…} with nothing copied. */
    default long read(int queuePair, int rkey, long address, long to, int bytes) {
        long from = remoteAgain(queuePair, rkey, address, bytes, AccessFlags.REMOTE_READ);
        if (from < 0) {
            return from;
        }
        RawMemory.copy(from, to, bytes);
        return 0;
    }

    /** Copies into memory that a peer names, as {@link #remoteAgain}; 0, or {@code BAD_…}. */
    default long write(int queuePair, int rkey, long address, long from, int bytes) {
        long to = remoteAgain(queuePair, rkey, address, bytes, AccessFlags.REMOTE_WRITE);
        if (to < 0) {
            return to;
        }
        RawMemory.copy(from, to, bytes);
        return 0;
    }

    /**
     * Adds to eight bytes that a peer names, as {@link #remote}.
     *
     * @param before receives the previous value
     * @return 0, or {@code BAD_…} with nothing changed
     */
    default long fetchAndAdd(int queuePair, int rkey, long address, long add, long[] before) {
        long at = word(queuePair, rkey, address, AccessFlags.REMOTE_ATOMIC);
        if (at < 0) {
            return at;
        }
        before[0] = RawMemory.getAndAddLong(at, add);
        return 0;
    }

    /** Compares and swaps eight bytes that a peer names; as {@link #fetchAndAdd}. */
    default long compareAndSwap(int queuePair, int rkey, long address, long compare, long swap, long[] before) {
        long at = word(queuePair, rkey, address, AccessFlags.REMOTE_ATOMIC);
        if (at < 0) {
            return at;
        }
        before[0] = RawMemory.compareAndExchangeLong(at, compare, swap);
        return 0;
    }

    /**
     * Atomically writes eight bytes that a peer names, in native byte order, as {@link #remote}; 0, or {@code BAD_…}.
     */
    default long put(int queuePair, int rkey, long address, long value) {
        long at = word(queuePair, rkey, address, AccessFlags.REMOTE_WRITE);
        if (at < 0) {
            return at;
        }
        RawMemory.putLongVolatile(at, value);
        return 0;
    }

    private long word(int queuePair, int rkey, long address, int access) {
        long at = remote(queuePair, rkey, address, Long.BYTES, access);
        return at >= 0 && (at & Long.BYTES - 1) != 0 ? BAD_ALIGNMENT : at;
    }

    /**
     * Invalidates a key.
     *
     * @param queuePair number of the local queue pair
     * @param remote true for SEND with invalidate, false for a local LOCAL_INV
     * @return 0, or {@code BAD_…} for an unknown key, or one that this queue pair may not invalidate
     */
    long invalidate(int queuePair, int rkey, boolean remote);

    /**
     * Binds the window that a work request names: {@link SendWqe#window}, {@code rkey}, {@code windowRegion},
     * {@code remoteAddress}, {@code windowLength}, {@code windowAccess}.
     *
     * @return 0, or {@code BAD_…}: the request completes with MW_BIND_ERR
     */
    long bind(int queuePair, SendWqe wqe);
}
