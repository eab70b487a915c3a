// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import java.net.Inet4Address;
import java.net.InetSocketAddress;

import org.verbena.stack.ip.Ipv4Address;

/** The other end of a datagram. It is changed by each receive into it, so that none is made for each datagram; for one thread at a time. */
public final class UdpPeer {
    int address;
    int port;

    /** Nobody yet. */
    public UdpPeer() {}

    /**
     * A peer.
     *
     * @throws IllegalArgumentException if the address is not of IPv4, or is not resolved
     */
    public static UdpPeer of(InetSocketAddress a) {
        if (!(a.getAddress() instanceof Inet4Address)) {
            throw new IllegalArgumentException(a + (a.isUnresolved()
                    ? " is not resolved"
                    : " is not of IPv4, which is all that the stack has"));
        }
        UdpPeer p = new UdpPeer();
        p.address = StackConfig.toInt(a.getAddress());
        p.port = a.getPort();
        return p;
    }

    /** Address and port as an object of their own. */
    public InetSocketAddress toSocketAddress() {
        return new InetSocketAddress(Stack.toAddress(address), port);
    }

    @Override
    public String toString() {
        return Ipv4Address.text(address) + ":" + port;
    }
}
