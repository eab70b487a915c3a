// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Objects;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.verbena.sockets.Verbena;
import org.verbena.sockets.extra.ExtraApi;
import org.verbena.sockets.extra.ReceiveFlags;
import org.verbena.sockets.extra.ReceivedPackets;
import org.verbena.sockets.stream.Released;
import org.verbena.sockets.stream.RingPackets;
import org.verbena.sockets.stream.Stream;
import org.verbena.testkit.Await;

/** Packets that nobody frees are found, reported once, and given back when nobody can free them. */
@Timeout(120)
class PacketLeaksTest {
    static {
        Carrier.RING.provider(); // a program that asks for Verbena's channels by name
    }

    private final ExtraApi api = Verbena.extraApi().orElseThrow();

    private static RingPackets packets(Carrier.Pair pair) throws Exception {
        return Objects.requireNonNull(RingPackets.of(((StreamSocketChannel) pair.tested()).connectedStream()));
    }

    private static void awaitReport(RingPackets packets) {
        Await.until("the leak is reported", () -> {
            System.gc();
            return packets.leak() != null;
        });
    }

    private record Left(RingPackets packets, Stream stream) {}

    /** A packet of a channel that is closed, and neither is referred to when this returns. */
    private Left leave() throws Exception {
        try (Carrier.Pair pair = Carrier.RING.connected()) {
            pair.peer().write(ByteBuffer.allocate(1000));
            assertThat(api.receive(pair.tested(), api.newPackets(1, 1), null, ReceiveFlags.FORCE)).isEqualTo(1000);
            return new Left(packets(pair), ((StreamSocketChannel) pair.tested()).connectedStream());
        }
    }

    @Test
    void packetOfAChannelThatIsGone() throws Exception {
        Left left = leave();
        awaitReport(left.packets);
        Await.until("memory is given back", () -> {
            System.gc();
            return Released.is(left.stream);
        });
        assertThat(left.packets.held()).isZero();
        assertThat(left.packets.leak()).startsWith("packets leak of /127.0.0.1:").contains("received first at ")
                .contains("PacketLeaksTest.leave(PacketLeaksTest.java:");
    }

    @Test
    void packetOfAHolderThatIsGone() throws Exception {
        try (Carrier.Pair pair = Carrier.RING.connected()) {
            pair.peer().write(ByteBuffer.allocate(1000));
            assertThat(api.receive(pair.tested(), api.newPackets(1, 1), null, ReceiveFlags.FORCE)).isPositive();
            RingPackets packets = packets(pair);
            awaitReport(packets);
            String first = packets.leak();
            assertThat(first).startsWith("packets may leak of /").contains(
                    ": 1 packet is held whose ReceivedPackets the program has dropped");
            pair.peer().write(ByteBuffer.allocate(10));
            ReceivedPackets kept = api.newPackets(1, 1);
            assertThat(api.receive(pair.tested(), kept, null, ReceiveFlags.FORCE)).isPositive();
            api.freePackets(pair.tested(), kept);
            assertThat(api.heldPackets(pair.tested())).isOne();
            api.dumpStatistics(pair.tested(), line -> assertThat(line).doesNotContain("null"));
            assertThat(packets.leak()).isSameAs(first);
        }
    }

    /** One packet by one holder each, freed by its identifier. */
    private void receiveAndFree(Carrier.Pair pair, int count) throws Exception {
        for (int i = 0; i < count; i++) {
            ReceivedPackets one = api.newPackets(1, 1);
            pair.peer().write(ByteBuffer.allocate(10));
            assertThat(api.receive(pair.tested(), one, null, ReceiveFlags.FORCE)).isEqualTo(10);
            api.freePacket(pair.tested(), one.id(0));
        }
    }

    /** A holder is used again and again, and nothing is freed: the peer can write no more, which is found while all live. */
    @Test
    void packetsThatFillTheRings() throws Exception {
        try (Carrier.Pair pair = Carrier.RING.connected()) {
            pair.peer().configureBlocking(false);
            pair.tested().configureBlocking(false);
            ReceivedPackets reused = api.newPackets(100, 200);
            ByteBuffer bytes = ByteBuffer.allocateDirect(100_000);
            long[] oldest = new long[1];
            Await.until("the stall is reported", () -> {
                try {
                    pair.peer().write(bytes.clear());
                    if (api.receive(pair.tested(), reused, null, ReceiveFlags.FORCE) > 0 && oldest[0] == 0) {
                        oldest[0] = reused.id(0);
                    }
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
                RingPackets held = RingPackets.of(((StreamSocketChannel) pair.tested()).streamOrNull());
                return held != null && held.leak() != null;
            });
            String found = packets(pair).leak();
            assertThat(found).startsWith("packets fill the rings of /127.0.0.1:").contains(
                    "PacketLeaksTest", api.heldPackets(pair.tested()) + " packets are held",
                    "free the oldest, 0x" + Long.toHexString(oldest[0]) + ",");
            assertThat(api.receive(pair.tested(), reused, null, ReceiveFlags.FORCE)).isZero();
            assertThat(packets(pair).leak()).isSameAs(found);
        }
    }

    @Test
    void freedPacketsAreNoLeak() throws Exception {
        try (Carrier.Pair pair = Carrier.RING.connected()) {
            receiveAndFree(pair, 100);
            RingPackets packets = packets(pair);
            Await.until("the holders are collected", () -> {
                System.gc();
                return packets.holdersGone() == 100;
            });
            assertThat(packets.leak()).isNull();
        }
    }
}
