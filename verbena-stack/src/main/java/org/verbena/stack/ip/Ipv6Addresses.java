// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.util.HashSet;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * The addresses of IPv6 that this host has (RFC 4862). A new one is used at once, while it is found out whether another host has it: an optimistic address
 * (RFC 4429).
 */
final class Ipv6Addresses {
    static final int MOST = 16;
    static final long FOREVER = Long.MAX_VALUE;

    private final Entry[] entries = new Entry[MOST];
    private int size;
    /** Another host has them: they are not taken again. */
    private final Set<IpAddress> failed = new HashSet<>();

    /** One address. */
    static final class Entry {
        final long high;
        final long low;
        /** Bits of its subnet, for the choice among several. */
        final int prefix;
        long preferredUntil = FOREVER;
        long validUntil = FOREVER;
        /** Made since a router told of its subnet, and so as good as the router says; else it was configured. */
        boolean told;
        boolean deprecated;
        /** Nobody has answered yet that it has this. */
        boolean optimistic = true;
        /** Whether it was asked for, and when to go on. */
        boolean asked;
        long due;

        Entry(long high, long low, int prefix, long due) {
            this.high = high;
            this.low = low;
            this.prefix = prefix;
            this.due = due;
        }
    }

    int size() {
        return size;
    }

    Entry get(int i) {
        return entries[i];
    }

    @Nullable
    Entry find(long high, long low) {
        for (int i = 0; i < size; i++) {
            Entry e = entries[i];
            if (e.low == low && e.high == high) {
                return e;
            }
        }
        return null;
    }

    /** Whether an address is the group of those hosts of which one is this. */
    boolean isSolicitedNode(long high, long low) {
        if (high == IpAddress.linkLocalGroup()) {
            for (int i = 0; i < size; i++) {
                if (IpAddress.solicitedNode(entries[i].low) == low) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Adds an address that is not there; null if there are too many, or another host has it. */
    @Nullable
    Entry add(long high, long low, int prefix, long now) {
        if (size == MOST || failed.contains(new IpAddress(high, low))) {
            return null;
        }
        Entry e = new Entry(high, low, prefix, now);
        entries[size++] = e;
        return e;
    }

    /** Another host has an address: it is not taken again. */
    void fail(Entry e) {
        if (failed.size() < MOST) {
            failed.add(new IpAddress(e.high, e.low));
        }
    }

    void remove(Entry e) {
        for (int i = 0; i < size; i++) {
            if (entries[i] == e) {
                System.arraycopy(entries, i + 1, entries, i, size - i - 1);
                size--;
                return;
            }
        }
    }

    /** The address for packets to another (RFC 6724, 5, rules 1 to 3 and 8); null if there is none. */
    @Nullable
    Entry select(long high, long low) {
        boolean near = IpAddress.isLinkLocal(high) || high >>> 56 == 0xff && (high >>> 48 & 0xf) <= 2;
        Entry best = null;
        int most = -1;
        for (int i = 0; i < size; i++) {
            Entry e = entries[i];
            int same = Math.min(commonBits(e, high, low), e.prefix);
            int score = (e.low == low && e.high == high ? 1 << 10 : 0) + (IpAddress.isLinkLocal(e.high) == near
                    ? 1 << 9
                    : 0) + (e.deprecated ? 0 : 1 << 8) + same;
            if (score > most) {
                most = score;
                best = e;
            }
        }
        return best;
    }

    private static int commonBits(Entry e, long high, long low) {
        return e.high != high
                ? Long.numberOfLeadingZeros(e.high ^ high)
                : Long.SIZE + Long.numberOfLeadingZeros(e.low ^ low);
    }
}
