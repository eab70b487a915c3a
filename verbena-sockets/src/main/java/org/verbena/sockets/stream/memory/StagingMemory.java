// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream.memory;

import java.nio.ByteBuffer;

import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.VerbsException;

/**
 * The memory that a session's bytes are sent from, used in a circle: what a batch has staged is free again when its
 * signalled request has completed. Guarded by the session's lock.
 */
public final class StagingMemory implements AutoCloseable {
    private static final int BYTES = 256 << 10;

    private final MemoryRegion region;
    private final ByteBuffer bytes;
    /** Where what a signalled request has staged ends, by the lower bits of its number. */
    private final long[] ends;
    private long head;
    private long tail;
    /** Where the memory of what was posted ends. */
    private long posted;

    /** @param requests signalled ones at a time, at most; a power of two */
    public StagingMemory(ProtectionDomain pd, int requests) throws VerbsException {
        region = pd.allocate(BYTES, AccessFlags.LOCAL_WRITE);
        bytes = region.segment().asByteBuffer();
        ends = new long[requests];
    }

    public MemoryRegion region() {
        return region;
    }

    /** Nothing of it is in use: it begins anew, for the memory of the last time is still in the cache. */
    public void reset() {
        head = 0;
        tail = 0;
        posted = 0;
    }

    /**
     * Reserves a number of bytes in one piece; returns their offset. They are free only when {@link #isFree} is true.
     */
    public int reserve(int length) {
        int offset = (int) (head & BYTES - 1);
        if (offset + length > BYTES) {
            head += BYTES - offset;
            offset = 0;
        }
        head += length + 63 & ~63;
        return offset;
    }

    /** Whether earlier requests have left what is reserved. */
    public boolean isFree() {
        return head - tail <= BYTES;
    }

    public void put(int offset, ByteBuffer from, int position, int length) {
        bytes.put(offset, from, position, length);
    }

    public void put(int offset, byte[] from) {
        bytes.put(offset, from);
    }

    /**
     * A signalled request was posted.
     *
     * @param staged whether all that is reserved is of its batch, or earlier; else it has staged nothing
     */
    public void posted(long number, boolean staged) {
        if (staged) {
            posted = head;
        }
        ends[(int) number & ends.length - 1] = posted;
    }

    /** A signalled request has completed. */
    public void completed(long number) {
        tail = ends[(int) number & ends.length - 1];
    }

    @Override
    public void close() throws VerbsException {
        region.close();
    }
}
