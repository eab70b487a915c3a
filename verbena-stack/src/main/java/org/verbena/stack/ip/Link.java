// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.io.IOException;
import java.util.List;

import org.verbena.stack.wire.SendFrame;

/**
 * What a host is on its link with a version of IP: its addresses, the ways from them, and how packets come to the next host. Addresses are as {@link IpAddress} has
 * them. For one thread at a time.
 */
public interface Link {
    /** Whether an address is one of this host's. */
    boolean isOwn(long high, long low);

    /** Whether an address can be that of one host. */
    boolean isHost(long high, long low);

    /** Whether an address is all hosts of the link. */
    boolean isBroadcast(long high, long low);

    /** Whether this host takes packets to a group. */
    boolean isMember(long high, long low);

    /** As {@link Ip#way}. */
    int way(long high, long low);

    /** Has packets to an address that there is a way to go from the address of this host that fits. */
    void route(Path p, long high, long low);

    /** How long a packet to an address may be on this link, and as far as its router knows. */
    int mtu(long high, long low);

    /** How many routers a packet to an address of one host may pass. */
    int hopLimit();

    /**
     * Sends a frame whose IP packet is in its place to an address that there was a {@link #way} to.
     *
     * @param bytes length with the Ethernet header
     */
    void transmit(SendFrame f, int bytes, long high, long low, long now) throws IOException;

    /** As {@link Ip#setFilter}. */
    int setFilter(Object owner, int port, IpAddress group, SourceFilter filter, long now);

    /**
     * The router that a packet went to knows a better way.
     *
     * @param from who says so
     * @param to where the packet went
     * @param hop the host of this link that packets to there go to from now on
     * @return whether it is believed
     */
    default boolean redirect(IpAddress from, IpAddress to, IpAddress hop, long now) {
        return false; // who looks after the addresses hears of it
    }

    /** The addresses of this host. */
    List<IpAddress> addresses();

    /** Begins: tells the link of its addresses, with the next {@link #work}. */
    void start(long now);

    /** Does what is due; answers when to call again. */
    long work(long now) throws IOException;
}
