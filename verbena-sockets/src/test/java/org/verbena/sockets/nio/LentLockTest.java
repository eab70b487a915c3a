// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.Channels;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SocketChannel;
import java.util.stream.Stream;

import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.verbena.testkit.Await;

/**
 * A thread that waits in a stream of {@link Channels} holds the channel's blocking lock: that must not prevent ending
 * the channel.
 */
@Execution(ExecutionMode.CONCURRENT)
class LentLockTest {
    private static final int MORE_THAN_THERE_IS_ROOM_FOR = 64 << 20;

    static Stream<Arguments> carriersAndThreads() {
        return TransferTest.carriersAndThreads();
    }

    private static Threads.Started reader(Threads threads, SocketChannel channel) throws InterruptedException {
        InputStream in = Channels.newInputStream(channel);
        Threads.Started reader = blocked(threads.start(in::read));
        synchronized (channel.blockingLock()) { // lent: a reader that sleeps elsewhere under it is awaited here
            assertThat(reader.result()).isNotDone();
        }
        return reader;
    }

    private static Threads.Started writer(Threads threads, SocketChannel channel) throws InterruptedException {
        return blocked(threads.start(() -> write(channel, MORE_THAN_THERE_IS_ROOM_FOR)));
    }

    /** A writer waits at once, and lastingly: the kernel makes room as long as it moves bytes to the other end, so that is over. */
    private static Carrier.Pair connectedWithoutRoom(Carrier carrier) throws Exception {
        Carrier.Pair pair = carrier.connected();
        pair.tested().configureBlocking(false);
        ByteBuffer bytes = ByteBuffer.allocate(1 << 20);
        Await.untilLasting("no room", () -> pair.tested().write(bytes.clear()) == 0);
        pair.tested().configureBlocking(true);
        return pair;
    }

    private static Threads.Started blocked(Threads.Started thread) throws InterruptedException {
        thread.awaitBlocked();
        return thread;
    }

    private static void isClosedUnder(SocketChannel channel, Threads.Started other) throws Exception {
        assertThat(other.failure()).isExactlyInstanceOf(AsynchronousCloseException.class);
        assertThat(channel.isOpen()).isFalse();
    }

    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void interruptedWriterClosesUnderAReader(Carrier carrier, Threads threads) throws Exception {
        Carrier.Pair pair = carrier.connected();
        var reader = reader(threads, pair.tested());
        var writer = threads.start(() -> {
            Thread.currentThread().interrupt();
            Channels.newOutputStream(pair.tested()).write(1);
            return null;
        });
        assertThat(writer.failure()).isExactlyInstanceOf(ClosedByInterruptException.class);
        isClosedUnder(pair.tested(), reader);
        pair.close();
    }

    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void interruptedReaderClosesUnderAWriter(Carrier carrier, Threads threads) throws Exception {
        Carrier.Pair pair = connectedWithoutRoom(carrier);
        var writer = writer(threads, pair.tested());
        var reader = threads.start(() -> {
            Thread.currentThread().interrupt();
            return Channels.newInputStream(pair.tested()).read();
        });
        assertThat(reader.failure()).isExactlyInstanceOf(ClosedByInterruptException.class);
        isClosedUnder(pair.tested(), writer);
        pair.close();
    }

    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void interruptOfOneWaitingThreadEndsBoth(Carrier carrier, Threads threads) throws Exception {
        for (boolean atReader : new boolean[] {false, true}) {
            Carrier.Pair pair = connectedWithoutRoom(carrier);
            var reader = reader(threads, pair.tested());
            var writer = writer(threads, pair.tested());
            Threads.PLATFORM.start(() -> { // an interrupt closes the channel itself
                (atReader ? reader : writer).thread().interrupt();
                return null;
            }).get();
            assertThat((atReader ? reader : writer).failure()).isExactlyInstanceOf(ClosedByInterruptException.class);
            isClosedUnder(pair.tested(), atReader ? writer : reader);
            pair.close();
        }
    }

    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void thirdThreadClosesUnderReaderAndWriter(Carrier carrier, Threads threads) throws Exception {
        Carrier.Pair pair = connectedWithoutRoom(carrier);
        var reader = reader(threads, pair.tested());
        var writer = writer(threads, pair.tested());
        threads.start(() -> {
            pair.tested().close();
            return null;
        }).get();
        isClosedUnder(pair.tested(), reader);
        isClosedUnder(pair.tested(), writer);
        pair.close();
    }

    /**
     * Two streams of one channel: the second reader has the blocking lock, and waits for the first, which wants it
     * back.
     */
    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void twoStreamsReadInTurn(Carrier carrier, Threads threads) throws Exception {
        Carrier.Pair pair = carrier.connected();
        var one = reader(threads, pair.tested());
        var other = reader(threads, pair.tested());
        for (byte b = 1; b <= 2; b++) {
            pair.peer().write(ByteBuffer.wrap(new byte[] {b}));
        }
        assertThat(one.get()).isEqualTo(1);
        assertThat(other.get()).isEqualTo(2);
        pair.close();
    }

    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void twoStreamsWriteInTurn(Carrier carrier, Threads threads) throws Exception {
        int size = 8 << 20;
        Carrier.Pair pair = carrier.connected();
        var one = blocked(threads.start(() -> write(pair.tested(), size)));
        var other = blocked(threads.start(() -> write(pair.tested(), size)));
        assertThat(TransferTest.read(pair.peer(), 2 * size)).hasSize(2 * size);
        assertThat(one.get()).isEqualTo(size);
        assertThat(other.get()).isEqualTo(size);
        pair.close();
    }

    private static int write(SocketChannel channel, int size) throws IOException {
        Channels.newOutputStream(channel).write(new byte[size]);
        return size;
    }
}
