// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.stack.header.Bytes;
import org.verbena.stack.header.Icmpv6Message;
import org.verbena.stack.header.Ipv6Header;
import org.verbena.stack.header.UdpHeader;
import org.verbena.stack.udp.UdpQueue;
import org.verbena.testkit.Seeds;
import org.verbena.testkit.Thorough;

/** RFC 8200 and RFC 4443: packets, extension headers, fragments, errors. */
final class Ipv6Test {
    private static final int PORT = 7;
    private static final long SECOND = 1_000_000_000L;
    private static final int UDP = 17;

    private static byte[] take(UdpQueue q) {
        ByteBuffer b = ByteBuffer.allocate(70_000);
        q.take(b);
        return Arrays.copyOf(b.array(), b.position());
    }

    /** A datagram as a payload of IPv6. */
    private static byte[] udp(Host h, int length) {
        byte[] p = new byte[8 + length];
        System.arraycopy(Host.payload(length, length), 0, p, 8, length);
        UdpHeader.write(MemorySegment.ofArray(p), 0, 4000, PORT, p.length, Ipv6Frames.sum(Ipv6Frames.PEER, h.ipv6));
        return p;
    }

    private static byte[] join(byte[]... parts) {
        ByteBuffer b = ByteBuffer.allocate(70_000);
        for (byte[] p : parts) {
            b.put(p);
        }
        return Arrays.copyOf(b.array(), b.position());
    }

    private static byte[] of(int... bytes) {
        byte[] b = new byte[bytes.length];
        for (int i = 0; i < b.length; i++) {
            b[i] = (byte) bytes[i];
        }
        return b;
    }

    private static byte[] fragment(int next, int word, int id, byte[] data, int from, int to) {
        byte[] b = new byte[8 + to - from];
        Ipv6Header.writeFragment(MemorySegment.ofArray(b), 0, next, word, id);
        System.arraycopy(data, from, b, 8, to - from);
        return b;
    }

    private static byte[] frame(Host h, int next, byte[]... parts) {
        return Ipv6Frames.frame(h, Ipv6Frames.PEER, h.ipv6, next, 64, join(parts));
    }

    /** A host that knows the peer. */
    private static Host host() throws Exception {
        Host h = Ipv6Frames.settled(1);
        h.take(Ipv6Frames.solicitation(h, Ipv6Frames.PEER, Ipv6Frames.solicitedNode(h.ipv6), h.ipv6,
                Ipv6Frames.PEER_MAC));
        h.wire.takeSent();
        return h;
    }

    @Test
    void datagramsOfEachSizeArrive() {
        Seeds.each(20, r -> {
            int mtu = 1280 + r.nextInt(9000);
            Host a = Host.ofIpv6(1, mtu, 600 + r.nextInt(5000));
            Host b = Host.ofIpv6(2, mtu, 600 + r.nextInt(5000));
            for (int i = 0; i < 2; i++) { // nobody else has their addresses
                a.pass(2 * SECOND);
                b.pass(2 * SECOND);
                Host.run(a, b);
            }
            UdpQueue from = a.udp.open(0, 4096);
            UdpQueue to = b.udp.open(PORT, 1 << 20);
            for (int i = 0; i < 40; i++) {
                int size = i == 1 ? 65_527 : r.nextInt(r.nextInt(3) == 0 ? 65_528 : 2 * mtu);
                byte[] sent = Host.payload(i, i == 0 ? 1 : size);
                assertThat(a.udp.send(from, ByteBuffer.wrap(sent), b.ipv6.high(), b.ipv6.low(), PORT, a.now)).isZero();
                Host.run(a, b);
                assertThat(new IpAddress(to.sourceHigh(), to.sourceLow())).isEqualTo(a.ipv6);
                assertThat(to.sourcePort()).isEqualTo(from.port());
                assertThat(take(to)).isEqualTo(sent);
            }
            assertThat(a.udp.send(from, ByteBuffer.allocate(65_528), b.ipv6.high(), b.ipv6.low(), PORT, a.now))
                    .isEqualTo(Errno.EMSGSIZE);
            assertThat(a.wire.held() + b.wire.held()).isZero();
            assertThat(b.counts.malformed).isZero();
        });
    }

    @Test
    void echoIsAnsweredToOneAndToAll() throws Exception {
        Host h = host();
        byte[] data = Host.payload(1, 100);
        for (IpAddress to : new IpAddress[] {h.ipv6, Ipv6Frames.ALL_NODES}) {
            h.take(Ipv6Frames.icmp(h, Ipv6Frames.PEER, to, 64, Icmpv6Message.ECHO, 0, 0x1234_5678, data));
            byte[] f = Ipv6Frames.sent(h);
            assertThat(Ipv6Frames.message(f)).isEqualTo(new Icmpv6Message(Icmpv6Message.ECHO_REPLY, 0, 0x1234_5678));
            assertThat(Ipv6Frames.header(f).sourceLow()).isEqualTo(h.ipv6.low());
            assertThat(Arrays.copyOfRange(f, Ipv6Frames.PAYLOAD + 8, f.length)).isEqualTo(data);
        }
    }

    @Test
    void knownExtensionHeadersAreSkipped() throws Exception {
        Host h = host();
        UdpQueue q = h.udp.open(PORT, 4096);
        byte[] padded = of(UDP, 0, 1, 4, 0, 0, 0, 0);
        byte[] alert = of(UDP, 0, 5, 2, 0, 0, 1, 0);
        byte[] skip = of(UDP, 0, 0x1e, 4, 1, 2, 3, 4); // an unknown option that may be skipped
        byte[] routed = of(UDP, 0, 0, 0, 0, 0, 0, 0);
        List<byte[]> frames = List.of(frame(h, Ipv6Header.HOP_BY_HOP, padded, udp(h, 10)),
                frame(h, Ipv6Header.HOP_BY_HOP, alert, udp(h, 10)),
                frame(h, Ipv6Header.DESTINATION_OPTIONS, skip, udp(h, 10)),
                frame(h, Ipv6Header.ROUTING, routed, udp(h, 10)),
                frame(h, Ipv6Header.HOP_BY_HOP, of(60, 0, 1, 4, 0, 0, 0, 0), of(43, 0, 1, 4, 0, 0, 0, 0), of(44, 0, 0,
                        0, 0, 0, 0, 0), fragment(60, 0, 1, padded, 0, 0), padded, udp(h, 10)));
        for (byte[] f : frames) {
            h.take(f);
            assertThat(take(q)).isEqualTo(Host.payload(10, 10));
        }
        assertThat(h.counts.malformed).isZero();
    }

    /** What is wrong, and where the error says that it is; RFC 4443, 3.4. */
    @Test
    void unknownHeadersAndOptionsAreToldOf() throws Exception {
        Host h = host();
        UdpQueue q = h.udp.open(PORT, 4096);
        check(h, frame(h, 132, new byte[8]), new Icmpv6Message(4, Icmpv6Message.NEXT_HEADER, 6));
        check(h, frame(h, 60, of(132, 0, 1, 4, 0, 0, 0, 0), new byte[8]), new Icmpv6Message(4,
                Icmpv6Message.NEXT_HEADER, 40));
        check(h, frame(h, 60, of(0, 0, 1, 4, 0, 0, 0, 0), of(17, 0, 1, 4, 0, 0, 0, 0), udp(h, 1)), new Icmpv6Message(4,
                Icmpv6Message.NEXT_HEADER, 40));
        check(h, frame(h, 60, of(17, 0, 0x9e, 4, 0, 0, 0, 0), udp(h, 1)), new Icmpv6Message(4, Icmpv6Message.OPTION,
                42));
        check(h, frame(h, 60, of(17, 0, 0, 0xde, 3, 0, 0, 0), udp(h, 1)), new Icmpv6Message(4, Icmpv6Message.OPTION,
                43));
        check(h, frame(h, 43, of(17, 2, 0, 1, 0, 0, 0, 0), new byte[16], udp(h, 1)), new Icmpv6Message(4,
                Icmpv6Message.FIELD, 42));
        byte[] data = udp(h, 100);
        check(h, frame(h, 44, fragment(17, 1, 5, data, 0, 9)), new Icmpv6Message(4, Icmpv6Message.FIELD, 4));
        check(h, frame(h, 44, fragment(17, 0xfff8, 6, data, 0, 16)), new Icmpv6Message(4, Icmpv6Message.FIELD, 42));
        check(h, frame(h, UDP, join(of(0x0f, 0xa0, 0, 99, 0, 8, 0, 1))), null);
        h.take(frame(h, 60, of(17, 0, 0x5e, 4, 0, 0, 0, 0), udp(h, 1)));
        assertThat(h.wire.takeSent()).as("an option that asks for silence").isEmpty();
        assertThat(q.isEmpty()).isTrue();
    }

    /** What was sent but for questions whether the peer is there still. */
    private static List<byte[]> answers(Host h) {
        List<byte[]> all = h.wire.takeSent();
        all.removeIf(f -> Ipv6Frames.header(f).hopLimit() == 255);
        return all;
    }

    private static void check(Host h, byte[] wrong, @org.jspecify.annotations.Nullable Icmpv6Message error)
            throws Exception {
        h.take(wrong);
        List<byte[]> all = answers(h);
        if (error == null) {
            assertThat(all).isEmpty();
            return;
        }
        assertThat(all).as(error.toString()).hasSize(1);
        byte[] f = all.getFirst();
        assertThat(Ipv6Frames.message(f)).isEqualTo(error);
        assertThat(Arrays.copyOfRange(f, Ipv6Frames.PAYLOAD + 8, f.length)).as("the packet").isEqualTo(Arrays
                .copyOfRange(wrong, Ipv6Frames.IP, wrong.length));
        h.pass(SECOND);
    }

    @Test
    void lengthsThatLieAreDropped() throws Exception {
        Host h = host();
        List<byte[]> bad = new ArrayList<>();
        bad.add(frame(h, 60, of(17, 9, 1, 4, 0, 0, 0, 0), udp(h, 1)));
        bad.add(frame(h, 60, of(17, 0, 0x1e, 5, 0, 0, 0, 0), udp(h, 1)));
        bad.add(frame(h, 60, of(17, 0)));
        bad.add(frame(h, 44, of(17, 0, 0, 0)));
        byte[] longer = frame(h, UDP, udp(h, 10));
        longer[Ipv6Frames.IP + 5]++;
        bad.add(longer);
        byte[] four = frame(h, UDP, udp(h, 10));
        four[Ipv6Frames.IP] = 0x45;
        bad.add(four);
        byte[][] many = new byte[10][];
        Arrays.fill(many, of(60, 0, 1, 4, 0, 0, 0, 0));
        bad.add(frame(h, 60, many));
        for (IpAddress from : new IpAddress[] {h.ipv6, Ipv6Frames.ALL_NODES, IpAddress.ofIpv4(Host.SUBNET + 9),
            new IpAddress(0, 1), Ipv6Frames.NONE}) {
            bad.add(Ipv6Frames.frame(h, from, h.ipv6, UDP, 64, udp(h, 1)));
        }
        byte[] unsummed = udp(h, 10);
        Bytes.put16(MemorySegment.ofArray(unsummed), 6, 0);
        bad.add(frame(h, UDP, unsummed));
        for (byte[] f : bad) {
            long before = h.counts.malformed;
            h.take(f);
            assertThat(h.wire.takeSent()).isEmpty();
            assertThat(h.counts.malformed).isEqualTo(before + 1);
        }
        long before = h.counts.notForUs;
        h.take(Ipv6Frames.frame(h, Ipv6Frames.PEER, new IpAddress(Host.SUBNET_6, 77), UDP, 64, udp(h, 1)));
        h.take(Ipv6Frames.frame(h, Ipv6Frames.PEER, new IpAddress(0xff02L << 48, 0xfb), UDP, 64, udp(h, 1)));
        h.take(Ipv6Frames.frame(h, Ipv6Frames.PEER, IpAddress.ofIpv4(h.address), UDP, 64, udp(h, 1)));
        assertThat(h.counts.notForUs).isEqualTo(before + 3);
    }

    @Test
    void fragmentsInAnyOrderMakeThePacket() {
        Seeds.each(50, r -> {
            Host h = host();
            UdpQueue q = h.udp.open(PORT, 1 << 20);
            byte[] data = udp(h, 1 + r.nextInt(20_000));
            List<byte[]> all = new ArrayList<>();
            for (int at = 0; at < data.length;) {
                int n = Math.min(data.length - at, 8 * (1 + r.nextInt(170)));
                // what the others say that they carry does not count
                all.add(frame(h, 44, fragment(at == 0 ? UDP : 99, at | (at + n < data.length ? 1 : 0), 7, data, at, at
                        + n)));
                at += n;
            }
            Collections.shuffle(all, r);
            for (byte[] f : all) {
                assertThat(q.isEmpty()).isTrue();
                h.take(f);
            }
            assertThat(take(q)).isEqualTo(Host.payload(data.length - 8, data.length - 8));
        });
    }

    @Test
    void missingFragmentsAreToldOfAfterAMinute() throws Exception {
        Host h = host();
        byte[] data = udp(h, 100);
        byte[] first = frame(h, 44, fragment(UDP, 1, 1, data, 0, 64));
        h.take(first);
        h.pass(59 * SECOND);
        assertThat(answers(h)).isEmpty();
        h.pass(2 * SECOND);
        byte[] f = answers(h).getLast();
        assertThat(Ipv6Frames.message(f)).isEqualTo(new Icmpv6Message(Icmpv6Message.TIME_EXCEEDED,
                Icmpv6Message.REASSEMBLY, 0));
        h.take(frame(h, 44, fragment(UDP, 64, 2, data, 64, 108)));
        h.pass(61 * SECOND);
        assertThat(answers(h)).as("the first one is not there").isEmpty();
    }

    @Test
    void aPacketThatIsTooBigMakesLaterOnesShorter() throws Exception {
        Host h = host();
        UdpQueue q = h.udp.open(PORT, 4096);
        IpAddress to = Ipv6Frames.PEER;
        h.udp.send(q, ByteBuffer.allocate(1400), to.high(), to.low(), 9, h.now);
        byte[] sent = Ipv6Frames.sent(h);
        byte[] quoted = Arrays.copyOfRange(sent, Ipv6Frames.IP, Ipv6Frames.IP + 100);
        for (int bad : new int[] {0, 1279, 1500, -1}) {
            h.take(Ipv6Frames.icmp(h, to, h.ipv6, 64, Icmpv6Message.TOO_BIG, 0, bad, quoted));
        }
        byte[] foreign = quoted.clone();
        foreign[41]++; // of a port that nobody has
        h.take(Ipv6Frames.icmp(h, to, h.ipv6, 64, Icmpv6Message.TOO_BIG, 0, 1300, foreign));
        h.udp.send(q, ByteBuffer.allocate(1400), to.high(), to.low(), 9, h.now);
        assertThat(Ipv6Frames.header(Ipv6Frames.sent(h)).payloadBytes()).isEqualTo(1408);
        h.take(Ipv6Frames.icmp(h, to, h.ipv6, 64, Icmpv6Message.TOO_BIG, 0, 1300, quoted));
        h.udp.send(q, ByteBuffer.allocate(1400), to.high(), to.low(), 9, h.now);
        List<byte[]> parts = h.wire.takeSent();
        assertThat(parts).hasSize(2).allSatisfy(f -> {
            assertThat(Ipv6Frames.header(f).nextHeader()).isEqualTo(Ipv6Header.FRAGMENT);
            assertThat(f.length - 14).isLessThanOrEqualTo(1300);
        });
        h.pass(PathMtus.LIFETIME + SECOND);
        h.wire.takeSent();
        h.udp.send(q, ByteBuffer.allocate(1400), to.high(), to.low(), 9, h.now);
        assertThat(Ipv6Frames.header(h.wire.takeSent().getFirst()).payloadBytes()).as("after ten minutes").isEqualTo(
                1408);
    }

    @Test
    void errorsAreNotAnsweredAndLimited() throws Exception {
        Host h = host();
        for (int i = 0; i < ErrorRate.BURST + 20; i++) {
            h.take(frame(h, UDP, udp(h, 1)));
        }
        assertThat(h.wire.takeSent()).hasSize(ErrorRate.BURST).allSatisfy(f -> assertThat(Ipv6Frames.message(f))
                .isEqualTo(new Icmpv6Message(Icmpv6Message.UNREACHABLE, Icmpv6Message.PORT, 0)));
        assertThat(h.counts.errorsLimited).isEqualTo(20);
        h.pass(SECOND);
        h.wire.takeSent();
        h.take(Ipv6Frames.frame(h, Ipv6Frames.PEER, Ipv6Frames.ALL_NODES, UDP, 64, udp(h, 1)));
        h.take(Ipv6Frames.icmp(h, Ipv6Frames.PEER, h.ipv6, 64, 99, 0, 0, new byte[40]));
        assertThat(h.wire.takeSent()).isEmpty();
    }

    /** Nothing throws, no buffer is lost. */
    @Test
    void noFrameDoesHarm() {
        Seeds.each(20, r -> run(r, Thorough.ON ? 200_000 : 4000, () -> true));
    }

    /** Frames whose kinds and mistakes {@code r} chooses. */
    static void run(Random r, int most, BooleanSupplier goOn) throws Exception {
        Host h = Host.ofIpv6(1, 1500, 100 + r.nextInt(4000));
        h.udp.open(PORT, 8192);
        List<byte[]> good = good(h);
        for (int i = 0; i < most && goOn.getAsBoolean(); i++) {
            byte[] f = good.get(r.nextInt(good.size())).clone();
            f = r.nextInt(4) == 0 ? Arrays.copyOf(f, r.nextInt(f.length + 40)) : f;
            for (int n = r.nextInt(5); n > 0 && f.length > 0; n--) {
                int at = r.nextInt(r.nextInt(3) == 0 ? f.length : Math.min(f.length, 100));
                f[at] = r.nextBoolean() ? (byte) r.nextInt() : (byte) (f[at] ^ 1 << r.nextInt(8));
            }
            if (r.nextInt(3) > 0) {
                repair(f, r);
            }
            h.take(f);
            if (r.nextInt(100) == 0) {
                h.pass(r.nextLong(2 * SECOND));
            }
            h.wire.takeSent();
        }
        assertThat(h.wire.held()).isLessThanOrEqualTo(Neighbours.WAITING);
        for (int i = 0; i < 100; i++) {
            h.pass(SECOND);
            h.wire.takeSent();
        }
        assertThat(h.wire.held()).isZero();
    }

    private static List<byte[]> good(Host h) {
        byte[] data = udp(h, 100);
        byte[] quoted = new byte[80];
        MemorySegment m = MemorySegment.ofArray(quoted);
        Ipv6Header.write(m, 0, 0, 40, UDP, 64, h.ipv6.high(), h.ipv6.low(), Ipv6Frames.PEER.high(), Ipv6Frames.PEER
                .low());
        Bytes.put16(m, 40, PORT);
        byte[] prefix = new byte[8 + 32 + 8 + 8];
        MemorySegment p = MemorySegment.ofArray(prefix);
        Bytes.put16(p, 8, 0x0304);
        Bytes.put16(p, 10, 0x40c0);
        Bytes.put32(p, 12, 10_000);
        Bytes.put32(p, 16, 5000);
        Bytes.put64(p, 24, 0x2001_0db8L << 32);
        Bytes.put16(p, 40, 0x0501);
        Bytes.put32(p, 44, 1400);
        NeighbourDiscovery.writeLinkAddress(p, 48, 1, Ipv6Frames.PEER_MAC);
        return List.of(frame(h, UDP, data), frame(h, 0, of(60, 0, 5, 2, 0, 0, 1, 0), of(43, 0, 0x1e, 4, 0, 0, 0, 0), of(
                44, 0, 0, 0, 0, 0, 0, 0), fragment(UDP, 0, 1, data, 0, data.length)),
                frame(h, 44, fragment(UDP, 1, 9, data, 0, 64)), frame(h, 44, fragment(UDP, 64, 9, data, 64, 108)),
                Ipv6Frames.icmp(h, Ipv6Frames.PEER, h.ipv6, 64, Icmpv6Message.ECHO, 0, 1, data),
                Ipv6Frames.icmp(h, Ipv6Frames.PEER, h.ipv6, 64, Icmpv6Message.TOO_BIG, 0, 1300, quoted),
                Ipv6Frames.icmp(h, Ipv6Frames.PEER, h.ipv6, 64, Icmpv6Message.UNREACHABLE, 4, 0, quoted),
                Ipv6Frames.solicitation(h, Ipv6Frames.PEER, Ipv6Frames.solicitedNode(h.ipv6), h.ipv6,
                        Ipv6Frames.PEER_MAC),
                Ipv6Frames.advertisement(h, Ipv6Frames.PEER, h.ipv6, 1 << 30, Ipv6Frames.PEER, Ipv6Frames.PEER_MAC),
                Ipv6Frames.icmp(h, Ipv6Frames.PEER_NEAR, Ipv6Frames.ALL_NODES, 255,
                        Icmpv6Message.ROUTER_ADVERTISEMENT, 0, 1800, prefix));
    }

    /** Makes lengths and checksums right, so that what is behind them is looked at. */
    private static void repair(byte[] f, Random r) {
        if (f.length < Ipv6Frames.PAYLOAD + 8) {
            return;
        }
        MemorySegment m = MemorySegment.ofArray(f);
        if (r.nextInt(4) > 0) {
            Bytes.put16(m, Ipv6Frames.IP + 4, f.length - Ipv6Frames.PAYLOAD);
        }
        if (f[Ipv6Frames.IP + 6] == Ipv6Header.ICMP) {
            Ipv6Header h = Ipv6Frames.header(f);
            IpAddress from = new IpAddress(h.sourceHigh(), h.sourceLow());
            IpAddress to = new IpAddress(h.destinationHigh(), h.destinationLow());
            Icmpv6Message old = Icmpv6Message.of(m, Ipv6Frames.PAYLOAD);
            Icmpv6Message.write(m, Ipv6Frames.PAYLOAD, f.length - Ipv6Frames.PAYLOAD, old.type(), old.code(), old
                    .word(), Ipv6Frames.sum(from, to));
        }
    }

    /** An error about a datagram that came in fragments has to be one that its sender knows again. */
    @Test
    void errorsAboutFragmentsQuoteTheWholePacket() throws Exception {
        Host h = host();
        byte[] data = udp(h, 2000);
        h.take(frame(h, 44, fragment(UDP, 1, 1, data, 0, 1000)));
        h.take(frame(h, 44, fragment(99, 1000, 1, data, 1000, data.length)));
        byte[] f = answers(h).getFirst();
        assertThat(Ipv6Frames.message(f)).isEqualTo(new Icmpv6Message(Icmpv6Message.UNREACHABLE, Icmpv6Message.PORT,
                0));
        Ipv6Header quoted = Ipv6Header.of(MemorySegment.ofArray(f), Ipv6Frames.PAYLOAD + 8);
        assertThat(quoted.nextHeader()).isEqualTo(UDP);
        assertThat(quoted.payloadBytes()).isEqualTo(data.length);
        assertThat(Arrays.copyOfRange(f, Ipv6Frames.PAYLOAD + 48, Ipv6Frames.PAYLOAD + 56)).isEqualTo(Arrays
                .copyOf(data, 8));
    }

    @Test
    void neighboursDoNotTellOfThemselvesInFragments() throws Exception {
        Host h = host();
        byte[] whole = Ipv6Frames.solicitation(h, Ipv6Frames.PEER, Ipv6Frames.solicitedNode(h.ipv6), h.ipv6,
                Ipv6Frames.PEER_MAC);
        byte[] message = Arrays.copyOfRange(whole, Ipv6Frames.PAYLOAD, whole.length);
        h.take(Ipv6Frames.frame(h, Ipv6Frames.PEER, Ipv6Frames.solicitedNode(h.ipv6), 44, 255, fragment(58, 0, 1,
                message, 0, message.length)));
        assertThat(h.wire.takeSent()).isEmpty();
    }

    /** Each of two connections hears that its packets are too long. */
    @Test
    void aPacketThatIsTooBigIsToldToEachSocket() throws Exception {
        Host h = host();
        int[] told = {0};
        h.ip.carry(99, new Protocol() {
            @Override
            public void received(Datagram d, long now) {}

            @Override
            public boolean failed(int errno, int mtu, Path path, MemorySegment m, long at, long now) {
                told[0] += errno == Errno.EMSGSIZE && mtu == 1300 ? 1 : 0;
                return true;
            }
        });
        byte[] quoted = new byte[80];
        Ipv6Header.write(MemorySegment.ofArray(quoted), 0, 0, 40, 99, 64, h.ipv6.high(), h.ipv6.low(), Ipv6Frames.PEER
                .high(), Ipv6Frames.PEER.low());
        for (int i = 1; i < 3; i++) {
            h.take(Ipv6Frames.icmp(h, Ipv6Frames.PEER, h.ipv6, 64, Icmpv6Message.TOO_BIG, 0, 1300, quoted));
            assertThat(told[0]).isEqualTo(i);
        }
    }

    @Test
    void protocolsOfTheOtherVersionAreNotKnown() throws Exception {
        Host h = host();
        for (int protocol : new int[] {1, 2}) {
            h.take(frame(h, protocol, new byte[8]));
            assertThat(Ipv6Frames.message(answers(h).getFirst())).isEqualTo(new Icmpv6Message(4,
                    Icmpv6Message.NEXT_HEADER, 6));
            h.pass(SECOND);
            h.wire.takeSent();
        }
    }
}
