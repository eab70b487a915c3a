// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;

import org.jspecify.annotations.Nullable;

import org.verbena.stack.header.Checksum;
import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.header.Ipv4Header;
import org.verbena.stack.model.TcpSettings;
import org.verbena.stack.tcp.Connection;
import org.verbena.stack.tcp.TcpPorts;
import org.verbena.stack.udp.UdpPorts;
import org.verbena.stack.udp.UdpQueue;
import org.verbena.stack.wire.FakeWire;
import org.verbena.stack.wire.ReceivedFrame;

/** A host of a test on a fake wire, in virtual time. */
public final class Host {
    public static final int MTU = 1500;
    /** In front of a payload of IPv4. */
    public static final int HEADERS = EthernetHeader.BYTES + Ipv4Header.BYTES;
    public static final int SUBNET = 10 << 24;
    public static final long SUBNET_6 = 0xfd00_0078L << 32;

    public final FakeWire wire;
    public final Counts counts = new Counts();
    public final Ip ip;
    public final UdpPorts udp;
    public final TcpPorts tcp;
    public final long mac;
    public final int address;
    /** The address of a host that has IPv6 alone. */
    public final IpAddress ipv6;
    public long now = 12_345;

    public Host(int number) {
        this(number, MTU, 4096);
    }

    public Host(int number, int mtu, int part) {
        this(number, mtu, part, 64 << 20);
    }

    /** With so many bytes for the data of connections. */
    public Host(int number, int mtu, int part, long memory) {
        this(number, mtu, part, memory, false);
    }

    private Host(int number, int mtu, int part, long memory, boolean six) {
        wire = new FakeWire(mtu, 256, part);
        mac = 0x0200_0000_0000L + number;
        address = SUBNET + number;
        ipv6 = new IpAddress(SUBNET_6, number);
        ip = six
                ? new Ip(wire, mac, null, new Ipv6Config(List.of(new Ipv6Config.Own(ipv6, 64)), null, true), counts,
                        new Random(number))
                : new Ip(wire, mac, new Ipv4Address(address, 24, SUBNET + 254), null, counts, new Random(number));
        if (six) {
            ip.start(now);
        }
        udp = new UdpPorts(ip, counts, new Random(number));
        tcp = new TcpPorts(ip, new Random(number), memory, now);
    }

    /** With an address of IPv6, and a link-local one, which are asked for with the next work. */
    public static Host ofIpv6(int number, int mtu, int part) {
        return new Host(number, mtu, part, 64 << 20, true);
    }

    public static Host ofIpv6(int number) {
        return ofIpv6(number, MTU, 4096);
    }

    /** Connects to another host, by IPv6 if that has it. */
    public @Nullable Connection connect(int port, Host to, int toPort, TcpSettings s, long when) throws IOException {
        return to.ip.isOwn(to.ipv6.high(), to.ipv6.low())
                ? tcp.connect(port, to.ipv6.high(), to.ipv6.low(), toPort, s, when)
                : connect(tcp, port, to.address, toPort, s, when);
    }

    /** Takes frames, and what comes of them. */
    public void take(byte[] frame) throws IOException {
        wire.put(frame);
        ReceivedFrame f = wire.receive();
        ip.input(f, now);
        f.release();
    }

    /** Sends to an address of IPv4. */
    public static int send(UdpPorts udp, UdpQueue from, ByteBuffer payload, int to, int port, long now)
            throws IOException {
        return udp.send(from, payload, 0, IpAddress.mapped(to), port, now);
    }

    /** Connects to an address of IPv4. */
    public static @Nullable Connection connect(TcpPorts tcp, int port, int remote, int remotePort, TcpSettings s,
            long now) throws IOException {
        return tcp.connect(port, 0, IpAddress.mapped(remote), remotePort, s, now);
    }

    /** The part of two addresses of IPv4 in a checksum. */
    public static long sum(int a, int b) {
        return Checksum.sumOf(a) + Checksum.sumOf(b);
    }

    /** Lets time pass, and does what is due. */
    public void pass(long nanos) throws IOException {
        now += nanos;
        ip.work(now);
    }

    /** Brings frames of each to the other, without a fault, until there are none. */
    public static void run(Host a, Host b) throws IOException {
        while (true) {
            List<byte[]> fromA = a.wire.takeSent();
            List<byte[]> fromB = b.wire.takeSent();
            if (fromA.isEmpty() && fromB.isEmpty()) {
                return;
            }
            for (byte[] f : fromA) {
                b.take(f);
            }
            for (byte[] f : fromB) {
                a.take(f);
            }
        }
    }

    /** Bytes that tell which datagram they are of. */
    public static byte[] payload(int number, int length) {
        byte[] b = new byte[length];
        new Random(number).nextBytes(b);
        if (length >= 4) {
            ByteBuffer.wrap(b).putInt(0, number);
        }
        return b;
    }
}
