// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import java.util.random.RandomGenerator;

import org.jspecify.annotations.Nullable;

import org.verbena.stack.ip.Path;

/** Connections by both addresses and both ports: a hash table with open addressing, since a lookup must not allocate. */
final class FlowTable {
    private static final int FIRST_SIZE = 64;

    /** So that nobody can choose addresses and ports that fall together. */
    private final long secret0;
    private final long secret1;
    private int[] hashes = new int[FIRST_SIZE];
    /** Null where {@link #hashes} has no meaning. */
    private @Nullable Flow[] flows = new @Nullable Flow[FIRST_SIZE];
    private int size;

    FlowTable(RandomGenerator random) {
        secret0 = random.nextLong();
        secret1 = random.nextLong();
    }

    private int hash(Path p, int remotePort, int port) {
        long h = mix(p.remoteHigh() ^ secret0, p.remoteLow() ^ secret1);
        h = mix(h ^ p.localHigh(), p.localLow() ^ secret0);
        h = mix(h ^ secret1, ((long) remotePort << 16 | port) ^ secret0);
        return (int) (h ^ h >>> 32);
    }

    private static long mix(long a, long b) {
        return Math.multiplyHigh(a, b) ^ a * b;
    }

    private int find(int hash, Path p, int remotePort, int port) {
        int mask = flows.length - 1;
        int i = hash & mask;
        for (Flow f = flows[i]; f != null && !(hashes[i] == hash && f.is(p, remotePort, port)); f = flows[i]) {
            i = i + 1 & mask;
        }
        return i;
    }

    /** What segments along a path, from a port of the peer to one of this host, go to; null if there is nothing. */
    @Nullable
    Flow get(Path p, int remotePort, int port) {
        return flows[find(hash(p, remotePort, port), p, remotePort, port)];
    }

    int size() {
        return size;
    }

    /** Has segments go to a flow, in place of the one that they went to. */
    void put(Path p, int remotePort, int port, Flow f) {
        int hash = hash(p, remotePort, port);
        int i = find(hash, p, remotePort, port);
        if (flows[i] == null) {
            if (++size * 2 > flows.length) {
                grow();
                i = find(hash, p, remotePort, port);
            }
            hashes[i] = hash;
        }
        flows[i] = f;
    }

    private void grow() {
        int[] oldHashes = hashes;
        @Nullable Flow[] old = flows;
        hashes = new int[old.length * 2];
        flows = new @Nullable Flow[old.length * 2];
        int mask = flows.length - 1;
        for (int k = 0; k < old.length; k++) {
            if (old[k] != null) {
                int i = oldHashes[k] & mask;
                while (flows[i] != null) {
                    i = i + 1 & mask;
                }
                hashes[i] = oldHashes[k];
                flows[i] = old[k];
            }
        }
    }

    void remove(Path p, int remotePort, int port) {
        int mask = flows.length - 1;
        int free = find(hash(p, remotePort, port), p, remotePort, port);
        if (flows[free] == null) {
            return;
        }
        size--;
        // Those behind move up, unless they would come before their home.
        for (int i = free + 1 & mask; flows[i] != null; i = i + 1 & mask) {
            int home = hashes[i] & mask;
            if ((i - home & mask) >= (i - free & mask)) {
                hashes[free] = hashes[i];
                flows[free] = flows[i];
                free = i;
            }
        }
        flows[free] = null;
    }
}
