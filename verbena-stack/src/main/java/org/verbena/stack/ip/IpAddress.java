// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

import org.verbena.verbs.spi.Ipv6Text;

/**
 * An address of IPv6, or one of IPv4 in its mapped form {@code ::ffff:a.b.c.d} (RFC 4291, 2.5.5.2). The data path has the two halves as numbers, so that nothing is
 * allocated for a packet.
 *
 * @param high its first 8 bytes
 * @param low its last 8 bytes
 */
public record IpAddress(long high, long low) {
    /** No address. */
    public static final IpAddress UNSPECIFIED = new IpAddress(0, 0);
    /** Bytes of an address of IPv6. */
    public static final int BYTES = 16;

    private static final long MAPPED = 0xffff_0000_0000L;
    private static final long LINK_LOCAL_GROUP = 0xff02_0000_0000_0000L;
    private static final long GROUP_MAC = 0x3333_0000_0000L;
    private static final long SOLICITED_NODE = 0x1_ff00_0000L;

    /** The address of an {@link InetAddress}, whose scope is left out. */
    public static IpAddress of(InetAddress a) {
        byte[] b = a.getAddress();
        ByteBuffer bytes = ByteBuffer.wrap(b);
        return b.length == Integer.BYTES
                ? ofIpv4(bytes.getInt())
                : new IpAddress(bytes.getLong(), bytes.getLong());
    }

    /** The mapped form of an address of IPv4. */
    public static IpAddress ofIpv4(int a) {
        return new IpAddress(0, mapped(a));
    }

    /** The low half of the mapped form of an address of IPv4; the high half is 0. */
    public static long mapped(int a) {
        return MAPPED | a & 0xffff_ffffL;
    }

    /** Whether an address is one of IPv4. */
    public static boolean isIpv4(long high, long low) {
        return high == 0 && low >>> 32 == MAPPED >>> 32;
    }

    /** Whether this is one of IPv4. */
    public boolean isIpv4() {
        return isIpv4(high, low);
    }

    /** Whether an address is a group of hosts. */
    public static boolean isMulticast(long high, long low) {
        return isIpv4(high, low) ? Ipv4Address.isMulticast((int) low) : high >>> 56 == 0xff;
    }

    /** Whether an address of IPv6 has a meaning on this link only (RFC 4291, 2.5.6). */
    static boolean isLinkLocal(long high) {
        return high >>> 54 == 0xfe80 >>> 6;
    }

    /** Whether this has a meaning on its link only. */
    public boolean isLinkLocal() {
        return isLinkLocal(high);
    }

    /** Whether an address of IPv6 is none, or that of the host itself. */
    public static boolean isUnspecifiedOrLoopback(long high, long low) {
        return high == 0 && low >>> 1 == 0;
    }

    /** Whether this is none, or that of the host itself. */
    public boolean isUnspecifiedOrLoopback() {
        return isUnspecifiedOrLoopback(high, low);
    }

    /** Whether an address is a group that does not leave its host, or of no scope (RFC 4291, 2.7). */
    public static boolean isOfHost(long high, long low) {
        return high >>> 56 == 0xff && (high >>> 48 & 0xf) <= 1;
    }

    /** The low half of the group of the hosts whose addresses end as one does (RFC 4291, 2.7.1). */
    static long solicitedNode(long low) {
        return SOLICITED_NODE | low & 0xff_ffff;
    }

    /** The Ethernet address of a group of IPv6 (RFC 2464, 7). */
    public static long groupMac(long low) {
        return GROUP_MAC | low & 0xffff_ffffL;
    }

    /** The high half of groups of this link. */
    static long linkLocalGroup() {
        return LINK_LOCAL_GROUP;
    }

    /** Whether two addresses of IPv6 begin with the same bits. */
    static boolean isInPrefix(long high, long low, IpAddress prefix, int bits) {
        long h = high ^ prefix.high;
        long l = low ^ prefix.low;
        return bits <= Long.SIZE
                ? bits == 0 || h >>> Long.SIZE - bits == 0
                : h == 0 && l >>> 2 * Long.SIZE - bits == 0;
    }

    /** An address as an {@link InetAddress}. */
    public static InetAddress toInetAddress(long high, long low) {
        try { // the mapped form makes one of IPv4
            return InetAddress.getByAddress(ByteBuffer.allocate(BYTES).putLong(high).putLong(low).array());
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }

    /** This as an {@link InetAddress}. */
    public InetAddress toInetAddress() {
        return toInetAddress(high, low);
    }

    /** An address as text. */
    public static String text(long high, long low) {
        return isIpv4(high, low) ? Ipv6Text.ipv4((int) low) : Ipv6Text.of(high, low);
    }

    @Override
    public String toString() {
        return text(high, low);
    }
}
