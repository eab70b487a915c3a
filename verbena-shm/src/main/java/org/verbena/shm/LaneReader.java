package org.verbena.shm;

import org.verbena.linux.spi.RawMemory;

/**
 * Reads one lane, see {@link LaneLayout}, in memory that the peer may write at any time: each word is read once. Used by
 * one thread at a time.
 */
final class LaneReader {
    private final long base;
    private final long mask;

    private long commit;
    private long entry;

    LaneReader(long base, int entries) {
        this.base = base;
        this.mask = entries - 1L;
    }

    /** Moves to entry {@code index}; answers false if it is not committed yet. */
    boolean read(long index) {
        long e = base + ((index & mask) << LaneLayout.ENTRY_SHIFT);
        long c = RawMemory.getLongAcquire(e + LaneLayout.COMMIT);
        if ((int) c != (int) (index + 1) || (LaneLayout.flags(c) & LaneLayout.HAS_SECOND_LINE) != 0
                && RawMemory.getLongAcquire(e + LaneLayout.SECOND_SEQUENCE) != index + 1) {
            return false;
        }
        entry = e;
        commit = c;
        return true;
    }

    int opcode() {
        return LaneLayout.opcode(commit);
    }

    int status() {
        return LaneLayout.status(commit);
    }

    int flags() {
        return LaneLayout.flags(commit);
    }

    /** Message length, at most 4 GiB - 1. */
    long length() {
        return (flags() & LaneLayout.IS_INLINE) != 0
                ? LaneLayout.inlineLength(commit)
                : RawMemory.getInt(entry + LaneLayout.LENGTH) & 0xffffffffL;
    }

    int immediate() {
        return RawMemory.getInt(entry + LaneLayout.IMMEDIATE);
    }

    long timestamp() {
        return RawMemory.getLong(entry + LaneLayout.TIMESTAMP);
    }

    /** Copies the first {@code length} bytes of the payload, at most {@link LaneLayout#INLINE}. */
    void payload(long to, int length) {
        if (length <= LaneLayout.FIRST_LINE) {
            Copy.small(entry, to, length);
        } else {
            payload(0, to, length);
        }
    }

    /** Copies {@code length} bytes of the payload from {@code offset}, all below {@link LaneLayout#INLINE}. */
    void payload(int offset, long to, int length) {
        if (offset < LaneLayout.FIRST_LINE) {
            int first = Math.min(length, LaneLayout.FIRST_LINE - offset);
            Copy.small(entry + offset, to, first);
            if (length > first) {
                Copy.small(entry + LaneLayout.SECOND_PAYLOAD, to + first, length - first);
            }
        } else {
            Copy.small(entry + LaneLayout.SECOND_PAYLOAD + offset - LaneLayout.FIRST_LINE, to, length);
        }
    }
}
