// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The Internet checksum, RFC 1071: ones' complement sums of 16-bit words. Words are summed in the machine's byte order,
 * which is little-endian, and a folded sum is written to the packet as it is: the sum does not depend on the order
 * (RFC 1071, 2 B). Nothing allocates; bounds are the segment's. Stateless.
 */
public final class InternetSum {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

    private InternetSum() {}

    /**
     * The sum of bytes, not folded; a last odd byte counts as if a zero followed.
     *
     * @param length less than 2 GiB
     */
    public static long of(MemorySegment memory, long at, int length) {
        long sum = 0;
        int whole = length & ~3;
        for (int i = 0; i < whole; i += Integer.BYTES) { // a plain loop over ints, which the compiler vectorises
            sum += memory.get(INT, at + i) & 0xffff_ffffL;
        }
        if ((length & 2) != 0) {
            sum += memory.get(ValueLayout.JAVA_SHORT_UNALIGNED, at + whole) & 0xffff;
        }
        if ((length & 1) != 0) {
            sum += memory.get(ValueLayout.JAVA_BYTE, at + length - 1) & 0xff;
        }
        return sum;
    }

    /** A sum as 16 bits. */
    public static int fold(long sum) {
        long s = (sum & 0xffff_ffffL) + (sum >>> 32);
        s = (s & 0xffff) + (s >>> 16 & 0xffff) + (s >>> 32);
        s = (s & 0xffff) + (s >>> 16);
        return (int) ((s & 0xffff) + (s >>> 16));
    }

    /** The sum of bytes that begin at an odd place of the whole, of which {@code sum} is that of an even place. */
    public static long shifted(long sum) {
        return Integer.toUnsignedLong(Integer.reverseBytes(fold(sum)) >>> 16);
    }
}
