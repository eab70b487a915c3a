// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.verbena.stack.header.Bytes;
import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.header.IcmpMessage;
import org.verbena.stack.header.Ipv4Header;
import org.verbena.stack.udp.UdpQueue;

/** What routers say of the lengths of packets of IPv4, as IP_PMTUDISC_WANT of ip(7) has it. */
final class PathMtuTest {
    private static final int IP = EthernetHeader.BYTES;
    private static final int FAR = (192 << 24) + (168 << 16) + 9;
    private static final int OTHER = FAR + 1;
    private static final int ROUTER = Host.SUBNET + 254;
    private static final int PORT = 4711;

    private final Host h = new Host(1);
    private UdpQueue q;

    @BeforeEach
    void open() throws Exception {
        q = Objects.requireNonNull(h.udp.open(PORT, 4096));
        Host router = new Host(254);
        router.take(send(FAR, 1).getFirst()); // who has the router's address
        h.take(router.wire.takeSent().getFirst());
        h.wire.takeSent();
    }

    private List<byte[]> send(int to, int length) throws Exception {
        assertThat(Host.send(h.udp, q, ByteBuffer.allocate(length), to, 9, h.now)).isZero();
        return h.wire.takeSent();
    }

    private byte[] one(int to, int length) throws Exception {
        List<byte[]> all = send(to, length);
        assertThat(all).hasSize(1);
        return all.getFirst();
    }

    private static boolean mayBeCut(byte[] f) {
        return (Bytes.u16(MemorySegment.ofArray(f), IP + 6) & Ipv4Header.DONT_FRAGMENT) == 0;
    }

    private void tooLong(byte[] frame, int mtu) throws Exception {
        int n = 28;
        byte[] f = new byte[IP + 20 + 8 + n];
        MemorySegment m = MemorySegment.ofArray(f);
        EthernetHeader.write(m, 0, h.mac, 0x0200_0000_00feL, EthernetHeader.IPV4);
        Ipv4Header.write(m, IP, 28 + n, 1, 0, 64, Ipv4Header.ICMP, ROUTER, h.address);
        System.arraycopy(frame, IP, f, IP + 28, n);
        IcmpMessage.write(m, IP + 20, 8 + n, IcmpMessage.UNREACHABLE, IcmpMessage.FRAGMENTATION_NEEDED, mtu);
        h.take(f);
    }

    private void checkFragments(int length, int most) throws Exception {
        List<byte[]> all = send(FAR, length);
        assertThat(all).hasSize(Math.ceilDiv(length + 8, most - 20 & ~7)).allSatisfy(f -> {
            assertThat(f.length - IP).isLessThanOrEqualTo(most);
            assertThat(mayBeCut(f)).as("by a link that is shorter still").isTrue();
        });
    }

    @Test
    void laterDatagramsToThatHostAreFragmentedForTenMinutes() throws Exception {
        byte[] sent = one(FAR, 1400);
        assertThat(mayBeCut(sent)).isFalse();
        tooLong(sent, 1000);
        assertThat(h.counts.errorsIn).isEqualTo(1);
        checkFragments(1400, 1000);
        checkFragments(60_000, 1000);
        assertThat(mayBeCut(one(FAR, 972))).isFalse();
        checkFragments(973, 1000);
        assertThat(one(OTHER, 1400)).hasSize(IP + 1428);
        tooLong(sent, 1200);
        checkFragments(1400, 1000);
        tooLong(sent, 800);
        checkFragments(1400, 800);
        h.pass(PathMtus.LIFETIME);
        assertThat(send(FAR, 1400).getLast()).as("behind the question for the router").hasSize(IP + 1428);
    }

    @Test
    void whatNoSocketHasSentIsNotBelieved() throws Exception {
        byte[] sent = one(FAR, 1400);
        byte[] foreign = sent.clone();
        foreign[IP + 21]++; // of a port that nobody has
        tooLong(foreign, 1000);
        byte[] notOurs = sent.clone();
        notOurs[IP + 15]++;
        tooLong(notOurs, 1000);
        byte[] later = sent.clone();
        later[IP + 7] = 10; // of a fragment that is not the first
        tooLong(later, 1000);
        tooLong(sent, 1500);
        tooLong(sent, 0xffff);
        byte[] toMany = sent.clone();
        Bytes.put32(MemorySegment.ofArray(toMany), IP + 16, 0xe100_0001);
        tooLong(toMany, 1000);
        assertThat(one(FAR, 1400)).hasSize(IP + 1428);
        assertThat(one(0xe100_0001, 1400)).hasSize(IP + 1428);
    }

    @Test
    void aRouterThatDoesNotSayHowLongMeansTheNextLengthOfLinks() throws Exception {
        byte[] sent = one(FAR, 1472);
        for (int next : new int[] {1492, 1006, 552}) {
            tooLong(sent, 0);
            checkFragments(1472, next);
        }
    }

    @Test
    void lessThan552IsLeftToRouters() throws Exception {
        byte[] sent = one(FAR, 1400);
        for (int told : new int[] {551, 300, 1}) {
            tooLong(sent, told);
            checkFragments(1400, 552);
            assertThat(mayBeCut(one(FAR, 100))).isTrue();
            assertThat(mayBeCut(one(OTHER, 100))).isFalse();
        }
    }

    @Test
    void whatRoutersMayCutIsNumberedAnewEachTime() throws Exception { // RFC 6864, 4.1
        tooLong(one(FAR, 1400), 551);
        Set<Integer> ids = new HashSet<>();
        for (int i = 0; i < 2000; i++) {
            byte[] f = one(FAR, 100);
            assertThat(mayBeCut(f)).isTrue();
            ids.add(Ipv4Header.identification(MemorySegment.ofArray(f), IP));
        }
        assertThat(ids).hasSize(2000);
    }

    @Test
    void aFloodOfErrorsTakesNoMoreMemory() throws Exception {
        for (int i = 0; i < 3 * PathMtus.MOST; i++) {
            tooLong(one(FAR + i, 1400), 1000);
        }
        assertThat(one(FAR, 1400)).as("the oldest is forgotten").hasSize(IP + 1428);
        assertThat(send(FAR + 3 * PathMtus.MOST - 1, 1400)).hasSize(2);
    }

    @Test
    void anErrorAboutAHostThatWasNotSentToIsNotBelieved() throws Exception {
        byte[] forged = one(FAR, 1400);
        Bytes.put32(MemorySegment.ofArray(forged), IP + 16, FAR + 1);
        tooLong(forged, 600);
        assertThat(one(FAR + 1, 1400)).hasSize(IP + 1428);
    }
}
