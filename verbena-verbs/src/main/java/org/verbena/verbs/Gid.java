// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;

import org.verbena.verbs.spi.Ipv6Text;

/**
 * A global identifier, {@code union ibv_gid}: 128 bits that name a port, written like an IPv6 address.
 *
 * @param high the first eight bytes as a big-endian number
 * @param low the last eight bytes as a big-endian number
 */
public record Gid(long high, long low) {
    /**
     * Reads a GID as {@link #toString()} or {@code ibv_devinfo} writes it.
     *
     * @throws IllegalArgumentException if the text is not an IPv6 address
     */
    public static Gid parse(String text) {
        try {
            if (text.indexOf(':') >= 0) {
                InetAddress a = InetAddress.ofLiteral(text);
                ByteBuffer b = ByteBuffer.wrap(a.getAddress());
                // the JDK makes an IPv4 address of one that is mapped into IPv6, as GIDs of RoCE are
                return a instanceof Inet6Address
                        ? new Gid(b.getLong(), b.getLong())
                        : new Gid(0, 0xffff_0000_0000L | Integer.toUnsignedLong(b.getInt()));
            }
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("not a GID: '" + text + "'", e);
        }
        throw new IllegalArgumentException("not a GID: '" + text + "'");
    }

    /** True for a multicast group: {@code ff00::/8}, or an IPv4 group {@code ::ffff:224.0.0.0/100}. */
    public boolean isMulticast() {
        return high >>> 56 == 0xff || high == 0 && low >>> 28 == 0xffff_eL;
    }

    /** The 16 bytes in network order. */
    public byte[] bytes() {
        return ByteBuffer.allocate(16).putLong(high).putLong(low).array();
    }

    /** As inet_ntop(3) has it, RFC 5952: {@code fe80::1}, {@code ::ffff:192.0.2.1}. */
    @Override
    public String toString() {
        return Ipv6Text.of(high, low);
    }
}
