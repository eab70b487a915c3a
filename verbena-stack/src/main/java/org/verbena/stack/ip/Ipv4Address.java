// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import org.verbena.verbs.spi.Ipv6Text;

/**
 * The address of the interface and its subnet.
 *
 * @param address the address
 * @param prefix bits of the subnet
 * @param gateway a host of the subnet that knows the way to all others; 0 if there is none
 */
public record Ipv4Address(int address, int prefix, int gateway) {
    /** All hosts of the link. */
    public static final int LIMITED_BROADCAST = -1;

    private int mask() {
        return prefix == 0 ? 0 : -1 << 32 - prefix;
    }

    /** Whether an address is all hosts of this link. */
    public boolean isBroadcast(int a) {
        return a == LIMITED_BROADCAST || prefix < 31 && a == broadcast();
    }

    /** The address of all hosts of the subnet, if it has more than two addresses. */
    public int broadcast() {
        return address | ~mask();
    }

    /** Whether an address is a group of hosts (RFC 1112). */
    public static boolean isMulticast(int a) {
        return a >>> 28 == 0xe;
    }

    /** Whether an address can be that of one host, by itself: neither 0.x, 127.x, a group nor reserved. */
    public static boolean isUnicast(int a) {
        int first = a >>> 24;
        return first != 0 && first != 127 && first < 224;
    }

    /** The Ethernet address of a group (RFC 1112, 6.4). */
    public static long groupMac(int group) {
        return 0x0100_5e00_0000L | group & 0x7f_ffff;
    }

    /** Whether an address can be that of a sender, and so of one host: neither 0.x, 127.x, a group, reserved nor the subnet's own. */
    public boolean isHost(int a) {
        return isUnicast(a) && !isBroadcast(a) && (prefix >= 31 || a != (address & mask()));
    }

    /** Whether a host is on this link. */
    public boolean isNear(int a) {
        return ((a ^ address) & mask()) == 0;
    }

    /** The host of this link that gets a packet to a host's address; 0 if there is no way. */
    public int nextHop(int to) {
        return isNear(to) ? to : gateway;
    }

    /** An address as four numbers. */
    public static String text(int a) {
        return Ipv6Text.ipv4(a);
    }
}
