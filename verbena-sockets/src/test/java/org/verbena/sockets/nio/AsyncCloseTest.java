// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.verbena.testkit.Descriptors;
import org.verbena.testkit.Thorough;

/** A thread that waits in a channel leaves it when another closes the channel, or interrupts the thread. */
@Tag("any-provider")
@Isolated
class AsyncCloseTest {
    private static final int RACES = Thorough.ON ? 150 : 50;
    private static final long LONGEST_NANOS = 30_000_000_000L;

    static Stream<Arguments> carriersAndThreads() {
        return TransferTest.carriersAndThreads();
    }

    private static Threads.Work read(SocketChannel channel) {
        return () -> channel.read(ByteBuffer.allocate(10));
    }

    /** Writes until another thread ends it. */
    private static Threads.Work write(SocketChannel channel) {
        return () -> {
            ByteBuffer b = ByteBuffer.allocateDirect(100_000);
            while (true) {
                channel.write(b.clear());
            }
        };
    }

    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void closeEndsAReader(Carrier carrier, Threads threads) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            var reader = threads.start(read(pair.tested()));
            reader.awaitBlocked();
            pair.tested().close();
            assertThat(reader.failure()).isExactlyInstanceOf(AsynchronousCloseException.class);
            assertThat(pair.peer().read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void closeEndsAWriter(Carrier carrier, Threads threads) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            var writer = threads.start(write(pair.tested()));
            writer.awaitBlocked();
            pair.tested().close();
            assertThat(writer.failure()).isInstanceOf(ClosedChannelException.class);
        }
    }

    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void closeEndsReaderAndWriterTogether(Carrier carrier, Threads threads) throws Exception {
        try (Carrier.Pair pair = carrier.accepted()) {
            var writer = threads.start(write(pair.tested()));
            writer.awaitBlocked();
            var reader = threads.start(read(pair.tested()));
            reader.awaitBlocked();
            pair.tested().close();
            assertThat(reader.failure()).isExactlyInstanceOf(AsynchronousCloseException.class);
            assertThat(writer.failure()).isInstanceOf(ClosedChannelException.class);
        }
    }

    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void interruptClosesUnderAReader(Carrier carrier, Threads threads) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            var reader = threads.start(() -> {
                try {
                    return pair.tested().read(ByteBuffer.allocate(10));
                } catch (IOException e) {
                    assertThat(Thread.currentThread().isInterrupted()).isTrue();
                    throw e;
                }
            });
            reader.awaitBlocked();
            reader.thread().interrupt();
            assertThat(reader.failure()).isExactlyInstanceOf(ClosedByInterruptException.class);
            assertThat(pair.tested().isOpen()).isFalse();
            assertThat(pair.peer().read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void interruptClosesUnderAWriter(Carrier carrier, Threads threads) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            var writer = threads.start(write(pair.tested()));
            writer.awaitBlocked();
            writer.thread().interrupt();
            assertThat(writer.failure()).isInstanceOf(ClosedChannelException.class);
            assertThat(pair.tested().isOpen()).isFalse();
        }
    }

    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void earlierInterruptClosesThoughDataAreAvailable(Carrier carrier, Threads threads) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            pair.peer().write(ByteBuffer.allocate(10));
            var reader = threads.start(() -> {
                Thread.currentThread().interrupt();
                return pair.tested().read(ByteBuffer.allocate(10));
            });
            assertThat(reader.failure()).isExactlyInstanceOf(ClosedByInterruptException.class);
            assertThat(pair.tested().isOpen()).isFalse();
        }
    }

    /** The same for a thread that would poll memory before it waits. */
    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void earlierInterruptClosesUnderASpinningReader(Carrier carrier, Threads threads) throws Exception {
        for (boolean timed : new boolean[] {false, true}) {
            try (Carrier.Pair pair = carrier.connected()) {
                if (pair.tested() instanceof StreamSocketChannel ours) {
                    ours.input().spin().limit(1_000_000);
                    ours.input().spin().waited(1);
                    assertThat(ours.input().spin().budget()).isPositive();
                }
                if (timed) {
                    pair.tested().socket().setSoTimeout(60_000);
                }
                pair.peer().write(ByteBuffer.allocate(10));
                var reader = threads.start(() -> {
                    Thread.currentThread().interrupt();
                    return timed
                            ? pair.tested().socket().getInputStream().read(new byte[10])
                            : pair.tested().read(ByteBuffer.allocate(10));
                });
                assertThat(reader.failure()).isInstanceOf(ClosedByInterruptException.class);
                assertThat(pair.tested().isOpen()).isFalse();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void earlierInterruptClosesUnderAWriterWithRoom(Carrier carrier, Threads threads) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            ByteBuffer b = ByteBuffer.allocate(10);
            var writer = threads.start(() -> {
                Thread.currentThread().interrupt();
                return pair.tested().write(b);
            });
            assertThat(writer.failure()).isExactlyInstanceOf(ClosedByInterruptException.class);
            assertThat(b.position()).isZero();
            assertThat(pair.tested().isOpen()).isFalse();
        }
    }

    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void interruptDoesNotAffectANonBlockingChannel(Carrier carrier, Threads threads) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            pair.tested().configureBlocking(false);
            pair.peer().write(ByteBuffer.allocate(10));
            var user = threads.start(() -> {
                Thread.currentThread().interrupt();
                ByteBuffer b = ByteBuffer.allocate(10);
                while (b.hasRemaining()) {
                    pair.tested().read(b);
                }
                assertThat(pair.tested().write(b.flip())).isEqualTo(10);
                return Thread.currentThread().isInterrupted();
            });
            assertThat(user.get()).isEqualTo(true);
            assertThat(pair.tested().isOpen()).isTrue();
        }
    }

    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void shutdownEndsWaitingThreads(Carrier carrier, Threads threads) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            var reader = threads.start(read(pair.tested()));
            var writer = threads.start(write(pair.tested()));
            writer.awaitBlocked();
            pair.tested().shutdownInput();
            assertThat(reader.get()).isEqualTo(-1);
            pair.tested().shutdownOutput();
            assertThat(writer.failure()).isInstanceOf(ClosedChannelException.class);
            assertThat(pair.tested().isOpen()).isTrue();
        }
    }

    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void closeEndsAcceptAndConnect(Carrier carrier, Threads threads) throws Exception {
        for (boolean interrupt : new boolean[] {false, true}) {
            ServerSocketChannel server = carrier.provider().openServerSocketChannel().bind(Carrier.anyPort());
            var acceptor = threads.start(server::accept);
            acceptor.awaitBlocked();
            if (interrupt) {
                acceptor.thread().interrupt();
            } else {
                server.close();
            }
            assertThat(acceptor.failure()).isExactlyInstanceOf(
                    interrupt ? ClosedByInterruptException.class : AsynchronousCloseException.class);
            assertThat(server.isOpen()).isFalse();
        }
    }

    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void closeEndsATimedReadOfTheSocket(Carrier carrier, Threads threads) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            pair.tested().socket().setSoTimeout(60_000);
            var reader = threads.start(() -> pair.tested().socket().getInputStream().read());
            reader.awaitBlocked();
            pair.tested().socket().close();
            assertThat(reader.failure()).isInstanceOfAny(AsynchronousCloseException.class, SocketException.class);
        }
    }

    /** Close comes at any moment of a read: before it waits, while it begins to, after. */
    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void racingCloseAndInterruptLeaveNothing(Carrier carrier, Threads threads) throws Exception {
        racing(carrier, threads, 5);
        System.gc();
        long before = Descriptors.count();
        racing(carrier, threads, RACES);
        long after = Descriptors.count();
        for (long end = System.nanoTime() + LONGEST_NANOS; after > before + 5 && System.nanoTime() - end < 0;) {
            Thread.sleep(20); // another thread gives them back
            after = Descriptors.count();
        }
        assertThat(after).as("descriptors after %d races, %d before: %s", RACES, before, targets()).isLessThanOrEqualTo(
                before + 5);
    }

    /** The descriptors, to find one that leaked. */
    private static Map<String, Long> targets() throws IOException {
        return Descriptors.targets().stream().map(target -> target.replaceAll("[0-9]+", "N")).collect(Collectors
                .groupingBy(
                        target -> target, TreeMap::new, Collectors.counting()));
    }

    private static void racing(Carrier carrier, Threads threads, int races) throws Exception {
        for (int i = 0; i < races; i++) {
            try (Carrier.Pair pair = carrier.connected()) {
                var reader = threads.start(read(pair.tested()));
                var writer = threads.start(write(pair.tested()));
                for (int spin = 0; spin < i * 200; spin++) {
                    Thread.onSpinWait();
                }
                switch (i % 3) {
                    case 0 -> pair.tested().close();
                    case 1 -> reader.thread().interrupt();
                    default -> writer.thread().interrupt();
                }
                assertThat(reader.failure()).isInstanceOf(ClosedChannelException.class);
                assertThat(writer.failure()).isInstanceOf(ClosedChannelException.class);
                assertThat(pair.tested().isOpen()).isFalse();
            }
        }
    }
}
