// SPDX-License-Identifier: Apache-2.0
package org.verbena.testkit;

import java.nio.ByteBuffer;

/** The checksum of RFC 1071 in its plainest form, as the opposite of what is tested. */
public final class InternetChecksum {
    private InternetChecksum() {}

    /** The sum of 16-bit words, of which the last may lack its second byte. */
    public static long sum(ByteBuffer b, int at, int length) {
        long sum = 0;
        for (int i = 0; i < length; i++) {
            sum += (b.get(at + i) & 0xffL) << (i % 2 == 0 ? 8 : 0);
        }
        return sum;
    }

    /** A sum in 16 bits; the checksum is its complement. */
    public static int fold(long sum) {
        long s = sum;
        while (s >> 16 != 0) {
            s = (s & 0xffff) + (s >> 16);
        }
        return (int) s;
    }
}
