package org.verbena.shm;

import org.jspecify.annotations.Nullable;

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

    /**
     * The lane that the peer made for a connection.
     *
     * @param peerEntry address of the peer's directory entry
     * @param link the connection, as we named it
     * @return null if there is none yet
     * @throws ProtocolException if what the peer says makes no sense
     */
    static @Nullable LaneReader find(Session s, long peerEntry, long link, int entries) throws ProtocolException {
        long offset = RawMemory.getLongAcquire(peerEntry + AdapterLayout.QP_LANE);
        if (offset == 0 || RawMemory.getLong(peerEntry + AdapterLayout.QP_LANE_TARGET) != link) {
            return null;
        }
        if (RawMemory.getLong(peerEntry + AdapterLayout.QP_LANE_ENTRIES) != entries || offset < LaneLayout.HEAP
                || (offset & 127) != 0 || offset > LaneLayout.SIZE - ((long) entries << LaneLayout.ENTRY_SHIFT)) {
            throw new ProtocolException("the lane lies outside the arena or has a wrong size");
        }
        return new LaneReader(s.peerArenaBase() + offset, entries);
    }

    /** How many entries from {@code from} on are committed, at most {@code most}; any thread that keeps the lane mapped. */
    int waiting(long from, int most) {
        int n = 0;
        while (n < most && LaneLayout.isReached(commit(entry(from + n)), from + n)) {
            n++;
        }
        return n;
    }

    /** Address of entry {@code index}. */
    long entry(long index) {
        return LaneLayout.entry(base, mask, index);
    }

    /** The commit word of an entry; {@link LaneLayout#isOf} tells whether it is the one that is waited for. */
    static long commit(long entry) {
        return RawMemory.getLongAcquire(entry + LaneLayout.COMMIT);
    }

    /**
     * Asks for the second line of an entry. Who does so before the look at the commit has both lines on their way at once,
     * where one after the other would cost a message of 49 to 64 bytes a second trip.
     *
     * @return whatever is there, perhaps of the entry's last use
     */
    static long secondLine(long entry) {
        return RawMemory.getLongOpaque(entry + LaneLayout.SECOND_LINE);
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
