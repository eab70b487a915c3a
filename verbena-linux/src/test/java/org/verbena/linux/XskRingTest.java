// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.function.BooleanSupplier;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.AllocatedBytes;

/** The rings of AF_XDP sockets in batches, packets of several chunks, requests about packets, shared memory, and counts. */
class XskRingTest {
    private static final int CHUNK = 4096;
    private static final int RING = 64;
    private static final long PATIENCE_NANOS = 60_000_000_000L;
    private static final int GENERIC = Bpf.XDP_FLAGS_SKB_MODE;

    private static void await(String what, BooleanSupplier done) {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (!done.getAsBoolean()) {
            assertThat(System.nanoTime()).as(what).isLessThan(deadline);
            Thread.onSpinWait();
        }
    }

    private static void fill(Xsk socket, int first, int count) {
        assertThat(socket.fillRing().reserve(count)).isTrue();
        for (int i = 0; i < count; i++) {
            socket.fillRing().putAddress(i, (long) (first + i) * CHUNK);
        }
        socket.fillRing().publish(count);
    }

    /** Has the kernel send all that is queued. */
    private static void sendAll(Xsk socket) {
        await("the kernel takes the packets", () -> {
            int error = socket.kick();
            assertThat(error).as(Errno.name(error)).isIn(0, Errno.EAGAIN, Errno.EBUSY, Errno.ENOBUFS);
            return socket.transmitRing().pending() == 0;
        });
    }

    /** One batch of numbered packets from one end to the other, and the chunks back. */
    private static void batch(Xsk sender, MemorySegment from, Xsk receiver, MemorySegment to, int n, int number) {
        XskRing tx = sender.transmitRing();
        if (!tx.reserve(n)) {
            throw new AssertionError("the TX ring is full");
        }
        for (int i = 0; i < n; i++) {
            from.set(ValueLayout.JAVA_INT_UNALIGNED, (long) i * CHUNK + 14, number + i);
            tx.putDescriptor(i, (long) i * CHUNK, 64, 0);
        }
        tx.publish(n);
        XskRing rx = receiver.receiveRing();
        XskRing fill = receiver.fillRing();
        XskRing done = sender.completionRing();
        int received = 0;
        int completed = 0;
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (received < n || completed < n) {
            if (tx.pending() > 0) {
                sender.kick();
            }
            int there = Math.min(rx.available(), n - received);
            if (there > 0 && fill.reserve(there)) {
                for (int i = 0; i < there; i++) {
                    long at = rx.address(i);
                    if ((int) rx.lengthAndOptions(i) != 64 || to.get(ValueLayout.JAVA_INT_UNALIGNED, at
                            + 14) != number + received + i) {
                        throw new AssertionError("another packet");
                    }
                    fill.putAddress(i, at);
                }
                rx.release(there);
                fill.publish(there);
                received += there;
            }
            int sent = done.available();
            done.release(sent);
            completed += sent;
            if (System.nanoTime() > deadline) {
                throw new AssertionError(received + " of " + n + " packets arrived, " + completed + " completed");
            }
        }
    }

    @Test
    void batchesPassWithoutAllocation() throws Exception {
        VethPair.run(1500, pair -> {
            Mapping from = Mapping.anonymous(RING * CHUNK);
            Mapping to = Mapping.anonymous(RING * CHUNK);
            try (Xsk sender = Xsk.open(from.segment(), XskConfig.of(CHUNK, RING));
                    Xsk receiver = Xsk.open(to.segment(), XskConfig.of(CHUNK, RING).withRings(RING, 1, RING, 1));
                    BpfMap map = VethPair.sockets(receiver)) {
                sender.bind(pair.one, 0, Xsk.XDP_COPY);
                receiver.bind(pair.other, 0, Xsk.XDP_COPY);
                fill(receiver, 0, RING);
                for (int i = 0; i < RING; i++) {
                    MemorySegment.copy(new byte[] {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, (byte) 0x88, (byte) 0xb5}, 0,
                            from.segment(), ValueLayout.JAVA_BYTE, (long) i * CHUNK, 14);
                }
                try (AutoCloseable link = pair.redirect(pair.other, map, GENERIC)) {
                    assertThat(link).isNotNull();
                    int rounds = 3000;
                    for (int i = 0; i < rounds; i++) {
                        batch(sender, from.segment(), receiver, to.segment(), 1 + i % RING, i * RING);
                    }
                    long bytes = AllocatedBytes.leastOf(() -> {
                        for (int i = 0; i < 100; i++) {
                            batch(sender, from.segment(), receiver, to.segment(), 32, i * RING);
                        }
                    });
                    assertThat(bytes).as("bytes allocated by 3200 packets").isLessThan(3200);
                }
                assertThat(sender.isZeroCopy()).isFalse();
                assertThat(receiver.statistics().rxRingFull()).isZero();
            }
        });
    }

    @Test
    void longPacketsTakeSeveralChunks() throws Exception {
        VethPair.run(9000, pair -> {
            Mapping from = Mapping.anonymous(RING * CHUNK);
            Mapping to = Mapping.anonymous(RING * CHUNK);
            int headroom = 64;
            int room = CHUNK - Xsk.XDP_PACKET_HEADROOM - headroom;
            try (Xsk sender = Xsk.open(from.segment(), XskConfig.of(CHUNK, RING));
                    Xsk receiver = Xsk.open(to.segment(), XskConfig.of(CHUNK, RING).withHeadroom(headroom));
                    BpfMap map = VethPair.sockets(receiver)) {
                sender.bind(pair.one, 0, Xsk.XDP_COPY | Xsk.XDP_USE_SG);
                receiver.bind(pair.other, 0, Xsk.XDP_COPY | Xsk.XDP_USE_SG | Xsk.XDP_USE_NEED_WAKEUP);
                try (AutoCloseable link = pair.redirect(pair.other, map, GENERIC)) {
                    assertThat(link).isNotNull();
                    for (int length : new int[] {60, room, room + 1, 4096, 4097, 2 * room, 2 * room + 1, 9014}) {
                        fill(receiver, 0, 4);
                        byte[] packet = new byte[length];
                        for (int i = 0; i < length; i++) {
                            packet[i] = (byte) (i < 12 ? 2 : i * 31 >> 3);
                        }
                        int pieces = 0;
                        assertThat(sender.transmitRing().reserve(3)).isTrue();
                        for (int at = 0; at < length; at += CHUNK, pieces++) {
                            int n = Math.min(CHUNK, length - at);
                            MemorySegment.copy(packet, at, from.segment(), ValueLayout.JAVA_BYTE, at, n);
                            sender.transmitRing().putDescriptor(pieces, at, n, at + n < length
                                    ? Xsk.XDP_PKT_CONTD
                                    : 0);
                        }
                        sender.transmitRing().publish(pieces);
                        sendAll(sender);
                        int expected = (length + room - 1) / room;
                        XskRing rx = receiver.receiveRing();
                        await("packet of " + length, () -> rx.availableNow() >= expected);
                        assertThat(rx.availableNow()).isEqualTo(expected);
                        byte[] got = new byte[length];
                        int at = 0;
                        for (int i = 0; i < expected; i++) {
                            long word = rx.lengthAndOptions(i);
                            assertThat(rx.address(i) % CHUNK).isEqualTo(Xsk.XDP_PACKET_HEADROOM + headroom);
                            assertThat((int) (word >>> 32)).isEqualTo(i < expected - 1 ? Xsk.XDP_PKT_CONTD : 0);
                            MemorySegment.copy(to.segment(), ValueLayout.JAVA_BYTE, rx.address(i), got, at, (int) word);
                            at += (int) word;
                        }
                        rx.release(expected);
                        assertThat(got).isEqualTo(packet);
                        int sent = pieces;
                        await("completions", () -> sender.completionRing().availableNow() == sent);
                        sender.completionRing().release(sent);
                    }
                    assertThat(receiver.fillRing().needsWakeUp()).isFalse(); // copying never needs it
                }
            }
        });
    }

    @Test
    void kernelComputesRequestedChecksumsAndTellsTheTime() throws Exception {
        VethPair.run(1500, pair -> {
            Mapping memory = Mapping.anonymous(RING * CHUNK);
            XskConfig config = XskConfig.of(CHUNK, RING).withTxMetadata();
            Xsk sender;
            try {
                sender = Xsk.open(memory.segment(), config);
            } catch (LinuxException e) {
                System.out.println("SKIPPED: the kernel has no metadata of packets to send: " + e.getMessage());
                return;
            }
            try (sender;
                    DatagramChannel peer = DatagramChannel.open().bind(new InetSocketAddress(VethPair.KERNEL,
                            0))) {
                int port = ((InetSocketAddress) peer.getLocalAddress()).getPort();
                sender.bind(pair.other, 0, Xsk.XDP_COPY);
                MemorySegment umem = memory.segment();
                for (int length : new int[] {1, 2, 3, 100, 1471, 1472}) {
                    long at = 64;
                    umem.asSlice(at + UdpFrame.HEADERS, length).fill((byte) length);
                    int frame = UdpFrame.put(umem, at, pair.mac("one"), pair.mac("other"), port, length, false);
                    sender.transmitRing().reserve(2);
                    sender.transmitRing().putDescriptor(0, at, frame, 0); // the kernel drops it: a wrong checksum
                    XskMetadata.clear(umem, CHUNK + at);
                    XskMetadata.requestChecksum(umem, CHUNK + at, 34, 6);
                    XskMetadata.requestTimestamp(umem, CHUNK + at);
                    MemorySegment.copy(umem, at, umem, CHUNK + at, frame);
                    umem.set(ValueLayout.JAVA_BYTE, CHUNK + at + UdpFrame.HEADERS, (byte) 77);
                    sender.transmitRing().putDescriptor(1, CHUNK + at, frame, Xsk.XDP_TX_METADATA);
                    sender.transmitRing().publish(2);
                    sendAll(sender);
                    ByteBuffer got = ByteBuffer.allocate(2000);
                    peer.receive(got);
                    assertThat(got.position()).isEqualTo(length);
                    assertThat(got.get(0)).as("the packet with a request").isEqualTo((byte) 77);
                    await("completions", () -> sender.completionRing().availableNow() == 2);
                    sender.completionRing().release(2);
                    long now = System.currentTimeMillis() * 1_000_000;
                    assertThat(XskMetadata.timestamp(umem, CHUNK + at)).isBetween(now - PATIENCE_NANOS, now
                            + PATIENCE_NANOS);
                }
                assertThatThrownBy(() -> XskMetadata.clear(umem, 23)).isInstanceOf(IndexOutOfBoundsException.class);
            }
        });
    }

    @Test
    void lostPacketsAreCounted() throws Exception {
        VethPair.run(9000, pair -> {
            Mapping from = Mapping.anonymous(RING * CHUNK);
            Mapping to = Mapping.anonymous(RING * CHUNK);
            try (Xsk sender = Xsk.open(from.segment(), XskConfig.of(CHUNK, RING));
                    Xsk receiver = Xsk.open(to.segment(), XskConfig.of(CHUNK, RING));
                    BpfMap map = VethPair.sockets(receiver)) {
                sender.bind(pair.one, 0, Xsk.XDP_COPY);
                receiver.bind(pair.other, 0, Xsk.XDP_COPY); // not several chunks
                try (AutoCloseable link = pair.redirect(pair.other, map, GENERIC)) {
                    assertThat(link).isNotNull();
                    sender.transmit(0, 100);
                    sendAll(sender);
                    assertThat(receiver.statistics().rxFillRingEmpty()).isEqualTo(1);
                    assertThat(receiver.statistics().rxDropped()).as("the same packet").isEqualTo(1);
                    fill(receiver, 0, 1);
                    sender.transmit(0, 4000);
                    sendAll(sender);
                    assertThat(receiver.statistics().rxDropped()).as("too long for a chunk").isEqualTo(2);
                    XskRing tx = sender.transmitRing();
                    tx.reserve(2);
                    tx.putDescriptor(0, RING * (long) CHUNK, 60, 0);
                    tx.putDescriptor(1, CHUNK - 10, 60, 0);
                    tx.publish(2);
                    sendAll(sender);
                    assertThat(sender.statistics().txInvalidDescriptors()).isEqualTo(2);
                }
            }
        });
    }

    @Test
    void socketsShareMemory() throws Exception {
        VethPair.run(1500, pair -> {
            EthtoolFeatures.setChannels("other", new EthtoolFeatures.Channels(2, 2, 0, 0, 0, 0));
            Mapping from = Mapping.anonymous(RING * CHUNK);
            Mapping to = Mapping.anonymous(RING * CHUNK);
            XskConfig config = XskConfig.of(CHUNK, RING);
            try (Xsk sender = Xsk.open(from.segment(), config);
                    Xsk first = Xsk.open(to.segment(), config);
                    BpfMap map = VethPair.sockets(first)) {
                sender.bind(pair.one, 0, Xsk.XDP_COPY);
                assertThatThrownBy(() -> first.bind(pair.other, 2, Xsk.XDP_COPY)).as("no such queue")
                        .isInstanceOfSatisfying(LinuxException.class, e -> assertThat(e.errno()).isEqualTo(
                                Errno.EINVAL));
                first.bind(pair.other, 0, Xsk.XDP_COPY | Xsk.XDP_USE_SG);
                try (Xsk same = Xsk.openShared(first, config, false); Xsk next = Xsk.openShared(first, config, true)) {
                    same.bind(pair.other, 0, 0);
                    next.bind(pair.other, 1, 0);
                    assertThat(same.fillRing()).isSameAs(first.fillRing());
                    assertThat(next.fillRing()).isNotSameAs(first.fillRing());
                    fill(first, 0, 8);
                    fill(next, 8, 8);
                    try (BpfMap second = VethPair.sockets(same, next);
                            AutoCloseable link = pair.redirect(pair.other, second, GENERIC)) {
                        assertThat(link).isNotNull();
                        sender.transmit(0, 100);
                        sendAll(sender);
                        await("a packet at either socket", () -> same.receiveRing().available() + next.receiveRing()
                                .available() == 1);
                        assertThat(first.receive()).isNull();
                    }
                    assertThatThrownBy(() -> Xsk.openShared(same, config, false)).isInstanceOf(
                            IllegalArgumentException.class);
                }
                assertThat(first.fillRing().pending()).as("closing the others left it").isPositive();
                try (Xsk foreign = Xsk.open(from.segment(), config)) {
                    assertThatThrownBy(() -> foreign.bind(pair.other, 0, Xsk.XDP_COPY)).isInstanceOfSatisfying(
                            LinuxException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY));
                    foreign.close();
                    assertThat(foreign.kick()).isEqualTo(Errno.EBADF);
                    assertThat(foreign.receiveRing().available()).isZero();
                }
            }
        });
    }

    @Test
    void impossibleSizesAreRefused() throws Exception {
        XskConfig c = XskConfig.of(CHUNK, RING);
        assertThatThrownBy(() -> c.withRings(3, 4, 4, 4)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> c.withRings(4, 1 << 17, 4, 4)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> c.withHeadroom(CHUNK - 256)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new XskConfig(CHUNK, 0, 4, 4, 4, 4, 8)).isInstanceOf(IllegalArgumentException.class);
        Mapping memory = Mapping.anonymous(4 * CHUNK);
        for (MemorySegment wrong : new MemorySegment[] {memory.segment().asSlice(64, CHUNK), memory.segment().asSlice(0,
                CHUNK + 1), memory.segment().asSlice(0, 0), memory.segment().asReadOnly(), MemorySegment.ofArray(
                        new long[1024])}) {
            assertThatThrownBy(() -> Xsk.open(wrong, c)).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
