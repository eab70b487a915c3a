// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/** Which subnets are on the link, and which routers know the way to all others (RFC 4861, 5.1). */
final class Ipv6Routes {
    private static final int MOST_PREFIXES = 32;
    private static final int MOST_ROUTERS = 16;
    private static final long FOREVER = Long.MAX_VALUE;
    private static final long AVOIDED = 60_000_000_000L;

    private final List<Subnet> subnets = new ArrayList<>();
    /** The better one first. */
    private final List<Router> routers = new ArrayList<>();

    private static final class Subnet {
        final IpAddress prefix;
        final int bits;
        /** Routers do not change it. */
        final boolean configured;
        long until;

        Subnet(IpAddress prefix, int bits, boolean configured, long until) {
            this.prefix = prefix;
            this.bits = bits;
            this.configured = configured;
            this.until = until;
        }
    }

    private static final class Router {
        final IpAddress address;
        /** What it tells of itself does not change it. */
        final boolean configured;
        int preference;
        long until;
        /** It did not answer, and others are used until then. */
        long avoidedUntil = FOREVER;
        boolean avoided;

        Router(IpAddress address, boolean configured) {
            this.address = address;
            this.configured = configured;
        }
    }

    /** The hosts of a subnet are on the link, whatever routers tell. */
    void configureSubnet(IpAddress prefix, int bits) {
        subnets.add(new Subnet(prefix, bits, true, FOREVER));
    }

    /** A router tells that the hosts of a subnet are on the link until then. */
    void addSubnet(IpAddress prefix, int bits, long until) {
        for (Subnet s : subnets) {
            if (s.bits == bits && IpAddress.isInPrefix(prefix.high(), prefix.low(), s.prefix, bits)) {
                s.until = s.configured ? FOREVER : until;
                return;
            }
        }
        if (subnets.size() < MOST_PREFIXES) {
            subnets.add(new Subnet(prefix, bits, false, until));
        }
    }

    /** A host forwards, whatever it tells. */
    void configureRouter(IpAddress address) {
        Router r = new Router(address, true);
        r.until = FOREVER;
        routers.addFirst(r);
    }

    /** A router tells that it forwards until then; a lifetime that is over takes it away. */
    void addRouter(long high, long low, int preference, long until, long now) {
        Router r = find(high, low);
        if (r != null && r.configured) {
            return;
        }
        if (r != null) {
            routers.remove(r);
        } else if (routers.size() == MOST_ROUTERS) {
            return;
        } else {
            r = new Router(new IpAddress(high, low), false);
        }
        if (until - now > 0) {
            r.preference = preference;
            r.until = until;
            int i = 0;
            while (i < routers.size() && (routers.get(i).configured || routers.get(i).preference >= preference)) {
                i++;
            }
            routers.add(i, r);
        }
    }

    private @Nullable Router find(long high, long low) {
        for (Router r : routers) {
            if (r.address.low() == low && r.address.high() == high) {
                return r;
            }
        }
        return null;
    }

    /** A host says that it is no router any more. */
    void removeRouter(long high, long low) {
        Router r = find(high, low);
        if (r != null && !r.configured) {
            routers.remove(r);
        }
    }

    /** A host does not answer: other routers are tried before it (RFC 4861, 6.3.6), for a while. */
    void unreachable(long high, long low, long now) {
        Router r = find(high, low);
        if (r != null) {
            r.avoided = true;
            r.avoidedUntil = now + AVOIDED;
        }
    }

    /** Whether a host is on this link. */
    boolean isNear(long high, long low) {
        if (IpAddress.isLinkLocal(high)) {
            return true;
        }
        for (int i = 0; i < subnets.size(); i++) {
            Subnet s = subnets.get(i);
            if (IpAddress.isInPrefix(high, low, s.prefix, s.bits)) {
                return true;
            }
        }
        return false;
    }

    /** The router to hosts that are not on this link; null if there is none. */
    @Nullable
    IpAddress router() {
        for (int i = 0; i < routers.size(); i++) {
            if (!routers.get(i).avoided) {
                return routers.get(i).address;
            }
        }
        return routers.isEmpty() ? null : routers.getFirst().address;
    }

    /** Forgets what was true for a while; answers when to call again. */
    long work(long now) {
        long next = FOREVER;
        for (int i = subnets.size() - 1; i >= 0; i--) {
            long until = subnets.get(i).until;
            if (until != FOREVER && now - until >= 0) {
                subnets.remove(i);
            } else {
                next = Math.min(next, until);
            }
        }
        for (int i = routers.size() - 1; i >= 0; i--) {
            Router r = routers.get(i);
            r.avoided &= now - r.avoidedUntil < 0;
            long until = r.avoided ? Math.min(r.until, r.avoidedUntil) : r.until;
            if (r.until != FOREVER && now - r.until >= 0) {
                routers.remove(i);
            } else {
                next = Math.min(next, until);
            }
        }
        return next;
    }
}
