// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import java.net.InetSocketAddress;

import org.verbena.stack.ip.IpAddress;

/** The other end of a datagram. It is changed by each receive into it, so that none is made for each datagram; for one thread at a time. */
public final class UdpPeer {
    long high;
    long low;
    int port;

    /** Nobody yet. */
    public UdpPeer() {}

    /**
     * A peer.
     *
     * @throws IllegalArgumentException if the address is not resolved
     */
    public static UdpPeer of(InetSocketAddress a) {
        if (a.isUnresolved()) {
            throw new IllegalArgumentException(a + " is not resolved");
        }
        IpAddress i = IpAddress.of(a.getAddress());
        UdpPeer p = new UdpPeer();
        p.high = i.high();
        p.low = i.low();
        p.port = a.getPort();
        return p;
    }

    /** Address and port as an object of their own. */
    public InetSocketAddress toSocketAddress() {
        return new InetSocketAddress(IpAddress.toInetAddress(high, low), port);
    }

    @Override
    public String toString() {
        return IpAddress.isIpv4(high, low)
                ? IpAddress.text(high, low) + ":" + port
                : "[" + IpAddress.text(high, low) + "]:" + port;
    }
}
