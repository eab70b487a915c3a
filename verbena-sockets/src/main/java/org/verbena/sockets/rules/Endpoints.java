// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.rules;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;

import org.jspecify.annotations.Nullable;

/**
 * The addresses and ports that one half of a rule matches. Addresses are 128 bits: of IPv4 as {@code ::ffff:a.b.c.d},
 * so that a prefix of IPv4 matches such an address in either form. Immutable.
 *
 * @param any every address, also none at all
 * @param high the upper half of the network's address
 * @param low the lower half
 * @param prefix leading bits of the 128 that must be equal
 * @param firstPort inclusive
 * @param lastPort inclusive
 */
record Endpoints(boolean any, long high, long low, int prefix, int firstPort, int lastPort) {
    static final int LAST_PORT = 65535;

    /** Bits before an IPv4 address. */
    static final int MAPPED_BITS = 96;

    private static final long MAPPED = 0xffff_0000_0000L;

    /** Every address and port. */
    static final Endpoints ALL = new Endpoints(true, 0, 0, 0, 0, LAST_PORT);

    boolean matches(@Nullable InetSocketAddress socket) {
        int port = socket == null ? 0 : socket.getPort();
        if (port < firstPort || port > lastPort) {
            return false;
        }
        if (any) {
            return true;
        }
        InetAddress address = socket == null ? null : socket.getAddress();
        if (address == null) {
            return false; // bound to nothing, or an unresolved name
        }
        byte[] bytes = address.getAddress();
        return address instanceof Inet4Address ? matches(0, lower4(bytes)) : matches(word(bytes, 0), word(bytes, 8));
    }

    private boolean matches(long h, long l) {
        return ((h ^ high) & highMask(prefix)) == 0 && ((l ^ low) & lowMask(prefix)) == 0;
    }

    /** A network: bits beyond its prefix do not count. */
    static Endpoints of(byte[] address, int prefix) {
        boolean v4 = address.length == 4;
        long h = v4 ? 0 : word(address, 0);
        long l = v4 ? lower4(address) : word(address, 8);
        int bits = v4 ? MAPPED_BITS + prefix : prefix;
        return new Endpoints(false, h & highMask(bits), l & lowMask(bits), bits, 0, LAST_PORT);
    }

    Endpoints withPorts(int first, int last) {
        return new Endpoints(any, high, low, prefix, first, last);
    }

    /** Whether all that {@code other} matches is matched by this. */
    boolean covers(Endpoints other) {
        boolean ports = firstPort <= other.firstPort && other.lastPort <= lastPort;
        return ports && (any || !other.any && prefix <= other.prefix && matches(other.high, other.low));
    }

    private static long lower4(byte[] b) {
        return MAPPED | (b[0] & 0xffL) << 24 | (b[1] & 0xff) << 16 | (b[2] & 0xff) << 8 | b[3] & 0xff;
    }

    private static long word(byte[] b, int at) {
        long w = 0;
        for (int i = at; i < at + 8; i++) {
            w = w << 8 | b[i] & 0xff;
        }
        return w;
    }

    private static long highMask(int bits) {
        return bits == 0 ? 0 : -1L << Math.max(0, 64 - bits);
    }

    private static long lowMask(int bits) {
        return bits <= 64 ? 0 : -1L << 128 - bits;
    }
}
