// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.util.ArrayDeque;
import java.util.random.RandomGenerator;

/** How long packets to hosts may be, as routers have told (RFC 8201), for ten minutes each. */
final class PathMtus {
    static final long LIFETIME = 600_000_000_000L;
    /** Of more hosts the oldest are forgotten. */
    static final int MOST = 256;

    private final AddressMap<Entry> byAddress;
    private final ArrayDeque<Entry> byAge = new ArrayDeque<>();

    PathMtus(RandomGenerator random) {
        byAddress = new AddressMap<>(random);
    }

    private record Entry(long high, long low, int mtu, long until) {}

    /** The length for a host, or {@code otherwise} if nothing was told. */
    int get(long high, long low, int otherwise) {
        if (byAge.isEmpty()) {
            return otherwise;
        }
        Entry e = byAddress.get(high, low);
        return e == null ? otherwise : Math.min(e.mtu, otherwise);
    }

    /** A router has told a length. */
    void put(long high, long low, int mtu, long now) {
        Entry old = byAddress.get(high, low);
        if (old != null) {
            byAge.remove(old);
        } else if (byAge.size() == MOST) {
            forgetOldest();
        }
        Entry e = new Entry(high, low, mtu, now + LIFETIME);
        byAddress.put(high, low, e);
        byAge.add(e);
    }

    private void forgetOldest() {
        Entry e = byAge.remove();
        byAddress.remove(e.high, e.low);
    }

    /** Forgets what is old; answers when to call again. */
    long work(long now) {
        while (!byAge.isEmpty() && now - byAge.element().until >= 0) {
            forgetOldest();
        }
        return byAge.isEmpty() ? Long.MAX_VALUE : byAge.element().until;
    }
}
