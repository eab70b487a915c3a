// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.packet;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;

/**
 * Addresses as they are in packets: an IPv4-mapped one (RFC 4291, section 2.5.5.2) in a header of IPv6 stays one of IPv6,
 * of which {@link InetAddress#getByAddress(byte[])} and {@link InetAddress#ofLiteral} make one of IPv4.
 */
public final class IpAddresses {
    private static final byte[] MAPPED = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1};
    private static final int IPV6_BYTES = 16;

    private IpAddresses() {}

    /** The address of 4 or 16 bytes. */
    public static InetAddress of(byte[] bytes) {
        try {
            return bytes.length == IPV6_BYTES
                    ? Inet6Address.getByAddress(null, bytes, -1) // the one that leaves mapped addresses as they are
                    : InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("no address has " + bytes.length + " bytes", e);
        }
    }

    /** The bytes of an address that is written as {@link InetAddress#ofLiteral} takes it. */
    public static byte[] parse(String text) {
        byte[] bytes = InetAddress.ofLiteral(text).getAddress();
        if (bytes.length == IPV6_BYTES || text.indexOf(':') < 0) {
            return bytes;
        }
        byte[] mapped = Arrays.copyOf(MAPPED, IPV6_BYTES);
        System.arraycopy(bytes, 0, mapped, MAPPED.length, bytes.length);
        return mapped;
    }

    /** As {@link InetAddress#getHostAddress}, but {@code ::ffff:10.0.0.1} for a mapped one. */
    public static String text(InetAddress address) {
        byte[] b = address.getAddress();
        return b.length == IPV6_BYTES && Arrays.equals(b, 0, MAPPED.length, MAPPED, 0, MAPPED.length)
                ? "::ffff:" + (b[12] & 0xff) + '.' + (b[13] & 0xff) + '.' + (b[14] & 0xff) + '.' + (b[15] & 0xff)
                : address.getHostAddress();
    }
}
