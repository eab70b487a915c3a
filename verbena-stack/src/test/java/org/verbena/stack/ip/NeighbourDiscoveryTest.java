// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.List;

import org.junit.jupiter.api.Test;

import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.header.Icmpv6Message;
import org.verbena.stack.header.Ipv6Header;
import org.verbena.stack.udp.UdpQueue;

/** RFC 4861, 7; RFC 4862, 5.4; RFC 4429. */
final class NeighbourDiscoveryTest {
    private static final int ROUTER = 1 << 31;
    private static final int SOLICITED = 1 << 30;
    private static final int OVERRIDE = 1 << 29;
    private static final long SECOND = 1_000_000_000L;

    private static IpAddress near(Host h) {
        return h.ip.addresses().getLast();
    }

    private static void send(Host h, IpAddress to) throws Exception {
        UdpQueue q = h.udp.open(0, 4096);
        assertThat(h.udp.send(q, ByteBuffer.wrap(Host.payload(1, 10)), to.high(), to.low(), 7, h.now)).isZero();
        h.udp.close(q, h.now);
    }

    private static long macOf(byte[] f) {
        return EthernetHeader.destination(java.lang.foreign.MemorySegment.ofArray(f), 0);
    }

    @Test
    void newAddressesAreAskedForOnceAndRoutersThrice() throws Exception {
        Host h = Host.ofIpv6(1);
        int[] types = new int[256];
        int reports = 0;
        for (int i = 0; i < 30; i++) {
            h.pass(SECOND);
            for (byte[] f : h.wire.takeSent()) {
                if (Ipv6Frames.header(f).nextHeader() == Ipv6Header.HOP_BY_HOP) { // that it is in the groups of its addresses
                    reports++;
                    continue;
                }
                types[Ipv6Frames.message(f).type()]++;
                assertThat(Ipv6Frames.header(f).hopLimit()).isEqualTo(255);
                if (Ipv6Frames.message(f).type() == Icmpv6Message.NEIGHBOUR_SOLICITATION) {
                    assertThat(Ipv6Frames.header(f).sourceLow()).as("nobody's address yet").isZero();
                    assertThat(Ipv6Frames.header(f).payloadBytes()).as("no option").isEqualTo(24);
                    assertThat(h.ip.addresses()).contains(Ipv6Frames.target(f));
                }
            }
        }
        assertThat(reports).isGreaterThanOrEqualTo(Groups.ROBUSTNESS);
        assertThat(types[Icmpv6Message.NEIGHBOUR_SOLICITATION]).isEqualTo(2);
        assertThat(types[Icmpv6Message.ROUTER_SOLICITATION]).isEqualTo(3);
    }

    @Test
    void anAddressThatAnotherHasIsGivenUp() throws Exception {
        for (boolean tells : new boolean[] {true, false}) {
            Host h = Host.ofIpv6(1);
            h.pass(1);
            h.take(tells
                    ? Ipv6Frames.advertisement(h, Ipv6Frames.PEER_NEAR, Ipv6Frames.ALL_NODES, OVERRIDE, h.ipv6,
                            Ipv6Frames.PEER_MAC)
                    : Ipv6Frames.solicitation(h, Ipv6Frames.NONE, Ipv6Frames.solicitedNode(h.ipv6), h.ipv6, 0));
            assertThat(h.ip.addresses()).doesNotContain(h.ipv6).hasSize(1);
            assertThat(h.counts.conflicts).isEqualTo(1);
        }
        Host third = Host.ofIpv6(1);
        third.pass(1); // as Linux answers: from the address itself
        third.take(Ipv6Frames.advertisement(third, third.ipv6, Ipv6Frames.ALL_NODES, OVERRIDE, third.ipv6,
                Ipv6Frames.PEER_MAC));
        assertThat(third.ip.addresses()).doesNotContain(third.ipv6);
        Host h = Ipv6Frames.settled(1);
        h.take(Ipv6Frames.advertisement(h, Ipv6Frames.PEER_NEAR, Ipv6Frames.ALL_NODES, OVERRIDE, h.ipv6,
                Ipv6Frames.PEER_MAC));
        assertThat(h.ip.addresses()).as("it was here first").contains(h.ipv6);
        assertThat(h.counts.conflicts).isEqualTo(1);
    }

    @Test
    void whoAsksIsAnswered() throws Exception {
        Host h = Ipv6Frames.settled(1);
        for (IpAddress own : new IpAddress[] {h.ipv6, near(h)}) {
            h.take(Ipv6Frames.solicitation(h, Ipv6Frames.PEER, Ipv6Frames.solicitedNode(own), own,
                    Ipv6Frames.PEER_MAC));
            byte[] f = Ipv6Frames.sent(h);
            assertThat(Ipv6Frames.message(f)).isEqualTo(new Icmpv6Message(Icmpv6Message.NEIGHBOUR_ADVERTISEMENT, 0,
                    SOLICITED | OVERRIDE));
            assertThat(Ipv6Frames.target(f)).isEqualTo(own);
            assertThat(macOf(f)).as("known by the option").isEqualTo(Ipv6Frames.PEER_MAC);
            assertThat(Ipv6Frames.header(f).destinationLow()).isEqualTo(Ipv6Frames.PEER.low());
        }
        h.take(Ipv6Frames.solicitation(h, Ipv6Frames.NONE, Ipv6Frames.solicitedNode(h.ipv6), h.ipv6, 0));
        byte[] f = Ipv6Frames.sent(h);
        assertThat(Ipv6Frames.message(f).word()).isEqualTo(OVERRIDE);
        assertThat(macOf(f)).as("all").isEqualTo(0x3333_0000_0001L);
    }

    @Test
    void whileItIsNotSureAnAnswerDoesNotOverride() throws Exception {
        Host h = Host.ofIpv6(1);
        h.pass(1);
        h.wire.takeSent();
        h.take(Ipv6Frames.solicitation(h, Ipv6Frames.PEER, Ipv6Frames.solicitedNode(h.ipv6), h.ipv6,
                Ipv6Frames.PEER_MAC));
        assertThat(Ipv6Frames.message(Ipv6Frames.sent(h)).word()).isEqualTo(SOLICITED);
    }

    @Test
    void packetsWaitUntilTheNeighbourHasAnswered() throws Exception {
        Host h = Ipv6Frames.settled(1);
        send(h, Ipv6Frames.PEER);
        byte[] asked = Ipv6Frames.sent(h);
        assertThat(Ipv6Frames.message(asked).type()).isEqualTo(Icmpv6Message.NEIGHBOUR_SOLICITATION);
        assertThat(Ipv6Frames.target(asked)).isEqualTo(Ipv6Frames.PEER);
        assertThat(macOf(asked)).isEqualTo(0x3333_ff00_0063L);
        assertThat(Ipv6Frames.header(asked).sourceHigh()).as("of that subnet").isEqualTo(Host.SUBNET_6);
        h.take(Ipv6Frames.advertisement(h, Ipv6Frames.PEER, h.ipv6, SOLICITED, Ipv6Frames.PEER, 0));
        assertThat(h.wire.takeSent()).as("an answer without an address").isEmpty();
        h.take(Ipv6Frames.advertisement(h, Ipv6Frames.PEER, h.ipv6, SOLICITED, Ipv6Frames.PEER, Ipv6Frames.PEER_MAC));
        byte[] f = Ipv6Frames.sent(h);
        assertThat(Ipv6Frames.header(f).nextHeader()).isEqualTo(17);
        assertThat(macOf(f)).isEqualTo(Ipv6Frames.PEER_MAC);
    }

    @Test
    void anotherAddressCountsIfItOverrides() throws Exception {
        Host h = Ipv6Frames.settled(1);
        long other = Ipv6Frames.PEER_MAC + 1;
        send(h, Ipv6Frames.PEER);
        h.take(Ipv6Frames.advertisement(h, Ipv6Frames.PEER, h.ipv6, SOLICITED, Ipv6Frames.PEER, Ipv6Frames.PEER_MAC));
        h.wire.takeSent();
        h.take(Ipv6Frames.advertisement(h, Ipv6Frames.PEER, Ipv6Frames.ALL_NODES, 0, Ipv6Frames.PEER, other));
        send(h, Ipv6Frames.PEER);
        List<byte[]> sent = h.wire.takeSent();
        assertThat(sent).as("the packet").hasSize(1);
        h.pass(5 * SECOND);
        sent.add(Ipv6Frames.sent(h));
        assertThat(Ipv6Frames.message(sent.getLast()).type()).as("whether the old one is there").isEqualTo(
                Icmpv6Message.NEIGHBOUR_SOLICITATION);
        assertThat(sent).allSatisfy(f -> assertThat(macOf(f)).isEqualTo(Ipv6Frames.PEER_MAC));
        h.take(Ipv6Frames.advertisement(h, Ipv6Frames.PEER, Ipv6Frames.ALL_NODES, OVERRIDE, Ipv6Frames.PEER, other));
        send(h, Ipv6Frames.PEER);
        assertThat(h.wire.takeSent()).allSatisfy(f -> assertThat(macOf(f)).isEqualTo(other));
    }

    @Test
    void aNeighbourThatIsGoneIsAskedForThreeTimes() throws Exception {
        Host h = Ipv6Frames.settled(1);
        send(h, Ipv6Frames.PEER);
        int asked = 0;
        for (int i = 0; i < 10; i++) {
            asked += h.wire.takeSent().size();
            h.pass(SECOND);
        }
        assertThat(asked).isEqualTo(Neighbours.TRIES);
        assertThat(h.counts.unresolved).isEqualTo(1);
        assertThat(h.wire.held()).isZero();
    }

    /** Messages that a neighbour cannot have sent: RFC 4861, 7.1. */
    @Test
    void whatMayComeFromElsewhereIsDropped() throws Exception {
        Host h = Ipv6Frames.settled(1);
        IpAddress group = Ipv6Frames.solicitedNode(h.ipv6);
        byte[] about = Ipv6Frames.about(h.ipv6, 1, Ipv6Frames.PEER_MAC);
        byte[] endless = about.clone();
        endless[17] = 0; // an option of no length
        byte[] tooLong = about.clone();
        tooLong[17] = 2;
        int type = Icmpv6Message.NEIGHBOUR_SOLICITATION;
        List<byte[]> bad = List.of(
                Ipv6Frames.icmp(h, Ipv6Frames.PEER, group, 254, type, 0, 0, about),
                Ipv6Frames.icmp(h, Ipv6Frames.PEER, group, 255, type, 1, 0, about),
                Ipv6Frames.icmp(h, Ipv6Frames.PEER, group, 255, type, 0, 0, new byte[12]),
                Ipv6Frames.icmp(h, Ipv6Frames.PEER, group, 255, type, 0, 0, endless),
                Ipv6Frames.icmp(h, Ipv6Frames.PEER, group, 255, type, 0, 0, tooLong),
                Ipv6Frames.icmp(h, Ipv6Frames.PEER, group, 255, type, 0, 0, Ipv6Frames.about(Ipv6Frames.ALL_NODES, 1,
                        0)),
                Ipv6Frames.icmp(h, Ipv6Frames.NONE, group, 255, type, 0, 0, about),
                Ipv6Frames.icmp(h, Ipv6Frames.NONE, h.ipv6, 255, type, 0, 0, Ipv6Frames.about(h.ipv6, 1, 0)),
                Ipv6Frames.advertisement(h, Ipv6Frames.PEER, Ipv6Frames.ALL_NODES, SOLICITED, Ipv6Frames.PEER, 1));
        for (byte[] f : bad) {
            long before = h.counts.malformed;
            h.take(f);
            assertThat(h.wire.takeSent()).isEmpty();
            assertThat(h.counts.malformed).isEqualTo(before + 1);
        }
    }

    /** As many solicitations as a link can carry. */
    @Test
    void aFloodIsBounded() throws Exception {
        Host h = Ipv6Frames.settled(1);
        for (int i = 0; i < 5000; i++) {
            IpAddress from = new IpAddress(Host.SUBNET_6, 1000 + i);
            h.take(Ipv6Frames.solicitation(h, from, Ipv6Frames.solicitedNode(h.ipv6), h.ipv6, Ipv6Frames.PEER_MAC
                    + i));
            h.wire.takeSent();
        }
        assertThat(h.wire.held()).isLessThanOrEqualTo(Neighbours.WAITING);
        for (int i = 0; i < 5; i++) {
            h.pass(SECOND);
            h.wire.takeSent();
        }
        assertThat(h.wire.held()).isZero();
        send(h, Ipv6Frames.PEER);
        assertThat(Ipv6Frames.target(Ipv6Frames.sent(h))).isEqualTo(Ipv6Frames.PEER);
    }

    @Test
    void aHostThatIsNoRouterAnyMoreIsNotUsedAsOne() throws Exception {
        Host h = Ipv6Frames.settled(1);
        h.take(RouterDiscoveryTest.advertisement(h, 1800));
        IpAddress far = new IpAddress(0x2001_0db8L << 32, 1);
        assertThat(h.ip.way(far.high(), far.low())).isZero();
        h.take(Ipv6Frames.advertisement(h, Ipv6Frames.PEER_NEAR, h.ipv6, ROUTER | OVERRIDE, Ipv6Frames.PEER_NEAR,
                Ipv6Frames.PEER_MAC));
        assertThat(h.ip.way(far.high(), far.low())).isZero();
        h.take(Ipv6Frames.advertisement(h, Ipv6Frames.PEER_NEAR, h.ipv6, OVERRIDE, Ipv6Frames.PEER_NEAR,
                Ipv6Frames.PEER_MAC));
        assertThat(h.ip.way(far.high(), far.low())).isNotZero();
    }

    @Test
    void itsOwnFramesThatComeBackAreNoConflict() throws Exception {
        Host h = Host.ofIpv6(1);
        h.pass(1);
        for (byte[] f : h.wire.takeSent()) {
            h.take(f);
        }
        assertThat(h.ip.addresses()).hasSize(2);
        assertThat(h.counts.conflicts).isZero();
    }

    @Test
    void whoAsksFromAnotherSubnetIsAnsweredWithoutARouter() throws Exception {
        Host h = Ipv6Frames.settled(1);
        IpAddress stranger = new IpAddress(0x2001_0db8L << 32, 5);
        h.take(Ipv6Frames.solicitation(h, stranger, Ipv6Frames.solicitedNode(h.ipv6), h.ipv6, Ipv6Frames.PEER_MAC));
        byte[] f = Ipv6Frames.sent(h);
        assertThat(macOf(f)).isEqualTo(Ipv6Frames.PEER_MAC);
        assertThat(Ipv6Frames.header(f).hopLimit()).isEqualTo(255);
    }
}
