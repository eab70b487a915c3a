// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

/** Scatter/gather elements of work requests: checks, sums and copies. */
final class ScatterGather {
    private ScatterGather() {}

    /** Bytes of all elements together; -1 if one is negative, or the sum exceeds the longest message. */
    static long length(int count, long[] lengths) {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            long n = lengths[i];
            if (n < 0 || n > Limits.MAX_MESSAGE) {
                return -1;
            }
            sum += n;
        }
        return sum > Limits.MAX_MESSAGE ? -1 : sum;
    }

    /**
     * Bytes of a message that fit into all elements together, which may be larger than any message; -1 if one is
     * negative.
     */
    static long room(int count, long[] lengths) {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            if (lengths[i] < 0) {
                return -1;
            }
            sum = Math.min(Limits.MAX_MESSAGE, sum + Math.min(Limits.MAX_MESSAGE, lengths[i]));
        }
        return sum;
    }

    /** True if each element names memory that may be accessed in this way. */
    static boolean areAllowed(Memory memory, int count, int[] lkeys, long[] addresses, long[] lengths, int access) {
        for (int i = 0; i < count; i++) {
            if (lengths[i] != 0 && memory.local(lkeys[i], addresses[i], lengths[i], access) < 0) {
                return false;
            }
        }
        return true;
    }

    /**
     * Copies a part of a message out of its buffers.
     *
     * @param offset where in the message the part begins; within the buffers, or nothing is copied
     * @return false if an element may not be read
     */
    static boolean gather(Memory memory, int count, int[] lkeys, long[] addresses, long[] lengths, long offset,
            int bytes, long to) {
        return copy(memory, count, lkeys, addresses, lengths, offset, bytes, to, false);
    }

    /** Copies a part of a message into its buffers; as {@link #gather}, with the access of a write. */
    static boolean scatter(Memory memory, int count, int[] lkeys, long[] addresses, long[] lengths, long offset,
            int bytes, long from) {
        return copy(memory, count, lkeys, addresses, lengths, offset, bytes, from, true);
    }

    private static boolean copy(Memory memory, int count, int[] lkeys, long[] addresses, long[] lengths, long offset,
            int bytes, long other, boolean in) {
        long skip = offset;
        int left = bytes;
        long at = other;
        for (int i = 0; left > 0 && i < count; i++) {
            long n = lengths[i];
            if (skip >= n) {
                skip -= n;
                continue;
            }
            int part = (int) Math.min(n - skip, left);
            long done = in
                    ? memory.copyIn(lkeys[i], addresses[i] + skip, at, part)
                    : memory.copyOut(lkeys[i], addresses[i] + skip, at, part);
            if (done < 0) {
                return false;
            }
            at += part;
            left -= part;
            skip = 0;
        }
        return true;
    }
}
