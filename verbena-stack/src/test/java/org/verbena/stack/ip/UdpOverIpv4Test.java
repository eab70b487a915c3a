// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.stack.udp.UdpPorts;
import org.verbena.stack.udp.UdpQueue;
import org.verbena.testkit.AllocatedBytes;
import org.verbena.testkit.Seeds;

final class UdpOverIpv4Test {
    private static final int PORT = 7;

    private static byte[] take(UdpQueue q) {
        ByteBuffer b = ByteBuffer.allocate(UdpPorts.MOST);
        q.take(b);
        byte[] all = new byte[b.position()];
        b.flip().get(all);
        return all;
    }

    @Test
    void datagramsOfAllSizesArriveOnceAndInOrder() throws IOException {
        Seeds.each(30, r -> {
            int mtu = 68 + r.nextInt(9000);
            Host a = new Host(1, mtu, 4096);
            Host b = new Host(2, mtu, 4096);
            UdpQueue from = a.udp.open(0, 1 << 20);
            UdpQueue to = b.udp.open(PORT, 1 << 20);
            for (int i = 0; i < 40; i++) {
                // more fragments are refused
                int most = Math.min(UdpPorts.MOST, (mtu - 20 & ~7) * Ip.MOST_FRAGMENTS - 8);
                int size = r.nextInt(3) == 0 ? r.nextInt(most + 1) : r.nextInt(Math.min(2 * mtu, most + 1));
                byte[] sent = Host.payload(i, size);
                ByteBuffer bytes = ByteBuffer.wrap(sent);
                assertThat(Host.send(a.udp, from, bytes, b.address, PORT, a.now)).isZero();
                assertThat(bytes.hasRemaining()).isFalse();
                Host.run(a, b);
                if (i == 0 && Math.ceilDiv(8 + size, mtu - 20 & ~7) > Neighbours.WAITING) {
                    continue; // more than wait for the address of a host
                }
                assertThat(to.sourceLow()).isEqualTo(IpAddress.mapped(a.address));
                assertThat(to.sourcePort()).isEqualTo(from.port());
                assertThat(take(to)).isEqualTo(sent);
                assertThat(to.isEmpty()).isTrue();
            }
            assertThat(a.wire.held()).isZero();
            assertThat(b.counts.malformed).isZero();
            assertThat(b.counts.datagramsIn).isGreaterThanOrEqualTo(39);
        });
    }

    /** Each that arrives is one that was sent; without a fault of its frames it arrives. */
    @Test
    void onAFaultyLinkNothingWrongArrives() throws IOException {
        Seeds.each(100, r -> {
            Host a = new Host(1);
            Host b = new Host(2);
            UdpQueue from = a.udp.open(0, 1 << 20);
            UdpQueue to = b.udp.open(PORT, 1 << 20);
            Map<Integer, byte[]> sent = new HashMap<>();
            Set<Integer> unharmed = new HashSet<>();
            Set<Integer> arrived = new HashSet<>();
            Host.send(a.udp, from, ByteBuffer.wrap(Host.payload(-1, 4)), b.address, PORT, a.now);
            Host.run(a, b);
            take(to);
            List<byte[]> later = new ArrayList<>();
            for (int i = 0; i < 60; i++) {
                byte[] p = Host.payload(i, 4 + r.nextInt(6000));
                sent.put(i, p);
                assertThat(Host.send(a.udp, from, ByteBuffer.wrap(p), b.address, PORT, a.now)).isZero();
                boolean harmed = false;
                for (byte[] f : a.wire.takeSent()) {
                    harmed |= carry(f, b, later, r, harmed ? 19 : 20);
                }
                if (!harmed) {
                    unharmed.add(i);
                }
                if (r.nextInt(4) == 0) {
                    java.util.Collections.shuffle(later, r);
                    for (byte[] f : later) {
                        b.take(f);
                    }
                    later.clear();
                }
                a.pass(1_000_000);
                b.pass(1_000_000);
                while (!to.isEmpty()) {
                    byte[] got = take(to);
                    int number = ByteBuffer.wrap(got).getInt(0);
                    assertThat(got).isEqualTo(sent.get(number));
                    arrived.add(number);
                }
            }
            assertThat(arrived).containsAll(unharmed);
            assertThat(a.wire.held()).isZero();
            assertThat(b.wire.held()).isZero();
        });
    }

    /**
     * Carries a frame, not always, or twice, later, or with a bit changed; true if it may not have arrived as it was. Of a datagram one bit at most
     * is changed, for two can be such that the checksum does not tell.
     */
    private static boolean carry(byte[] f, Host to, List<byte[]> later, Random r, int faults) throws IOException {
        int fault = r.nextInt(faults);
        if (fault == 0) {
            return true;
        }
        if (fault == 19) {
            byte[] wrong = f.clone();
            wrong[r.nextInt(f.length)] ^= (byte) (1 << r.nextInt(8));
            to.take(wrong);
            return true;
        }
        if (fault == 1) {
            later.add(f);
            return true;
        }
        to.take(f);
        if (fault == 2) {
            to.take(f);
        }
        return false;
    }

    @Test
    void aDatagramToAPortWithoutSocketIsRefused() throws Exception {
        Host a = new Host(1);
        Host b = new Host(2);
        UdpQueue from = a.udp.open(0, 4096);
        Host.send(a.udp, from, ByteBuffer.wrap(Host.payload(1, 10)), b.address, PORT, a.now);
        Host.run(a, b);
        assertThat(b.counts.noPort).isEqualTo(1);
        assertThat(b.counts.errorsOut).isEqualTo(1);
        assertThat(a.counts.errorsIn).isEqualTo(1);
        assertThat(from.takeError()).as("not connected").isZero();
        from.connect(0, IpAddress.mapped(b.address), PORT);
        Host.send(a.udp, from, ByteBuffer.wrap(Host.payload(1, 10)), b.address, PORT, a.now);
        Host.run(a, b);
        assertThat(from.takeError()).isEqualTo(Errno.ECONNREFUSED);
        assertThat(from.takeError()).isZero();
    }

    @Test
    void aConnectedSocketTakesItsPeersDatagramsOnly() throws Exception {
        Host a = new Host(1);
        Host b = new Host(2);
        UdpQueue one = a.udp.open(1001, 4096);
        UdpQueue other = a.udp.open(1002, 4096);
        UdpQueue to = b.udp.open(PORT, 4096);
        to.connect(0, IpAddress.mapped(a.address), 1001);
        Host.send(a.udp, other, ByteBuffer.wrap(Host.payload(1, 10)), b.address, PORT, a.now);
        Host.send(a.udp, one, ByteBuffer.wrap(Host.payload(2, 10)), b.address, PORT, a.now);
        Host.run(a, b);
        assertThat(take(to)).isEqualTo(Host.payload(2, 10));
        assertThat(to.isEmpty()).isTrue();
        assertThat(b.counts.noPort).isEqualTo(1);
    }

    @Test
    void aFullQueueDropsAndCounts() throws Exception {
        Host a = new Host(1);
        Host b = new Host(2);
        UdpQueue from = a.udp.open(0, 4096);
        UdpQueue to = b.udp.open(PORT, 4096);
        for (int i = 0; i < 20; i++) {
            Host.send(a.udp, from, ByteBuffer.wrap(Host.payload(i, 1000)), b.address, PORT, a.now);
            Host.run(a, b);
        }
        assertThat(b.counts.datagramsIn).isEqualTo(4);
        assertThat(b.counts.queueFull).isEqualTo(16);
        for (int i = 0; i < 4; i++) {
            assertThat(take(to)).isEqualTo(Host.payload(i, 1000));
        }
        assertThat(to.isEmpty()).isTrue();
    }

    @Test
    void whatCannotBeSentIsRefusedAndTheBufferStays() throws Exception {
        Host a = new Host(1);
        UdpQueue from = a.udp.open(0, 4096);
        assertThat(Host.send(a.udp, from, ByteBuffer.allocate(65_508), Host.SUBNET + 2, PORT, 0)).isEqualTo(
                Errno.EMSGSIZE);
        assertThat(Host.send(a.udp, from, ByteBuffer.allocate(1), 0, PORT, 0)).isEqualTo(Errno.EINVAL);
        assertThat(Host.send(a.udp, from, ByteBuffer.allocate(1), 127 << 24 | 1, PORT, 0)).isEqualTo(Errno.EINVAL);
        assertThat(Host.send(a.udp, from, ByteBuffer.allocate(1), Host.SUBNET + 2, 0, 0)).isEqualTo(Errno.EINVAL);
        Ip lonely = new Ip(a.wire, a.mac, new Ipv4Address(a.address, 24, 0), null, a.counts, new Random(1));
        assertThat(lonely.way(0, IpAddress.mapped(11 << 24 | 1))).isEqualTo(Errno.ENETUNREACH);
        assertThat(a.ip.way(0, IpAddress.mapped(11 << 24 | 1))).as("by the gateway").isZero();
        ByteBuffer b = ByteBuffer.allocate(10);
        assertThat(Host.send(a.udp, from, b, 240 << 24, PORT, 0)).isEqualTo(Errno.EINVAL);
        assertThat(b.remaining()).isEqualTo(10);
        assertThat(a.wire.held()).isZero();
    }

    @Test
    void theOwnAddressIsReachedWithoutTheLink() throws Exception {
        Host a = new Host(1);
        UdpQueue from = a.udp.open(0, 4096);
        UdpQueue to = a.udp.open(PORT, 4096);
        assertThat(Host.send(a.udp, from, ByteBuffer.wrap(Host.payload(1, 500)), a.address, PORT, a.now)).isZero();
        assertThat(to.sourceLow()).isEqualTo(IpAddress.mapped(a.address));
        assertThat(to.sourcePort()).isEqualTo(from.port());
        assertThat(take(to)).isEqualTo(Host.payload(1, 500));
        from.connect(0, IpAddress.mapped(a.address), PORT + 1);
        Host.send(a.udp, from, ByteBuffer.wrap(Host.payload(1, 500)), a.address, PORT + 1, a.now);
        assertThat(from.takeError()).isEqualTo(Errno.ECONNREFUSED);
        assertThat(a.wire.takeSent()).isEmpty();
    }

    @Test
    void portsAreGivenOnceAndAgainWhenTheyAreFree() throws IOException {
        Host a = new Host(1);
        UdpQueue q = a.udp.open(PORT, 4096);
        assertThat(a.udp.open(PORT, 4096)).isNull();
        a.udp.close(q, a.now);
        assertThat(a.udp.open(PORT, 4096)).isNotNull();
        Set<Integer> ports = new HashSet<>();
        for (int i = 0; i < 16_384; i++) {
            assertThat(ports.add(a.udp.open(0, 64).port())).isTrue();
        }
        assertThat(a.udp.open(0, 64)).isNull();
        assertThat(ports).allMatch(p -> p >= 49_152 && p < 65_536);
    }

    @Test
    void aQueueKeepsWhatItTakesAtEachPlaceOfItsRing() throws IOException {
        Seeds.each(50, r -> {
            Host a = new Host(1);
            Host b = new Host(2);
            UdpQueue from = a.udp.open(0, 4096);
            UdpQueue to = b.udp.open(PORT, 1024 + 8 * r.nextInt(512));
            List<byte[]> waiting = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                byte[] p = Host.payload(i, r.nextInt(400));
                long before = b.counts.datagramsIn;
                Host.send(a.udp, from, ByteBuffer.wrap(p), b.address, PORT, a.now);
                Host.run(a, b);
                if (b.counts.datagramsIn > before) {
                    waiting.add(p);
                }
                while (!waiting.isEmpty() && r.nextInt(3) > 0) {
                    assertThat(take(to)).isEqualTo(waiting.removeFirst());
                }
                assertThat(to.isEmpty()).isEqualTo(waiting.isEmpty());
            }
        });
    }

    @Test
    void anEmptyQueueTakesWhatFitsInIt() throws IOException {
        UdpQueue q = new UdpQueue(9, 70_000);
        MemorySegment m = Arena.ofAuto().allocate(UdpPorts.MOST);
        for (int length : new int[] {30_000, UdpPorts.MOST, 60_000, 1, UdpPorts.MOST}) {
            assertThat(q.offer(m, 0, length, 0, 1, 2)).isTrue();
            assertThat(take(q)).hasSize(length);
        }
    }

    /** As one whose memory is closed. */
    @Test
    void aBufferThatCannotBeReadCostsNoFrame() throws IOException {
        Host a = new Host(1);
        UdpQueue from = a.udp.open(0, 4096);
        ByteBuffer b;
        try (Arena arena = Arena.ofConfined()) {
            b = arena.allocate(100).asByteBuffer();
        }
        for (int i = 0; i < 300; i++) {
            assertThatThrownBy(() -> Host.send(a.udp, from, b, Host.SUBNET + 9, PORT, 0)).isInstanceOf(
                    IllegalStateException.class);
        }
        assertThat(a.wire.held()).isZero();
    }

    @Test
    void aDatagramOfTooManyFragmentsIsRefused() throws Exception {
        Host a = new Host(1, 68, 4096);
        UdpQueue from = a.udp.open(0, 4096);
        assertThat(Host.send(a.udp, from, ByteBuffer.allocate(48 * Ip.MOST_FRAGMENTS), a.address + 1, PORT, 0))
                .isEqualTo(
                        Errno.EMSGSIZE);
        assertThat(Host.send(a.udp, from, ByteBuffer.allocate(48 * Ip.MOST_FRAGMENTS - 8), a.address + 1, PORT, 0))
                .isZero();
        a.wire.takeSent();
        assertThat(Host.send(a.udp, from, ByteBuffer.allocate(48 * Ip.MOST_FRAGMENTS - 8), a.address + 1, PORT, 0))
                .isZero();
        assertThat(a.wire.held()).isEqualTo(Neighbours.WAITING);
    }

    @Test
    void aQueueAllocatesNothing() throws Exception {
        UdpQueue q = new UdpQueue(9, 4096);
        MemorySegment m = Arena.ofAuto().allocate(100);
        ByteBuffer into = ByteBuffer.allocateDirect(100);
        assertThat(AllocatedBytes.leastOf(() -> {
            for (int i = 0; i < 1000; i++) {
                q.offer(m, 0, 100, 0, 1, 2);
                q.take(into.clear());
            }
        })).isZero();
    }
}
