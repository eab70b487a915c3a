// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/** Connections by the peer's address and both ports: a hash table with open addressing, since a lookup must not allocate. */
final class FlowTable {
    private static final int FIRST_SIZE = 64;

    /** So that nobody can choose addresses and ports that fall together. */
    private final long secret;
    private long[] keys = new long[FIRST_SIZE];
    /** Null where {@link #keys} has no meaning. */
    private @Nullable Flow[] flows = new @Nullable Flow[FIRST_SIZE];
    private int size;

    FlowTable(long secret) {
        this.secret = secret;
    }

    static long key(int remote, int remotePort, int port) {
        return (long) remote << 32 | (long) remotePort << 16 | port;
    }

    private int home(long key) {
        long h = (key ^ secret) * 0x9e37_79b9_7f4a_7c15L;
        h = (h ^ h >>> 32 ^ secret >>> 7) * 0xd6e8_feb8_6659_fd93L;
        return (int) (h >>> 32) & flows.length - 1;
    }

    private int find(long key) {
        int mask = flows.length - 1;
        int i = home(key);
        while (flows[i] != null && keys[i] != key) {
            i = i + 1 & mask;
        }
        return i;
    }

    @Nullable
    Flow get(long key) {
        return flows[find(key)];
    }

    int size() {
        return size;
    }

    /** Gives a key a flow, in place of the one that it had. */
    void put(long key, Flow f) {
        int i = find(key);
        if (flows[i] == null) {
            if (++size * 2 > flows.length) {
                grow();
                i = find(key);
            }
            keys[i] = key;
        }
        flows[i] = f;
    }

    private void grow() {
        long[] oldKeys = keys;
        @Nullable Flow[] old = flows;
        keys = new long[old.length * 2];
        flows = new @Nullable Flow[old.length * 2];
        for (int i = 0; i < old.length; i++) {
            if (old[i] != null) {
                int to = find(oldKeys[i]);
                keys[to] = oldKeys[i];
                flows[to] = old[i];
            }
        }
    }

    void remove(long key) {
        int mask = flows.length - 1;
        int free = find(key);
        if (flows[free] == null) {
            return;
        }
        size--;
        // Those behind move up, unless they would come before their home.
        for (int i = free + 1 & mask; flows[i] != null; i = i + 1 & mask) {
            int home = home(keys[i]);
            if ((i - home & mask) >= (i - free & mask)) {
                keys[free] = keys[i];
                flows[free] = flows[i];
                free = i;
            }
        }
        flows[free] = null;
    }

    void forEach(Consumer<Flow> c) {
        for (@Nullable Flow f : flows.clone()) {
            if (f != null) {
                c.accept(f);
            }
        }
    }
}
