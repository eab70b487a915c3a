// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.run;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

import org.verbena.cli.support.CommandException;

/** The contents of messages: a stamp at the end that is polled, and a pattern that can be verified. */
public final class PerfPattern {
    /** Eight aligned bytes. */
    public static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();
    private static final ValueLayout.OfLong ANY_LONG = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final int LINE = 64;
    private static final int BLOCK = 4096;
    private static final long GOLDEN = 0x9e3779b97f4a7c15L;

    private PerfPattern() {}

    /** Bytes that the stamp of a message takes: as many as one store can write. */
    public static int stampWidth(long size) {
        return size % 8 == 0 ? 8 : 1;
    }

    public static void stamp(MemorySegment m, long at, int width, long value) {
        if (width == 8) {
            LONG.setRelease(m, at, value);
        } else {
            BYTE.setRelease(m, at, (byte) value);
        }
    }

    public static boolean isStamped(MemorySegment m, long at, int width, long value) {
        return width == 8 ? (long) LONG.getAcquire(m, at) == value : (byte) BYTE.getAcquire(m, at) == (byte) value;
    }

    /** Writes the contents of message {@code number}. */
    public static void fill(MemorySegment m, long at, long length, long number) {
        long i = 0;
        for (; i + 8 <= length; i += 8) {
            m.set(ANY_LONG, at + i, word(number, i));
        }
        for (; i < length; i++) {
            m.set(ValueLayout.JAVA_BYTE, at + i, (byte) word(number, i));
        }
    }

    /** Compares with the contents of message {@code number}. */
    public static void check(MemorySegment m, long at, long length, long number) throws CommandException {
        long i = 0;
        while (i + 8 <= length && m.get(ANY_LONG, at + i) == word(number, i)) {
            i += 8;
        }
        if (i + 8 > length) {
            while (i < length && m.get(ValueLayout.JAVA_BYTE, at + i) == (byte) word(number, i)) {
                i++;
            }
        }
        if (i < length) {
            throw new CommandException("message " + number + " arrived with wrong contents at byte " + i);
        }
    }

    private static long word(long number, long i) {
        return (number + i) * GOLDEN;
    }

    /** Reads every byte. */
    public static long sum(MemorySegment m, long at, long length) {
        long sum = 0;
        long i = 0;
        for (; i + BLOCK <= length; i += BLOCK) {
            sum += block(m, at + i);
        }
        for (; i + 8 <= length; i += 8) {
            sum += m.get(ANY_LONG, at + i);
        }
        for (; i < length; i++) {
            sum += m.get(ValueLayout.JAVA_BYTE, at + i);
        }
        return sum;
    }

    /**
     * A block: memory that another processor has just written is transferred line by line, so one word of each line is
     * read first, which starts many transfers at a time.
     */
    private static long block(MemorySegment m, long at) {
        long a = 0;
        long b = 0;
        for (int k = 0; k < BLOCK; k += LINE) {
            a += m.get(ANY_LONG, at + k);
        }
        for (int k = 0; k < BLOCK; k += 16) {
            a += m.get(ANY_LONG, at + k);
            b += m.get(ANY_LONG, at + k + 8);
        }
        return a + b;
    }
}
