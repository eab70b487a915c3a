// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.function.BiPredicate;
import java.util.random.RandomGenerator;

import org.jspecify.annotations.Nullable;

/** What others have told of hosts, for a while each. */
final class AddressCache<V> {
    /** Of more hosts the oldest are forgotten. */
    static final int MOST = 256;

    private final long lifetime;
    private final AddressMap<Entry<V>> byAddress;
    private final ArrayDeque<Entry<V>> byAge = new ArrayDeque<>();

    /** An empty one, of what is good for so many nanoseconds. */
    AddressCache(RandomGenerator random, long lifetime) {
        this.lifetime = lifetime;
        byAddress = new AddressMap<>(random);
    }

    private record Entry<V>(long high, long low, V value, long until) {}

    /** What was told of a host, or null. */
    @Nullable
    V get(long high, long low) {
        if (byAge.isEmpty()) {
            return null;
        }
        Entry<V> e = byAddress.get(high, low);
        return e == null ? null : e.value;
    }

    /** Somebody tells of a host. */
    void put(long high, long low, V value, long now) {
        Entry<V> old = byAddress.get(high, low);
        if (old != null) {
            byAge.remove(old);
        } else if (byAge.size() == MOST) {
            forgetOldest();
        }
        Entry<V> e = new Entry<>(high, low, value, now + lifetime);
        byAddress.put(high, low, e);
        byAge.add(e);
    }

    /** Forgets what is true for an address and what was told of it. */
    void removeIf(BiPredicate<IpAddress, V> p) {
        for (Iterator<Entry<V>> i = byAge.iterator(); i.hasNext();) {
            Entry<V> e = i.next();
            if (p.test(new IpAddress(e.high, e.low), e.value)) {
                i.remove();
                byAddress.remove(e.high, e.low);
            }
        }
    }

    private void forgetOldest() {
        Entry<V> e = byAge.remove();
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
