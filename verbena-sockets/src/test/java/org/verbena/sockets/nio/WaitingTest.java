// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.verbena.testkit.Thorough;

/** Threads that wait cost nothing, do not hold each other up, and miss nothing. */
@Tag("any-provider")
@Isolated
class WaitingTest {
    private static final long MAX_TICKS = 10;

    static Stream<Arguments> carriersAndThreads() {
        return TransferTest.carriersAndThreads();
    }

    @Test
    void waitingThreadsUseNoCpu() throws Exception {
        assertWaitersUseNoCpu(carriersAndThreads().toList());
    }

    @Thorough
    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void waitingThreadUsesNoCpu(Carrier carrier, Threads threads) throws Exception {
        assertWaitersUseNoCpu(List.of(Arguments.of(carrier, threads)));
    }

    private static void assertWaitersUseNoCpu(List<Arguments> carriersAndThreads) throws Exception {
        List<Carrier.Pair> pairs = new ArrayList<>();
        try {
            for (Arguments each : carriersAndThreads) {
                Carrier carrier = (Carrier) each.get()[0];
                Threads threads = (Threads) each.get()[1];
                for (int i = 0; i < 10; i++) {
                    Carrier.Pair pair = carrier.connected();
                    pairs.add(pair);
                    threads.start(() -> pair.tested().read(ByteBuffer.allocate(1)));
                    threads.start(() -> {
                        while (true) {
                            pair.tested().write(ByteBuffer.allocateDirect(1 << 20)); // until there is no room
                        }
                    });
                }
            }
            assertThat(quietest()).as("hundredths of a second of processor time in a second").isLessThan(MAX_TICKS);
        } finally {
            for (Carrier.Pair pair : pairs) {
                pair.close();
            }
        }
    }

    /** What they use in a second when all have come to wait, which takes a while. */
    private static long quietest() throws Exception {
        long end = System.nanoTime() + 60_000_000_000L;
        long used;
        do {
            long before = processorTicks();
            Thread.sleep(1000);
            used = processorTicks() - before;
        } while (used >= MAX_TICKS && System.nanoTime() - end < 0);
        return used;
    }

    /** User and system time of this process but for its compilers and collectors, proc_pid_stat(5). */
    private static long processorTicks() throws Exception {
        long sum = 0;
        try (Stream<Path> threads = Files.list(Path.of("/proc/self/task"))) {
            for (Path thread : threads.toList()) {
                String stat;
                try {
                    stat = Files.readString(thread.resolve("stat"));
                } catch (IOException ended) {
                    continue;
                }
                String name = stat.substring(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
                if (!name.matches("(C1|C2|G1|GC|VM) .*")) {
                    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
                    sum += Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
                }
            }
        }
        return sum;
    }

    /** The reader and the writer of one channel wait for the same doorbell; neither may starve the other. */
    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void readerAndWriterWaitSimultaneously(Carrier carrier, Threads threads) throws Exception {
        assertNeitherStarves(carrier, threads, threads);
    }

    /** One sleeps at the bell if it is first, the other at the socket. */
    @Test
    void readersAndWritersOfBothKindsWaitSimultaneously() throws Exception {
        assertNeitherStarves(Carrier.RING, Threads.PLATFORM, Threads.VIRTUAL);
        assertNeitherStarves(Carrier.RING, Threads.VIRTUAL, Threads.PLATFORM);
    }

    private static void assertNeitherStarves(Carrier carrier, Threads readers, Threads writers) throws Exception {
        int rounds = 300;
        try (Carrier.Pair pair = carrier.connected()) {
            AtomicLong written = new AtomicLong();
            var writer = writers.start(() -> {
                ByteBuffer b = ByteBuffer.allocateDirect(60_000);
                for (int i = 0; i < rounds; i++) {
                    b.clear();
                    while (b.hasRemaining()) {
                        written.addAndGet(pair.tested().write(b));
                    }
                }
                return null;
            });
            var reader = readers.start(() -> {
                ByteBuffer b = ByteBuffer.allocate(1);
                for (int i = 0; i < rounds; i++) {
                    assertThat(pair.tested().read(b.clear())).isEqualTo(1);
                    assertThat(b.get(0)).isEqualTo((byte) i);
                }
                return null;
            });
            ByteBuffer sink = ByteBuffer.allocateDirect(10_000);
            long read = 0;
            for (int i = 0; i < rounds; i++) {
                if (i % 3 == 0) {
                    Thread.sleep(1); // both wait
                }
                pair.peer().write(ByteBuffer.wrap(new byte[] {(byte) i}));
                for (long until = (i + 1) * 60_000L; read < until;) {
                    read += pair.peer().read(sink.clear());
                }
            }
            reader.get();
            writer.get();
            assertThat(written.get()).isEqualTo(rounds * 60_000L);
        }
    }

    /**
     * There is one doorbell for both. The reader has taken that of the writer before the writer, which armed for it, sleeps;
     * and what it signalled is not there any more, so that nothing but the number shows that it came.
     */
    @ParameterizedTest
    @EnumSource
    void doorbellTakenByTheOtherDirectionWakesBoth(Threads threads) throws Exception {
        try (Carrier.Pair pair = Carrier.RING.connected()) {
            StreamSocketChannel channel = (StreamSocketChannel) pair.tested();
            var stream = Objects.requireNonNull(channel.streamOrNull());
            Waiting waiting = channel.waiting();
            int before;
            do { // the peer's engine may grant a larger ring meanwhile
                fill(stream);
                before = waiting.prepare(stream, OP_WRITE);
            } while (waiting.arm(stream, OP_WRITE) != 0);

            takeAll(pair);
            int prepared = waiting.prepare(stream, OP_READ);
            assertThat(waiting.arm(stream, OP_READ)).isZero();
            waiting.await(channel.input().lock(), stream, OP_READ, prepared, 10_000_000);
            assertThat(waiting.prepare(stream, OP_READ)).isNotEqualTo(before);
            fill(stream);

            int armed = before;
            threads.start(() -> waiting.await(channel.output().lock(), stream, OP_WRITE, armed, 0)).get();
        }
    }

    static void takeAll(Carrier.Pair pair) throws IOException {
        pair.peer().configureBlocking(false);
        for (ByteBuffer b = ByteBuffer.allocateDirect(1 << 20); pair.peer().read(b.clear()) > 0;) {
            // until there is room again
        }
    }

    static void fill(org.verbena.sockets.stream.Stream stream) throws IOException {
        ByteBuffer b = ByteBuffer.allocateDirect(64 << 10);
        while (stream.write(b.clear()) > 0) {
            // until there is no room
        }
    }

    /** Far more virtual threads wait than there are carriers, and all go on. */
    @ParameterizedTest
    @EnumSource
    void manyVirtualThreadsWait(Carrier carrier) throws Exception {
        int connections = 100;
        List<Carrier.Pair> pairs = new ArrayList<>();
        List<Threads.Started> echoes = new ArrayList<>();
        try {
            for (int i = 0; i < connections; i++) {
                Carrier.Pair pair = carrier.connected();
                pairs.add(pair);
                echoes.add(Threads.VIRTUAL.start(() -> {
                    ByteBuffer b = ByteBuffer.allocate(100);
                    long total = 0;
                    for (int n; (n = pair.tested().read(b.clear())) >= 0; total += n) {
                        pair.tested().write(b.flip());
                    }
                    return total;
                }));
            }
            for (int round = 0; round < 5; round++) {
                for (Carrier.Pair pair : pairs) {
                    pair.peer().write(ByteBuffer.allocate(50));
                }
                for (Carrier.Pair pair : pairs) {
                    readFully(pair.peer(), 50);
                }
            }
            for (int i = 0; i < connections; i++) {
                pairs.get(i).peer().shutdownOutput();
                assertThat(echoes.get(i).get()).isEqualTo(250L);
            }
        } finally {
            for (Carrier.Pair pair : pairs) {
                pair.close();
            }
        }
    }

    private static void readFully(SocketChannel from, int size) throws Exception {
        assertThat(TransferTest.read(from, size)).hasSize(size);
    }

    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void frequentSleepsOfBothEndsMissNothing(Carrier carrier, Threads threads) throws Exception {
        int rounds = Thorough.ON ? 5000 : 1000;
        try (Carrier.Pair pair = carrier.connected()) {
            var echo = threads.start(() -> {
                ByteBuffer b = ByteBuffer.allocateDirect(8);
                for (int i = 0; i < rounds; i++) {
                    assertThat(pair.peer().read(b.clear())).isEqualTo(8);
                    pair.peer().write(b.flip());
                }
                return null;
            });
            var asker = threads.start(() -> {
                ByteBuffer b = ByteBuffer.allocateDirect(8);
                for (int i = 0; i < rounds; i++) {
                    pair.tested().write(b.clear().putLong(0, i));
                    pair.tested().read(b.clear());
                    assertThat(b.getLong(0)).isEqualTo(i);
                }
                return null;
            });
            asker.get();
            echo.get();
        }
    }

    /** The streams of {@link Channels} hold the channel's blocking lock: a reader that waits must not keep the writer out. */
    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void streamsOfTheJdkDoNotBlockEachOther(Carrier carrier, Threads threads) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            var in = Channels.newInputStream(pair.tested());
            var out = Channels.newOutputStream(pair.tested());
            for (int i = 0; i < 20; i++) {
                var reader = threads.start(in::read);
                Thread.sleep(i);
                out.write(i);
                assertThat(pair.peer().read(ByteBuffer.allocate(10))).isEqualTo(1);
                pair.peer().write(ByteBuffer.wrap(new byte[] {(byte) i}));
                assertThat(reader.get()).isEqualTo(i);
            }
            var reader = threads.start(in::read);
            reader.awaitBlocked();
            var mode = threads.start(() -> pair.tested().configureBlocking(false));
            mode.awaitBlocked();
            pair.peer().write(ByteBuffer.allocate(1));
            assertThat(reader.get()).isEqualTo(0);
            mode.get();
            pair.tested().configureBlocking(true);
            var interrupted = threads.start(() -> {
                try {
                    return in.read();
                } catch (ClosedByInterruptException e) {
                    assertThat(Thread.currentThread().isInterrupted()).isTrue();
                    throw e;
                }
            });
            interrupted.awaitBlocked();
            interrupted.thread().interrupt();
            assertThat(interrupted.failure()).isInstanceOf(ClosedByInterruptException.class);
        }
    }
}
