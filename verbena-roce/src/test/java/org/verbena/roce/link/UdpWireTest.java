// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.Poll;
import org.verbena.linux.spi.RawMemory;
import org.verbena.roce.transport.Path;
import org.verbena.roce.transport.ReceivedPacket;
import org.verbena.roce.transport.Wire;
import org.verbena.testkit.AllocatedBytes;
import org.verbena.verbs.Gid;
import org.verbena.verbs.VerbsException;

/** The wire over loopback; {@link VethTest} has it over a network. */
class UdpWireTest {
    /** Not 4791, so that nothing else on this machine interferes. */
    private static final int PORT = 20_000 + ThreadLocalRandom.current().nextInt(10_000);
    private static final int TRAFFIC_CLASS = 0x48;

    private final Random random = new Random(5);

    private static UdpWire open(boolean segmenting, String... gids) throws VerbsException {
        List<PortAddress> table = new ArrayList<>();
        for (String gid : gids) {
            table.add(new PortAddress(Gid.parse(gid), 1));
        }
        return UdpWire.open(table, PORT, 65536, segmenting);
    }

    private byte[] packet(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    static void send(Wire wire, Path path, int ecn, byte[] bytes) {
        long at = wire.next();
        assertThat(at % 8).isZero();
        MemorySegment.copy(bytes, 0, RawMemory.segment(at, bytes.length), ValueLayout.JAVA_BYTE, 0, bytes.length);
        wire.send(path, 0xC123, ecn, bytes.length);
    }

    static String hex(ReceivedPacket packet) {
        return hex(RawMemory.segment(packet.address, packet.length).toArray(ValueLayout.JAVA_BYTE));
    }

    static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }

    /** Receives until a number of packets was received, including dropped ones. */
    static List<String> receive(UdpWire wire, int count) {
        List<String> all = new ArrayList<>();
        int taken = 0;
        for (long end = System.nanoTime() + 10_000_000_000L; taken < count && System.nanoTime() < end;) {
            taken += wire.receive(count - taken, p -> all.add(hex(p)));
        }
        assertThat(taken).isEqualTo(count);
        return all;
    }

    @Test
    void unwatchedWireReceivesAndNotifiesAfterwards() throws Exception {
        try (UdpWire a = open(true, "::ffff:127.0.0.1"); UdpWire b = open(true, "::ffff:127.9.9.9")) {
            Path path = a.path(Gid.parse("::ffff:127.0.0.1"), 0, Gid.parse("::ffff:127.9.9.9"), 0, 0, 0);
            Fd descriptor = Fd.of(b.descriptor());
            for (int round = 0; round < 3; round++) {
                b.watch(false);
                byte[] bytes = packet(64);
                send(a, path, Wire.ECN_CAPABLE, bytes);
                a.flush();
                assertThat(Poll.await(descriptor, Poll.IN, 20)).as("no notification").isZero();
                b.watch(true);
                b.watch(true);
                assertThat(Poll.await(descriptor, Poll.IN, 10_000)).as("waiting packets cause a notification")
                        .isNotZero();
                assertThat(receive(b, 1)).containsExactly(hex(bytes));
                assertThat(Poll.await(descriptor, Poll.IN, 0)).isZero();
            }
            assertThat(b.counts().receiveErrors).isZero();
        }
    }

    /** The engine does it whenever it takes over from the application, on a busy machine often. */
    @Test
    void watchAllocatesNothing() throws Exception {
        try (UdpWire wire = open(true, "::ffff:127.0.0.1", "::ffff:127.0.0.2")) {
            long least = AllocatedBytes.leastOf(() -> {
                for (int i = 0; i < 100; i++) {
                    wire.watch(i % 2 == 1);
                }
            });
            assertThat(least).isLessThan(100 * 16);
        }
    }

    /** Timers that are due depend on it. */
    @Test
    void receiveAllLeavesNothingBehindAtAnyAddress() throws Exception {
        try (UdpWire a = open(true, "::ffff:127.9.9.9");
                UdpWire b = open(true, "::ffff:127.0.0.1", "::ffff:127.0.0.2")) {
            List<Path> paths = new ArrayList<>();
            for (String to : new String[] {"::ffff:127.0.0.1", "::ffff:127.0.0.2"}) {
                paths.add(a.path(Gid.parse("::ffff:127.9.9.9"), 0, Gid.parse(to), 0, 0, 0));
            }
            for (int round = 0; round < 10; round++) {
                Path busy = paths.get(round % 2);
                sendAlone(a, busy);
                long each = awaitQueued(1);
                assertThat(receive(b, 1)).hasSize(1);
                for (int i = 0; i < 3; i++) {
                    sendAlone(a, busy);
                }
                sendAlone(a, paths.get((round + 1) % 2));
                awaitQueued(4 * each);
                List<String> all = new ArrayList<>();
                assertThat(b.receiveAll(64, p -> all.add(hex(p)))).isEqualTo(4);
                assertThat(all).hasSize(4);
            }
        }
    }

    /** A receive that finds a packet and one that finds none take turns, in either order. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void receiveReachesAnAddressThatWasSilentWhileAnotherIsBusy(int before) throws Exception {
        try (UdpWire a = open(true, "::ffff:127.9.9.9");
                UdpWire b = open(true, "::ffff:127.0.0.1", "::ffff:127.0.0.2")) {
            Path busy = a.path(Gid.parse("::ffff:127.9.9.9"), 0, Gid.parse("::ffff:127.0.0.1"), 0, 0, 0);
            Path silent = a.path(Gid.parse("::ffff:127.9.9.9"), 0, Gid.parse("::ffff:127.0.0.2"), 0, 0, 0);
            for (int i = 0; i < before; i++) {
                assertThat(b.receive(1, _ -> {})).isZero();
            }
            byte[] awaited = packet(80);
            send(a, silent, Wire.ECN_CAPABLE, awaited);
            a.flush();
            long each = awaitQueued(1);
            List<String> all = new ArrayList<>();
            for (int round = 0; round < 100 && !all.contains(hex(awaited)); round++) {
                sendAlone(a, busy);
                awaitQueued(each + 1);
                assertThat(b.receive(1, p -> all.add(hex(p)))).isOne();
                if (!all.contains(hex(awaited))) {
                    b.receive(1, p -> all.add(hex(p)));
                }
            }
            assertThat(all).contains(hex(awaited));
        }
    }

    private void sendAlone(UdpWire wire, Path path) {
        send(wire, path, Wire.ECN_CAPABLE, packet(64));
        wire.flush();
    }

    /** Until so many bytes, as the kernel counts them, wait in the sockets at the port; answers how many those are. */
    private static long awaitQueued(long bytes) throws IOException {
        String at = String.format(":%04X 00000000:", PORT);
        for (long end = System.nanoTime() + 10_000_000_000L;; Thread.onSpinWait()) {
            try (Stream<String> lines = Files.lines(java.nio.file.Path.of("/proc/net/udp"))) {
                long now = lines.filter(l -> l.contains(at))
                        .mapToLong(l -> Long.parseLong(l.strip().split("[ :]+", -1)[7], 16)).sum();
                if (now >= bytes) {
                    return now;
                }
                assertThat(System.nanoTime()).as("%d bytes of %d wait", now, bytes).isLessThan(end);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"::ffff:127.0.0.1, ::ffff:127.9.9.9, false", "::ffff:127.0.0.1, ::ffff:127.9.9.9, true",
        "::1, ::1, false", "::1, ::1, true"})
    void sentPacketsArriveUnchanged(String one, String other, boolean segmenting) throws Exception {
        try (UdpWire a = open(segmenting, one); UdpWire b = one.equals(other) ? a : open(segmenting, other)) {
            Path path = a.path(Gid.parse(one), 0, Gid.parse(other), TRAFFIC_CLASS, 0, 9);
            for (int round = 0; round < 200; round++) {
                List<String> sent = new ArrayList<>();
                int length = 12 + 4 * random.nextInt(round % 10 == 0 ? 1050 : 40);
                int count = 1 + random.nextInt(100); // more than a batch
                for (int i = 0; i < count; i++) {
                    byte[] bytes = packet(random.nextInt(5) == 0 ? 12 + random.nextInt(60) * 4 : length);
                    sent.add(hex(bytes));
                    send(a, path, i % 50 == 0 ? Wire.ECN_CAPABLE : Wire.ECN_NOT_CAPABLE, bytes);
                }
                a.flush();
                assertThat(receive(b, count)).isEqualTo(sent);
            }
            send(a, path, Wire.ECN_CAPABLE, packet(40));
            a.flush();
            b.reportHopLimits();
            Path back = b.path(Gid.parse(other), 0, Gid.parse(one), 0, 0, 0);
            int[] seen = {0};
            while (b.receive(1, p -> {
                assertThat(new Gid(p.sourceHigh, p.sourceLow)).isEqualTo(Gid.parse(one));
                assertThat(new Gid(p.destinationHigh, p.destinationLow)).isEqualTo(Gid.parse(other));
                assertThat(back.matches(p)).isTrue();
                assertThat(p.trafficClass).isEqualTo(TRAFFIC_CLASS | Wire.ECN_CAPABLE);
                assertThat(p.hopLimit).isEqualTo(9);
                assertThat(p.sourcePort).isEqualTo(PORT);
                assertThat(p.isIpv4()).isEqualTo(one.contains("."));
                seen[0]++;
            }) == 0) {
                Thread.onSpinWait();
            }
            assertThat(seen[0]).isOne();
            assertThat(b.counts().icrcErrors).isZero();
            assertThat(a.counts().sendErrors).isZero();
            assertThat(b.counts().received).isEqualTo(a.counts().sent).isGreaterThan(200);
            if (!segmenting || one.equals("::1")) {
                assertThat(b.counts().identified).as("the identification is 0").isZero();
            } else {
                assertThat(b.counts().identified).as("those that pass as one count up").isPositive();
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"::ffff:127.0.0.3", "::1"})
    void damagedPacketsAreDropped(String gid) throws Exception {
        try (UdpWire wire = open(false, gid);
                DatagramSocket socket = new DatagramSocket(0, InetAddress.getByName(gid
                        .replace("::ffff:", "")))) {
            InetAddress address = Gids.address(Gid.parse(gid));
            for (int length = 0; length < 16; length++) {
                socket.send(new DatagramPacket(new byte[length], length, address, PORT));
            }
            socket.send(new DatagramPacket(new byte[Wire.PACKET_ROOM + 8], Wire.PACKET_ROOM + 8, address, PORT));
            assertThat(receive(wire, 17)).isEmpty();
            assertThat(wire.counts().malformed).isEqualTo(17);
            int rounds = 200;
            for (int i = 0; i < rounds; i++) {
                byte[] noise = packet(16 + 4 * random.nextInt(100));
                socket.send(new DatagramPacket(noise, noise.length, address, PORT));
            }
            // one in 65536 random packets passes as one with some identification
            assertThat(receive(wire, rounds)).hasSizeLessThan(4);
            assertThat(wire.counts().icrcErrors).isGreaterThan(rounds - 4);
        }
    }

    @Test
    void packetWithIdentificationIsAccepted() throws Exception {
        // from a socket whose identifications the kernel chooses, as with rdma_rxe
        byte[] bytes = packet(52);
        InetAddress from = InetAddress.getByName("127.0.0.5");
        try (UdpWire wire = open(false, "::ffff:127.0.0.4"); DatagramSocket socket = new DatagramSocket(0, from)) {
            socket.connect(Gids.address(Gid.parse("::ffff:127.0.0.4")), PORT);
            MemorySegment area = java.lang.foreign.Arena.ofAuto().allocate(128, 8);
            long at = area.address() + 56;
            for (int id : new int[] {1, 0x8000, 0xFFFF, 0x1234}) {
                MemorySegment.copy(bytes, 0, area, ValueLayout.JAVA_BYTE, 56, bytes.length);
                PseudoHeader.put4(at, 0x7F000005, 0x7F000004, socket.getLocalPort(), PORT, bytes.length + 4, id);
                RawMemory.putIntUnaligned(at + bytes.length, new Icrc(area).of(56, bytes.length, PseudoHeader.BYTES_4));
                byte[] whole = RawMemory.segment(at, bytes.length + 4).toArray(ValueLayout.JAVA_BYTE);
                socket.send(new DatagramPacket(whole, whole.length));
                assertThat(receive(wire, 1)).as("identification %s", HexFormat.of().toHexDigits(id)).containsExactly(
                        hex(bytes));
            }
            assertThat(wire.counts().identified).isEqualTo(4);
        }
    }

    @Test
    void wireWithSeveralAddressesAndGroups() throws Exception {
        Gid group = Gid.parse("::ffff:239.4.7.91");
        try (UdpWire a = open(true, "::ffff:127.1.1.1", "::ffff:127.1.1.2", "::1");
                UdpWire b = open(true,
                        "::ffff:127.2.2.2")) {
            Gid[] own = a.addresses().stream().map(PortAddress::gid).toArray(Gid[]::new);
            for (int i = 0; i < 2; i++) {
                send(b, b.path(b.addresses().getFirst().gid(), 0, own[i], 0, 0, 0), 0, packet(100));
                b.flush();
                assertThat(receive(a, 1)).hasSize(1);
            }
            send(a, a.path(own[2], 2, own[2], 0, 0, 0), 0, packet(100));
            send(a, a.path(own[0], 0, own[1], 0, 0, 0), 0, packet(100));
            a.flush();
            assertThat(receive(a, 2)).hasSize(2);

            b.join(group);
            b.join(group);
            Path path = a.path(own[1], 1, group, 0, 0, 1);
            send(a, path, 0, packet(100));
            a.flush();
            assertThat(receive(b, 1)).hasSize(1);
            b.leave(group);
            send(a, path, 0, packet(100));
            a.flush();
            for (int i = 0; i < 20; i++) {
                assertThat(b.receive(1, p -> {})).isZero();
            }
            path.close();
            send(a, path, 0, packet(100));
            assertThat(a.counts().sendErrors).isOne();
        }
    }

    @Test
    void invalidArgumentsAreRejected() throws Exception {
        try (UdpWire wire = open(false, "::ffff:127.0.0.6")) {
            Gid own = wire.addresses().getFirst().gid();
            assertErrno(Errno.EADDRINUSE, "rdma_rxe", () -> open(false, "::ffff:127.0.0.6"));
            assertErrno(Errno.EADDRNOTAVAIL, "192.0.2.99", () -> open(false, "::ffff:192.0.2.99"));
            assertErrno(Errno.EINVAL, "other IPv6", () -> wire.path(own, 0, Gid.parse("::1"), 0, 0, 0));
            assertErrno(Errno.EINVAL, "GID 1", () -> wire.path(own, 1, own, 0, 0, 0));
            assertErrno(Errno.EINVAL, "hop limit 256", () -> wire.path(own, 0, own, 0, 0, 256));
            assertErrno(Errno.EINVAL, "not a multicast", () -> wire.join(own));
            assertErrno(Errno.EACCES, "255.255.255.255", () -> wire.path(own, 0, Gid.parse("::ffff:255.255.255.255"),
                    0, 0, 0));
        }
        assertThat(UdpWire.largestMtu(1500)).isEqualTo(1024);
        assertThat(UdpWire.largestMtu(4200)).isEqualTo(4096);
        assertThat(UdpWire.largestMtu(65536)).isEqualTo(4096);
        assertThat(UdpWire.largestMtu(576)).isEqualTo(256);
        assertThat(UdpWire.largestMtu(100)).isEqualTo(256);
    }

    private static void assertErrno(int errno, String text,
            org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(VerbsException.class, e -> assertThat(e.errno()).isEqualTo(
                errno)).hasMessageContaining(text);
    }
}
