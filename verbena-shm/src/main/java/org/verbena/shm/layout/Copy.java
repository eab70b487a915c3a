// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.layout;

import java.lang.invoke.VarHandle;

import org.verbena.linux.spi.RawMemory;

/**
 * Copies by address. The caller has checked both ranges. The last bytes are written last, after all others are visible,
 * because applications poll the last byte of a write's destination.
 */
public final class Copy {
    /** Up to here single words in Java beat the call of the copy routine. */
    private static final int SMALL = 128;
    /** Longer copies are cut, so that a garbage collection need not wait for one. */
    static final long CHUNK = 1 << 20;

    private Copy() {}

    public static void bytes(long from, long to, long bytes) {
        if (bytes <= 16) {
            small(from, to, (int) bytes);
            return;
        }
        long body = bytes - 8;
        if (body <= 64) {
            small(from, to, (int) body);
        } else if (body <= SMALL) {
            small(from, to, 64);
            small(from + body - 64, to + body - 64, 64);
        } else {
            large(from, to, body);
        }
        VarHandle.releaseFence();
        word(from + body, to + body);
    }

    private static void large(long from, long to, long bytes) {
        long done = 0;
        while (bytes - done > CHUNK) {
            RawMemory.copy(from + done, to + done, CHUNK);
            done += CHUNK;
        }
        RawMemory.copy(from + done, to + done, bytes - done);
    }

    /**
     * Copies at most 64 bytes, those of more than 16 in any order. There is no loop over the length, which the compiler
     * would unroll too far: first and last part may overlap.
     */
    public static void small(long from, long to, int bytes) {
        if (bytes > 32) {
            RawMemory.copy32(from, to);
            RawMemory.copy32(from + bytes - 32, to + bytes - 32);
        } else if (bytes > 16) {
            RawMemory.copy16(from, to);
            RawMemory.copy16(from + bytes - 16, to + bytes - 16);
        } else if (bytes >= 8) {
            if (bytes > 8) {
                word(from, to);
                VarHandle.releaseFence();
            }
            word(from + bytes - 8, to + bytes - 8);
        } else {
            tiny(from, to, bytes);
        }
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
                VarHandle.releaseFence();
                RawMemory.putByte(to + i, RawMemory.getByte(from + i));
            }
        }
    }
}
