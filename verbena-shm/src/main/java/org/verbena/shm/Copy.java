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

    private Copy() {
    }

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

    /** Copies whole words; the destination is aligned to 8 bytes. */
    static void words(long from, long to, int count) {
        for (int i = 0; i < count; i++) {
            RawMemory.putLong(to + 8L * i, RawMemory.getLongUnaligned(from + 8L * i));
        }
    }

    /** Copies at most some dozens of bytes. */
    static void small(long from, long to, int bytes) {
        if (bytes >= 8) {
            int i = 0;
            for (; i < bytes - 8; i += 8) {
                RawMemory.putLongUnaligned(to + i, RawMemory.getLongUnaligned(from + i));
            }
            VarHandle.releaseFence();
            RawMemory.putLongUnaligned(to + bytes - 8, RawMemory.getLongUnaligned(from + bytes - 8));
        } else if (bytes >= 4) {
            if (bytes > 4) {
                RawMemory.putIntUnaligned(to, RawMemory.getIntUnaligned(from));
                VarHandle.releaseFence();
            }
            RawMemory.putIntUnaligned(to + bytes - 4, RawMemory.getIntUnaligned(from + bytes - 4));
        } else {
            for (int i = 0; i < bytes; i++) {
                RawMemory.putByte(to + i, RawMemory.getByte(from + i));
            }
        }
    }
}
