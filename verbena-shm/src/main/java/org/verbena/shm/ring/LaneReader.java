// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.ring;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.ArmWord;
import org.verbena.shm.layout.Claim;
import org.verbena.shm.layout.LaneLayout;
import org.verbena.shm.layout.ProtocolException;

/**
 * Reads one lane, see {@link LaneLayout}, in memory that the peer may write at any time: the commit is read once and
 * handed on, and whatever its value, all reads stay inside the entry. Immutable.
 */
public final class LaneReader {
    private final long base;
    private final long mask;

    public LaneReader(long base, int entries) {
        this.base = base;
        this.mask = entries - 1L;
    }

    /**
     * The lane that the peer made for a connection of ours.
     *
     * @param arena address of the arena that the peer writes
     * @param number of our queue pair
     * @param link the connection, by our number
     * @return null if there is none yet
     * @throws ProtocolException if the peer violates the protocol
     */
    static @Nullable public LaneReader find(long arena, int number, long link, int entries) throws ProtocolException {
        long directoryEntry = directoryEntry(arena, number, link);
        if (directoryEntry == 0) {
            return null;
        }
        long offset = RawMemory.getLong(directoryEntry + LaneLayout.LANE_OFFSET);
        if (RawMemory.getLong(directoryEntry + LaneLayout.LANE_ENTRIES) != entries || offset < LaneLayout.HEAP
                || (offset & 127) != 0 || offset > LaneLayout.SIZE - ((long) entries << LaneLayout.ENTRY_SHIFT)) {
            throw new ProtocolException("the lane lies outside the arena or has a wrong size");
        }
        return new LaneReader(arena + offset, entries);
    }

    /** True if the writer of the lane has signalled this arm word last; the first arguments are those of {@link #find}. */
    public static boolean isNotified(long arena, int number, long link, long armWord) {
        long directoryEntry = directoryEntry(arena, number, link);
        return directoryEntry != 0 && ArmWord.isSame(RawMemory.getLongAcquire(directoryEntry
                + LaneLayout.LANE_NOTIFIED), armWord);
    }

    /** Address of the peer's directory entry of the lane for a connection; 0 if there is none. */
    private static long directoryEntry(long arena, int number, long link) {
        long pages = RawMemory.getLongAcquire(arena + LaneLayout.HEADER_LANE_PAGES);
        if ((pages & 1L << LaneLayout.lanePage(number)) == 0 || link == 0) {
            return 0; // an entry without a page must not be read, for there may be no memory for it
        }
        long directoryEntry = arena + LaneLayout.lane(number);
        return RawMemory.getLongAcquire(directoryEntry + LaneLayout.LANE_TARGET) == link ? directoryEntry : 0;
    }

    /** How many entries from {@code from} on are committed, at most {@code most}; any thread that keeps the lane mapped. */
    public int waiting(long from, int most) {
        int n = 0;
        while (n < most && LaneLayout.isReached(commit(entry(from + n)), from + n)) {
            n++;
        }
        return n;
    }

    /** Address of entry {@code index}. */
    public long entry(long index) {
        return LaneLayout.entry(base, mask, index);
    }

    /** The commit word of an entry; {@link LaneLayout#isOf} checks whether it is the expected one. */
    public static long commit(long entry) {
        return RawMemory.getLongAcquire(entry + LaneLayout.COMMIT);
    }

    /**
     * Prefetches the second line of an entry. Before the commit is read, this fetches both lines at once,
     * where one after the other would cost a message of 49 to 64 bytes a second trip.
     *
     * @return its first word, perhaps of the entry's last use
     */
    public static long secondLine(long entry) {
        return RawMemory.getLongOpaque(entry + LaneLayout.SECOND_LINE);
    }

    /** Message length, at most 4 GiB - 1. */
    public static long length(long entry, long commit) {
        return (LaneLayout.flags(commit) & LaneLayout.IS_INLINE) != 0
                ? LaneLayout.inlineLength(commit)
                : RawMemory.getInt(entry + LaneLayout.LENGTH) & 0xffffffffL;
    }

    public static int immediate(long entry) {
        return RawMemory.getInt(entry + LaneLayout.IMMEDIATE);
    }

    public static long timestamp(long entry, long commit) {
        return RawMemory.getLong(entry + LaneLayout.timestamp(LaneLayout.flags(commit)));
    }

    /** The receive of a pool that the entry completes, see {@link Claim}. */
    public static long claim(long entry) {
        return RawMemory.getLong(entry + LaneLayout.CLAIM);
    }

    /** Address of the payload, of at most {@link LaneLayout#INLINE} bytes. */
    public static long payload(long entry, long commit) {
        return entry + LaneLayout.payload(LaneLayout.flags(commit));
    }
}
