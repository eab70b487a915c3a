// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.NonReadableChannelException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.verbena.sockets.VerbenaSocketChannel;

/** Files arrive as they are, whatever carries them; the JDK's transferTo its own channel gives the expected result. */
@Tag("any-provider")
class SendFileTest {
    private static final int SIZE = 20_000_003;
    private static final byte[] BYTES = new byte[SIZE];

    @TempDir Path folder;
    private FileChannel file;

    @BeforeEach
    void write() throws IOException {
        new Random(1).nextBytes(BYTES);
        file = FileChannel.open(folder.resolve("file"), StandardOpenOption.CREATE, StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        file.write(ByteBuffer.wrap(BYTES));
        file.position(7);
    }

    @AfterEach
    void close() throws IOException {
        file.close();
    }

    static Stream<Arguments> carriersAndThreads() {
        return TransferTest.carriersAndThreads();
    }

    /** The JDK's sendfile(2) waits in the kernel, where the scheduler does not see that a virtual thread does. */
    static Stream<Arguments> visiblyWaiting() {
        return carriersAndThreads().filter(a -> a.get()[0] != Carrier.JDK || a.get()[1] == Threads.PLATFORM);
    }

    private long send(SocketChannel to, long position, long count) throws IOException {
        return to instanceof VerbenaSocketChannel ours
                ? ours.sendFile(file, position, count)
                : file.transferTo(position, count, to);
    }

    private Threads.Work sendAll(SocketChannel to) {
        return () -> {
            long at = 0;
            while (at < SIZE) {
                at += send(to, at, SIZE - at);
            }
            to.shutdownOutput();
            return at;
        };
    }

    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void wholeFileArrives(Carrier carrier, Threads threads) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            var sender = threads.start(sendAll(pair.tested()));
            assertThat(TransferTest.hash(TransferTest.read(pair.peer(), SIZE))).isEqualTo(TransferTest.hash(BYTES));
            assertThat(pair.peer().read(ByteBuffer.allocate(1))).isEqualTo(-1);
            assertThat(sender.get()).isEqualTo((long) SIZE);
            assertThat(file.position()).isEqualTo(7);
        }
    }

    @ParameterizedTest
    @EnumSource
    void nonBlockingTransferIsLimitedByRoom(Carrier carrier) throws Exception {
        try (Carrier.Pair pair = carrier.accepted()) {
            pair.tested().configureBlocking(false);
            pair.peer().configureBlocking(false);
            ByteBuffer got = ByteBuffer.allocate(SIZE);
            int full = 0;
            for (long at = 0; at < SIZE || got.hasRemaining();) {
                long n = send(pair.tested(), at, SIZE - at);
                assertThat(n).isNotNegative();
                at += n;
                if (n == 0) {
                    full++;
                    pair.peer().read(got);
                }
            }
            assertThat(full).isPositive();
            assertThat(TransferTest.hash(got.array())).isEqualTo(TransferTest.hash(BYTES));
        }
    }

    @ParameterizedTest
    @EnumSource
    void filePartIsSentBetweenOtherBytes(Carrier carrier) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            pair.tested().write(ByteBuffer.wrap(BYTES, 0, 10));
            assertThat(send(pair.tested(), 10, 70_000)).isEqualTo(70_000);
            pair.tested().write(ByteBuffer.wrap(BYTES, 70_010, 10));
            assertThat(TransferTest.read(pair.peer(), 70_020)).isEqualTo(Arrays.copyOf(BYTES, 70_020));
        }
    }

    @ParameterizedTest
    @EnumSource
    void transferEndsAtTheEndOfTheFile(Carrier carrier) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            assertThat(send(pair.tested(), SIZE, 10)).isZero();
            assertThat(send(pair.tested(), SIZE + 5L, 10)).isZero();
            assertThat(send(pair.tested(), Long.MAX_VALUE, Long.MAX_VALUE)).isZero();
            assertThat(send(pair.tested(), 0, 0)).isZero();
            assertThat(send(pair.tested(), SIZE - 3, Long.MAX_VALUE)).isEqualTo(3);
            assertThat(TransferTest.read(pair.peer(), 3)).isEqualTo(Arrays.copyOfRange(BYTES, SIZE - 3, SIZE));
        }
    }

    @ParameterizedTest
    @EnumSource
    void unsendableSourceIsRefused(Carrier carrier) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            assertThatThrownBy(() -> send(pair.tested(), -1, 1)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> send(pair.tested(), 0, -1)).isInstanceOf(IllegalArgumentException.class);
            FileChannel whole = file;
            try (FileChannel blind = FileChannel.open(folder.resolve("file"), StandardOpenOption.WRITE)) {
                file = blind;
                for (int count : new int[] {0, 1}) {
                    assertThatThrownBy(() -> send(pair.tested(), 0, count)).isInstanceOf(
                            NonReadableChannelException.class);
                }
            }
            for (int count : new int[] {0, 1}) {
                assertThatThrownBy(() -> send(pair.tested(), 0, count)).isExactlyInstanceOf(
                        ClosedChannelException.class);
            }
            file = whole;
            assertThat(pair.tested().isOpen()).isTrue();
            pair.tested().shutdownOutput();
            assertThatThrownBy(() -> send(pair.tested(), 0, 1)).isInstanceOf(ClosedChannelException.class);
            assertThat(file.isOpen()).isTrue();
        }
        try (SocketChannel none = carrier.provider().openSocketChannel()) {
            assertThatThrownBy(() -> send(none, 0, 1)).isInstanceOf(NotYetConnectedException.class);
        }
    }

    @ParameterizedTest
    @MethodSource("visiblyWaiting")
    void closeEndsAWaitingTransfer(Carrier carrier, Threads threads) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            var sender = threads.start(sendAll(pair.tested()));
            sender.awaitBlocked();
            pair.tested().close();
            assertThat(sender.failure()).isInstanceOf(ClosedChannelException.class);
            assertThat(file.isOpen()).isTrue();
        }
    }

    @ParameterizedTest
    @MethodSource("visiblyWaiting")
    void interruptClosesTheChannel(Carrier carrier, Threads threads) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            var sender = threads.start(sendAll(pair.tested()));
            sender.awaitBlocked();
            sender.thread().interrupt();
            assertThat(sender.failure()).isInstanceOf(ClosedByInterruptException.class);
        }
    }

    @ParameterizedTest
    @MethodSource("visiblyWaiting")
    void peerCloseEndsAWaitingTransfer(Carrier carrier, Threads threads) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            var sender = threads.start(sendAll(pair.tested()));
            sender.awaitBlocked();
            pair.peer().close();
            assertThat(sender.failure()).isInstanceOf(IOException.class)
                    .isNotInstanceOf(AsynchronousCloseException.class);
        }
    }
}
