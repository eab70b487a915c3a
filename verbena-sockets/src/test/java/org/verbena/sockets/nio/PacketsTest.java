// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.verbena.linux.Errno;
import org.verbena.sockets.SocketStatistics;
import org.verbena.sockets.Verbena;
import org.verbena.sockets.extra.ExtraApi;
import org.verbena.sockets.extra.ExtraFunction;
import org.verbena.sockets.extra.ReceiveFlags;
import org.verbena.sockets.extra.ReceivedPackets;
import org.verbena.sockets.stream.Released;
import org.verbena.sockets.stream.RingPackets;
import org.verbena.testkit.AllocatedBytes;
import org.verbena.testkit.Await;
import org.verbena.verbs.VerbsException;

/** Receives without a copy: each call, its results and its errors. */
@Timeout(120)
class PacketsTest {
    private static final int NONE = ReceiveFlags.NONE;
    private static final int FORCE = ReceiveFlags.FORCE;
    private static final int RINGS = (4 << 10) + (16 << 10) + (64 << 10) + (256 << 10) + (1 << 20) + (4 << 20);

    static {
        Carrier.RING.provider(); // a program that asks for Verbena's channels by name
    }

    private final ExtraApi api = Verbena.extraApi().orElseThrow();
    private final ReceivedPackets packets = api.newPackets(8, 16);

    private interface Call {
        void run() throws IOException;
    }

    private static void assertFails(int errno, String text, Call call) {
        assertThatThrownBy(call::run).isInstanceOfSatisfying(VerbsException.class, e -> {
            assertThat(e.errno()).as(e.getMessage()).isEqualTo(errno);
            assertThat(e).hasMessageContaining(text);
        });
    }

    private static byte at(long position) {
        return (byte) (position * 31 + (position >>> 8) * 7 + (position >>> 17));
    }

    private static ByteBuffer bytes(long from, int count) {
        ByteBuffer b = ByteBuffer.allocate(count);
        for (int i = 0; i < count; i++) {
            b.put(i, at(from + i));
        }
        return b;
    }

    private static void assertBytes(ReceivedPackets p, int packet, long from) {
        ByteBuffer got = ByteBuffer.allocate(p.length(packet));
        assertThat(p.copy(packet, 0, got)).isEqualTo(p.length(packet));
        assertThat(got.flip()).isEqualTo(bytes(from, p.length(packet)));
    }

    private static void awaitReadable(SocketChannel channel, int count) {
        Await.until("bytes are there", () -> {
            try {
                return ((StreamSocketChannel) channel).available() >= count;
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
    }

    @Test
    void functionsAreNamed() {
        assertThat(api).isSameAs(Verbena.extraApi().orElseThrow());
        assertThat(api.functions()).isEqualTo(Set.of(ExtraFunction.values()));
        assertThat(api.mask()).isEqualTo(0b111110);
        assertThatThrownBy(() -> api.functions().clear()).isInstanceOf(UnsupportedOperationException.class);
    }

    /** The bytes are in the ring, once; what the peer writes later does not change them. */
    @Test
    void packetsAreReadInTheRing() throws Exception {
        try (Carrier.Pair pair = Carrier.RING.connected()) {
            pair.peer().write(bytes(0, 1000));
            ByteBuffer copy = ByteBuffer.allocate(10);
            assertThat(api.receive(pair.tested(), packets, copy, NONE)).isEqualTo(1000);
            assertThat(copy.position()).isZero();
            assertThat(packets.isZeroCopy()).isTrue();
            assertThat(packets.isTruncated()).isFalse();
            assertThat(packets.count()).isOne();
            assertThat(packets.length(0)).isEqualTo(1000);
            assertThat(packets.source(0)).isEqualTo(pair.peer().getLocalAddress());
            assertThat(packets.destination(0)).isEqualTo(pair.tested().getLocalAddress());
            MemorySegment view = packets.memory(0, 0);
            assertThat(view.isReadOnly()).isTrue();
            assertThat(view.get(ValueLayout.JAVA_BYTE, packets.offset(0, 0))).isEqualTo(at(0));
            long id = packets.id(0);
            assertThat(id).isNotZero();
            assertThat(api.heldPackets(pair.tested())).isOne();

            ReceivedPackets later = api.newPackets(1, 1);
            for (int i = 0; i < 300; i++) { // through several rings, each of which wraps
                pair.peer().write(bytes(1000 + 700L * i, 700));
                int n = 0;
                while (n < 700) {
                    int m = api.receive(pair.tested(), later, null, FORCE);
                    assertBytes(later, 0, 1000 + 700L * i + n);
                    api.freePackets(pair.tested(), later);
                    n += m;
                }
                assertThat(later.count()).isZero();
            }
            assertBytes(packets, 0, 0);
            api.freePacket(pair.tested(), id);
            assertThat(api.heldPackets(pair.tested())).isZero();
        }
    }

    @Test
    void nothingYetIsNotTheEnd() throws Exception {
        try (Carrier.Pair pair = Carrier.RING.connected()) {
            assertThat(api.receive(pair.tested(), packets, null, ReceiveFlags.DONT_WAIT)).isZero();
            pair.tested().configureBlocking(false);
            assertThat(api.receive(pair.tested(), packets, null, NONE)).isZero();
            assertThat(api.receive(pair.tested(), packets, null, FORCE)).isZero();
            assertThat(packets.count()).isZero();
            pair.peer().write(bytes(0, 5));
            pair.peer().shutdownOutput();
            assertThat(api.receive(pair.tested(), packets, null, FORCE)).isEqualTo(5);
            assertThat(api.receive(pair.tested(), packets, null, FORCE)).isEqualTo(-1);
            assertThat(packets.count()).isZero();
            assertThat(api.receive(pair.tested(), packets, null, NONE)).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void blockingReceiveWaits(Threads threads) throws Exception {
        try (Carrier.Pair pair = Carrier.RING.connected()) {
            var receiver = threads.start(() -> api.receive(pair.tested(), packets, null, FORCE));
            receiver.awaitBlocked();
            pair.peer().write(bytes(0, 77));
            assertThat(receiver.get()).isEqualTo(77);
            assertBytes(packets, 0, 0);
            var closed = threads.start(() -> api.receive(pair.tested(), packets, null, FORCE));
            closed.awaitBlocked();
            pair.tested().close();
            assertThat(closed.failure()).isInstanceOf(AsynchronousCloseException.class);
        }
    }

    /** What does not fit comes with the next call. */
    @Test
    void smallHolderTruncatesVisibly() throws Exception {
        try (Carrier.Pair pair = Carrier.RING.connected()) {
            pair.peer().write(ByteBuffer.allocate(200_000)); // so that the ring is large
            ByteBuffer rest = ByteBuffer.allocate(1 << 20);
            while (rest.position() < 200_000) {
                if (pair.tested().read(rest) < 0) {
                    throw new AssertionError();
                }
            }
            int count = 150_000;
            assertThat(pair.peer().write(bytes(0, count))).isEqualTo(count);
            int got = 0;
            boolean cut = false;
            ReceivedPackets one = api.newPackets(1, 1);
            while (got < count) {
                int n = api.receive(pair.tested(), one, null, FORCE);
                assertThat(one.count()).isOne();
                assertThat(n).isEqualTo(one.length(0)).isBetween(1, 64 << 10);
                assertBytes(one, 0, got);
                cut |= one.isTruncated();
                got += n;
                api.freePackets(pair.tested(), one);
            }
            assertThat(cut).isTrue();
        }
    }

    @Test
    void holderWithoutRoomIsRefused() throws Exception {
        try (Carrier.Pair pair = Carrier.RING.connected()) {
            pair.peer().write(bytes(0, 100));
            assertFails(Errno.ENOBUFS, "no room for one",
                    () -> api.receive(pair.tested(), api.newPackets(0, 5), null, NONE));
            assertFails(Errno.ENOBUFS, "no room for one",
                    () -> api.receive(pair.tested(), api.newPackets(5, 0), ByteBuffer.allocate(10), FORCE));
            ReceivedPackets copies = api.newPackets(0, 0);
            ByteBuffer copy = ByteBuffer.allocate(10);
            assertThat(api.receive(pair.tested(), copies, copy, NONE)).isEqualTo(10);
            assertThat(copy.flip()).isEqualTo(bytes(0, 10));
            assertThat(copies.isZeroCopy()).isFalse();
            assertThat(copies.isTruncated()).isTrue();
            assertThat(api.receive(pair.tested(), packets, null, FORCE)).isEqualTo(90);
            assertBytes(packets, 0, 10);
        }
        assertThatThrownBy(() -> api.newPackets(-1, 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> api.newPackets(1, 1 << 20)).isInstanceOf(IllegalArgumentException.class);
    }

    /** Bytes of TCP are copied, and the flag says so; FORCE takes none of them. */
    @Test
    void tcpIsCopied() throws Exception {
        try (Carrier.Pair pair = Carrier.TCP.connected()) {
            pair.peer().write(bytes(0, 100));
            awaitReadable(pair.tested(), 100);
            assertFails(Errno.EIO, "TCP brings the next bytes", () -> api.receive(pair.tested(), packets, ByteBuffer
                    .allocate(10), FORCE));
            assertFails(Errno.ENOBUFS, "no room for a copy", () -> api.receive(pair.tested(), packets, null, NONE));
            ByteBuffer copy = ByteBuffer.allocateDirect(60);
            assertThat(api.receive(pair.tested(), packets, copy, NONE)).isEqualTo(60);
            assertThat(packets.isZeroCopy()).isFalse();
            assertThat(packets.count()).isZero();
            assertThat(packets.isTruncated()).isTrue();
            assertThat(copy.flip()).isEqualTo(bytes(0, 60));
            assertThat(api.receive(pair.tested(), packets, copy.clear(), NONE)).isEqualTo(40);
            assertThat(packets.isTruncated()).isFalse();
            assertThat(copy.flip()).isEqualTo(bytes(60, 40));
            pair.tested().configureBlocking(false);
            assertThat(api.receive(pair.tested(), packets, copy.clear(), NONE)).isZero();
            pair.peer().shutdownOutput();
            pair.tested().configureBlocking(true);
            assertThat(api.receive(pair.tested(), packets, copy, NONE)).isEqualTo(-1);
            assertFails(Errno.ENOENT, "packet 0x1 ", () -> api.freePacket(pair.tested(), 1));
        }
    }

    @Test
    void othersPacketsAreRefused() throws Exception {
        try (Carrier.Pair pair = Carrier.RING.connected(); Carrier.Pair other = Carrier.RING.connected()) {
            pair.peer().write(bytes(0, 100));
            other.peer().write(bytes(0, 100));
            ReceivedPackets others = api.newPackets(1, 1);
            api.receive(pair.tested(), packets, null, FORCE);
            api.receive(other.tested(), others, null, FORCE);
            long id = packets.id(0);
            long othersId = others.id(0);
            assertThat(id).isNotEqualTo(othersId);
            assertFails(Errno.ENOENT, "was not received from it", () -> api.freePackets(pair.tested(), others));
            assertThat(others.count()).isOne();
            assertFails(Errno.ENOENT, "packet 0x0 ", () -> api.freePacket(pair.tested(), 0));
            long[] ids = {id, othersId, id};
            assertFails(Errno.ENOENT, "packet 0x" + Long.toHexString(othersId) + " ", () -> api.freePackets(pair
                    .tested(), ids, 0, 3));
            assertThat(api.heldPackets(pair.tested())).as("the valid one is freed").isZero();
            assertFails(Errno.ENOENT, "freed already", () -> api.freePacket(pair.tested(), id));
            assertFails(Errno.ENOENT, "freed already", () -> api.freePackets(pair.tested(), packets));
            api.freePackets(other.tested(), others);
            api.freePackets(other.tested(), others); // there are none in it any more
            api.freePackets(other.tested(), ids, 0, 0);
            assertThatThrownBy(() -> api.freePackets(other.tested(), ids, 1, 3)).isInstanceOf(
                    IndexOutOfBoundsException.class);
            // an end in the same session that never received a packet
            assertFails(Errno.ENOENT, "", () -> api.freePacket(pair.peer(), othersId));
        }
    }

    @Test
    void foreignChannelsAndFlagsAreRefused() throws Exception {
        try (Carrier.Pair pair = Carrier.JDK.connected()) {
            assertFails(Errno.EINVAL, "not Verbena's", () -> api.receive(pair.tested(), packets, ByteBuffer.allocate(
                    1), NONE));
            assertFails(Errno.EINVAL, "not Verbena's", () -> api.freePacket(pair.tested(), 1));
            assertFails(Errno.EINVAL, "not Verbena's", () -> api.dumpStatistics(pair.tested(), _ -> {}));
            assertThat(api.heldPackets(pair.tested())).isZero();
        }
        try (SocketChannel none = Carrier.RING.provider().openSocketChannel()) {
            assertThatThrownBy(() -> api.receive(none, packets, null, NONE)).isInstanceOf(
                    NotYetConnectedException.class);
            assertFails(Errno.EINVAL, "flags 0x2 ", () -> api.receive(none, packets, null, 2));
            assertFails(Errno.ENOENT, "", () -> api.freePacket(none, 1));
            none.close();
            assertThatThrownBy(() -> api.receive(none, packets, null, NONE)).isInstanceOf(
                    ClosedChannelException.class);
        }
    }

    /** Where nothing is there nothing needs a copy: it is waited for, and the end is told. */
    @ParameterizedTest
    @EnumSource(value = Carrier.class, names = {"TCP", "RING"})
    void withoutABufferOnlyBytesAreRefused(Carrier carrier) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            pair.tested().configureBlocking(false);
            assertThat(api.receive(pair.tested(), packets, null, FORCE)).isZero();
            assertThat(api.receive(pair.tested(), packets, null, NONE)).isZero();
            assertThat(api.receive(pair.tested(), packets, ByteBuffer.allocate(0), NONE)).isZero();
            pair.tested().configureBlocking(true);
            assertThat(api.receive(pair.tested(), packets, null, FORCE | ReceiveFlags.DONT_WAIT)).isZero();
            var receiver = Threads.PLATFORM.start(() -> api.receive(pair.tested(), packets, null, FORCE));
            receiver.awaitBlocked();
            pair.peer().write(bytes(0, 5));
            if (carrier == Carrier.TCP) {
                assertThat(receiver.failure()).hasMessageContaining("TCP brings the next bytes");
                assertThat(pair.tested().read(ByteBuffer.allocate(10))).isEqualTo(5);
            } else {
                assertThat(receiver.get()).isEqualTo(5);
            }
            var atEnd = Threads.PLATFORM.start(() -> api.receive(pair.tested(), packets, null, FORCE));
            atEnd.awaitBlocked();
            pair.peer().shutdownOutput();
            assertThat(atEnd.get()).isEqualTo(-1);
            assertThat(api.receive(pair.tested(), packets, null, NONE)).isEqualTo(-1);
            assertThat(api.receive(pair.tested(), packets, null, FORCE)).isEqualTo(-1);
        }
    }

    @Test
    void doNotWaitDoesNotWaitForAnotherReader() throws Exception {
        try (Carrier.Pair pair = Carrier.RING.connected()) {
            var reader = Threads.PLATFORM.start(() -> pair.tested().read(ByteBuffer.allocate(10)));
            reader.awaitBlocked();
            assertThat(api.receive(pair.tested(), packets, null, ReceiveFlags.DONT_WAIT)).isZero();
            pair.peer().write(bytes(0, 5));
            assertThat(reader.get()).isEqualTo(5);
        }
    }

    /** The interrupt comes while packets are received, and nobody learns of them. */
    @Test
    void interruptedReceiveHoldsNothing() throws Exception {
        try (Carrier.Pair pair = Carrier.RING.connected()) {
            pair.peer().write(bytes(0, 5));
            assertThat(api.receive(pair.tested(), packets, null, FORCE)).isEqualTo(5);
            api.freePackets(pair.tested(), packets);
            RingPackets held = RingPackets.of(((StreamSocketChannel) pair.tested()).connectedStream());
            Thread[] receiving = new Thread[1];
            var receiver = Threads.PLATFORM.start(() -> {
                receiving[0] = Thread.currentThread();
                return api.receive(pair.tested(), packets, null, FORCE);
            });
            receiver.awaitBlocked();
            Thread interrupting = new Thread(() -> receiving[0].interrupt()); // closes the channel, and waits for the receiver
            synchronized (held) {
                pair.peer().write(bytes(0, 5));
                Await.until("packets are being received", () -> receiving[0].getState() == Thread.State.BLOCKED);
                interrupting.start();
                Await.until("the channel is closed", () -> !pair.tested().isOpen());
            }
            assertThat(receiver.failure()).isInstanceOf(ClosedByInterruptException.class);
            interrupting.join();
            assertThat(packets.count()).isZero();
            assertThat(held.held()).isZero();
        }
    }

    /** A rule has left it to the kernel. */
    @Test
    void kernelSocketsCopy() throws Exception {
        try (ServerSocketChannel server = Carrier.JDK.provider().openServerSocketChannel();
                SocketChannel client = Carrier.RING.provider().openSocketChannel()) {
            server.bind(Carrier.anyPort());
            int port = server.socket().getLocalPort();
            api.addRule("use os tcp_client *:" + port);
            client.connect(server.getLocalAddress());
            try (SocketChannel accepted = server.accept()) {
                assertThat(api.receive(client, packets, null, FORCE | ReceiveFlags.DONT_WAIT)).isZero();
                accepted.write(bytes(0, 10));
                assertFails(Errno.EIO, "TCP brings", () -> api.receive(client, packets, null, FORCE));
                ByteBuffer copy = ByteBuffer.allocate(10);
                assertThat(api.receive(client, packets, copy, NONE)).isEqualTo(10);
                assertFails(Errno.EINVAL, "the kernel carries it", () -> api.freePacket(client, 1));
                accepted.shutdownOutput();
                assertThat(api.receive(client, packets, null, FORCE)).isEqualTo(-1);
            }
        }
        assertThatThrownBy(() -> api.addRule("use os tcp_cleint *:1")).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("column 8");
    }

    /** The peer waits for room, and others go on; freed packets give it back, also in the opposite order. */
    @Test
    void heldPacketsStallTheirPeerOnly() throws Exception {
        try (Carrier.Pair pair = Carrier.RING.connected(); Carrier.Pair other = Carrier.RING.connected()) {
            var writer = Threads.PLATFORM.start(() -> {
                for (ByteBuffer all = bytes(0, 2 * RINGS); all.hasRemaining();) {
                    pair.peer().write(all);
                }
                return null;
            });
            ReceivedPackets many = api.newPackets(1000, 2000);
            long[] ids = new long[100_000];
            int held = 0;
            long got = 0;
            pair.tested().configureBlocking(false);
            int n;
            boolean full;
            do {
                full = isFull((StreamSocketChannel) pair.peer()); // before the receive, which takes all of it
                n = api.receive(pair.tested(), many, null, FORCE);
                got += n;
                for (int i = 0; i < many.count(); i++) {
                    ids[held++] = many.id(i);
                }
            } while (n > 0 || !full);
            assertThat(got).isBetween(1L << 20, (long) RINGS);
            assertThat(writer.result()).isNotDone();
            assertThat(api.heldPackets(pair.tested())).isEqualTo(held);
            other.peer().write(bytes(0, 1000));
            assertThat(other.tested().read(ByteBuffer.allocate(1000))).isEqualTo(1000);
            for (int i = held - 1; i >= 0; i--) {
                api.freePacket(pair.tested(), ids[i]);
            }
            pair.tested().configureBlocking(true);
            while (got < 2L * RINGS) {
                n = api.receive(pair.tested(), many, null, FORCE);
                long at = got;
                for (int i = 0; i < many.count(); i++) {
                    assertBytes(many, i, at);
                    at += many.length(i);
                }
                got += n;
                api.freePackets(pair.tested(), many);
            }
            writer.get();
        }
    }

    /** Whether it has written all that the largest ring has room for. */
    private static boolean isFull(StreamSocketChannel writer) {
        SocketStatistics now = writer.statistics();
        return now.sendRing() == 4 << 20 && now.sendRingUsed() == now.sendRing();
    }

    /** The bytes stay until they are freed; then the memory goes back to the session. */
    @Test
    void packetsOutliveTheirChannel() throws Exception {
        try (Carrier.Pair pair = Carrier.RING.connected()) {
            StreamSocketChannel tested = (StreamSocketChannel) pair.tested();
            pair.peer().write(bytes(0, 3000));
            assertThat(api.receive(tested, packets, null, FORCE)).isEqualTo(3000);
            var stream = tested.connectedStream();
            tested.close();
            assertThat(pair.peer().read(ByteBuffer.allocate(1))).as("it had all").isEqualTo(-1);
            pair.peer().close();
            awaitEngine();
            for (int i = 0; i < 10; i++) { // which would be given the ring
                try (Carrier.Pair later = Carrier.RING.connected()) {
                    later.peer().write(ByteBuffer.allocate(4096));
                }
            }
            assertThat(Released.is(stream)).isFalse();
            assertBytes(packets, 0, 0);
            assertThatThrownBy(() -> api.receive(tested, api.newPackets(1, 1), null, FORCE)).isInstanceOf(
                    ClosedChannelException.class);
            long id = packets.id(0);
            api.freePackets(tested, packets);
            assertFails(Errno.ENOENT, "", () -> api.freePacket(tested, id));
            Await.until("memory is given back", () -> Released.is(stream));
        }
    }

    /** Until the engine has given back the memory of connections that were closed by both ends before this call. */
    private static void awaitEngine() throws Exception {
        for (int i = 0; i < 2; i++) {
            try (Carrier.Pair later = Carrier.RING.connected()) {
                var stream = ((StreamSocketChannel) later.tested()).connectedStream();
                later.tested().close();
                later.peer().close();
                Await.until("memory is given back", () -> Released.is(stream));
            }
        }
    }

    @Test
    void nothingIsAllocated() throws Exception {
        try (Carrier.Pair pair = Carrier.RING.connected()) {
            ByteBuffer from = ByteBuffer.allocateDirect(2000);
            long[] id = new long[1];
            assertThat(AllocatedBytes.leastOf(() -> {
                for (int i = 0; i < 3000; i++) {
                    pair.peer().write(from.clear());
                    int n = 0;
                    while (n < 2000) {
                        n += api.receive(pair.tested(), packets, null, FORCE);
                        for (int p = 0; p < packets.count(); p++) {
                            id[0] = packets.id(p);
                            api.freePackets(pair.tested(), id, 0, 1);
                        }
                    }
                }
            })).as("bytes in 3,000 receives").isLessThan(3000);
        }
    }

    @Test
    void statisticsHaveTheLayoutOfVmaStats() throws Exception {
        try (Carrier.Pair pair = Carrier.RING.connected()) {
            pair.peer().write(bytes(0, 3000));
            api.receive(pair.tested(), packets, null, FORCE);
            List<String> lines = new ArrayList<>();
            api.dumpStatistics(pair.tested(), lines::add);
            String rule = "======================================================";
            assertThat(lines).startsWith(rule).endsWith(rule).contains("- TCP, Offloaded",
                    "- Local Address   = [" + text(pair.tested().getLocalAddress()) + "]",
                    "- Foreign Address = [" + text(pair.peer().getLocalAddress()) + "]",
                    "Rx zero copy buffers: cur 1");
            assertThat(lines).anyMatch(l -> l.matches("Rx Offload: 2 / 30[0-9]{2} \\[kilobytes/bytes]"));
            assertThat(lines.get(1)).matches("\tFd=\\[[0-9]+\\]");
            List<String> all = new ArrayList<>();
            api.dumpStatistics(null, all::add);
            assertThat(all).contains(lines.get(1)).hasSizeGreaterThan(lines.size());
            api.freePackets(pair.tested(), packets);
            lines.clear();
            api.dumpStatistics(pair.tested(), lines::add);
            assertThat(lines).noneMatch(l -> l.contains("zero copy"));
            api.dumpStatistics(pair.tested(), System.Logger.Level.DEBUG);
            pair.tested().close();
            api.dumpStatistics(pair.tested(), lines::add);
            assertThat(lines).contains("- Local Address   = [closed]");
        }
        try (SocketChannel none = Carrier.RING.provider().openSocketChannel()) {
            List<String> lines = new ArrayList<>();
            api.dumpStatistics(none, lines::add);
            assertThat(lines).hasSize(3);
            assertThat(lines.get(1)).startsWith("- TCP, not connected: ");
        }
    }

    private static String text(java.net.SocketAddress address) {
        return address.toString().substring(1);
    }

    @Test
    void offloadIsSetForAThread() throws Exception {
        Thread later = Thread.ofVirtual().unstarted(() -> assertThat(org.verbena.sockets.rules.Rules.isOffloaded())
                .isFalse());
        Throwable[] failed = new Throwable[1];
        later.setUncaughtExceptionHandler((_, e) -> failed[0] = e);
        api.threadOffload(later, false);
        later.start();
        later.join();
        assertThat(failed[0]).isNull();
    }
}
