// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.ring;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.Copy;
import org.verbena.shm.layout.LaneLayout;

/** Writes one lane, see {@link LaneLayout}. Used by one thread at a time; the credit has been checked. */
public final class LaneWriter {
    private final long base;
    private final long mask;
    private final boolean timestamps;

    /**
     * Makes a writer.
     *
     * @param base address of the first entry
     * @param entries a power of two
     */
    public LaneWriter(long base, int entries, boolean timestamps) {
        this.base = base;
        this.mask = entries - 1L;
        this.timestamps = timestamps;
    }

    /**
     * Commits an entry that carries its payload, of at most {@link LaneLayout#INLINE} bytes.
     *
     * <p>The reader spins on the line, and takes it away from us as soon as it can get it; a line that is taken between
     * its first and its last store costs another trip. So no more words are stored than needed, and the length travels
     * in the commit.
     */
    public void putInline(long index, long payload, int length, int immediate, int opcode, int flags) {
        long e = entry(index);
        int f = flags | LaneLayout.IS_INLINE | (length > LaneLayout.FIRST_LINE ? LaneLayout.IN_SECOND_LINE : 0);
        if (timestamps) {
            f |= stamp(e, f);
        }
        if ((flags & (LaneLayout.HAS_IMMEDIATE | LaneLayout.HAS_INVALIDATE)) != 0) {
            RawMemory.putInt(e + LaneLayout.IMMEDIATE, immediate);
        }
        long commit = LaneLayout.commit(index, opcode, 0, f) | (long) length << LaneLayout.INLINE_LENGTH_SHIFT;
        Copy.small(payload, e + LaneLayout.payload(f), length);
        RawMemory.putLongRelease(e + LaneLayout.COMMIT, commit);
    }

    /**
     * Takes the lines of a consumed entry away from the peer, by stores without meaning. In a ring that does not fit into the
     * first-level cache of a core, the store of a message would cost one more trip.
     *
     * @param length of the message that is expected
     */
    public void fetch(long index, long length) {
        long e = entry(index);
        RawMemory.putLong(e, LaneLayout.LENGTH, 0);
        if (length > LaneLayout.FIRST_LINE) {
            RawMemory.putLong(e, LaneLayout.SECOND_LINE, 0);
        }
    }

    /** Stores the receive of a pool that an entry completes; before the commit, and with a payload in the first line only. */
    public void setClaim(long index, long claim) {
        RawMemory.putLong(entry(index) + LaneLayout.CLAIM, claim);
    }

    /** Commits an entry for a message whose payload is elsewhere. */
    public void put(long index, long length, int immediate, int opcode, int status, int flags) {
        long e = entry(index);
        int f = timestamps ? flags | stamp(e, flags) : flags;
        RawMemory.putLong(e + LaneLayout.LENGTH, length & 0xffffffffL | (long) immediate << 32);
        RawMemory.putLongRelease(e + LaneLayout.COMMIT, LaneLayout.commit(index, opcode, status, f));
    }

    private long entry(long index) {
        return LaneLayout.entry(base, mask, index);
    }

    private static int stamp(long e, int flags) {
        RawMemory.putLong(e + LaneLayout.timestamp(flags), System.nanoTime());
        return LaneLayout.HAS_TIMESTAMP;
    }
}
