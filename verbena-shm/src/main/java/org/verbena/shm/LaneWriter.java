package org.verbena.shm;

import org.verbena.linux.spi.RawMemory;

/** Writes one lane, see {@link LaneLayout}. Used by one thread at a time; the credit has been checked. */
final class LaneWriter {
    private final long base;
    private final long mask;
    private final boolean timestamps;

    /**
     * Makes a writer.
     *
     * @param base address of the first entry
     * @param entries a power of two
     */
    LaneWriter(long base, int entries, boolean timestamps) {
        this.base = base;
        this.mask = entries - 1L;
        this.timestamps = timestamps;
    }

    /** Commits an entry that carries its payload, of at most {@link LaneLayout#INLINE} bytes. */
    void putInline(long index, long payload, int length, int immediate, int opcode, int flags) {
        long e = base + ((index & mask) << LaneLayout.ENTRY_SHIFT);
        int f = flags | LaneLayout.IS_INLINE;
        if (length <= LaneLayout.FIRST_LINE) {
            Copy.small(payload, e, length);
        } else {
            f |= LaneLayout.HAS_SECOND_LINE;
            Copy.small(payload + LaneLayout.FIRST_LINE, e + LaneLayout.SECOND_PAYLOAD, length - LaneLayout.FIRST_LINE);
            Copy.small(payload, e, LaneLayout.FIRST_LINE);
        }
        commit(e, index, length, immediate, opcode, 0, f);
    }

    /** Commits an entry for a message whose payload is elsewhere. */
    void put(long index, long length, int immediate, int opcode, int status, int flags) {
        commit(base + ((index & mask) << LaneLayout.ENTRY_SHIFT), index, length, immediate, opcode, status, flags);
    }

    private void commit(long e, long index, long length, int immediate, int opcode, int status, int flags) {
        int f = flags;
        if (timestamps) {
            f |= LaneLayout.HAS_TIMESTAMP | LaneLayout.HAS_SECOND_LINE;
            RawMemory.putLong(e + LaneLayout.TIMESTAMP, System.nanoTime());
        }
        if ((f & LaneLayout.HAS_SECOND_LINE) != 0) {
            RawMemory.putLongRelease(e + LaneLayout.SECOND_SEQUENCE, index + 1);
        }
        RawMemory.putLong(e + LaneLayout.LENGTH, length & 0xffffffffL | (long) immediate << 32);
        RawMemory.putLongRelease(e + LaneLayout.COMMIT, LaneLayout.commit(index, opcode, status, f));
    }
}
