// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.stack.header.Bytes;
import org.verbena.stack.header.Checksum;
import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.header.IgmpMessage;
import org.verbena.stack.header.Ipv4Header;
import org.verbena.stack.header.UdpHeader;
import org.verbena.stack.udp.Memberships;
import org.verbena.stack.udp.UdpQueue;
import org.verbena.testkit.Seeds;

/** Groups of hosts: RFC 3376 and RFC 3810 as far as a host has them, and what a socket takes. */
final class GroupsTest {
    private static final long SECOND = 1_000_000_000L;
    private static final int GROUP = 0xef01_0203;
    private static final IpAddress G = IpAddress.ofIpv4(GROUP);
    private static final IpAddress G6 = new IpAddress(0xff05L << 48, 0x1234);
    private static final int IGMP = 14 + 24;
    private static final int TO_INCLUDE = 3;
    private static final int TO_EXCLUDE = 4;
    private static final int ALLOW = 5;
    private static final int BLOCK = 6;

    private final Host h = new Host(1);
    private final UdpQueue q;
    private final Memberships m = h.udp.memberships();

    GroupsTest() throws IOException {
        q = java.util.Objects.requireNonNull(h.udp.open(7, 4096));
    }

    private static IpAddress host(int n) {
        return IpAddress.ofIpv4(Host.SUBNET + n);
    }

    /** The records of reports, as kind, group and senders. */
    private static List<String> records(List<byte[]> frames) {
        List<String> all = new ArrayList<>();
        for (byte[] f : frames) {
            MemorySegment s = MemorySegment.ofArray(f);
            int total = Ipv4Header.totalBytes(s, 14);
            assertThat(Ipv4Header.headerBytes(s, 14)).as("with router alert").isEqualTo(24);
            assertThat(Checksum.of(s, 14, 24)).isZero();
            assertThat(f[14 + 8]).as("time to live").isEqualTo((byte) 1);
            assertThat(IgmpMessage.isValid(s, IGMP, total - 24)).isTrue();
            if (IgmpMessage.type(s, IGMP) != IgmpMessage.REPORT_3) {
                all.add(Integer.toHexString(IgmpMessage.type(s, IGMP)) + " " + Ipv4Address.text(IgmpMessage.group(s,
                        IGMP)) + " to " + Ipv4Address.text(Ipv4Header.destination(s, 14)));
                continue;
            }
            assertThat(Ipv4Address.text(Ipv4Header.destination(s, 14))).isEqualTo("224.0.0.22");
            assertThat(EthernetHeader.destination(s, 0)).isEqualTo(0x0100_5e00_0016L);
            int at = IGMP + 8;
            for (int n = Bytes.u16(s, IGMP + 6); n > 0; n--) {
                StringBuilder b = new StringBuilder().append(Bytes.u8(s, at)).append(' ').append(Ipv4Address.text(Bytes
                        .i32(s, at + 4)));
                int sources = Bytes.u16(s, at + 2);
                at += 8;
                for (int i = 0; i < sources; i++, at += 4) {
                    b.append(' ').append(Bytes.i32(s, at) - Host.SUBNET);
                }
                all.add(b.toString());
            }
            assertThat(at).isEqualTo(14 + total);
        }
        return all;
    }

    private List<String> told() throws Exception {
        h.pass(0);
        List<String> first = records(h.wire.takeSent());
        h.pass(Groups.REPEAT_INTERVAL);
        assertThat(records(h.wire.takeSent())).as("once more").isEqualTo(first);
        for (int i = 0; i < 10; i++) {
            h.pass(SECOND);
        }
        assertThat(h.wire.takeSent()).isEmpty();
        return first;
    }

    private byte[] datagram(IpAddress from, int group, int number) {
        byte[] f = new byte[14 + 28 + 4];
        MemorySegment s = MemorySegment.ofArray(f);
        EthernetHeader.write(s, 0, Ipv4Address.groupMac(group), 0x0200_0000_0063L, EthernetHeader.IPV4);
        Ipv4Header.write(s, 14, f.length - 14, 1, 0, 5, Ipv4Header.UDP, (int) from.low(), group);
        Bytes.put32(s, 42, number);
        UdpHeader.write(s, 34, 4000, 7, 12, Host.sum((int) from.low(), group));
        return f;
    }

    private boolean takes(IpAddress from, int group) throws Exception {
        h.take(datagram(from, group, 77));
        assertThat(h.wire.takeSent()).as("no error is sent").isEmpty();
        if (q.isEmpty()) {
            return false;
        }
        ByteBuffer b = ByteBuffer.allocate(10);
        q.take(b);
        assertThat(b.getInt(0)).isEqualTo(77);
        return true;
    }

    private void ask(int group, int code, int... sources) throws Exception {
        h.take(query(group, code, 12 + 4 * sources.length, sources));
    }

    private static byte[] query(int group, int code, int length, int... sources) {
        byte[] f = new byte[Math.max(60, 14 + 20 + length)];
        MemorySegment s = MemorySegment.ofArray(f);
        int to = group == 0 ? 0xe000_0001 : group;
        EthernetHeader.write(s, 0, Ipv4Address.groupMac(to), 0x0200_0000_0063L, EthernetHeader.IPV4);
        Ipv4Header.write(s, 14, 20 + length, 1, 0, 1, IgmpMessage.PROTOCOL, Host.SUBNET + 254, to);
        Bytes.put32(s, 38, group);
        if (length >= 12) {
            Bytes.put16(s, 44, sources.length);
            for (int i = 0; i < sources.length; i++) {
                Bytes.put32(s, 46 + 4 * i, Host.SUBNET + sources[i]);
            }
        }
        IgmpMessage.write(s, 34, length, IgmpMessage.QUERY);
        Bytes.put8(s, 35, code);
        Bytes.put16(s, 36, 0);
        Bytes.put16(s, 36, Checksum.of(s, 34, length));
        return f;
    }

    @Test
    void eachChangeIsToldTwice() throws Exception {
        assertThat(takes(host(9), GROUP)).isFalse();
        assertThat(m.join(q, G, h.now)).isZero();
        assertThat(told()).containsExactly(TO_EXCLUDE + " 239.1.2.3");
        assertThat(takes(host(9), GROUP)).isTrue();
        assertThat(takes(host(9), GROUP + 1)).isFalse();
        assertThat(m.block(q, G, host(9), h.now)).isZero();
        assertThat(told()).containsExactly(BLOCK + " 239.1.2.3 9");
        assertThat(takes(host(9), GROUP)).isFalse();
        assertThat(takes(host(8), GROUP)).isTrue();
        assertThat(m.unblock(q, G, host(9), h.now)).isZero();
        assertThat(told()).containsExactly(ALLOW + " 239.1.2.3 9");
        assertThat(m.leave(q, G, h.now)).isZero();
        assertThat(told()).containsExactly(TO_INCLUDE + " 239.1.2.3");
        assertThat(takes(host(8), GROUP)).isFalse();
        assertThat(m.join(q, G, host(9), h.now)).isZero();
        assertThat(told()).containsExactly(ALLOW + " 239.1.2.3 9");
        assertThat(m.join(q, G, host(8), h.now)).isZero();
        assertThat(told()).containsExactly(ALLOW + " 239.1.2.3 8");
        assertThat(takes(host(8), GROUP) && takes(host(9), GROUP) && !takes(host(7), GROUP)).isTrue();
        assertThat(m.leave(q, G, host(8), h.now)).isZero();
        assertThat(told()).containsExactly(BLOCK + " 239.1.2.3 8");
        h.udp.close(q, h.now);
        assertThat(told()).containsExactly(BLOCK + " 239.1.2.3 9");
    }

    @Test
    void changesThatFollowFastAreToldAsTheirEnd() throws Exception {
        m.join(q, G, h.now);
        h.pass(0);
        h.wire.takeSent();
        m.leave(q, G, h.now);
        assertThat(told()).containsExactly(TO_INCLUDE + " 239.1.2.3");
    }

    @Test
    void queriesAreAnsweredInTime() throws Exception {
        m.join(q, G, h.now);
        UdpQueue other = java.util.Objects.requireNonNull(h.udp.open(8, 4096));
        m.join(other, IpAddress.ofIpv4(GROUP + 1), host(9), h.now);
        told();
        for (int group : new int[] {0, GROUP, GROUP + 1, GROUP + 2}) {
            ask(group, 100);
            Set<String> got = new HashSet<>();
            for (int i = 0; i < 100; i++) {
                h.pass(SECOND / 10);
                got.addAll(records(h.wire.takeSent()));
            }
            List<String> wanted = new ArrayList<>();
            if (group == 0 || group == GROUP) {
                wanted.add("2 239.1.2.3");
            }
            if (group == 0 || group == GROUP + 1) {
                wanted.add("1 239.1.2.4 9");
            }
            assertThat(got).containsExactlyInAnyOrderElementsOf(wanted);
        }
        ask(GROUP + 1, 0x8f, 5, 9); // 31 * 8 tenths
        h.pass(25 * SECOND);
        assertThat(records(h.wire.takeSent())).as("of these one is wanted").containsExactly("1 239.1.2.4 9");
        ask(GROUP + 1, 10, 5, 6);
        h.pass(2 * SECOND);
        assertThat(h.wire.takeSent()).isEmpty();
    }

    @Test
    void aRouterOfVersion1IsAnsweredInThatWhateverOthersSpeak() throws Exception { // RFC 2236, 4; RFC 3376, 7.2.1
        m.join(q, G, h.now);
        told();
        h.take(query(0, 0, 8));
        h.take(query(0, 100, 8));
        h.pass(11 * SECOND);
        assertThat(records(h.wire.takeSent())).containsExactly("12 239.1.2.3 to 239.1.2.3");
        m.leave(q, G, h.now);
        h.pass(0);
        assertThat(h.wire.takeSent()).as("there is no message for that").isEmpty();
        m.join(q, G, h.now);
        h.pass(0);
        assertThat(records(h.wire.takeSent())).containsExactly("12 239.1.2.3 to 239.1.2.3");
        h.pass(Groups.REPEAT_INTERVAL);
        h.wire.takeSent();
        h.take(query(GROUP, 100, 8));
        byte[] other = query(0, 0, 8);
        MemorySegment s = MemorySegment.ofArray(other);
        Bytes.put32(s, 38, GROUP);
        Bytes.put32(s, 30, GROUP);
        Ipv4Header.write(s, 14, 28, 1, 0, 1, IgmpMessage.PROTOCOL, Host.SUBNET + 99, GROUP);
        EthernetHeader.write(s, 0, Ipv4Address.groupMac(GROUP), 0x0200_0000_0063L, EthernetHeader.IPV4);
        IgmpMessage.write(s, 34, 8, IgmpMessage.REPORT_1);
        h.take(other);
        h.pass(11 * SECOND);
        assertThat(h.wire.takeSent()).as("another host has told").isEmpty();
        h.pass(Groups.OLDER_VERSION);
        h.take(query(0, 100, 8));
        h.pass(11 * SECOND);
        assertThat(records(h.wire.takeSent())).containsExactly("16 239.1.2.3 to 239.1.2.3");
    }

    @Test
    void anOlderRouterIsAnsweredInItsVersion() throws Exception {
        m.join(q, G, h.now);
        told();
        h.take(query(0, 100, 8));
        h.pass(11 * SECOND);
        assertThat(records(h.wire.takeSent())).containsExactly("16 239.1.2.3 to 239.1.2.3");
        m.leave(q, G, h.now);
        h.pass(0);
        assertThat(records(h.wire.takeSent())).containsExactly("17 239.1.2.3 to 224.0.0.2");
        h.pass(Groups.OLDER_VERSION);
        m.join(q, G, h.now);
        assertThat(told()).containsExactly(TO_EXCLUDE + " 239.1.2.3");
    }

    @Test
    void whatCannotBeIsRefused() {
        assertThat(m.join(q, host(9), h.now)).isEqualTo(Errno.EINVAL);
        assertThat(m.join(q, G6, h.now)).isEqualTo(Errno.ENETUNREACH);
        assertThat(m.leave(q, G, h.now)).isEqualTo(Errno.EADDRNOTAVAIL);
        assertThat(m.block(q, G, host(9), h.now)).isEqualTo(Errno.EADDRNOTAVAIL);
        assertThat(m.join(q, G, Ipv6Frames.PEER, h.now)).isEqualTo(Errno.EAFNOSUPPORT);
        assertThat(m.join(q, G, h.now)).isZero();
        assertThat(m.join(q, G, h.now)).isEqualTo(Errno.EADDRINUSE);
        assertThat(m.join(q, G, host(9), h.now)).isEqualTo(Errno.EINVAL);
        assertThat(m.unblock(q, G, host(9), h.now)).isEqualTo(Errno.EADDRNOTAVAIL);
        for (int i = 0; i < Memberships.MOST_SENDERS; i++) {
            assertThat(m.block(q, G, host(i), h.now)).isZero();
        }
        assertThat(m.block(q, G, host(99), h.now)).isEqualTo(Errno.ENOBUFS);
        for (int i = 1; i < Memberships.MOST_GROUPS; i++) {
            assertThat(m.join(q, IpAddress.ofIpv4(GROUP + i), h.now)).isZero();
        }
        assertThat(m.join(q, IpAddress.ofIpv4(GROUP + 99), h.now)).isEqualTo(Errno.ENOBUFS);
    }

    @Test
    void manyGroupsAreToldInSeveralReports() throws Exception {
        for (int i = 0; i < 10; i++) {
            UdpQueue some = java.util.Objects.requireNonNull(h.udp.open(0, 4096));
            for (int k = 0; k < Memberships.MOST_GROUPS; k++) {
                assertThat(m.join(some, IpAddress.ofIpv4(GROUP + i * 20 + k), h.now)).isZero();
                for (int s = 0; s < 10; s++) {
                    m.block(some, IpAddress.ofIpv4(GROUP + i * 20 + k), host(s), h.now);
                }
            }
        }
        h.pass(0);
        List<byte[]> frames = h.wire.takeSent();
        assertThat(frames).hasSizeGreaterThan(5).allSatisfy(f -> assertThat(f.length).isLessThanOrEqualTo(1514));
        assertThat(new HashSet<>(records(frames))).hasSize(200);
    }

    @Test
    void datagramsToAGroupComeToOwnSocketsUnlessThatIsOff() throws Exception {
        m.join(q, G, h.now);
        told();
        UdpQueue from = java.util.Objects.requireNonNull(h.udp.open(9, 4096));
        for (int hops : new int[] {1, 0, 30}) {
            from.multicastHops(hops);
            Host.send(h.udp, from, ByteBuffer.allocate(4), GROUP, 7, h.now);
            assertThat(q.isEmpty()).isFalse();
            assertThat(q.sourceLow()).isEqualTo(IpAddress.mapped(h.address));
            q.take(ByteBuffer.allocate(4));
            List<byte[]> sent = h.wire.takeSent();
            assertThat(sent).hasSize(hops == 0 ? 0 : 1).allSatisfy(f -> assertThat(f[22]).isEqualTo((byte) hops));
        }
        from.loops(false);
        Host.send(h.udp, from, ByteBuffer.allocate(4), GROUP, 7, h.now);
        assertThat(q.isEmpty()).isTrue();
    }

    /** The filters of several sockets together, against what each takes. */
    @Test
    void aHostTakesWhatOneOfItsSocketsTakes() {
        Seeds.each(300, r -> {
            List<SourceFilter> all = new ArrayList<>();
            for (int i = r.nextInt(5); i > 0; i--) {
                SourceFilter f = r.nextBoolean() ? SourceFilter.ALL : SourceFilter.NONE;
                for (int k = r.nextInt(6); k > 0; k--) {
                    f = f.with(host(r.nextInt(8)));
                }
                all.add(f);
            }
            SourceFilter merged = SourceFilter.merge(all);
            for (int i = 0; i < 9; i++) {
                IpAddress a = host(i);
                assertThat(merged.accepts(a.high(), a.low())).as("%s of %s", i, all).isEqualTo(all.stream().anyMatch(
                        f -> f.accepts(a.high(), a.low())));
            }
        });
    }

    @Test
    void garbageDoesNoHarm() {
        Seeds.each(30, r -> {
            Host some = new Host(1);
            UdpQueue u = java.util.Objects.requireNonNull(some.udp.open(7, 4096));
            some.udp.memberships().join(u, G, some.now);
            for (int i = 0; i < 2000; i++) {
                byte[] f = query(r.nextBoolean() ? 0 : GROUP + r.nextInt(2), r.nextInt(256), 8 + r.nextInt(8), r.ints(r
                        .nextInt(2), 0, 9).toArray());
                f[34 + r.nextInt(f.length - 34)] ^= (byte) r.nextInt();
                MemorySegment s = MemorySegment.ofArray(f);
                int length = Ipv4Header.totalBytes(s, 14) - 20;
                Bytes.put16(s, 36, 0);
                Bytes.put16(s, 36, Checksum.of(s, 34, length));
                some.take(f);
                some.pass(r.nextLong(SECOND));
                some.wire.takeSent();
            }
            assertThat(some.wire.held()).isZero();
        });
    }

    @Test
    void ofIpv6AReportGoesToTheRoutersOfMld() throws Exception {
        Host six = Ipv6Frames.settled(1);
        UdpQueue u = java.util.Objects.requireNonNull(six.udp.open(7, 4096));
        assertThat(six.udp.memberships().join(u, G6, Ipv6Frames.PEER, six.now)).isZero();
        six.pass(0);
        byte[] f = Ipv6Frames.sent(six);
        MemorySegment s = MemorySegment.ofArray(f);
        assertThat(Ipv6Frames.header(f).nextHeader()).as("hop-by-hop").isZero();
        assertThat(Ipv6Frames.header(f).hopLimit()).isEqualTo(1);
        assertThat(IpAddress.isLinkLocal(Ipv6Frames.header(f).sourceHigh())).isTrue();
        assertThat(Bytes.i64(s, Ipv6Frames.PAYLOAD)).as("router alert").isEqualTo(0x3a00_0502_0000_0100L);
        assertThat(Bytes.u8(s, Ipv6Frames.PAYLOAD + 8)).isEqualTo(143);
        assertThat(Bytes.u16(s, Ipv6Frames.PAYLOAD + 14)).as("records").isEqualTo(1);
        assertThat(Bytes.u8(s, Ipv6Frames.PAYLOAD + 16)).isEqualTo(ALLOW);
        assertThat(Bytes.i64(s, Ipv6Frames.PAYLOAD + 28)).isEqualTo(G6.low());
        assertThat(Bytes.i64(s, Ipv6Frames.PAYLOAD + 44)).isEqualTo(Ipv6Frames.PEER.low());
        byte[] payload = new byte[12];
        UdpHeader.write(MemorySegment.ofArray(payload), 0, 4000, 7, 12, Ipv6Frames.sum(Ipv6Frames.PEER, G6));
        six.take(Ipv6Frames.frame(six, Ipv6Frames.PEER, G6, 17, 9, payload));
        assertThat(u.isEmpty()).isFalse();
    }

    /** What a router may ask for is more than a frame holds. */
    @Test
    void aQueryForManySendersIsAnsweredAsForAll() throws Exception {
        m.join(q, G, h.now);
        told();
        ask(GROUP, 10, new Random(1).ints(300, 0, 250).toArray());
        h.pass(2 * SECOND);
        assertThat(records(h.wire.takeSent())).containsExactly("2 239.1.2.3");
    }

    @Test
    void moreSendersThanAFrameHoldsAreToldInSeveral() throws Exception {
        List<String> wanted = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            UdpQueue some = java.util.Objects.requireNonNull(h.udp.open(0, 4096));
            for (int k = 0; k < Memberships.MOST_SENDERS; k++) {
                m.join(some, G, host(i * 100 + k), h.now);
                wanted.add(String.valueOf(i * 100 + k));
            }
        }
        h.pass(0);
        List<byte[]> frames = h.wire.takeSent();
        assertThat(frames).hasSize(2).allSatisfy(f -> assertThat(f.length).isLessThanOrEqualTo(1514));
        List<String> got = new ArrayList<>();
        for (String r : records(frames)) {
            assertThat(r).startsWith(TO_INCLUDE + " 239.1.2.3 ");
            got.addAll(List.of(r.split(" ", -1)).subList(2, r.split(" ", -1).length));
        }
        assertThat(got).containsExactlyInAnyOrderElementsOf(wanted);
    }

    @Test
    void ofIpv6TooManySendersThatAreExcludedAreShortened() throws Exception {
        Host six = Ipv6Frames.settled(1);
        UdpQueue u = java.util.Objects.requireNonNull(six.udp.open(7, 4096));
        six.udp.memberships().join(u, G6, six.now);
        SourceFilter many = SourceFilter.ALL;
        for (int i = 0; i < 200; i++) {
            many = many.with(new IpAddress(Host.SUBNET_6, 1000 + i));
        }
        assertThat(six.ip.setFilter(u, u.port(), G6, many, six.now)).isZero();
        six.pass(0);
        assertThat(six.wire.takeSent()).hasSize(1).allSatisfy(f -> assertThat(f.length).isLessThanOrEqualTo(1514));
    }

    /** A query from another link would say which version is spoken. */
    @Test
    void aQueryThatCannotBeARoutersOfThisLinkIsDropped() throws Exception {
        m.join(q, G, h.now);
        told();
        for (int change = 0; change < 2; change++) {
            byte[] f = query(0, 100, 8);
            MemorySegment s = MemorySegment.ofArray(f);
            Ipv4Header.write(s, 14, 28, 1, 0, change == 0 ? 2 : 1, IgmpMessage.PROTOCOL, Host.SUBNET + 254, change == 0
                    ? 0xe000_0001
                    : h.address);
            EthernetHeader.write(s, 0, change == 0 ? Ipv4Address.groupMac(0xe000_0001) : h.mac, 0x0200_0000_0063L,
                    EthernetHeader.IPV4);
            long before = h.counts.malformed;
            h.take(f);
            assertThat(h.counts.malformed).isEqualTo(before + 1);
        }
        h.pass(20 * SECOND);
        assertThat(h.wire.takeSent()).isEmpty();
    }
}
