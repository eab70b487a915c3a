// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * What a host is told of IPv6; besides, it has a link-local address, and hears routers.
 *
 * @param addresses its addresses, with their subnets
 * @param gateway a host of the link that knows the way to all others; null if routers tell, or there is none
 * @param advertisements whether what routers tell counts: subnets to have addresses of (RFC 4862), and ways to others
 */
public record Ipv6Config(List<Own> addresses, @Nullable IpAddress gateway, boolean advertisements) {
    /** The most addresses that a host is told. */
    public static final int MOST = Ipv6Addresses.MOST / 2;

    /**
     * An address and the bits of its subnet.
     *
     * @param address of IPv6
     * @param prefix 1 to 128
     */
    public record Own(IpAddress address, int prefix) {
        /** Whether a host of that address is on the same link. */
        public boolean isNear(IpAddress a) {
            return IpAddress.isInPrefix(a.high(), a.low(), address, prefix);
        }

        @Override
        public String toString() {
            return address + "/" + prefix;
        }
    }

    /** Copies the list. */
    public Ipv6Config {
        addresses = List.copyOf(addresses);
    }

    /** Whether an address can be that of a host of IPv6. */
    public static boolean isHost(IpAddress a) {
        return isHost(a.high(), a.low());
    }

    static boolean isHost(long high, long low) {
        return !IpAddress.isIpv4(high, low) && !IpAddress.isMulticast(high, low) && !IpAddress
                .isUnspecifiedOrLoopback(high, low);
    }
}
