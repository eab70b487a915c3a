// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;

import org.junit.jupiter.api.Test;

import org.verbena.stack.header.ArpPacket;
import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.udp.UdpQueue;

final class NeighboursTest {
    private static final long SECOND = 1_000_000_000L;
    private static final int PEER = Host.SUBNET + 2;
    private static final long PEER_MAC = 0x0200_0000_0002L;

    private final Host a = new Host(1);
    private final UdpQueue from;

    private void send() throws Exception {
        assertThat(Host.send(a.udp, from, ByteBuffer.wrap(Host.payload(0, 10)), PEER, 7, a.now)).isZero();
    }

    private static ArpPacket arp(byte[] frame) {
        MemorySegment m = MemorySegment.ofArray(frame);
        assertThat(EthernetHeader.type(m, 0)).isEqualTo(EthernetHeader.ARP);
        assertThat(ArpPacket.isValid(m, 14, frame.length - 14)).isTrue();
        return ArpPacket.of(m, 14);
    }

    private byte[] say(int operation, int sender, long senderMac, int target) {
        byte[] f = new byte[60]; // as short frames are padded
        MemorySegment m = MemorySegment.ofArray(f);
        EthernetHeader.write(m, 0, operation == ArpPacket.REQUEST ? EthernetHeader.BROADCAST : a.mac, senderMac,
                EthernetHeader.ARP);
        ArpPacket.write(m, 14, operation, senderMac, sender, a.mac, target);
        return f;
    }

    NeighboursTest() throws IOException {
        from = Objects.requireNonNull(a.udp.open(0, 4096));
    }

    @Test
    void aHostThatDoesNotAnswerIsAskedForThreeTimes() throws Exception {
        for (int i = 0; i < Neighbours.WAITING + 2; i++) {
            send();
        }
        List<byte[]> sent = a.wire.takeSent();
        assertThat(sent).hasSize(1);
        assertThat(arp(sent.getFirst())).isEqualTo(new ArpPacket(ArpPacket.REQUEST, a.mac, a.address, 0, PEER));
        assertThat(a.wire.held()).isEqualTo(Neighbours.WAITING);
        assertThat(a.counts.unresolved).isEqualTo(2);
        a.pass(SECOND - 1);
        assertThat(a.wire.takeSent()).isEmpty();
        a.pass(1);
        assertThat(a.wire.takeSent()).hasSize(1);
        a.pass(SECOND);
        assertThat(a.wire.takeSent()).hasSize(1);
        a.pass(SECOND);
        assertThat(a.wire.takeSent()).isEmpty();
        assertThat(a.wire.held()).isZero();
        assertThat(a.counts.unresolved).isEqualTo(Neighbours.WAITING + 2);
    }

    @Test
    void packetsWaitForTheAnswerAndGoInOrder() throws Exception {
        for (int length = 1; length <= 2; length++) {
            assertThat(Host.send(a.udp, from, ByteBuffer.wrap(Host.payload(0, length)), PEER, 7, a.now)).isZero();
        }
        a.wire.takeSent();
        a.take(say(ArpPacket.REPLY, PEER, PEER_MAC, a.address));
        List<byte[]> sent = a.wire.takeSent();
        assertThat(sent).hasSize(2).allSatisfy(f -> assertThat(EthernetHeader.of(MemorySegment.ofArray(f), 0))
                .isEqualTo(new EthernetHeader(PEER_MAC, a.mac, EthernetHeader.IPV4)));
        assertThat(sent).extracting(f -> f.length).containsExactly(Host.HEADERS + 8 + 1, Host.HEADERS + 8 + 2);
    }

    @Test
    void anOldAddressIsUsedAndAskedForAgainOfItsOwner() throws Exception {
        send();
        a.take(say(ArpPacket.REPLY, PEER, PEER_MAC, a.address));
        a.wire.takeSent();
        a.pass(30 * SECOND);
        assertThat(a.wire.takeSent()).as("nobody uses it").isEmpty();
        send();
        List<byte[]> sent = a.wire.takeSent();
        assertThat(sent).hasSize(2);
        assertThat(EthernetHeader.destination(MemorySegment.ofArray(sent.getFirst()), 0)).isEqualTo(PEER_MAC);
        assertThat(arp(sent.getFirst()).operation()).isEqualTo(ArpPacket.REQUEST);
        a.pass(SECOND);
        a.pass(SECOND);
        a.pass(SECOND);
        a.wire.takeSent();
        send();
        assertThat(EthernetHeader.destination(MemorySegment.ofArray(a.wire.takeSent().getFirst()), 0))
                .as("nobody has answered").isEqualTo(EthernetHeader.BROADCAST);
    }

    @Test
    void aRequestIsAnsweredAndTellsOfItsSender() throws Exception {
        a.take(say(ArpPacket.REQUEST, PEER, PEER_MAC, a.address));
        assertThat(arp(a.wire.takeSent().getFirst())).isEqualTo(new ArpPacket(ArpPacket.REPLY, a.mac, a.address,
                PEER_MAC, PEER));
        send();
        assertThat(EthernetHeader.destination(MemorySegment.ofArray(a.wire.takeSent().getFirst()), 0)).isEqualTo(
                PEER_MAC);
        a.take(say(ArpPacket.REQUEST, PEER, PEER_MAC + 5, Host.SUBNET + 77));
        assertThat(a.wire.takeSent()).as("another is asked for").isEmpty();
        send();
        assertThat(EthernetHeader.destination(MemorySegment.ofArray(a.wire.takeSent().getFirst()), 0))
                .as("but its address has changed").isEqualTo(PEER_MAC + 5);
    }

    /** Of RFC 5227: who is about to take an address asks for it with no address of its own. */
    @Test
    void aProbeIsAnsweredAndIsNobodysAddress() throws Exception {
        a.take(say(ArpPacket.REQUEST, 0, PEER_MAC, a.address));
        assertThat(arp(a.wire.takeSent().getFirst()).operation()).isEqualTo(ArpPacket.REPLY);
        a.take(say(ArpPacket.REPLY, a.address, PEER_MAC, a.address));
        assertThat(a.counts.conflicts).isEqualTo(1);
        assertThat(a.wire.takeSent()).isEmpty();
    }

    @Test
    void theOwnAddressIsToldTwice() throws Exception {
        a.ip.start(a.now);
        a.pass(0);
        List<byte[]> sent = a.wire.takeSent();
        assertThat(sent).hasSize(1);
        assertThat(arp(sent.getFirst())).isEqualTo(new ArpPacket(ArpPacket.REQUEST, a.mac, a.address, 0, a.address));
        a.pass(2 * SECOND - 1);
        assertThat(a.wire.takeSent()).isEmpty();
        a.pass(1);
        assertThat(a.wire.takeSent()).hasSize(1);
        a.pass(10 * SECOND);
        assertThat(a.wire.takeSent()).isEmpty();
        Host b = new Host(2);
        b.take(sent.getFirst());
        assertThat(b.wire.takeSent()).as("who hears it").isEmpty();
        assertThat(b.counts.malformed + b.counts.conflicts).isZero();
    }

    @Test
    void aFloodOfRequestsAndOfHostsIsBounded() throws Exception {
        send();
        a.take(say(ArpPacket.REPLY, PEER, PEER_MAC, a.address));
        for (int i = 0; i < 5000; i++) {
            a.take(say(ArpPacket.REQUEST, 0x0b00_0000 + i, PEER_MAC + i, a.address)); // not of this link
        }
        a.wire.takeSent();
        send();
        assertThat(EthernetHeader.destination(MemorySegment.ofArray(a.wire.takeSent().getFirst()), 0)).isEqualTo(
                PEER_MAC);
        for (int i = 0; i < 5000; i++) {
            Host.send(a.udp, from, ByteBuffer.wrap(Host.payload(0, 1)), Host.SUBNET + 3 + i % 200, 7, a.now);
        }
        assertThat(a.wire.held()).isEqualTo(Neighbours.WAITING);
        a.wire.takeSent();
        send();
        assertThat(a.wire.takeSent()).as("who is known is sent to").hasSize(1);
        for (int i = 0; i < 4; i++) {
            a.pass(SECOND);
        }
        assertThat(a.wire.held()).isZero();
    }

    /** In a subnet that has more hosts than are kept. */
    @Test
    void thoseThatAnswerStayWhileOthersAreAskedForInVain() throws Exception {
        Ip wide = new Ip(a.wire, a.mac, new Ipv4Address(a.address, 8, 0), null, a.counts, new java.util.Random(1));
        org.verbena.stack.udp.UdpPorts udp = new org.verbena.stack.udp.UdpPorts(wide, a.counts, new java.util.Random(
                1));
        UdpQueue q = udp.open(0, 4096);
        FakeFrames frames = f -> wide.input(f, a.now);
        frames.take(a, say(ArpPacket.REQUEST, PEER, PEER_MAC, a.address));
        for (int i = 0; i < 3000; i++) {
            Host.send(udp, q, ByteBuffer.allocate(1), Host.SUBNET + 1000 + i, 7, a.now);
        }
        a.wire.takeSent();
        Host.send(udp, q, ByteBuffer.allocate(1), PEER, 7, a.now);
        assertThat(EthernetHeader.of(MemorySegment.ofArray(a.wire.takeSent().getFirst()), 0))
                .isEqualTo(new EthernetHeader(PEER_MAC, a.mac, EthernetHeader.IPV4));
    }

    private interface FakeFrames {
        void input(org.verbena.stack.wire.ReceivedFrame f) throws Exception;

        default void take(Host h, byte[] frame) throws Exception {
            h.wire.put(frame);
            input(h.wire.receive());
        }
    }

    @Test
    void malformedPacketsChangeNothing() throws Exception {
        byte[] f = say(ArpPacket.REQUEST, PEER, PEER_MAC, a.address);
        for (int i = 14; i < 22; i++) {
            byte[] wrong = f.clone();
            wrong[i] ^= 0x40;
            a.take(wrong);
        }
        a.take(say(ArpPacket.REQUEST, PEER, PEER_MAC | 1L << 40, a.address));
        a.take(java.util.Arrays.copyOf(f, 41));
        assertThat(a.counts.malformed).isEqualTo(10);
        assertThat(a.wire.takeSent()).isEmpty();
        send();
        assertThat(EthernetHeader.destination(MemorySegment.ofArray(a.wire.takeSent().getFirst()), 0))
                .isEqualTo(EthernetHeader.BROADCAST);
    }
}
