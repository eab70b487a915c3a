// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.testkit.AllocatedBytes;

/** Datagrams in batches, over loopback. */
class UdpSocketTest {
    private static final int TRAFFIC_CLASS = 0x4A; // ECT(0)

    private final Random random = new Random(3);

    private static InetAddress address(String text) throws Exception {
        return InetAddress.getByName(text);
    }

    private static int put(UdpSendBatch batch, UdpSocket from, UdpDestination to, int trafficClass, byte[] bytes) {
        int at = batch.next();
        MemorySegment.copy(bytes, 0, batch.memory(), ValueLayout.JAVA_BYTE, at, bytes.length);
        return batch.add(from, to, trafficClass, bytes.length);
    }

    private static byte[] bytes(UdpReceiveBatch batch, int i) {
        return batch.memory().asSlice(batch.offset(i), batch.length(i)).toArray(ValueLayout.JAVA_BYTE);
    }

    private static int receive(UdpReceiveBatch batch, UdpSocket socket, int limit) throws Exception {
        Poll.await(socket.fd(), Poll.IN, 10_000);
        return batch.receive(socket, limit);
    }

    private byte[] randomBytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void datagramsReportTheirHeaders(String host) throws Exception {
        InetAddress local = address(host);
        try (UdpSocket sender = UdpSocket.bind(local, 0, 0); UdpSocket receiver = UdpSocket.bind(local, 0, 0)) {
            receiver.tellHopLimit();
            UdpSendBatch out = new UdpSendBatch(8, 52, 1000);
            UdpReceiveBatch in = new UdpReceiveBatch(4, 56, 1000);
            UdpDestination plain = UdpDestination.of(local, receiver.port());
            UdpDestination special = UdpDestination.of(local, receiver.port(), 1, 7, local);
            byte[][] sent = {randomBytes(1), randomBytes(1000), randomBytes(0), randomBytes(77), randomBytes(500)};
            for (int i = 0; i < sent.length; i++) {
                put(out, sender, i < 3 ? special : plain, i == 1 ? TRAFFIC_CLASS : 0, sent[i]);
            }
            assertThat(out.size()).isEqualTo(5);
            assertThat(out.send()).isZero();
            assertThat(out.size()).isZero();

            int at = 0;
            for (int expected : new int[] {4, 1}) {
                assertThat(receive(in, receiver, 100)).isEqualTo(expected);
                for (int i = 0; i < expected; i++, at++) {
                    assertThat(bytes(in, i)).isEqualTo(sent[at]);
                    assertThat(in.sourcePort(i)).isEqualTo(sender.port());
                    long high = local instanceof Inet4Address ? 0 : ByteBuffer.wrap(local.getAddress()).getLong();
                    long low = local instanceof Inet4Address ? 0xFFFF7F000001L : 1;
                    assertThat(in.sourceHigh(i)).isEqualTo(high).isEqualTo(in.destinationHigh(i));
                    assertThat(in.sourceLow(i)).isEqualTo(low).isEqualTo(in.destinationLow(i));
                    assertThat(in.trafficClass(i)).isEqualTo(at == 1 ? TRAFFIC_CLASS : 0);
                    assertThat(in.hopLimit(i)).isEqualTo(at < 3 ? 7 : 64);
                    assertThat(in.segmentBytes(i)).isZero();
                    assertThat(in.truncated(i)).isFalse();
                }
            }
            assertThat(in.receive(receiver, 100)).isZero();
            assertThatThrownBy(() -> in.length(0)).isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void equalLengthsPassAsOneSegmentedMessage(String host) throws Exception {
        InetAddress local = address(host);
        try (UdpSocket sender = UdpSocket.bind(local, 0, 0);
                UdpSocket receiver = UdpSocket.bind(local, 0, 0);
                UdpSocket plain = UdpSocket.bind(local, 0, 0)) {
            UdpSendBatch out = new UdpSendBatch(128, 8, 1000);
            out.setSegmenting(true);
            UdpReceiveBatch in = new UdpReceiveBatch(128, 8, 1 << 16);
            if (!receiver.coalesce()) {
                System.out.println("UdpSocketTest: this kernel has no UDP_GRO, what arrives as one is not tested");
                return;
            }
            for (UdpSocket to : new UdpSocket[] {receiver, plain}) {
                UdpDestination destination = UdpDestination.of(local, to.port());
                ByteBuffer sent = ByteBuffer.allocate(128 * 1000);
                for (int i = 0; i < 100; i++) { // 64, then 20 with a short one at the end, then 16 of another class
                    byte[] bytes = randomBytes(i == 83 ? 10 : 900);
                    sent.put(bytes);
                    int position = put(out, sender, destination, i < 84 ? 0 : 2, bytes);
                    assertThat(position).isEqualTo(i < 64 ? i : i < 84 ? i - 64 : i - 84);
                }
                assertThat(out.send()).isZero();
                assertThat(out.isSegmenting()).isTrue();
                ByteBuffer received = ByteBuffer.allocate(128 * 1000);
                int count = 0;
                while (received.position() < sent.position()) {
                    int n = receive(in, to, 128);
                    assertThat(n).isPositive();
                    for (int i = 0; i < n; i++) {
                        received.put(bytes(in, i));
                        assertThat(in.segmentBytes(i)).isEqualTo(to == receiver ? 900 : 0);
                    }
                    count += n;
                }
                assertThat(received).isEqualTo(sent);
                assertThat(count).isEqualTo(to == receiver ? 3 : 100);
            }
        }
    }

    @Test
    void unsendableDatagramIsDroppedOthersAreSent() throws Exception {
        InetAddress local = address("127.0.0.1");
        try (UdpSocket sender = UdpSocket.bind(local, 0, 0); UdpSocket receiver = UdpSocket.bind(local, 0, 0)) {
            UdpSendBatch out = new UdpSendBatch(4, 0, 1 << 16);
            UdpReceiveBatch in = new UdpReceiveBatch(4, 0, 100);
            UdpDestination to = UdpDestination.of(local, receiver.port());
            put(out, sender, to, 0, new byte[5]);
            put(out, sender, to, 0, new byte[1 << 16]); // too long for IPv4
            put(out, sender, UdpDestination.of(address("::1"), 9), 0, new byte[6]); // not a destination of this socket
            put(out, sender, to, 0, new byte[200]);
            assertThat(out.next()).isEqualTo(-1);
            assertThatThrownBy(() -> out.add(sender, to, 0, 1)).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("full");
            assertThat(out.send()).isEqualTo(Errno.EMSGSIZE);
            assertThat(out.size()).isEqualTo(3);
            out.drop();
            assertThat(out.send()).isEqualTo(Errno.EAFNOSUPPORT);
            out.drop();
            assertThat(out.send()).isZero();
            assertThat(receive(in, receiver, 1)).isEqualTo(1);
            assertThat(in.length(0)).isEqualTo(5);
            assertThat(receive(in, receiver, 3)).isEqualTo(1);
            assertThat(in.truncated(0)).isTrue();
            assertThat(in.length(0)).isEqualTo(100);
            sender.close();
            assertThat(out.send()).isZero();
            put(out, sender, to, 0, new byte[1]);
            assertThat(out.send()).isEqualTo(Errno.EBADF);
            receiver.close();
            assertThat(in.receive(receiver, 3)).isEqualTo(-Errno.EBADF);
        }
    }

    @Test
    void addressIsExclusiveAndRefuseAllReceivesNothing() throws Exception {
        InetAddress local = address("127.0.0.2");
        try (UdpSocket first = UdpSocket.bind(local, 0, 0)) {
            int port = first.port();
            assertThatThrownBy(() -> UdpSocket.bind(local, 0, port)).isInstanceOfSatisfying(LinuxException.class,
                    e -> assertThat(e.errno()).isEqualTo(Errno.EADDRINUSE)).hasMessageContaining("127.0.0.2, port");
            try (UdpSocket other = UdpSocket.bind(address("127.0.0.3"), 0, port)) {
                assertThat(other.port()).isEqualTo(port);
                assertThat(other.setBuffers(100_000, 200_000)).isGreaterThanOrEqualTo(100_000);
                first.refuseAll();
                UdpSendBatch out = new UdpSendBatch(1, 0, 10);
                put(out, other, UdpDestination.of(local, port), 0, new byte[1]);
                assertThat(out.send()).isZero();
                assertThat(new UdpReceiveBatch(1, 0, 10).receive(first, 1)).isZero();
            }
        }
        assertThatThrownBy(() -> UdpSocket.bind(address("192.0.2.77"), 0, 0)).isInstanceOfSatisfying(
                LinuxException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EADDRNOTAVAIL));
    }

    @ParameterizedTest
    @CsvSource({"0.0.0.0, 127.0.0.5", "::, ::1"})
    void wildcardSocketReportsDestination(String all, String host) throws Exception {
        InetAddress to = address(host);
        try (UdpSocket receiver = UdpSocket.bind(address(all), 0, 0); UdpSocket sender = UdpSocket.bind(to, 0, 0)) {
            UdpSendBatch out = new UdpSendBatch(1, 0, 10);
            UdpReceiveBatch in = new UdpReceiveBatch(1, 0, 10);
            put(out, sender, UdpDestination.of(to, receiver.port()), 0, new byte[3]);
            assertThat(out.send()).isZero();
            assertThat(receive(in, receiver, 1)).isEqualTo(1);
            assertThat(in.destinationHigh(0)).isZero();
            assertThat(in.destinationLow(0)).isEqualTo(in.sourceLow(0)).isNotZero();
        }
    }

    /** IPv4 only: a loopback has no route to IPv6 groups. */
    @Test
    void multicastReachesMembers() throws Exception {
        InetAddress to = address("239.1.2.3");
        InetAddress from = address("127.0.0.1");
        try (UdpSocket member = UdpSocket.bind(to, 1, 0); UdpSocket sender = UdpSocket.bind(from, 0, 0)) {
            UdpSendBatch out = new UdpSendBatch(1, 0, 10);
            UdpReceiveBatch in = new UdpReceiveBatch(1, 0, 10);
            UdpDestination destination = UdpDestination.of(to, member.port(), 1, 1, from);
            put(out, sender, destination, 0, new byte[3]);
            assertThat(out.send()).isZero();
            assertThat(in.receive(member, 1)).isZero();
            member.join(to, 1);
            put(out, sender, destination, 0, new byte[4]);
            assertThat(out.send()).isZero();
            assertThat(receive(in, member, 1)).isEqualTo(1);
            assertThat(in.length(0)).isEqualTo(4);
            assertThat(in.destinationLow(0)).isEqualTo(0xFFFF_EF01_0203L);
            member.leave(to, 1);
            sender.setMulticastLoop(false);
            assertThatThrownBy(() -> member.leave(to, 1)).isInstanceOf(LinuxException.class);
            assertThatThrownBy(() -> member.join(from, 1)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void missingRouteThrows() throws Exception {
        InetAddress local = address("127.0.0.1");
        UdpSocket.checkRoute(local, 0, UdpDestination.of(address("127.3.4.5"), 4791));
        NetworkNamespace.callInNew(() -> { // whose loopback is down
            assertThatThrownBy(() -> UdpSocket.checkRoute(address("0.0.0.0"), 0, UdpDestination.of(address("10.1.2.3"),
                    4791))).isInstanceOfSatisfying(LinuxException.class, e -> assertThat(e.errno()).isEqualTo(
                            Errno.ENETUNREACH)).hasMessageContaining("10.1.2.3");
            return 0;
        });
    }

    @Test
    void invalidArgumentsAreRejected() throws Exception {
        InetAddress local = address("127.0.0.1");
        assertThatThrownBy(() -> UdpSocket.bind(local, 0, 65536)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> UdpDestination.of(local, 1, 0, 256, null)).isInstanceOf(
                IllegalArgumentException.class);
        assertThatThrownBy(() -> UdpDestination.of(local, 1, 0, 0, address("::1"))).isInstanceOf(
                IllegalArgumentException.class).hasMessageContaining("IPv6");
        assertThatThrownBy(() -> new UdpSendBatch(0, 0, 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new UdpReceiveBatch(1, 0, 65537)).isInstanceOf(IllegalArgumentException.class);
        UdpSendBatch batch = new UdpSendBatch(1, 0, 10);
        try (UdpSocket socket = UdpSocket.bind(local, 0, 0)) {
            UdpDestination to = UdpDestination.of(local, 1);
            assertThatThrownBy(() -> batch.add(socket, to, 0, 11)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    /** Even one that polls the socket for an error, and that no compiler has seen. */
    @Test
    void receiveThatFindsNothingAllocatesNothing() throws Exception {
        try (UdpSocket socket = UdpSocket.bind(address("127.0.0.2"), 0, 0)) {
            UdpReceiveBatch batch = new UdpReceiveBatch(1, 0, 10);
            int[] received = {0};
            long least = AllocatedBytes.leastOf(() -> {
                for (int i = 0; i < 640; i++) {
                    received[0] += batch.receive(socket, 1);
                }
            });
            assertThat(received[0]).isZero();
            assertThat(least).isLessThan(10 * 16);
        }
    }
}
