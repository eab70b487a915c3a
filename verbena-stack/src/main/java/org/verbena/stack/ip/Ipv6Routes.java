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

    private final List<Subnet> subnets = new ArrayList<>();
    /** The better one first. */
    private final List<Router> routers = new ArrayList<>();

    private static final class Subnet {
        final IpAddress prefix;
        final int bits;
        long until;

        Subnet(IpAddress prefix, int bits, long until) {
            this.prefix = prefix;
            this.bits = bits;
            this.until = until;
        }
    }

    private static final class Router {
        final IpAddress address;
        int preference;
        long until;

        Router(IpAddress address) {
            this.address = address;
        }
    }

    /** The hosts of a subnet are on the link until then. */
    void addSubnet(IpAddress prefix, int bits, long until) {
        for (Subnet s : subnets) {
            if (s.bits == bits && IpAddress.isInPrefix(prefix.high(), prefix.low(), s.prefix, bits)) {
                s.until = until;
                return;
            }
        }
        if (subnets.size() < MOST_PREFIXES) {
            subnets.add(new Subnet(prefix, bits, until));
        }
    }

    /** A router forwards until then; a lifetime that is over takes it away. */
    void addRouter(long high, long low, int preference, long until, long now) {
        Router r = find(high, low);
        if (r != null) {
            routers.remove(r);
        } else if (routers.size() == MOST_ROUTERS) {
            return;
        } else {
            r = new Router(new IpAddress(high, low));
        }
        if (until == FOREVER || until - now > 0) {
            r.preference = preference;
            r.until = until;
            int i = 0;
            while (i < routers.size() && routers.get(i).preference >= preference) {
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
        routers.remove(find(high, low));
    }

    /** A host does not answer: other routers are tried before it (RFC 4861, 6.3.6). */
    void unreachable(long high, long low) {
        Router r = find(high, low);
        if (r != null && routers.size() > 1) {
            routers.remove(r);
            routers.add(r);
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
            long until = routers.get(i).until;
            if (until != FOREVER && now - until >= 0) {
                routers.remove(i);
            } else {
                next = Math.min(next, until);
            }
        }
        return next;
    }
}
