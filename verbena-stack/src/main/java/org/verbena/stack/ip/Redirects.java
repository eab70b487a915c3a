// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.util.random.RandomGenerator;

import org.jspecify.annotations.Nullable;

/** The hosts of this link that are the way to others, as the routers that packets went to have told (RFC 792; RFC 4861, 8), for five minutes each. */
final class Redirects {
    /** As Linux has it ({@code ip_rt_gc_timeout}). */
    static final long LIFETIME = 300_000_000_000L;

    private final AddressCache<IpAddress> hops;

    Redirects(RandomGenerator random) {
        hops = new AddressCache<>(random, LIFETIME);
    }

    /** The way to a host; null if nobody has told one. */
    @Nullable
    IpAddress get(long high, long low) {
        return hops.get(high, low);
    }

    /**
     * Takes a redirect, unless it is not believed (RFC 1122, 3.2.2.2; RFC 4861, 8.1).
     *
     * @param router the next hop of packets to {@code to} until now, which alone may redirect; null if there is none
     * @return whether it was taken
     */
    boolean take(Link link, @Nullable IpAddress router, IpAddress from, IpAddress to, IpAddress hop, long now) {
        boolean ok = from.equals(router) && link.isHost(to.high(), to.low()) && !link.isOwn(hop.high(), hop.low())
                && !hop.equals(from);
        if (ok) {
            hops.put(to.high(), to.low(), hop, now);
        }
        return ok;
    }

    /** A host of this link does not answer. */
    void forget(long high, long low) {
        IpAddress hop = new IpAddress(high, low);
        hops.removeIf((to, h) -> h.equals(hop));
    }

    /** A host of this link says that it forwards nothing. */
    void forgetRouter(long high, long low) {
        IpAddress hop = new IpAddress(high, low);
        hops.removeIf((to, h) -> h.equals(hop) && !to.equals(hop));
    }

    /** Forgets what is old; answers when to call again. */
    long work(long now) {
        return hops.work(now);
    }
}
