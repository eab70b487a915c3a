// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.link;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

import org.verbena.verbs.Gid;

/** GIDs of RoCEv2, which are IP addresses (InfiniBand Architecture Specification, volume 1, annex A17). Stateless. */
public final class Gids {
    private static final long MAPPED = 0xFFFF_0000_0000L;

    private Gids() {}

    /** The GID of an address; an IPv4 address is {@code ::ffff:a.b.c.d}. */
    public static Gid of(InetAddress address) {
        ByteBuffer b = ByteBuffer.wrap(address.getAddress());
        return b.remaining() == 4
                ? new Gid(0, MAPPED | Integer.toUnsignedLong(b.getInt()))
                : new Gid(b.getLong(), b.getLong());
    }

    /** The address of a GID, IPv4 or IPv6. */
    public static InetAddress address(Gid gid) {
        try {
            return InetAddress.getByAddress(gid.bytes());
        } catch (UnknownHostException impossible) {
            throw new AssertionError("16 bytes are an address", impossible);
        }
    }

    /** Whether a GID is an IPv4 address. */
    public static boolean isIp4(Gid gid) {
        return PseudoHeader.isIp4(gid.high(), gid.low());
    }

    /** Whether an address is valid on one interface only: {@code fe80::/10}, and multicast groups. */
    static boolean isScoped(Gid gid) {
        return gid.high() >>> 54 == 0x3FA || gid.isMulticast();
    }
}
