// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;

import org.junit.jupiter.api.Test;

import org.verbena.stack.header.Bytes;
import org.verbena.stack.header.Checksum;
import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.header.IcmpMessage;
import org.verbena.stack.header.Ipv4Header;
import org.verbena.stack.udp.UdpQueue;
import org.verbena.testkit.Seeds;
import org.verbena.testkit.Thorough;

/** Bytes that a hostile network can send: nothing throws, no buffer is lost, memory is bounded. */
final class FuzzTest {
    private static final int FRAMES = Thorough.ON ? 200_000 : 4000;

    @Test
    void noFrameDoesHarm() {
        Seeds.each(20, r -> run(r, FRAMES, () -> true));
    }

    /** Frames whose kinds and mistakes {@code r} chooses. */
    static void run(Random r, int most, BooleanSupplier goOn) throws Exception {
        Host a = new Host(1, 1500, 80 + r.nextInt(4000)); // up to 20 parts; the first has the headers
        UdpQueue q = a.udp.open(7, 8192);
        q.connect(0, IpAddress.mapped(Host.SUBNET + 2), 4000);
        List<byte[]> good = good(a);
        int frames = 0;
        for (; frames < most && goOn.getAsBoolean(); frames++) {
            byte[] f = mutate(good.get(r.nextInt(good.size())), r);
            if (r.nextInt(3) > 0) {
                repair(f);
            }
            a.take(f);
            a.wire.takeSent();
            if (r.nextInt(100) == 0) {
                a.pass(r.nextLong(2_000_000_000L));
                a.wire.takeSent();
            }
            while (!q.isEmpty()) {
                q.take(ByteBuffer.allocate(10));
            }
        }
        assertThat(a.wire.held()).isLessThanOrEqualTo(Neighbours.WAITING);
        assertThat(Host.send(a.udp, q, ByteBuffer.allocate(1), -1, 7, a.now)).as("it sends still").isZero();
        assertThat(a.wire.takeSent()).hasSize(1);
        for (int i = 0; i < 40; i++) {
            a.pass(1_000_000_000L);
            a.wire.takeSent();
        }
        assertThat(a.wire.held()).isZero();
        assertThat(a.counts.framesIn).isEqualTo(frames);
    }

    private static List<byte[]> good(Host a) throws Exception {
        Host peer = new Host(2);
        List<byte[]> all = new ArrayList<>();
        UdpQueue from = peer.udp.open(4000, 4096);
        Host.send(peer.udp, from, ByteBuffer.wrap(Host.payload(1, 100)), a.address, 7, 0);
        List<byte[]> request = peer.wire.takeSent();
        all.addAll(request);
        Host copy = new Host(1);
        copy.take(request.getFirst());
        byte[] reply = copy.wire.takeSent().getFirst();
        all.add(reply);
        peer.take(reply);
        for (int n : new int[] {0, 1, 100, 1472, 3000, 9000}) {
            Host.send(peer.udp, from, ByteBuffer.wrap(Host.payload(n, n)), a.address, 7, 0);
        }
        all.addAll(peer.wire.takeSent());
        byte[] echo = all.get(3).clone();
        Ipv4Header.write(MemorySegment.ofArray(echo), 14, echo.length - 14, 1, 0, 64, Ipv4Header.ICMP, peer.address,
                a.address);
        IcmpMessage.write(MemorySegment.ofArray(echo), 34, echo.length - 34, IcmpMessage.ECHO, 0, 1);
        all.add(echo);
        byte[] error = new byte[14 + 20 + 8 + 28];
        MemorySegment m = MemorySegment.ofArray(error);
        EthernetHeader.write(m, 0, a.mac, peer.mac, EthernetHeader.IPV4);
        Ipv4Header.write(m, 14, error.length - 14, 1, 0, 64, Ipv4Header.ICMP, peer.address, a.address);
        Ipv4Header.write(m, 42, 28, 1, 0, 64, Ipv4Header.UDP, a.address, peer.address);
        IcmpMessage.write(m, 34, error.length - 34, IcmpMessage.UNREACHABLE, IcmpMessage.PORT, 0);
        all.add(error);
        return all;
    }

    private static byte[] mutate(byte[] f, Random r) {
        byte[] b = java.util.Arrays.copyOf(f, r.nextInt(4) == 0 ? r.nextInt(f.length + 40) : f.length);
        for (int n = r.nextInt(5); n > 0 && b.length > 0; n--) {
            int at = r.nextInt(3) == 0 ? r.nextInt(b.length) : r.nextInt(Math.min(b.length, 46));
            b[at] = r.nextBoolean() ? (byte) r.nextInt() : (byte) (b[at] ^ 1 << r.nextInt(8));
        }
        return b;
    }

    /** Makes checksums right, so that what is behind them is looked at. */
    private static void repair(byte[] f) {
        MemorySegment m = MemorySegment.ofArray(f);
        int header = f.length > 14 ? (f[14] & 0xf) * 4 : 0;
        if (header < 20 || f.length < 14 + header) {
            return;
        }
        Bytes.put16(m, 24, 0);
        Bytes.put16(m, 24, Checksum.of(m, 14, header));
        int length = Ipv4Header.totalBytes(m, 14) - header;
        int at = 14 + header;
        if (length < 8 || at + length > f.length) {
            return;
        }
        if (Ipv4Header.protocol(m, 14) == Ipv4Header.ICMP) {
            Bytes.put16(m, at + 2, 0);
            Bytes.put16(m, at + 2, Checksum.of(m, at, length));
        } else {
            Bytes.put16(m, at + 6, 0); // none
        }
    }
}
