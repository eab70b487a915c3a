// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

import org.verbena.linux.spi.RawMemory;

/**
 * Native memory for the states of stress tests, in zeroed slots that are used again in turn. There are far more slots
 * than states alive, see {@code package-info}.
 */
public final class StressMemory {
    static final int SLOT = 1024;
    private static final int SLOTS = 1 << 15;
    private static final MemorySegment ALL = Arena.global().allocate((long) SLOT * SLOTS, 128);
    private static final AtomicInteger NEXT = new AtomicInteger();

    private StressMemory() {}

    /** The address of a slot of {@value #SLOT} bytes. */
    public static long take() {
        long a = ALL.address() + (long) (NEXT.getAndIncrement() & SLOTS - 1) * SLOT;
        RawMemory.fill(a, SLOT, (byte) 0);
        return a;
    }

    /** Fills {@code bytes}, a multiple of 8, with words that differ from each other and from 0. */
    public static void fill(long at, int bytes, long seed) {
        for (int i = 0; i < bytes; i += 8) {
            RawMemory.putLong(at + i, seed * 1000 + i + 1);
        }
    }

    /** How many of those words are wrong. */
    public static int wrong(long at, int bytes, long seed) {
        int wrong = 0;
        for (int i = 0; i < bytes; i += 8) {
            if (RawMemory.getLong(at + i) != seed * 1000 + i + 1) {
                wrong++;
            }
        }
        return wrong;
    }
}
