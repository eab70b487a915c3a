// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.ByteOrder;

import org.verbena.linux.spi.RawMemory;

/**
 * {@code struct mmsghdr} of sendmmsg(2) and recvmmsg(2), addresses of ip(7) and ipv6(7), and control messages, at bare
 * addresses that the caller has checked:
 * <pre>
 * mmsghdr       msghdr 0 (see {@link UnixMessage}), len 56; 64 bytes
 * sockaddr_in   family 0, port 2, address 4; 16 bytes
 * sockaddr_in6  family 0, port 2, flow 4, address 8, scope 24; 28 bytes
 * in_pktinfo    interface 0, local 4, destination 8; 12 bytes
 * in6_pktinfo   address 0, interface 16; 20 bytes
 * </pre>
 *
 * <p>An address is two words in network order, as in an InfiniBand GID; IPv4's are {@code ::ffff:a.b.c.d} (RFC 4291,
 * 2.5.5.2).
 */
final class UdpHeaders {
    static final int AF_INET = 2;
    static final int AF_INET6 = 10;
    static final int IPPROTO_IP = 0;
    static final int IPPROTO_IPV6 = 41;
    static final int SOL_UDP = 17;
    static final int IP_TOS = 1;
    static final int IP_TTL = 2;
    static final int IP_PKTINFO = 8;
    static final int IPV6_PKTINFO = 50;
    static final int IPV6_HOPLIMIT = 52;
    static final int IPV6_TCLASS = 67;
    static final int UDP_NO_CHECK6_RX = 102;
    static final int UDP_SEGMENT = 103;
    static final int UDP_GRO = 104;

    static final int MMSGHDR_BYTES = 64;
    static final int MMSGHDR_LEN = 56;
    static final int NAME_BYTES = 32;
    static final int SOCKADDR_IN_BYTES = 16;
    static final int SOCKADDR_IN6_BYTES = 28;
    static final int SOCKADDR_PORT = 2;
    static final int SOCKADDR_ADDRESS = 4;
    static final int SOCKADDR6_ADDRESS = 8;
    static final int SOCKADDR6_SCOPE = 24;
    static final int PKTINFO_SOURCE = 4;
    static final int PKTINFO_DESTINATION = 8;
    static final int PKTINFO_BYTES = 12;
    static final int PKTINFO6_INTERFACE = 16;
    static final int PKTINFO6_BYTES = 20;

    /** The second word of an IPv4 address, less the address. */
    static final long MAPPED = 0xFFFFL << 32;
    private static final boolean SWAP = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

    private UdpHeaders() {}

    /** Bytes of a control message with its header, padded: {@code CMSG_SPACE}. */
    static int space(int bytes) {
        return (UnixMessage.CMSG_DATA + bytes + 7) & ~7;
    }

    /** Writes the header of a control message, and returns the address of its value. */
    static long control(long at, int level, int type, int bytes) {
        RawMemory.putLong(at, UnixMessage.CMSG_DATA + bytes);
        RawMemory.putInt(at + UnixMessage.CMSG_LEVEL, level);
        RawMemory.putInt(at + UnixMessage.CMSG_TYPE, type);
        return at + UnixMessage.CMSG_DATA;
    }

    /** Writes a control message with an int value; returns the end. */
    static long control(long at, int level, int type, int bytes, int value) {
        RawMemory.putInt(control(at, level, type, bytes), value);
        return at + space(bytes);
    }

    /** Writes a socket address, {@value #NAME_BYTES} bytes; returns the number of significant ones. */
    static int putName(long at, InetAddress address, int scope, int port) {
        Args.requireBetween(port, 0, 0xFFFF, "a port");
        byte[] bytes = address.getAddress();
        boolean four = address instanceof Inet4Address;
        for (int i = 0; i < NAME_BYTES; i++) {
            RawMemory.putByte(at + i, (byte) 0);
        }
        RawMemory.putShort(at, (short) (four ? AF_INET : AF_INET6));
        RawMemory.putByte(at + SOCKADDR_PORT, (byte) (port >>> 8));
        RawMemory.putByte(at + SOCKADDR_PORT + 1, (byte) port);
        putBytes(at + (four ? SOCKADDR_ADDRESS : SOCKADDR6_ADDRESS), bytes);
        if (!four) {
            RawMemory.putInt(at + SOCKADDR6_SCOPE, scope);
        }
        return four ? SOCKADDR_IN_BYTES : SOCKADDR_IN6_BYTES;
    }

    static void putBytes(long at, byte[] bytes) {
        for (int i = 0; i < bytes.length; i++) {
            RawMemory.putByte(at + i, bytes[i]);
        }
    }

    /** The port of a socket address. */
    static int port(long name) {
        return (RawMemory.getByte(name + SOCKADDR_PORT) & 0xFF) << 8
                | RawMemory.getByte(name + SOCKADDR_PORT + 1) & 0xFF;
    }

    /** The first word of a socket address's address. */
    static long high(long name) {
        return RawMemory.getShort(name) == AF_INET6
                ? bigEndian(RawMemory.getLongUnaligned(name + SOCKADDR6_ADDRESS))
                : 0;
    }

    /** The second word of a socket address's address. */
    static long low(long name) {
        return RawMemory.getShort(name) == AF_INET6
                ? bigEndian(RawMemory.getLongUnaligned(name + SOCKADDR6_ADDRESS + 8))
                : mapped(name + SOCKADDR_ADDRESS);
    }

    /** The second word of an IPv4 address in memory. */
    static long mapped(long at) {
        int address = RawMemory.getIntUnaligned(at);
        return MAPPED | (SWAP ? Integer.reverseBytes(address) : address) & 0xFFFF_FFFFL;
    }

    /** A word in network order. */
    static long bigEndian(long word) {
        return SWAP ? Long.reverseBytes(word) : word;
    }
}
