// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;

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
            assertThat(first).contains(": 1 packet is held whose ReceivedPackets the program has dropped");
            pair.peer().write(ByteBuffer.allocate(10));
            ReceivedPackets kept = api.newPackets(1, 1);
            assertThat(api.receive(pair.tested(), kept, null, ReceiveFlags.FORCE)).isPositive();
            api.freePackets(pair.tested(), kept);
            assertThat(api.heldPackets(pair.tested())).isOne();
            api.dumpStatistics(pair.tested(), line -> assertThat(line).doesNotContain("null"));
            assertThat(packets.leak()).isSameAs(first);
        }
    }

    @Test
    void freedPacketsAreNoLeak() throws Exception {
        try (Carrier.Pair pair = Carrier.RING.connected()) {
            for (int i = 0; i < 100; i++) {
                ReceivedPackets one = api.newPackets(1, 1);
                pair.peer().write(ByteBuffer.allocate(10));
                assertThat(api.receive(pair.tested(), one, null, ReceiveFlags.FORCE)).isEqualTo(10);
                api.freePackets(pair.tested(), one);
            }
            awaitReport(leave().packets); // what was collected before that is looked at by then
            assertThat(packets(pair).leak()).isNull();
        }
    }
}
