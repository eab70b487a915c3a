// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.util.random.RandomGenerator;

/** How long packets to hosts may be, as routers have told (RFC 1191, RFC 8201), for ten minutes each. */
final class PathMtus {
    static final long LIFETIME = 600_000_000_000L;
    static final int MOST = AddressCache.MOST;

    private final AddressCache<Integer> cache;

    PathMtus(RandomGenerator random) {
        cache = new AddressCache<>(random, LIFETIME);
    }

    /** The length for a host, or {@code otherwise} if nothing was told. */
    int get(long high, long low, int otherwise) {
        Integer mtu = cache.get(high, low);
        return mtu == null ? otherwise : Math.min(mtu, otherwise);
    }

    /** A router has told a length. */
    void put(long high, long low, int mtu, long now) {
        cache.put(high, low, mtu, now);
    }

    /** Forgets what is old; answers when to call again. */
    long work(long now) {
        return cache.work(now);
    }
}
