// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Bytes that look random, are known by a seed, and never repeat within a message. */
final class Pattern {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    /** Words that are made at a time: an access to a segment costs more than an access to an array where nothing is inlined. */
    private static final int PIECE = 1024;

    private Pattern() {}

    private static long word(long seed, long index) {
        long z = (seed + index) * 0x9E3779B97F4A7C15L;
        z = (z ^ (z >>> 32)) * 0xD6E8FEB86659FD93L;
        return z ^ (z >>> 29) ^ (seed << 40);
    }

    private static byte at(long seed, long i) {
        return (byte) (word(seed, i >>> 3) >>> ((int) (i & 7) * 8));
    }

    /** The words from one on, as many as there is room for; how many. */
    private static int make(long[] piece, long seed, long from, long words) {
        int n = (int) Math.min(piece.length, words - from);
        for (int i = 0; i < n; i++) {
            piece[i] = word(seed, from + i);
        }
        return n;
    }

    /** Fills the segment; byte {@code i} depends on the seed and on {@code i}. */
    static void fill(MemorySegment s, long seed) {
        long words = s.byteSize() >>> 3;
        long[] piece = new long[(int) Math.min(words, PIECE)];
        for (long i = 0; i < words; i += PIECE) {
            int n = make(piece, seed, i, words);
            MemorySegment.copy(piece, 0, s, LONG, i << 3, n);
        }
        for (long i = words << 3; i < s.byteSize(); i++) {
            s.set(ValueLayout.JAVA_BYTE, i, at(seed, i));
        }
    }

    /** The offset of the first byte that {@link #fill} would not have written, or -1. */
    static long mismatch(MemorySegment s, long seed) {
        long words = s.byteSize() >>> 3;
        long[] piece = new long[(int) Math.min(words, PIECE)];
        long[] found = new long[piece.length];
        for (long i = 0; i < words; i += PIECE) {
            int n = make(piece, seed, i, words);
            MemorySegment.copy(s, LONG, i << 3, found, 0, n);
            int wrong = Arrays.mismatch(piece, 0, n, found, 0, n);
            if (wrong >= 0) {
                return firstOf(s, seed, (i + wrong) << 3, (i + wrong + 1) << 3);
            }
        }
        return firstOf(s, seed, words << 3, s.byteSize());
    }

    private static long firstOf(MemorySegment s, long seed, long from, long to) {
        for (long i = from; i < to; i++) {
            if (s.get(ValueLayout.JAVA_BYTE, i) != at(seed, i)) {
                return i;
            }
        }
        return -1;
    }

    /** The first bytes of a pattern. */
    static byte[] bytes(int length, long seed) {
        byte[] b = new byte[length];
        fill(MemorySegment.ofArray(b), seed);
        return b;
    }
}
