// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.Arena;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.RawMemory;

/** {@code struct sockaddr_in} and {@code struct sockaddr_in6}. */
final class SocketAddressBytes {
    private static final int AF_INET = 2;
    private static final int AF_INET6 = 10;

    private SocketAddressBytes() {}

    static Struct of(Arena arena, InetAddress ip, int port) {
        Struct s = new Struct(arena, CmLayout.SOCKADDR_IN6_BYTES);
        byte[] bytes = ip.getAddress();
        boolean six = ip instanceof Inet6Address;
        s.putShort(0, six ? AF_INET6 : AF_INET);
        s.putByte(CmLayout.SOCKADDR_PORT, port >>> 8);
        s.putByte(CmLayout.SOCKADDR_PORT + 1, port);
        for (int i = 0; i < bytes.length; i++) {
            s.putByte((six ? CmLayout.SOCKADDR_IN6_ADDR : CmLayout.SOCKADDR_IN_ADDR) + i, bytes[i]);
        }
        if (ip instanceof Inet6Address a) {
            s.putInt(CmLayout.SOCKADDR_IN6_SCOPE_ID, a.getScopeId());
        }
        return s;
    }

    /** The address in a structure that the library has filled; null if it is of another family. */
    static @Nullable InetSocketAddress at(long address) {
        int family = RawMemory.getShort(address) & 0xffff;
        if (family != AF_INET && family != AF_INET6) {
            return null;
        }
        byte[] bytes = new byte[family == AF_INET6 ? 16 : 4];
        long from = address + (family == AF_INET6 ? CmLayout.SOCKADDR_IN6_ADDR : CmLayout.SOCKADDR_IN_ADDR);
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = RawMemory.getByte(from + i);
        }
        int port = (RawMemory.getByte(address + CmLayout.SOCKADDR_PORT) & 0xff) << 8 | RawMemory.getByte(address
                + CmLayout.SOCKADDR_PORT + 1) & 0xff;
        try {
            return new InetSocketAddress(InetAddress.getByAddress(bytes), port);
        } catch (UnknownHostException e) {
            throw new AssertionError(e); // 4 or 16 bytes are always valid
        }
    }
}
