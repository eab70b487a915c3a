package org.verbena.shm;

import org.verbena.linux.spi.RawMemory;

/**
 * Reads one lane, see {@link LaneLayout}, in memory that the peer may write at any time: the commit is read once and
 * handed on, and whatever it says, all reads stay inside the entry. Immutable.
 */
final class LaneReader {
    private final long base;
    private final long mask;

    LaneReader(long base, int entries) {
        this.base = base;
        this.mask = entries - 1L;
    }

    /** Address of entry {@code index}. */
    long entry(long index) {
        return LaneLayout.entry(base, mask, index);
    }

    /** The commit word of an entry; {@link LaneLayout#isOf} tells whether it is the one that is waited for. */
    static long commit(long entry) {
        return RawMemory.getLongAcquire(entry + LaneLayout.COMMIT);
    }

    /** Message length, at most 4 GiB - 1. */
    static long length(long entry, long commit) {
        return (LaneLayout.flags(commit) & LaneLayout.IS_INLINE) != 0
                ? LaneLayout.inlineLength(commit)
                : RawMemory.getInt(entry + LaneLayout.LENGTH) & 0xffffffffL;
    }

    static int immediate(long entry) {
        return RawMemory.getInt(entry + LaneLayout.IMMEDIATE);
    }

    static long timestamp(long entry, long commit) {
        return RawMemory.getLong(entry + LaneLayout.timestamp(LaneLayout.flags(commit)));
    }

    /** Which receive of a pool the entry completes, see {@link Claim}. */
    static long claim(long entry) {
        return RawMemory.getLong(entry + LaneLayout.CLAIM);
    }

    /** Address of the payload, of at most {@link LaneLayout#INLINE} bytes. */
    static long payload(long entry, long commit) {
        return entry + LaneLayout.payload(LaneLayout.flags(commit));
    }
}
