// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;

import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.header.IcmpMessage;
import org.verbena.stack.header.Ipv4Header;
import org.verbena.stack.header.UdpHeader;

final class IcmpTest {
    private static final int PEER = Host.SUBNET + 2;
    private static final long PEER_MAC = 0x0200_0000_0002L;

    private final Host a = new Host(1);

    /** A frame from the peer, whose payload is behind 34 bytes. */
    private byte[] frame(int protocol, int to, long toMac, int length) {
        byte[] f = new byte[Math.max(60, Host.HEADERS + length)];
        MemorySegment m = MemorySegment.ofArray(f);
        EthernetHeader.write(m, 0, toMac, PEER_MAC, EthernetHeader.IPV4);
        Ipv4Header.write(m, 14, 20 + length, 1, 0, 64, protocol, PEER, to);
        return f;
    }

    private byte[] echo(int to, long toMac, int length) {
        byte[] f = frame(Ipv4Header.ICMP, to, toMac, length);
        byte[] data = new byte[length];
        new Random(length).nextBytes(data);
        System.arraycopy(data, 0, f, Host.HEADERS, length);
        IcmpMessage.write(MemorySegment.ofArray(f), Host.HEADERS, length, IcmpMessage.ECHO, 0, 0x1234_5678);
        return f;
    }

    private byte[] udp(int to, long toMac, int length) {
        byte[] f = frame(Ipv4Header.UDP, to, toMac, 8 + length);
        UdpHeader.write(MemorySegment.ofArray(f), Host.HEADERS, 4000, 9, 8 + length, Host.sum(PEER, to));
        return f;
    }

    private List<byte[]> answers() throws Exception {
        // who is asked for answers, so that what waits goes
        Host peer = new Host(2);
        for (byte[] f : a.wire.takeSent()) {
            if (EthernetHeader.type(MemorySegment.ofArray(f), 0) == EthernetHeader.ARP) {
                peer.take(f);
            } else {
                a.wire.sent.add(f);
            }
        }
        List<byte[]> kept = a.wire.takeSent();
        for (byte[] f : peer.wire.takeSent()) {
            a.take(f);
        }
        kept.addAll(a.wire.takeSent());
        return kept;
    }

    @Test
    void anEchoRequestIsAnsweredWithItsData() throws Exception {
        for (int length : new int[] {8, 9, 64, 1480}) {
            byte[] asked = echo(a.address, a.mac, length);
            a.take(asked);
            byte[] f = answers().getFirst();
            MemorySegment m = MemorySegment.ofArray(f);
            assertThat(Ipv4Header.check(m, 14, f.length - 14)).isEqualTo(20);
            assertThat(Ipv4Header.of(m, 14)).extracting(Ipv4Header::source, Ipv4Header::destination,
                    Ipv4Header::totalBytes)
                    .containsExactly(a.address, PEER, 20 + length);
            assertThat(IcmpMessage.isValid(m, Host.HEADERS, length)).isTrue();
            assertThat(IcmpMessage.of(m, Host.HEADERS)).isEqualTo(new IcmpMessage(IcmpMessage.ECHO_REPLY, 0,
                    0x1234_5678));
            assertThat(Arrays.copyOfRange(f, Host.HEADERS + 8, Host.HEADERS + length))
                    .isEqualTo(Arrays.copyOfRange(asked, Host.HEADERS + 8, Host.HEADERS + length));
        }
        assertThat(a.counts.echoes).isEqualTo(4);
    }

    @Test
    void anEchoRequestToAllOrWithAWrongChecksumIsNotAnswered() throws Exception {
        a.take(echo(a.address | 0xff, EthernetHeader.BROADCAST, 64));
        a.take(echo(a.address, EthernetHeader.BROADCAST, 64));
        byte[] wrong = echo(a.address, a.mac, 64);
        wrong[50]++;
        a.take(wrong);
        assertThat(answers()).isEmpty();
        assertThat(a.counts.malformed).isEqualTo(1);
    }

    @Test
    void anErrorQuotesThePacketAndIsNoLongerThanAllowed() throws Exception {
        for (int length : new int[] {0, 10, 1400}) {
            byte[] refused = udp(a.address, a.mac, length);
            a.take(refused);
            byte[] f = answers().getFirst();
            MemorySegment m = MemorySegment.ofArray(f);
            int quoted = Math.min(28 + length, 548);
            assertThat(Ipv4Header.totalBytes(m, 14)).isEqualTo(28 + quoted);
            assertThat(IcmpMessage.of(m, Host.HEADERS)).isEqualTo(new IcmpMessage(IcmpMessage.UNREACHABLE,
                    IcmpMessage.PORT, 0));
            assertThat(Arrays.copyOfRange(f, Host.HEADERS + 8, Host.HEADERS + 8 + quoted))
                    .isEqualTo(Arrays.copyOfRange(refused, 14, 14 + quoted));
        }
    }

    @Test
    void anUnknownProtocolIsRefused() throws Exception {
        a.take(frame(132, a.address, a.mac, 40));
        byte[] f = answers().getFirst();
        assertThat(IcmpMessage.of(MemorySegment.ofArray(f), Host.HEADERS))
                .isEqualTo(new IcmpMessage(IcmpMessage.UNREACHABLE, IcmpMessage.PROTOCOL, 0));
    }

    /** RFC 1122, 3.2.2: not in answer to a packet to all, nor to an error. */
    @Test
    void noErrorIsSentWhereThatWouldMakeAStorm() throws Exception {
        a.take(udp(a.address | 0xff, EthernetHeader.BROADCAST, 10));
        a.take(udp(-1, EthernetHeader.BROADCAST, 10));
        a.take(udp(a.address, EthernetHeader.BROADCAST, 10));
        byte[] error = frame(Ipv4Header.ICMP, a.address, a.mac, 36);
        MemorySegment m = MemorySegment.ofArray(error);
        IcmpMessage.write(m, Host.HEADERS, 36, IcmpMessage.UNREACHABLE, IcmpMessage.PORT, 0);
        a.take(error);
        assertThat(answers()).isEmpty();
        assertThat(a.counts.noPort).as("the third is for one host, in a frame for all").isEqualTo(2);
    }

    /** RFC 1122, 3.3.2: only if the first fragment is there. */
    @Test
    void fragmentsThatDoNotBecomeWholeAreReported() throws Exception {
        for (int offset : new int[] {0, 8}) {
            byte[] f = udp(a.address, a.mac, 72);
            Ipv4Header.write(MemorySegment.ofArray(f), 14, 100, 7 + offset, offset | Ipv4Header.MORE_FRAGMENTS, 64,
                    Ipv4Header.UDP, PEER,
                    a.address);
            a.take(f);
            a.pass(Reassembly.IPV4_PATIENCE);
            List<byte[]> sent = answers();
            assertThat(sent).hasSize(offset == 0 ? 1 : 0);
            if (offset == 0) {
                MemorySegment m = MemorySegment.ofArray(sent.getFirst());
                assertThat(IcmpMessage.of(m, Host.HEADERS)).isEqualTo(new IcmpMessage(IcmpMessage.TIME_EXCEEDED,
                        IcmpMessage.REASSEMBLY, 0));
                assertThat(Ipv4Header.totalBytes(m, 14)).isEqualTo(28 + 100);
                assertThat(Arrays.copyOfRange(sent.getFirst(), Host.HEADERS + 8, Host.HEADERS + 108)).isEqualTo(Arrays
                        .copyOfRange(f, 14, 114));
            }
        }
        byte[] f = udp(-1, EthernetHeader.BROADCAST, 72);
        Ipv4Header.write(MemorySegment.ofArray(f), 14, 100, 99, Ipv4Header.MORE_FRAGMENTS, 64, Ipv4Header.UDP, PEER,
                -1);
        a.take(f);
        a.pass(Reassembly.IPV4_PATIENCE);
        assertThat(answers()).as("of a packet to all").isEmpty();
        assertThat(a.counts.reassemblyFailed).isEqualTo(3);
    }

    @Test
    void errorsAreLimitedInRate() throws Exception {
        a.take(udp(a.address, a.mac, 1));
        answers();
        for (int i = 0; i < 200; i++) {
            a.take(udp(a.address, a.mac, 1));
            a.wire.takeSent();
        }
        assertThat(a.counts.errorsOut).isEqualTo(ErrorRate.BURST);
        assertThat(a.counts.errorsLimited).isEqualTo(201 - ErrorRate.BURST);
        for (int i = 0; i < 1000; i++) {
            a.pass(2_000_000);
            a.take(udp(a.address, a.mac, 1));
            a.wire.takeSent();
        }
        assertThat(a.counts.errorsOut).as("slow enough").isEqualTo(ErrorRate.BURST + 1000);
    }

    @Test
    void packetsThatNobodyMaySendAreDropped() throws Exception {
        for (int source : new int[] {0, -1, 127 << 24 | 1, 224 << 24 | 1, a.address | 0xff, a.address}) {
            byte[] f = udp(a.address, a.mac, 1);
            Ipv4Header.write(MemorySegment.ofArray(f), 14, 29, 1, 0, 64, Ipv4Header.UDP, source, a.address);
            a.take(f);
        }
        assertThat(a.counts.malformed).isEqualTo(6);
        a.take(udp(a.address + 3, a.mac, 1));
        a.take(udp(a.address, a.mac + 3, 1));
        assertThat(a.counts.notForUs).isEqualTo(2);
        assertThat(a.wire.takeSent()).isEmpty();
    }
}
