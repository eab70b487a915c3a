// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;

import org.junit.jupiter.api.Test;

import org.verbena.stack.header.ArpPacket;
import org.verbena.stack.header.Bytes;
import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.header.IcmpMessage;
import org.verbena.stack.header.Icmpv6Message;
import org.verbena.stack.header.Ipv4Header;
import org.verbena.stack.udp.UdpQueue;

/** What routers say of better ways (RFC 792, RFC 1122, 3.2.2.2; RFC 4861, 8). */
final class RedirectsTest {
    private static final long SECOND = 1_000_000_000L;
    private static final int IP = EthernetHeader.BYTES;
    private static final int FAR = (192 << 24) + (168 << 16) + 9;
    private static final int GATEWAY = Host.SUBNET + 254;
    private static final int BETTER = Host.SUBNET + 7;
    private static final IpAddress FAR_6 = new IpAddress(0x2001_0db8_ffff_0000L, 1);
    private static final IpAddress BETTER_6 = new IpAddress(0xfe80L << 48, 0x77);
    private static final long BETTER_MAC = 0x0200_0000_0077L;

    /** Sends to a host of another subnet; answers the frame, with what it has asked for before it. */
    private static List<byte[]> send(Host h, IpAddress to) throws Exception {
        UdpQueue q = Objects.requireNonNull(h.udp.open(0, 4096));
        assertThat(h.udp.send(q, ByteBuffer.allocate(100), to.high(), to.low(), 9, h.now)).isZero();
        h.udp.close(q, h.now);
        return h.wire.takeSent();
    }

    /** A host with a socket that has sent to others, and which knows no Ethernet address any more. */
    private static Host thatHasSentTo(int... hosts) throws Exception {
        Host h = new Host(1);
        UdpQueue q = Objects.requireNonNull(h.udp.open(4711, 4096));
        for (int to : hosts) {
            assertThat(Host.send(h.udp, q, ByteBuffer.allocate(100), to, 9, h.now)).isZero();
        }
        for (int i = 0; i <= Neighbours.TRIES; i++) {
            h.pass(Neighbours.RETRY);
        }
        h.wire.takeSent();
        return h;
    }

    /** The host of the link that a packet to another subnet waits for, which has to be new. */
    private static int asked(Host h, int to) throws Exception {
        byte[] f = send(h, IpAddress.ofIpv4(to)).getFirst();
        assertThat(EthernetHeader.type(MemorySegment.ofArray(f), 0)).isEqualTo(EthernetHeader.ARP);
        return ArpPacket.target(MemorySegment.ofArray(f), IP);
    }

    private static byte[] redirect(Host h, int from, int to, int hop, int port) {
        byte[] f = new byte[IP + 20 + 8 + 28];
        MemorySegment m = MemorySegment.ofArray(f);
        EthernetHeader.write(m, 0, h.mac, 0x0200_0000_00feL, EthernetHeader.IPV4);
        Ipv4Header.write(m, IP, 56, 1, 0, 64, Ipv4Header.ICMP, from, h.address);
        Ipv4Header.write(m, IP + 28, 128, 1, 0, 64, Ipv4Header.UDP, h.address, to);
        Bytes.put16(m, IP + 48, port);
        IcmpMessage.write(m, IP + 20, 36, IcmpMessage.REDIRECT, 1, hop);
        return f;
    }

    @Test
    void aRouterTellsABetterOneForAHost() throws Exception {
        Host h = thatHasSentTo(FAR);
        h.take(redirect(h, GATEWAY, FAR, BETTER, 4711));
        assertThat(h.counts.errorsIn).isEqualTo(1);
        assertThat(asked(h, FAR)).isEqualTo(BETTER);
        assertThat(asked(h, FAR + 1)).isEqualTo(GATEWAY);
        h.take(redirect(h, BETTER, FAR, BETTER + 1, 4711)); // that one in its turn
        assertThat(asked(h, FAR)).isEqualTo(BETTER + 1);
        h.pass(Redirects.LIFETIME);
        for (int i = 0; i < 5; i++) { // those that did not answer are forgotten
            h.pass(SECOND);
        }
        h.wire.takeSent();
        assertThat(asked(h, FAR)).isEqualTo(GATEWAY);
    }

    @Test
    void aRouterThatDoesNotAnswerIsNotUsedOn() throws Exception {
        Host h = thatHasSentTo(FAR);
        h.take(redirect(h, GATEWAY, FAR, BETTER, 4711));
        assertThat(asked(h, FAR)).isEqualTo(BETTER);
        for (int i = 0; i < Neighbours.TRIES; i++) {
            h.pass(Neighbours.RETRY);
        }
        h.wire.takeSent();
        assertThat(asked(h, FAR)).isEqualTo(GATEWAY);
    }

    @Test
    void othersAreNotBelieved() throws Exception {
        Host h = thatHasSentTo(FAR, Host.SUBNET + 9);
        h.take(redirect(h, GATEWAY + 1 - 2, FAR, BETTER, 4711)); // who is not the router
        h.take(redirect(h, GATEWAY, FAR, FAR, 4711)); // to another link
        h.take(redirect(h, GATEWAY, FAR, h.address, 4711));
        h.take(redirect(h, GATEWAY, FAR, Host.SUBNET + 255, 4711));
        h.take(redirect(h, GATEWAY, FAR, Host.SUBNET, 4711));
        h.take(redirect(h, GATEWAY, FAR, GATEWAY, 4711));
        h.take(redirect(h, GATEWAY, FAR, BETTER, 4712)); // of a port that nobody has
        h.take(redirect(h, GATEWAY, Host.SUBNET + 9, BETTER, 4711)); // of a host of this link
        h.take(redirect(h, GATEWAY, 0xe100_0001, BETTER, 4711));
        assertThat(h.counts.errorsIn).isZero();
        assertThat(asked(h, Host.SUBNET + 9)).isEqualTo(Host.SUBNET + 9);
        assertThat(asked(h, FAR)).isEqualTo(GATEWAY);
    }

    private static byte[] redirect(Host h, IpAddress from, int hops, IpAddress hop, IpAddress to, long mac) {
        return Ipv6Frames.icmp(h, from, h.ipv6, hops, Icmpv6Message.REDIRECT, 0, 0, data(hop, to, mac));
    }

    private static byte[] data(IpAddress hop, IpAddress to, long mac) {
        byte[] data = new byte[mac == 0 ? 32 : 40];
        MemorySegment m = MemorySegment.ofArray(data);
        Bytes.put64(m, 0, hop.high());
        Bytes.put64(m, 8, hop.low());
        Bytes.put64(m, 16, to.high());
        Bytes.put64(m, 24, to.low());
        if (mac != 0) {
            NeighbourDiscovery.writeLinkAddress(m, 32, 2, mac);
        }
        return data;
    }

    private static Host withRouter() throws Exception {
        Host h = Ipv6Frames.settled(1);
        byte[] link = new byte[8];
        NeighbourDiscovery.writeLinkAddress(MemorySegment.ofArray(link), 0, 1, Ipv6Frames.PEER_MAC);
        h.take(RouterDiscoveryTest.advertisement(h, 1800, link));
        assertThat(toFar(h)).isEqualTo(Ipv6Frames.PEER_MAC);
        return h;
    }

    /** The Ethernet address of the first frame on the way to a host of another link. */
    private static long toFar(Host h) throws Exception {
        byte[] f = send(h, FAR_6).getFirst();
        return EthernetHeader.destination(MemorySegment.ofArray(f), 0);
    }

    @Test
    void aRouterOfIpv6TellsABetterOne() throws Exception {
        Host h = withRouter();
        h.take(redirect(h, Ipv6Frames.PEER_NEAR, 255, BETTER_6, FAR_6, BETTER_MAC));
        assertThat(toFar(h)).isEqualTo(BETTER_MAC);
        h.take(Ipv6Frames.advertisement(h, BETTER_6, Ipv6Frames.ALL_NODES, 0, BETTER_6, BETTER_MAC));
        assertThat(toFar(h)).as("it is none any more").isEqualTo(Ipv6Frames.PEER_MAC);
    }

    @Test
    void aRouterOfIpv6TellsThatTheHostIsOnTheLink() throws Exception {
        Host h = withRouter();
        h.take(redirect(h, Ipv6Frames.PEER_NEAR, 255, FAR_6, FAR_6, BETTER_MAC));
        assertThat(toFar(h)).isEqualTo(BETTER_MAC);
        h.take(Ipv6Frames.advertisement(h, FAR_6, Ipv6Frames.ALL_NODES, 0, FAR_6, BETTER_MAC));
        assertThat(toFar(h)).as("a host needs not forward for that").isEqualTo(BETTER_MAC);
    }

    @Test
    void othersOfIpv6AreNotBelieved() throws Exception {
        Host h = withRouter();
        IpAddress near = Ipv6Frames.PEER_NEAR;
        h.take(redirect(h, near, 254, BETTER_6, FAR_6, BETTER_MAC)); // from another link
        h.take(redirect(h, new IpAddress(near.high(), 5), 255, BETTER_6, FAR_6, BETTER_MAC)); // who is not the router
        h.take(redirect(h, Ipv6Frames.PEER, 255, BETTER_6, FAR_6, BETTER_MAC)); // not from its link-local address
        h.take(redirect(h, near, 255, new IpAddress(FAR_6.high(), 2), FAR_6, BETTER_MAC)); // to another link
        h.take(redirect(h, near, 255, BETTER_6, Ipv6Frames.ALL_NODES, BETTER_MAC));
        byte[] data = data(BETTER_6, FAR_6, BETTER_MAC);
        h.take(Ipv6Frames.icmp(h, near, h.ipv6, 255, Icmpv6Message.REDIRECT, 1, 0, data));
        data[33] = 0; // length of the option
        h.take(Ipv6Frames.icmp(h, near, h.ipv6, 255, Icmpv6Message.REDIRECT, 0, 0, data));
        for (IpAddress own : h.ip.addresses()) {
            h.take(redirect(h, near, 255, own, FAR_6, BETTER_MAC));
        }
        assertThat(toFar(h)).isEqualTo(Ipv6Frames.PEER_MAC);
        assertThat(h.counts.errorsIn).isZero();
    }
}
