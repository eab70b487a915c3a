// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.time.Duration;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.sockets.stream.memory.BlockLayout;
import org.verbena.verbs.VerbsException;

/**
 * A peer that writes garbage into every word that it may write: the program gets bytes or an error, in finite time, and
 * nothing else of the process is touched.
 */
class HostileWordsTest {
    private static final int READ = SelectionKey.OP_READ;
    private static final int WRITE = SelectionKey.OP_WRITE;
    private static final int[] WORDS = {BlockLayout.PRODUCED, BlockLayout.LANE, BlockLayout.END, BlockLayout.SPACE_ARM,
        BlockLayout.WANTED, BlockLayout.CONSUMED, BlockLayout.DATA_ARM, BlockLayout.GRANT_ADDRESS,
        BlockLayout.GRANT_SIZE_KEY, BlockLayout.GRANTED, BlockLayout.CLOSED};
    private static final int SEEDS = 150;

    /** A connection after its handshake, of a session of its own, for the session breaks with it. */
    private static final class Victim implements AutoCloseable {
        final SessionPair sessions = SessionPair.ofOne();
        final FakeTcp[] tcp = FakeTcp.pair(20_000);
        final RingStream stream = new RingStream(tcp[0], Stream.Role.CLIENT, null, false);
        final RingStream peer = new RingStream(tcp[1], Stream.Role.SERVER, null, false);
        final Link link = Link.create(sessions.a, stream);
        final Link peerLink = Link.create(sessions.b, peer);

        Victim() throws VerbsException {
            assertThat(stream.prepare(link)).isTrue();
            assertThat(peer.prepare(peerLink)).isTrue();
            stream.completeHandshake(peerLink.offer());
            peer.completeHandshake(link.offer());
        }

        @Override
        public void close() throws Exception {
            stream.close(true);
            peer.close(true);
            sessions.close();
        }
    }

    private static long garbage(Random random) {
        return switch (random.nextInt(6)) {
            case 0 -> random.nextLong();
            case 1 -> random.nextInt(100);
            case 2 -> -1 - random.nextInt(100);
            case 3 -> 1L << random.nextInt(64);
            case 4 -> BlockLayout.lane(random.nextInt(20_000), random.nextInt(16));
            default -> (long) (1 << random.nextInt(32)) << 32 | random.nextInt(1000);
        };
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void garbageInAnyWordYieldsBytesOrAnError(int block) throws Exception {
        for (int seed = block * SEEDS; seed < (block + 1) * SEEDS; seed++) {
            Random random = new Random(seed);
            try (Victim victim = new Victim()) {
                ByteBuffer buffer = ByteBuffer.allocate(5000);
                for (int step = 0; step < 40; step++) {
                    if (random.nextInt(3) == 0) {
                        victim.link.block.set(ValueLayout.JAVA_LONG, WORDS[random.nextInt(WORDS.length)], garbage(
                                random));
                    }
                    victim.tcp[0].arrive(random.nextInt(30));
                    try {
                        act(victim, buffer, random);
                    } catch (IOException expected) {
                        assertThat(expected).hasMessageMatching("(Connection reset|Broken pipe).*");
                    }
                }
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("seed " + seed, e);
            }
        }
    }

    private static void act(Victim victim, ByteBuffer buffer, Random random) throws IOException {
        RingStream stream = victim.stream;
        buffer.clear().limit(random.nextInt(buffer.capacity()));
        switch (random.nextInt(8)) {
            case 0, 1 -> assertThat(stream.read(buffer)).isBetween(-1, buffer.limit());
            case 2 -> assertThat(stream.write(buffer)).isBetween(0, buffer.limit());
            case 3 -> assertThat(stream.arm(random.nextBoolean() ? READ : WRITE, null)).isBetween(0, READ | WRITE);
            case 4 -> stream.kernelReady(READ, READ | WRITE);
            case 5 -> receive(victim, random);
            case 6 -> {
                RingPackets held = RingPackets.of(stream);
                if (held != null) {
                    held.free(stream.number() << 32 | random.nextInt(20));
                }
            }
            default -> assertThat(stream.available(0)).isNotNegative();
        }
    }

    /** Whatever is said to be there is in the ring. */
    private static void receive(Victim victim, Random random) throws IOException {
        PacketHolder packets = new PacketHolder(1 + random.nextInt(3), 1 + random.nextInt(4));
        int n = RingPackets.receive(victim.stream, packets, victim);
        int sum = 0;
        for (int i = 0; i < packets.count(); i++) {
            ByteBuffer got = ByteBuffer.allocate(packets.length(i));
            assertThat(packets.copy(i, 0, got)).isEqualTo(packets.length(i)).isPositive();
            sum += packets.length(i);
        }
        assertThat(sum).isEqualTo(Math.max(0, n));
    }

    /** A peer has the room that was read, and none of what is held. */
    @Test
    void writingOverHeldPacketsBreaksTheSession() throws Exception {
        try (Victim victim = new Victim()) {
            assertThat(victim.stream.read(ByteBuffer.allocate(1))).isZero(); // enters the ring
            assertThat(victim.peer.write(ByteBuffer.allocate(1000))).isEqualTo(1000);
            PacketHolder held = new PacketHolder(1, 1);
            assertThat(RingPackets.receive(victim.stream, held, victim)).isEqualTo(1000);
            int size = victim.link.ring.size();
            PacketHolder later = new PacketHolder(1, 2);
            victim.link.block.set(ValueLayout.JAVA_LONG, BlockLayout.PRODUCED, size);
            assertThat(RingPackets.receive(victim.stream, later, victim)).isEqualTo(size - 1000);
            victim.link.block.set(ValueLayout.JAVA_LONG, BlockLayout.PRODUCED, size + 1);
            assertThatThrownBy(() -> RingPackets.receive(victim.stream, later, victim)).isInstanceOf(
                    SocketException.class).hasMessageContaining("the peer breaks the protocol");
            assertThat(victim.link.session.isFailed()).isTrue();
        }
    }

    /** The header and the entries of ready queues are written by the peer as well. */
    @Test
    void garbageInReadyQueuesMatchesNoConnection() throws Exception {
        for (int seed = 0; seed < 50; seed++) {
            Random random = new Random(seed);
            try (Victim victim = new Victim()) {
                ReadyQueue queue = new ReadyQueue();
                assertThat(victim.stream.arm(READ, queue)).isZero();
                MemorySegment header = victim.sessions.a.header().segment();
                for (int i = 0; i < 20; i++) {
                    header.set(ValueLayout.JAVA_LONG, 8L * random.nextInt((int) header.byteSize() / 8), garbage(
                            random));
                    victim.peer.arm(READ, queue);
                    try {
                        victim.stream.write(ByteBuffer.allocate(10));
                        victim.peer.read(ByteBuffer.allocate(100));
                    } catch (IOException expected) {
                        assertThat(expected).hasMessageMatching("(Connection reset|Broken pipe).*");
                    }
                }
                queue.close();
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("seed " + seed, e);
            }
        }
    }

    /** A program that reads late, too, is not to take what it has for all there was. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void brokenSessionIsNotEndOfStream(boolean byRing) throws Exception {
        try (Victim victim = new Victim()) {
            ByteBuffer into = ByteBuffer.allocate(200);
            if (byRing) {
                assertThat(victim.stream.read(into)).isZero();
                assertThat(victim.stream.isInputByRing()).isTrue();
            }
            assertThat(victim.peer.write(ByteBuffer.allocate(100))).isEqualTo(100);
            victim.sessions.a.fail();
            victim.stream.breakOff();
            while (into.position() < 100) {
                assertThat(victim.stream.read(into)).isNotNegative();
            }
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> victim.stream.read(into)).isInstanceOf(SocketException.class)
                        .hasMessageContaining("Connection reset");
            }
        }
    }

    /** The peer has died, as the kernel has reported before. */
    @Test
    void endOfStreamReportedByTcpIsFinal() throws Exception {
        try (Victim victim = new Victim()) {
            ByteBuffer into = ByteBuffer.allocate(200);
            assertThat(victim.stream.read(into)).isZero();
            victim.tcp[1].shutdownOutput();
            victim.tcp[0].arrive(0);
            victim.sessions.a.fail();
            victim.stream.breakOff();
            assertThat(victim.stream.read(into)).isEqualTo(-1);
        }
    }

    /** Whatever happens to one session, another goes on. */
    @Test
    void otherSessionIsUndisturbed() throws Exception {
        try (Victim victim = new Victim(); Victim healthy = new Victim()) {
            victim.link.block.set(ValueLayout.JAVA_LONG, BlockLayout.CONSUMED, 1L << 40);
            assertThat(org.assertj.core.api.Assertions.catchThrowable(() -> {
                long end = System.nanoTime() + Duration.ofSeconds(20).toNanos();
                while (System.nanoTime() < end) {
                    victim.stream.write(ByteBuffer.allocate(100));
                }
            })).isInstanceOf(IOException.class);
            assertThat(healthy.stream.write(ByteBuffer.allocate(100))).isEqualTo(100);
            ByteBuffer into = ByteBuffer.allocate(200);
            healthy.peer.read(into);
            healthy.peer.read(into);
            assertThat(into.position()).isEqualTo(100);
        }
    }
}
