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

    /**
     * Commits an entry that carries its payload, of at most {@link LaneLayout#INLINE} bytes.
     *
     * <p>The reader spins on the line, and takes it away from us as soon as it can get it; a line that is taken between
     * its first and its last store costs another trip. So all words are fetched before the first is stored, no more are
     * stored than needed, and the length travels in the commit.
     */
    void putInline(long index, long payload, int length, int immediate, int opcode, int flags) {
        long e = base + ((index & mask) << LaneLayout.ENTRY_SHIFT);
        int more = flags | LaneLayout.IS_INLINE;
        if (timestamps || length > LaneLayout.FIRST_LINE) {
            more |= secondLine(e, index, payload, length);
        }
        long commit = LaneLayout.commit(index, opcode, 0, more) | (long) length << LaneLayout.INLINE_LENGTH_SHIFT;
        if ((flags & LaneLayout.HAS_IMMEDIATE) != 0) {
            RawMemory.putInt(e + LaneLayout.IMMEDIATE, immediate);
        }
        words(payload, e, 0, length);
        if (length > 32) {
            long a = word(payload, 32, length);
            long b = word(payload, 40, length);
            RawMemory.putLong(e + 32, a);
            RawMemory.putLong(e + 40, b);
        }
        RawMemory.putLongRelease(e + LaneLayout.COMMIT, commit);
    }

    /** Up to 32 bytes of a payload from {@code offset}. */
    private static void words(long payload, long to, int offset, int length) {
        long a = word(payload, offset, length);
        if (length - offset <= 8) {
            RawMemory.putLong(to, a);
            return;
        }
        long b = word(payload, offset + 8, length);
        long c = word(payload, offset + 16, length);
        long d = word(payload, offset + 24, length);
        RawMemory.putLong(to, a);
        RawMemory.putLong(to + 8, b);
        RawMemory.putLong(to + 16, c);
        RawMemory.putLong(to + 24, d);
    }

    private int secondLine(long e, long index, long payload, int length) {
        int flags = LaneLayout.HAS_SECOND_LINE;
        if (timestamps) {
            flags |= LaneLayout.HAS_TIMESTAMP;
            RawMemory.putLong(e + LaneLayout.TIMESTAMP, System.nanoTime());
        }
        if (length > LaneLayout.FIRST_LINE) {
            words(payload, e + LaneLayout.SECOND_PAYLOAD, LaneLayout.FIRST_LINE, length);
            if (length > LaneLayout.FIRST_LINE + 32) {
                RawMemory.putLong(e + LaneLayout.SECOND_PAYLOAD + 32, word(payload, LaneLayout.FIRST_LINE + 32,
                        length));
            }
        }
        RawMemory.putLongRelease(e + LaneLayout.SECOND_SEQUENCE, index + 1);
        return flags;
    }

    /** Eight bytes of a payload from {@code offset}, with zeros behind its end; nothing outside it is read. */
    private static long word(long payload, int offset, int length) {
        int rest = length - offset;
        if (rest >= 8) {
            return RawMemory.getLongUnaligned(payload + offset);
        }
        return rest <= 0
                ? 0
                : length >= 8
                        ? RawMemory.getLongUnaligned(payload + length - 8) >>> (8 - rest) * 8
                        : few(payload, length);
    }

    private static long few(long payload, int length) {
        long w = 0;
        for (int i = 0; i < length; i++) {
            w |= (RawMemory.getByte(payload + i) & 0xffL) << 8 * i;
        }
        return w;
    }

    /** Commits an entry for a message whose payload is elsewhere. */
    void put(long index, long length, int immediate, int opcode, int status, int flags) {
        long e = base + ((index & mask) << LaneLayout.ENTRY_SHIFT);
        int f = flags;
        if (timestamps) {
            f |= LaneLayout.HAS_TIMESTAMP | LaneLayout.HAS_SECOND_LINE;
            RawMemory.putLong(e + LaneLayout.TIMESTAMP, System.nanoTime());
            RawMemory.putLongRelease(e + LaneLayout.SECOND_SEQUENCE, index + 1);
        }
        RawMemory.putLong(e + LaneLayout.LENGTH, length & 0xffffffffL | (long) immediate << 32);
        RawMemory.putLongRelease(e + LaneLayout.COMMIT, LaneLayout.commit(index, opcode, status, f));
    }
}
