// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.function.BiPredicate;
import java.util.random.RandomGenerator;

import org.jspecify.annotations.Nullable;

/** Facts about hosts that were learned from packets; each entry expires. */
final class AddressCache<V> {
    /** The capacity: beyond it the oldest entries are removed. */
    static final int MOST = 256;

    private final long lifetime;
    private final AddressMap<Entry<V>> byAddress;
    private final ArrayDeque<Entry<V>> byAge = new ArrayDeque<>();

    /** An empty cache; {@code lifetime} is how long an entry is valid, in nanoseconds. */
    AddressCache(RandomGenerator random, long lifetime) {
        this.lifetime = lifetime;
        byAddress = new AddressMap<>(random);
    }

    private record Entry<V>(long high, long low, V value, long until) {}

    /** The value for a host; null if there is none. */
    @Nullable
    V get(long high, long low) {
        if (byAge.isEmpty()) {
            return null;
        }
        Entry<V> e = byAddress.get(high, low);
        return e == null ? null : e.value;
    }

    /** Adds or replaces the value for a host. */
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

    /** Removes the entries whose address and value match. */
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

    /** Removes expired entries; returns the time of the next call. */
    long work(long now) {
        while (!byAge.isEmpty() && now - byAge.element().until >= 0) {
            forgetOldest();
        }
        return byAge.isEmpty() ? Long.MAX_VALUE : byAge.element().until;
    }
}
