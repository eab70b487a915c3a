// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import java.util.random.RandomGenerator;

import org.verbena.stack.ip.Path;

/** SipHash-2-4 of a few numbers (Aumasson and Bernstein, 2012): without the key nobody can guess what it answers. */
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
        return of(2, a, b, 0, 0, 0, 0);
    }

    /** The hash of a path, ports and a number. */
    long of(Path p, int remotePort, int port, long number) {
        return of(6, p.localHigh(), p.localLow(), p.remoteHigh(), p.remoteLow(), (long) remotePort << 16 | port,
                number);
    }

    private long of(int words, long a, long b, long c, long d, long e, long f) {
        long v0 = key0 ^ 0x736f_6d65_7073_6575L;
        long v1 = key1 ^ 0x646f_7261_6e64_6f6dL;
        long v2 = key0 ^ 0x6c79_6765_6e65_7261L;
        long v3 = key1 ^ 0x7465_6462_7974_6573L;
        for (int i = 0; i <= words + 1; i++) {
            long m = i < words ? switch (i) {
                case 0 -> a;
                case 1 -> b;
                case 2 -> c;
                case 3 -> d;
                case 4 -> e;
                default -> f;
            } : i == words ? (long) words * Long.BYTES << 56 : 0; // the last word has the length in its high byte
            boolean last = i > words;
            v3 ^= m;
            v2 ^= last ? 0xff : 0;
            for (int round = last ? 4 : 2; round > 0; round--) {
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
            v0 ^= m;
        }
        return v0 ^ v1 ^ v2 ^ v3;
    }
}
