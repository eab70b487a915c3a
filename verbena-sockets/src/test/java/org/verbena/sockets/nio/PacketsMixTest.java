// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.verbena.linux.Errno;
import org.verbena.sockets.Verbena;
import org.verbena.sockets.extra.ExtraApi;
import org.verbena.sockets.extra.ReceiveFlags;
import org.verbena.sockets.extra.ReceivedPackets;
import org.verbena.testkit.Await;
import org.verbena.testkit.Seeds;
import org.verbena.testkit.Thorough;
import org.verbena.verbs.VerbsException;

/** Receives without a copy, plain reads and frees by chance, while rings wrap, grow and begin anew: every byte is compared, and again when it is freed. */
@Timeout(300)
@Tag("any-provider")
class PacketsMixTest {
    private static final int MOST_HELD = 6 << 20;
    private static final int FIRST = 1000;

    static {
        Carrier.RING.provider(); // a program that asks for Verbena's channels by name
    }

    private final ExtraApi api = Verbena.extraApi().orElseThrow();

    /** A packet that is held: where in the stream it begins, and a holder that shows it. */
    private record Held(long id, long start, int length, ReceivedPackets in, int packet) {}

    private static byte at(long position) {
        return (byte) (position * 31 + (position >>> 8) * 7 + (position >>> 17));
    }

    private static void write(SocketChannel to, long total, SplittableRandom random) throws Exception {
        write(to, 0, total, random);
    }

    private static void write(SocketChannel to, long from, long total, SplittableRandom random) throws Exception {
        ByteBuffer piece = ByteBuffer.allocateDirect(300_000);
        for (long done = from; done < total;) {
            int n = (int) Math.min(total - done, 1 + random.nextInt(1 << random.nextInt(1, 19)));
            piece.clear();
            for (int i = 0; i < n; i++) {
                piece.put(at(done + i));
            }
            piece.flip();
            while (piece.hasRemaining()) {
                to.write(piece);
            }
            done += n;
        }
        to.shutdownOutput();
    }

    private static void check(ByteBuffer got, long start) {
        for (int i = got.position(); i < got.limit(); i++) {
            if (got.get(i) != at(start + i)) {
                assertThat(got.get(i)).as("byte %d", start + i).isEqualTo(at(start + i));
            }
        }
    }

    private void check(Held one) {
        ByteBuffer got = ByteBuffer.allocate(one.length);
        assertThat(one.in.copy(one.packet, 0, got)).isEqualTo(one.length);
        check(got.flip(), one.start);
    }

    private void free(SocketChannel channel, List<Held> held, int index) throws Exception {
        check(held.get(index));
        api.freePacket(channel, held.get(index).id);
        held.set(index, held.getLast());
        held.removeLast();
    }

    private void mix(SocketChannel channel, SplittableRandom random, long total) throws Exception {
        List<Held> held = new ArrayList<>();
        int target = random.nextInt(1, 200);
        long at = 0;
        long bytes = 0;
        while (true) {
            int what = random.nextInt(10);
            if (!held.isEmpty() && (what == 0 || held.size() > target)) {
                int index = random.nextInt(held.size());
                bytes -= held.get(index).length;
                free(channel, held, index);
                continue;
            }
            int n;
            if (what < 3) {
                ByteBuffer into = ByteBuffer.allocate(1 + random.nextInt(1 << random.nextInt(1, 18)));
                n = channel.read(into);
                check(into.flip(), at);
            } else {
                ReceivedPackets packets = api.newPackets(1 + random.nextInt(4), 1 + random.nextInt(6));
                n = api.receive(channel, packets, null, ReceiveFlags.FORCE);
                long start = at;
                for (int i = 0; i < packets.count(); i++) {
                    held.add(new Held(packets.id(i), start, packets.length(i), packets, i));
                    start += packets.length(i);
                }
                assertThat(start - at).isEqualTo(Math.max(0, n));
                bytes += Math.max(0, n);
            }
            if (n < 0) {
                break;
            }
            at += n;
            if (n == 0 && (!held.isEmpty() && random.nextInt(50) == 0 || bytes > MOST_HELD)) {
                int index = random.nextInt(held.size());
                bytes -= held.get(index).length;
                free(channel, held, index);
            }
            if (random.nextInt(2000) == 0) {
                while (!held.isEmpty()) {
                    free(channel, held, random.nextInt(held.size()));
                }
                bytes = 0;
                target = random.nextInt(1, 200);
            }
        }
        assertThat(at).isEqualTo(total);
        assertThat(api.heldPackets(channel)).isEqualTo(held.size());
        channel.close();
        while (!held.isEmpty()) {
            free(channel, held, random.nextInt(held.size()));
        }
    }

    @ParameterizedTest
    @EnumSource
    void everyByteArrivesAndStays(Threads threads) throws Exception {
        for (int round = 0; round < (Thorough.ON ? 100 : 8); round++) {
            SplittableRandom random = new SplittableRandom(Seeds.FIRST + round);
            long total = 1L + random.nextInt(1 << random.nextInt(10, 25));
            try (Carrier.Pair pair = Carrier.RING.connected()) {
                SplittableRandom writes = random.split();
                var writer = threads.start(() -> {
                    write(pair.peer(), total, writes);
                    return null;
                });
                // a reader that blocks would wait for a peer that waits for room of what it holds
                pair.tested().configureBlocking(false);
                mix(pair.tested(), random, total);
                writer.get();
            }
        }
    }

    /**
     * From the first bytes on, which TCP brings, as they are written before the connection is accepted: by copies, by packets, by reads where FORCE has
     * taken nothing. What follows is written once rings are there in each second round, and at once in the others.
     */
    @ParameterizedTest
    @EnumSource
    void throughTheSwitch(Threads threads) throws Exception {
        long copied = 0;
        long refused = 0; // beside the first one of each round
        long packets = 0;
        for (int round = 0; round < (Thorough.ON ? 200 : 20); round++) {
            SplittableRandom random = new SplittableRandom(Seeds.FIRST + round);
            try (ServerSocketChannel server = Carrier.RING.provider().openServerSocketChannel();
                    SocketChannel client = Carrier.RING.provider().openSocketChannel()) {
                server.bind(Carrier.anyPort());
                client.connect(server.getLocalAddress());
                ByteBuffer first = ByteBuffer.allocate(FIRST);
                while (first.hasRemaining()) {
                    first.put(at(first.position()));
                }
                assertThat(client.write(first.flip())).isEqualTo(FIRST);
                try (SocketChannel accepted = server.accept()) {
                    SplittableRandom writes = random.split();
                    long total = FIRST + 1L + random.nextInt(3_000_000);
                    boolean afterwards = round % 2 == 0;
                    assertThatThrownBy(() -> api.receive(accepted, api.newPackets(1, 1), null, ReceiveFlags.FORCE))
                            .isInstanceOfSatisfying(VerbsException.class, e -> assertThat(e.errno()).isEqualTo(
                                    Errno.EIO));
                    var writer = threads.start(() -> {
                        if (afterwards) {
                            Await.until("rings carry", ((StreamSocketChannel) client)::isOutputByRing);
                        }
                        write(client, FIRST, total, writes);
                        return null;
                    });
                    accepted.configureBlocking(random.nextBoolean());
                    ReceivedPackets into = api.newPackets(3, 4);
                    ByteBuffer copy = ByteBuffer.allocate(1 + random.nextInt(20_000));
                    long at = 0;
                    while (true) {
                        copy.clear();
                        int n;
                        if (random.nextBoolean()) {
                            n = api.receive(accepted, into, copy, ReceiveFlags.NONE);
                        } else {
                            try {
                                n = api.receive(accepted, into, null, ReceiveFlags.FORCE);
                            } catch (VerbsException e) {
                                assertThat(e.errno()).isEqualTo(Errno.EIO);
                                refused++;
                                n = accepted.read(copy);
                            }
                        }
                        if (n < 0) {
                            break;
                        }
                        if (into.isZeroCopy()) {
                            packets += into.count();
                            long start = at;
                            for (int i = 0; i < into.count(); i++) {
                                check(new Held(into.id(i), start, into.length(i), into, i));
                                start += into.length(i);
                            }
                            assertThat(start - at).isEqualTo(n);
                            api.freePackets(accepted, into);
                        } else {
                            copied += n;
                            assertThat(copy.position()).isEqualTo(n);
                            check(copy.flip(), at);
                        }
                        at += n;
                    }
                    assertThat(at).isEqualTo(total);
                    writer.get();
                }
            }
        }
        System.out.println("PacketsMixTest: " + copied + " bytes copied, " + packets + " packets, FORCE refused "
                + refused
                + " times");
        assertThat(copied).isPositive();
        assertThat(packets).isPositive();
    }

    /** Packets are freed by threads that do not receive them. */
    @Test
    void otherThreadsFree() throws Exception {
        long total = Thorough.ON ? 2_000_000_000L : 100_000_000L;
        try (Carrier.Pair pair = Carrier.RING.connected()) {
            var writer = Threads.PLATFORM.start(() -> {
                write(pair.peer(), total, new SplittableRandom(Seeds.FIRST));
                return null;
            });
            var queue = new java.util.concurrent.ArrayBlockingQueue<Held>(64);
            Held end = new Held(0, 0, 0, api.newPackets(0, 0), 0);
            var freeing = Threads.PLATFORM.start(() -> {
                List<Held> some = new ArrayList<>();
                SplittableRandom random = new SplittableRandom(Seeds.FIRST);
                for (Held one = queue.take(); one != end; one = queue.take()) {
                    some.add(one);
                    while (some.size() > 7 || queue.isEmpty() && !some.isEmpty()) {
                        free(pair.tested(), some, random.nextInt(some.size()));
                    }
                }
                while (!some.isEmpty()) {
                    free(pair.tested(), some, random.nextInt(some.size()));
                }
                return null;
            });
            long at = 0;
            while (true) {
                ReceivedPackets packets = api.newPackets(2, 3);
                int n = api.receive(pair.tested(), packets, null, ReceiveFlags.FORCE);
                if (n < 0) {
                    break;
                }
                for (int i = 0; i < packets.count(); i++) {
                    queue.put(new Held(packets.id(i), at, packets.length(i), packets, i));
                    at += packets.length(i);
                }
            }
            queue.put(end);
            freeing.get();
            writer.get();
            assertThat(at).isEqualTo(total);
            assertThat(api.heldPackets(pair.tested())).isZero();
        }
    }
}
