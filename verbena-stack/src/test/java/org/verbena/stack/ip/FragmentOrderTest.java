// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

import org.junit.jupiter.api.Test;

import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.header.IcmpMessage;
import org.verbena.stack.header.Icmpv6Message;
import org.verbena.stack.header.Ipv4Header;
import org.verbena.stack.header.Ipv6Header;

/** Echo requests of 3000 bytes in fragments, of both versions: the answer has all bytes, or there is none. */
final class FragmentOrderTest {
    private static final int LENGTH = 3000;
    private static final int PEER = Host.SUBNET + 2;
    private static final long PEER_MAC = 0x0200_0000_0002L;
    private static final long SECOND = 1_000_000_000L;
    /** Where a fragment begins, and how long it is. */
    private static final int[] FIRST = {0, 1000};
    private static final int[] MIDDLE = {1000, 1000};
    private static final int[] LAST = {2000, 1000};
    private static final int[] INSIDE_FIRST = {512, 256};
    private static final int[] ACROSS = {1512, 1000};
    private static final List<int[][]> WHOLE = List.of(new int[][] {FIRST, MIDDLE, LAST}, new int[][] {LAST, FIRST,
        MIDDLE}, new int[][] {FIRST, LAST, MIDDLE}, new int[][] {FIRST, MIDDLE, MIDDLE, LAST}, new int[][] {FIRST,
            INSIDE_FIRST, MIDDLE, LAST}); // one within another that is there has nothing new, as Linux has it
    /** RFC 8200, 4.5, and RFC 5722; of IPv4 as Linux has it. */
    private static final List<int[][]> OVERLAPPING = List.of(new int[][] {INSIDE_FIRST, FIRST, MIDDLE, LAST},
            new int[][] {FIRST, ACROSS, MIDDLE, LAST});

    private static byte[] fragment4(Host h, byte[] message, int id, int from, int n) {
        byte[] f = new byte[Host.HEADERS + n];
        MemorySegment m = MemorySegment.ofArray(f);
        EthernetHeader.write(m, 0, h.mac, PEER_MAC, EthernetHeader.IPV4);
        Ipv4Header.write(m, 14, 20 + n, id, from / 8 | (from + n < LENGTH ? Ipv4Header.MORE_FRAGMENTS : 0), 64,
                Ipv4Header.ICMP, PEER, h.address);
        System.arraycopy(message, from, f, Host.HEADERS, n);
        return f;
    }

    private static byte[] answer4(Host h, int[][] order, int id) throws Exception {
        byte[] message = Host.payload(id, LENGTH);
        IcmpMessage.write(MemorySegment.ofArray(message), 0, LENGTH, IcmpMessage.ECHO, 0, id);
        for (int[] part : order) {
            h.take(fragment4(h, message, id, part[0], part[1]));
        }
        Host peer = new Host(2);
        byte[] answer = new byte[LENGTH];
        int got = 0;
        List<byte[]> sent = h.wire.takeSent();
        while (!sent.isEmpty()) {
            for (byte[] f : sent) {
                MemorySegment m = MemorySegment.ofArray(f);
                if (EthernetHeader.type(m, 0) == EthernetHeader.ARP) {
                    peer.take(f);
                } else {
                    int n = Ipv4Header.totalBytes(m, 14) - 20;
                    System.arraycopy(f, Host.HEADERS, answer, (Ipv4Header.fragmentWord(m, 14) & Ipv4Header.OFFSET) * 8,
                            n);
                    got += n;
                }
            }
            for (byte[] f : peer.wire.takeSent()) {
                h.take(f);
            }
            sent = h.wire.takeSent();
        }
        assertThat(got).isIn(0, LENGTH);
        if (got == LENGTH) {
            assertThat(IcmpMessage.of(MemorySegment.ofArray(answer), 0)).isEqualTo(new IcmpMessage(
                    IcmpMessage.ECHO_REPLY, 0, id));
            assertThat(Arrays.copyOfRange(answer, 8, LENGTH)).isEqualTo(Arrays.copyOfRange(message, 8, LENGTH));
        }
        return Arrays.copyOf(answer, got);
    }

    @Test
    void ofIpv4AllOfThemAreAnswered() throws Exception {
        Host h = new Host(1);
        int id = 5;
        for (int[][] order : WHOLE) {
            assertThat(answer4(h, order, id++)).hasSize(LENGTH);
        }
    }

    @Test
    void ofIpv4ThoseThatOverlapAreNotAnswered() throws Exception {
        Host h = new Host(1);
        int id = 50;
        for (int[][] order : OVERLAPPING) {
            assertThat(answer4(h, order, id++).length).as(Arrays.deepToString(order)).isZero();
        }
    }

    private static Host host6() throws Exception {
        Host h = Ipv6Frames.settled(1);
        h.take(Ipv6Frames.solicitation(h, Ipv6Frames.PEER, Ipv6Frames.solicitedNode(h.ipv6), h.ipv6,
                Ipv6Frames.PEER_MAC));
        h.wire.takeSent();
        return h;
    }

    private static byte[] fragment6(Host h, byte[] message, int id, int from, int n) {
        byte[] b = new byte[Ipv6Header.FRAGMENT_BYTES + n];
        Ipv6Header.writeFragment(MemorySegment.ofArray(b), 0, Ipv6Header.ICMP, from | (from + n < message.length
                ? Ipv6Header.MORE_FRAGMENTS
                : 0), id);
        System.arraycopy(message, from, b, Ipv6Header.FRAGMENT_BYTES, n);
        return Ipv6Frames.frame(h, Ipv6Frames.PEER, h.ipv6, Ipv6Header.FRAGMENT, 64, b);
    }

    private static byte[] echo6(Host h, int length) {
        byte[] f = Ipv6Frames.icmp(h, Ipv6Frames.PEER, h.ipv6, 64, Icmpv6Message.ECHO, 0, 7, Host.payload(1, length
                - 8));
        return Arrays.copyOfRange(f, Ipv6Frames.PAYLOAD, f.length);
    }

    /** What was sent but for questions whether the peer is there still. */
    private static List<byte[]> sent(Host h) {
        List<byte[]> all = h.wire.takeSent();
        all.removeIf(f -> Ipv6Frames.header(f).hopLimit() == 255);
        return all;
    }

    private static byte[] answer6(Host h, int[][] order, int id) throws Exception {
        byte[] message = echo6(h, LENGTH);
        for (int[] part : order) {
            h.take(fragment6(h, message, id, part[0], part[1]));
        }
        byte[] answer = new byte[LENGTH];
        int got = 0;
        for (byte[] f : sent(h)) {
            MemorySegment m = MemorySegment.ofArray(f);
            assertThat(Ipv6Frames.header(f).nextHeader()).isEqualTo(Ipv6Header.FRAGMENT);
            int at = Ipv6Frames.PAYLOAD + Ipv6Header.FRAGMENT_BYTES;
            System.arraycopy(f, at, answer, Ipv6Header.fragmentWord(m, Ipv6Frames.PAYLOAD) & Ipv6Header.OFFSET, f.length
                    - at);
            got += f.length - at;
        }
        assertThat(got).isIn(0, LENGTH);
        if (got == LENGTH) {
            assertThat(answer[0]).isEqualTo((byte) Icmpv6Message.ECHO_REPLY);
            assertThat(Arrays.copyOfRange(answer, 4, LENGTH)).isEqualTo(Arrays.copyOfRange(message, 4, LENGTH));
        }
        return Arrays.copyOf(answer, got);
    }

    @Test
    void ofIpv6AllOfThemAreAnswered() throws Exception {
        Host h = host6();
        int id = 100;
        for (int[][] order : WHOLE) {
            assertThat(answer6(h, order, id++)).hasSize(LENGTH);
        }
    }

    @Test
    void ofIpv6ThoseThatOverlapAreNotAnswered() throws Exception {
        Host h = host6();
        int id = 200;
        for (int[][] order : OVERLAPPING) {
            assertThat(answer6(h, order, id++).length).as(Arrays.deepToString(order)).isZero();
        }
    }

    /** The first with another one that does not follow it, in both orders. */
    @Test
    void ofIpv6AGapIsToldWithTheFirstFragment() throws Exception {
        for (boolean reverse : new boolean[] {false, true}) {
            Host h = host6();
            byte[] message = echo6(h, 64);
            byte[] first = fragment6(h, message, 9, 0, 16);
            byte[] later = fragment6(h, message, 9, 24, 40);
            h.take(reverse ? later : first);
            h.take(reverse ? first : later);
            assertThat(sent(h)).isEmpty();
            h.pass(61 * SECOND);
            List<byte[]> all = sent(h);
            assertThat(all).hasSize(1);
            byte[] f = all.getFirst();
            assertThat(Ipv6Frames.message(f)).isEqualTo(new Icmpv6Message(Icmpv6Message.TIME_EXCEEDED,
                    Icmpv6Message.REASSEMBLY, 0));
            assertThat(Arrays.copyOfRange(f, Ipv6Frames.PAYLOAD + 8, f.length)).isEqualTo(Arrays.copyOfRange(first,
                    Ipv6Frames.IP, first.length));
        }
    }

    /** A second fragment whose end no packet can have is told of, though the first is good. */
    @Test
    void ofIpv6AnEndBeyondAPacketIsToldWithThatFragment() throws Exception {
        Host h = host6();
        byte[] message = echo6(h, 41);
        h.take(fragment6(h, message, 9, 0, 24));
        byte[] b = new byte[Ipv6Header.FRAGMENT_BYTES + 17];
        Ipv6Header.writeFragment(MemorySegment.ofArray(b), 0, Ipv6Header.ICMP, 65_520, 9);
        System.arraycopy(message, 24, b, Ipv6Header.FRAGMENT_BYTES, 17);
        byte[] bad = Ipv6Frames.frame(h, Ipv6Frames.PEER, h.ipv6, Ipv6Header.FRAGMENT, 64, b);
        h.take(bad);
        List<byte[]> all = sent(h);
        assertThat(all).hasSize(1);
        assertThat(Ipv6Frames.message(all.getFirst())).isEqualTo(new Icmpv6Message(Icmpv6Message.PARAMETER_PROBLEM,
                Icmpv6Message.FIELD, 42));
        assertThat(Arrays.copyOfRange(all.getFirst(), Ipv6Frames.PAYLOAD + 8, all.getFirst().length)).isEqualTo(Arrays
                .copyOfRange(bad, Ipv6Frames.IP, bad.length));
    }
}
