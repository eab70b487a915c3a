// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.io.IOException;
import java.util.List;

import org.verbena.stack.wire.SendFrame;

/**
 * One version of IP on a link: the host's addresses, its routes, and the resolution of next hops. Addresses are in the form of {@link IpAddress}. Not
 * thread-safe.
 */
public interface Link {
    /** Whether an address is one of this host's. */
    boolean isOwn(long high, long low);

    /** Whether an address is a valid unicast address. */
    boolean isHost(long high, long low);

    /** Whether an address is a broadcast address of the link. */
    boolean isBroadcast(long high, long low);

    /** Whether this host is a member of a multicast group. */
    boolean isMember(long high, long low);

    /** As {@link Ip#way}. */
    int way(long high, long low);

    /** Selects the source address for packets to an address that has a route. */
    void route(Path p, long high, long low);

    /** The MTU towards an address: that of the link, or of the route. */
    int mtu(long high, long low);

    /** The TTL or hop limit of packets to a unicast address. */
    int hopLimit();

    /**
     * Sends a frame that has its IP packet already, to an address for which {@link #way} found a route.
     *
     * @param bytes length with the Ethernet header
     */
    void transmit(SendFrame f, int bytes, long high, long low, long now) throws IOException;

    /** As {@link Ip#setFilter}. */
    int setFilter(Object owner, int port, IpAddress group, SourceFilter filter, long now);

    /**
     * A redirect arrived: a router names a better next hop.
     *
     * @param from the router that sent the redirect
     * @param to the destination of the packet that it is about
     * @param hop the next hop for that destination from now on
     * @return whether the redirect was accepted
     */
    default boolean redirect(IpAddress from, IpAddress to, IpAddress hop, long now) {
        return false; // the owner of the addresses processes redirects itself
    }

    /** The addresses of this host. */
    List<IpAddress> addresses();

    /** Starts: the next {@link #work} announces the addresses on the link. */
    void start(long now);

    /** Runs due timers; returns the time of the next call. */
    long work(long now) throws IOException;
}
