// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import java.util.random.RandomGenerator;

/** SipHash-2-4 of a few numbers (Aumasson and Bernstein, 2012): who does not know the key cannot guess what it answers. */
final class KeyedHash {
    private final long key0;
    private final long key1;

    KeyedHash(RandomGenerator random) {
        this(random.nextLong(), random.nextLong());
    }

    KeyedHash(long key0, long key1) {
        this.key0 = key0;
        this.key1 = key1;
    }

    /** The hash of the 16 bytes of two numbers, of which each is little-endian. */
    long of(long a, long b) {
        long v0 = key0 ^ 0x736f_6d65_7073_6575L;
        long v1 = key1 ^ 0x646f_7261_6e64_6f6dL;
        long v2 = key0 ^ 0x6c79_6765_6e65_7261L;
        long v3 = key1 ^ 0x7465_6462_7974_6573L;
        for (int i = 0; i < 4; i++) {
            long m = i == 0 ? a : i == 1 ? b : i == 2 ? 16L << 56 : 0; // the last word has the length in its high byte
            v3 ^= i < 3 ? m : 0;
            v2 ^= i < 3 ? 0 : 0xff;
            for (int round = i < 3 ? 2 : 4; round > 0; round--) {
                v0 += v1;
                v2 += v3;
                v1 = Long.rotateLeft(v1, 13) ^ v0;
                v3 = Long.rotateLeft(v3, 16) ^ v2;
                v0 = Long.rotateLeft(v0, 32);
                v2 += v1;
                v0 += v3;
                v1 = Long.rotateLeft(v1, 17) ^ v2;
                v3 = Long.rotateLeft(v3, 21) ^ v0;
                v2 = Long.rotateLeft(v2, 32);
            }
            v0 ^= i < 3 ? m : 0;
        }
        return v0 ^ v1 ^ v2 ^ v3;
    }
}
