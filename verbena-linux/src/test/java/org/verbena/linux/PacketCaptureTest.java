// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

import org.verbena.testkit.Await;

/** Packets of an interface in both directions, as many bytes of them as a program wants. */
class PacketCaptureTest {
    private static final int TAGGED_UDP = 4 + UdpFrame.HEADERS;

    private record Packet(long seconds, int tag, int length, ByteBuffer bytes) {}

    private static Fd program(int bytes) throws LinuxException {
        return Bpf.load(Bpf.BPF_PROG_TYPE_SOCKET_FILTER, new long[] {Bpf.instruction(0xb7, 0, 0, 0, bytes), Bpf
                .instruction(0x95, 0, 0, 0, 0)}, "Apache-2.0");
    }

    private static List<Packet> await(PacketCapture capture, int count) throws IOException {
        List<Packet> all = new ArrayList<>();
        Await.until(count + " packets", () -> {
            capture.await(10);
            capture.read((seconds, _, tag, length, bytes) -> all.add(new Packet(seconds, tag, length, ByteBuffer.wrap(
                    bytes.toArray(
                            ValueLayout.JAVA_BYTE)))));
            return all.size() >= count;
        });
        return all;
    }

    private static void send(PacketSocket socket, MemorySegment frame) {
        IoVectors v = new IoVectors(2);
        VnetHeader.plain(v.header(), 0);
        v.add(v.header(), 0, VnetHeader.BYTES).add(frame, 0, frame.byteSize());
        assertThat(socket.send(v)).isEqualTo(VnetHeader.BYTES + frame.byteSize());
    }

    /** The mapping of the ring would keep the socket. */
    @Test
    void socketIsGoneWhenACaptureIsClosed() throws Exception {
        Path sockets = Path.of("/proc/thread-self/net/packet");
        VethPair.run(1500, pair -> {
            List<String> before = Files.readAllLines(sockets);
            try (Fd none = program(0);
                    PacketCapture capture = PacketCapture.open(pair.one, none, PacketCapture.BLOCK_BYTES)) {
                assertThat(capture.read((_, _, _, _, _) -> {})).isZero();
                assertThat(Files.readAllLines(sockets)).hasSize(before.size() + 1);
            }
            assertThat(Files.readAllLines(sockets)).isEqualTo(before);
        });
    }

    @Test
    void bothDirectionsAreSeenWithTheTagBesideThePacket() throws Exception {
        VethPair.run(1500, pair -> {
            try (Fd all = program(1 << 18);
                    PacketCapture capture = PacketCapture.open(pair.one, all, 2 * PacketCapture.BLOCK_BYTES);
                    PacketSocket other = PacketSocket.open(pair.other, false);
                    DatagramChannel kernel = DatagramChannel.open()) {
                kernel.send(ByteBuffer.allocate(100), new InetSocketAddress(VethPair.RAW, 9));
                Packet sent = await(capture, 1).getFirst();
                assertThat(sent.length()).isEqualTo(UdpFrame.HEADERS + 100).isEqualTo(sent.bytes().limit());
                assertThat(sent.tag()).isZero();
                assertThat(sent.seconds()).isCloseTo(System.currentTimeMillis() / 1000, Offset.offset(100L));
                MemorySegment frame = Arena.ofAuto().allocate(TAGGED_UDP, 8);
                MemorySegment.copy(new byte[] {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, (byte) 0x81, 0, 0x60, 7, 8, 0, 0x45},
                        0, frame, ValueLayout.JAVA_BYTE, 0, 19);
                send(other, frame);
                Packet received = await(capture, 1).getFirst();
                assertThat(received.tag()).isEqualTo(0x81006007);
                assertThat(received.length()).isEqualTo(TAGGED_UDP - 4).isEqualTo(received.bytes().limit());
                assertThat(Arrays.copyOf(received.bytes().array(), 15)).containsExactly(2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0,
                        2, 8,
                        0, 0x45);
                kernel.send(ByteBuffer.allocate(200), new InetSocketAddress(VethPair.RAW, 9));
                capture.stop();
                kernel.send(ByteBuffer.allocate(300), new InetSocketAddress(VethPair.RAW, 9));
                assertThat(await(capture, 1)).singleElement().extracting(Packet::length).isEqualTo(UdpFrame.HEADERS
                        + 200);
                assertThat(capture.lost()).isZero();
            }
        });
    }

    /** A ring that nobody empties is full some time: the rest is counted, what is there is whole. */
    @Test
    void packetsThatFindTheRingFullAreCounted() throws Exception {
        int count = 4000;
        VethPair.run(1500, pair -> {
            try (Fd some = program(1000);
                    PacketCapture capture = PacketCapture.open(pair.one, some, PacketCapture.BLOCK_BYTES);
                    DatagramChannel kernel = DatagramChannel.open()) {
                for (int i = 0; i < count; i++) {
                    kernel.send(ByteBuffer.allocate(1200), new InetSocketAddress(VethPair.RAW, 9));
                }
                List<Packet> got = await(capture, 1);
                assertThat(capture.lost()).isPositive();
                assertThat(got.size() + capture.lost()).isEqualTo(count);
                assertThat(got).allSatisfy(p -> {
                    assertThat(p.bytes().limit()).isEqualTo(1000);
                    assertThat(p.length()).isEqualTo(UdpFrame.HEADERS + 1200);
                });
            }
        });
    }

    @Test
    void interfaceMayGoDownAndComeBack() throws Exception {
        VethPair.run(1500, pair -> {
            try (Fd all = program(-1);
                    PacketCapture capture = PacketCapture.open(pair.one, all, PacketCapture.BLOCK_BYTES);
                    DatagramChannel kernel = DatagramChannel.open()) {
                NetworkLinks.setDown(pair.netlink, pair.one);
                capture.await(0);
                NetworkLinks.setUp(pair.netlink, pair.one);
                VethPair.ip("neigh", "replace", VethPair.RAW, "dev", "one", "lladdr", "02:00:00:00:00:09");
                Await.until("a packet", () -> {
                    kernel.send(ByteBuffer.allocate(1), new InetSocketAddress(VethPair.RAW, 9));
                    capture.await(100);
                    return capture.read((_, _, _, _, _) -> {
                        // any
                    }) > 0;
                });
            }
        });
    }

    @Test
    void withoutARingNothingIsKept() throws Exception {
        VethPair.run(1500, pair -> {
            try (Fd none = program(0);
                    PacketCapture capture = PacketCapture.open(pair.one, none, 0);
                    DatagramChannel kernel = DatagramChannel.open()) {
                kernel.send(ByteBuffer.allocate(1), new InetSocketAddress(VethPair.RAW, 9));
                capture.await(1);
                assertThat(capture.read((_, _, _, _, _) -> {
                    throw new AssertionError("a packet");
                })).isZero();
                assertThat(capture.lost()).isZero();
            }
        });
    }

    @Test
    void whatDoesNotGoIsRefused() throws Exception {
        VethPair.run(1500, pair -> {
            try (Fd all = program(1); BpfMap map = BpfMap.create(BpfMap.BPF_MAP_TYPE_ARRAY, 4, 4, 1)) {
                assertThatThrownBy(() -> PacketCapture.open(pair.one, all, 4096)).isInstanceOf(
                        IllegalArgumentException.class).hasMessageContaining("multiple");
                assertThatThrownBy(() -> PacketCapture.open(0, all, 0)).isInstanceOf(IllegalArgumentException.class);
                assertThatThrownBy(() -> PacketCapture.open(1 << 20, all, 0)).isInstanceOfSatisfying(
                        LinuxException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENODEV));
                assertThatThrownBy(() -> PacketCapture.open(pair.one, map.fd(), 0)).isInstanceOfSatisfying(
                        LinuxException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
            }
        });
    }
}
