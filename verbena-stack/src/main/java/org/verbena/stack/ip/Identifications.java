// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.util.random.RandomGenerator;

/** Numbers of datagrams that go in fragments, counted by a hash of the two ends that others cannot compute (RFC 7739, 5.3). */
final class Identifications {
    private static final int COUNTERS = 256;

    private final int[] counters = new int[COUNTERS];
    private final long key;

    Identifications(RandomGenerator random) {
        key = random.nextLong() | 1;
        for (int i = 0; i < COUNTERS; i++) {
            counters[i] = random.nextInt();
        }
    }

    int next(Path p) {
        long h = (p.remoteHigh() ^ Long.rotateLeft(p.localLow(), 32) ^ p.localHigh()) * key;
        h = (h ^ h >>> 32 ^ p.remoteLow()) * key;
        return counters[(int) (h >>> 56)]++;
    }
}
