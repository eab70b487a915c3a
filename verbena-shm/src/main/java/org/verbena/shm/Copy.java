package org.verbena.shm;

import java.lang.invoke.VarHandle;

import org.verbena.linux.spi.RawMemory;

/**
 * Copies by address. The caller has checked both ranges. The last bytes are written last, after all others are visible,
 * because applications poll the last byte of a write's destination.
 */
final class Copy {
    /** Up to here a loop in Java beats the call of the copy routine. */
    private static final int SMALL = 128;
    /** Longer copies are cut, so that a garbage collection need not wait for one. */
    static final long CHUNK = 1 << 20;

    private Copy() {}

    static void bytes(long from, long to, long bytes) {
        if (bytes <= SMALL) {
            small(from, to, (int) bytes);
            return;
        }
        long body = bytes - 8;
        long done = 0;
        while (body - done > CHUNK) {
            RawMemory.copy(from + done, to + done, CHUNK);
            done += CHUNK;
        }
        RawMemory.copy(from + done, to + done, body - done);
        VarHandle.releaseFence();
        RawMemory.putLongUnaligned(to + body, RawMemory.getLongUnaligned(from + body));
    }

    /** Copies at most some dozens of bytes, without a loop up to 64: first and last part may overlap. */
    static void small(long from, long to, int bytes) {
        if (bytes > 16) {
            if (bytes > 32) {
                long last = bytes - 32L;
                for (long i = 0; i < last; i += 32) {
                    block32(from + i, to + i);
                }
                block32(from + last, to + last);
            } else {
                block16(from, to);
                block16(from + bytes - 16, to + bytes - 16);
            }
        } else if (bytes >= 8) {
            word(from, to);
            VarHandle.releaseFence();
            word(from + bytes - 8, to + bytes - 8);
        } else {
            tiny(from, to, bytes);
        }
    }

    private static void block32(long from, long to) {
        block16(from, to);
        block16(from + 16, to + 16);
    }

    private static void block16(long from, long to) {
        word(from, to);
        VarHandle.releaseFence();
        word(from + 8, to + 8);
    }

    private static void word(long from, long to) {
        RawMemory.putLongUnaligned(to, RawMemory.getLongUnaligned(from));
    }

    private static void tiny(long from, long to, int bytes) {
        if (bytes >= 4) {
            int first = RawMemory.getIntUnaligned(from);
            int last = RawMemory.getIntUnaligned(from + bytes - 4);
            if (bytes > 4) {
                RawMemory.putIntUnaligned(to, first);
                VarHandle.releaseFence();
            }
            RawMemory.putIntUnaligned(to + bytes - 4, last);
        } else {
            for (int i = 0; i < bytes; i++) {
                RawMemory.putByte(to + i, RawMemory.getByte(from + i));
            }
        }
    }
}
