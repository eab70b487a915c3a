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
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.verbena.linux.Fd;
import org.verbena.linux.Memfd;
import org.verbena.sockets.VerbenaSocketChannel;
import org.verbena.sockets.stream.Released;
import org.verbena.sockets.stream.RingLoan;
import org.verbena.testkit.AllocatedBytes;
import org.verbena.testkit.Await;
import org.verbena.testkit.Thorough;

/** Files that are written from a ring, compared with what the JDK's transferFrom of its own channel does. */
@Timeout(120)
class FileFromRingTest {
    private static final int SIZE = 3 * (1 << 20) + 77;
    private static final byte[] BYTES = new byte[SIZE];

    static {
        new Random(4).nextBytes(BYTES);
    }

    @TempDir Path folder;
    private Path path;
    private FileChannel file;

    @BeforeEach
    void create() throws IOException {
        path = folder.resolve("file");
        file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    @AfterEach
    void close() throws IOException {
        file.close();
    }

    static Stream<Arguments> carriersAndThreads() {
        return TransferTest.carriersAndThreads();
    }

    static long receive(SocketChannel from, FileChannel to, long position, long count) throws IOException {
        return from instanceof VerbenaSocketChannel ours
                ? ours.receiveFile(to, position, count)
                : to.transferFrom(from, position, count);
    }

    private static void write(SocketChannel to, int from, int count) throws IOException {
        for (ByteBuffer part = ByteBuffer.wrap(BYTES, from, count); part.hasRemaining();) {
            to.write(part);
        }
    }

    private static Threads.Work writeAll(SocketChannel to) {
        return () -> {
            write(to, 0, SIZE);
            to.shutdownOutput();
            return null;
        };
    }

    private static byte[] slice(int from, int count) {
        return Arrays.copyOfRange(BYTES, from, from + count);
    }

    private void awaitReadable(Carrier.Pair pair, int bytes) throws Exception {
        Await.until("bytes are there", () -> {
            try {
                return pair.tested().socket().getInputStream().available() >= bytes;
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
    }

    /** A channel that blocks goes on to the end of the stream, or to the count. */
    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void wholeStreamArrives(Carrier carrier, Threads threads) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            file.position(7);
            var writer = threads.start(writeAll(pair.peer()));
            var receiver = threads.start(() -> List.of(receive(pair.tested(), file, 0, 1_000_000),
                    receive(pair.tested(), file, 1_000_000, 1L << 40), receive(pair.tested(), file, SIZE, 10)));
            assertThat(receiver.get()).isEqualTo(List.of(1_000_000L, SIZE - 1_000_000L, 0L));
            writer.get();
            assertThat(Arrays.mismatch(Files.readAllBytes(path), BYTES)).isEqualTo(-1);
            assertThat(file.position()).isEqualTo(7);
            assertThat(pair.tested().read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    /** Counts, positions and pauses by chance, so that rings of all sizes wrap and grow anywhere; between them plain reads. */
    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void anyPartArrives(Carrier carrier, Threads threads) throws Exception {
        for (long seed = 0; seed < (Thorough.ON ? 40 : 6); seed++) {
            Random random = new Random(seed);
            boolean blocks = seed % 2 == 0;
            try (Carrier.Pair pair = carrier.connected()) {
                pair.tested().configureBlocking(blocks);
                var writer = threads.start(() -> {
                    Random r = new Random(random.nextLong());
                    for (int at = 0; at < SIZE;) {
                        int n = Math.min(SIZE - at, 1 + r.nextInt(1 << r.nextInt(1, 20)));
                        write(pair.peer(), at, n);
                        at += n;
                        if (r.nextInt(20) == 0) {
                            Thread.sleep(1);
                        }
                    }
                    pair.peer().shutdownOutput();
                    return null;
                });
                var receiver = threads.start(() -> receiveParts(pair.tested(), file, new Random(7 + random
                        .nextLong())));
                byte[] got = (byte[]) receiver.get();
                writer.get();
                assertThat(Arrays.mismatch(got, BYTES)).as("seed %d", seed).isEqualTo(-1);
            }
        }
    }

    private static byte[] receiveParts(SocketChannel from, FileChannel to, Random random) throws IOException {
        byte[] got = new byte[SIZE];
        for (int at = 0; at < SIZE;) {
            int count = Math.min(SIZE - at, 1 + random.nextInt(1 << random.nextInt(1, 21)));
            if (random.nextInt(4) == 0) {
                at += Math.max(0, from.read(ByteBuffer.wrap(got, at, count)));
                continue;
            }
            long position = random.nextInt(1 << 20);
            int n = (int) receive(from, to, position, count);
            assertThat(n).isBetween(from.isBlocking() ? count : 0, count);
            to.read(ByteBuffer.wrap(got, at, n), position);
            at += n;
        }
        return got;
    }

    @ParameterizedTest
    @EnumSource
    void nonBlockingChannelReceivesWhatIsThere(Carrier carrier) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            pair.tested().configureBlocking(false);
            assertThat(receive(pair.tested(), file, 0, 10)).isZero();
            assertThat(receive(pair.tested(), file, 0, 0)).isZero();
            write(pair.peer(), 0, 3000);
            awaitReadable(pair, 3000);
            assertThat(receive(pair.tested(), file, 0, 1000)).isEqualTo(1000);
            assertThat(receive(pair.tested(), file, 1000, 1L << 40)).isEqualTo(2000);
            assertThat(receive(pair.tested(), file, 3000, 1)).isZero();
            assertThat(Files.readAllBytes(path)).isEqualTo(slice(0, 3000));
            pair.peer().shutdownOutput();
            Await.until("the end", () -> {
                try {
                    return pair.tested().read(ByteBuffer.allocate(1)) == -1;
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            assertThat(receive(pair.tested(), file, 0, 10)).isZero();
        }
    }

    /** The file grows; one that appends takes no notice of the position. */
    @ParameterizedTest
    @EnumSource
    void anyPosition(Carrier carrier) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            write(pair.peer(), 0, 100);
            assertThat(receive(pair.tested(), file, 50, 30)).isEqualTo(30);
            try (FileChannel appends = FileChannel.open(path, StandardOpenOption.APPEND)) {
                assertThat(receive(pair.tested(), appends, 7, 70)).isEqualTo(70);
            }
            byte[] expected = new byte[150];
            System.arraycopy(BYTES, 0, expected, 50, 100);
            assertThat(Files.readAllBytes(path)).isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @EnumSource
    void unwritableTargetIsRefused(Carrier carrier) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            write(pair.peer(), 0, 100);
            assertThatThrownBy(() -> receive(pair.tested(), file, -1, 1)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> receive(pair.tested(), file, 0, -1)).isInstanceOf(IllegalArgumentException.class);
            try (FileChannel blind = FileChannel.open(path, StandardOpenOption.READ)) {
                for (int count : new int[] {0, 1}) {
                    assertThatThrownBy(() -> receive(pair.tested(), blind, 0, count)).isInstanceOf(
                            NonWritableChannelException.class);
                }
            }
            FileChannel closed = FileChannel.open(path, StandardOpenOption.WRITE);
            closed.close();
            assertThatThrownBy(() -> receive(pair.tested(), closed, 0, 0)).isExactlyInstanceOf(
                    ClosedChannelException.class);
            assertThat(TransferTest.read(pair.tested(), 100)).as("nothing was taken").isEqualTo(slice(0, 100));
            pair.tested().shutdownInput();
            assertThat(receive(pair.tested(), file, 0, 10)).isZero();
            pair.tested().close();
            assertThatThrownBy(() -> receive(pair.tested(), file, 0, 0)).isExactlyInstanceOf(
                    ClosedChannelException.class);
            assertThat(file.isOpen()).isTrue();
        }
        try (SocketChannel none = carrier.provider().openSocketChannel()) {
            assertThat(receive(none, file, 0, 0)).isZero();
            assertThatThrownBy(() -> receive(none, file, 0, 1)).isInstanceOf(NotYetConnectedException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void fullDiskIsReported(Carrier carrier) throws Exception {
        try (Carrier.Pair pair = carrier.connected();
                FileChannel full = FileChannel.open(Path.of("/dev/full"), StandardOpenOption.WRITE)) {
            write(pair.peer(), 0, 1000);
            assertThatThrownBy(() -> receive(pair.tested(), full, 0, 1000)).isExactlyInstanceOf(IOException.class)
                    .hasMessage("No space left on device");
            if (carrier == Carrier.RING) { // the JDK's has read them
                assertThat(receive(pair.tested(), file, 0, 1000)).isEqualTo(1000);
                assertThat(Files.readAllBytes(path)).isEqualTo(slice(0, 1000));
            }
        }
    }

    /** A file that takes a part only, as a full disk does: of a ring nothing is lost. */
    @ParameterizedTest
    @EnumSource
    void shortWriteEndsTheTransfer(Carrier carrier) throws Exception {
        int room = 5 * 4096;
        try (Carrier.Pair pair = carrier.connected(); Fd fd = Memfd.create("verbena-test", room)) {
            Memfd.addSeals(fd, Memfd.SEAL_GROW);
            try (FileChannel small = FileChannel.open(Path.of("/proc/self/fd/" + fd.value()),
                    StandardOpenOption.WRITE)) {
                var writer = Threads.PLATFORM.start(() -> {
                    write(pair.peer(), 0, 100_000);
                    return null;
                });
                assertThat(receive(pair.tested(), small, 0, 100_000)).isEqualTo(room);
                if (carrier == Carrier.RING) {
                    assertThatThrownBy(() -> receive(pair.tested(), small, room, 10)).isInstanceOf(IOException.class)
                            .hasMessage("Operation not permitted");
                    assertThat(receive(pair.tested(), file, 0, 100_000 - room)).isEqualTo(100_000 - room);
                    assertThat(Files.readAllBytes(path)).isEqualTo(slice(room, 100_000 - room));
                } else {
                    TransferTest.read(pair.tested(), 100_000 - room - 4096);
                }
                writer.get();
            }
        }
    }

    /** As the JDK's own, those that have no positions included; past the page cache it takes a buffer. */
    @ParameterizedTest
    @EnumSource
    void specialFiles(Carrier carrier) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            write(pair.peer(), 0, 3 * 4096);
            try (FileChannel none = FileChannel.open(Path.of("/dev/null"), StandardOpenOption.WRITE)) {
                assertThat(receive(pair.tested(), none, 5, 4096)).isEqualTo(4096);
            }
            Path fifo = folder.resolve("fifo");
            assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor()).isZero();
            try (FileChannel pipe = FileChannel.open(fifo, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                assertThatThrownBy(() -> receive(pair.tested(), pipe, 0, 4096)).isInstanceOf(IOException.class)
                        .hasMessage("Illegal seek");
            }
            int left = carrier == Carrier.RING ? 2 : 1;
            try (FileChannel direct = openDirect()) {
                awaitReadable(pair, left * 4096);
                assertThat(receive(pair.tested(), direct, 0, 4096)).isEqualTo(4096);
            }
            assertThat(Files.readAllBytes(path)).isEqualTo(slice((3 - left) * 4096, 4096));
        }
    }

    private FileChannel openDirect() throws Exception {
        try {
            return FileChannel.open(path, StandardOpenOption.WRITE, FileToRingTest.direct());
        } catch (IOException | UnsupportedOperationException e) {
            System.out.println("SKIPPED: the file system of " + folder + " has no O_DIRECT");
            return Assumptions.abort("no O_DIRECT");
        }
    }

    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void closeEndsAWaitingTransfer(Carrier carrier, Threads threads) throws Exception {
        for (int before : new int[] {0, 1000}) {
            try (Carrier.Pair pair = carrier.connected()) {
                write(pair.peer(), 0, before);
                var receiver = threads.start(() -> receive(pair.tested(), file, 0, SIZE));
                Await.until("the file has them", () -> path.toFile().length() >= before);
                receiver.awaitBlocked();
                pair.tested().close();
                if (before == 0) {
                    assertThat(receiver.failure()).isExactlyInstanceOf(AsynchronousCloseException.class);
                } else {
                    assertThat(receiver.get()).isEqualTo((long) before);
                }
                assertThat(file.isOpen()).isTrue();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void interruptClosesBothChannels(Carrier carrier, Threads threads) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            var receiver = threads.start(() -> receive(pair.tested(), file, 0, SIZE));
            receiver.awaitBlocked();
            receiver.thread().interrupt();
            assertThat(receiver.failure()).isExactlyInstanceOf(ClosedByInterruptException.class);
            assertThat(pair.tested().isOpen()).isFalse();
            assertThat(file.isOpen()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource
    void interruptedThreadClosesBothChannels(Carrier carrier) throws Exception {
        for (boolean blocks : new boolean[] {true, false}) {
            try (Carrier.Pair pair = carrier.connected();
                    FileChannel to = FileChannel.open(path, StandardOpenOption.WRITE)) {
                write(pair.peer(), 0, 1000);
                awaitReadable(pair, 1000);
                pair.tested().configureBlocking(blocks);
                var receiver = Threads.PLATFORM.start(() -> {
                    Thread.currentThread().interrupt();
                    return receive(pair.tested(), to, 0, 1000);
                });
                assertThat(receiver.failure()).isExactlyInstanceOf(ClosedByInterruptException.class);
                assertThat(pair.tested().isOpen()).isFalse();
                assertThat(to.isOpen()).isFalse();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void fileIsClosedWhileBytesAreAwaited(Carrier carrier, Threads threads) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            var receiver = threads.start(() -> receive(pair.tested(), file, 0, SIZE));
            receiver.awaitBlocked();
            file.close();
            write(pair.peer(), 0, 1000);
            assertThat(receiver.failure()).isExactlyInstanceOf(AsynchronousCloseException.class);
            assertThat(pair.tested().isOpen()).isTrue();
            if (carrier == Carrier.RING) {
                assertThat(TransferTest.read(pair.tested(), 1000)).isEqualTo(slice(0, 1000));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void halfClosedInputEndsAWaitingTransfer(Carrier carrier) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            var receiver = Threads.PLATFORM.start(() -> receive(pair.tested(), file, 0, SIZE));
            receiver.awaitBlocked();
            pair.tested().shutdownInput();
            assertThat(receiver.get()).isEqualTo(0L);
        }
    }

    /** With bytes unread a peer resets the connection when it closes. */
    @ParameterizedTest
    @EnumSource
    void resetIsReported(Carrier carrier) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            var receiver = Threads.PLATFORM.start(() -> receive(pair.tested(), file, 0, SIZE));
            receiver.awaitBlocked();
            pair.tested().write(ByteBuffer.wrap(BYTES, 0, 10));
            pair.peer().close();
            assertThat(receiver.failure()).isExactlyInstanceOf(java.net.SocketException.class)
                    .hasMessage("Connection reset");
        }
    }

    /** Its mapping, and how long it is, are others' to change. */
    @ParameterizedTest
    @EnumSource
    void fileIsMappedAndTruncatedMeanwhile(Carrier carrier) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            AtomicBoolean over = new AtomicBoolean();
            var truncating = Threads.PLATFORM.start(() -> {
                while (!over.get()) {
                    file.map(FileChannel.MapMode.READ_WRITE, 0, 1 << 20);
                    file.truncate(1000);
                    Thread.sleep(1);
                }
                return null;
            });
            var writer = Threads.PLATFORM.start(writeAll(pair.peer()));
            assertThat(receive(pair.tested(), file, 0, 2L * SIZE)).isEqualTo(SIZE);
            over.set(true);
            truncating.get();
            writer.get();
        }
    }

    /** Bytes may be written by the kernel when the channel is closed, which nothing delays: their memory stays until then. */
    @Test
    void closeDoesNotWaitForASlowFile() throws Exception {
        try (Carrier.Pair pair = Carrier.RING.connected()) {
            StreamSocketChannel tested = (StreamSocketChannel) pair.tested();
            write(pair.peer(), 0, 3000);
            awaitReadable(pair, 3000);
            RingLoan loan = Objects.requireNonNull(tested.connectedStream().loan());
            var held = tested.input().lock();
            held.lock();
            int lent = loan.lend(1L << 40);
            assertThat(lent).isPositive();
            held.stepAside(); // as if pwrite(2) had begun
            Threads.PLATFORM.start(() -> {
                tested.close();
                return null;
            }).get();
            pair.peer().close();
            awaitEngine();
            List<Carrier.Pair> others = new ArrayList<>(); // which would be given the ring
            for (int i = 0; i < 10; i++) {
                others.add(Carrier.RING.connected());
                others.getLast().peer().write(ByteBuffer.allocate(4096));
            }
            assertThat(loan.write(file, 0)).isEqualTo(lent);
            held.stepBack();
            loan.end();
            held.unlock();
            assertThat(Files.readAllBytes(path)).isEqualTo(slice(0, lent));
            for (Carrier.Pair p : others) {
                p.close();
            }
        }
    }

    /** Until the engine has given back the memory of connections that were closed by both ends before this call. */
    private static void awaitEngine() throws Exception {
        for (int i = 0; i < 2; i++) { // it may have come by the others just before the first one was closed
            try (Carrier.Pair later = Carrier.RING.connected()) {
                var stream = ((StreamSocketChannel) later.tested()).connectedStream();
                later.tested().close();
                later.peer().close(); // second, or its memory were given back at once
                Await.until("memory is given back", () -> Released.is(stream));
            }
        }
    }

    /** What is in the file is read, what is not is not; the peer learns of an orderly end or of a reset. */
    @Test
    void closeWhileAFileIsWritten() throws Exception {
        for (boolean all : new boolean[] {true, false}) {
            try (Carrier.Pair pair = Carrier.RING.connected()) {
                StreamSocketChannel tested = (StreamSocketChannel) pair.tested();
                write(pair.peer(), 0, 1000);
                awaitReadable(pair, 1000);
                var held = tested.input().lock();
                held.lock();
                RingLoan loan = Objects.requireNonNull(tested.connectedStream().loan());
                assertThat(loan.lend(all ? 1000 : 999)).isEqualTo(all ? 1000 : 999);
                held.stepAside();
                Threads.PLATFORM.start(() -> {
                    tested.close();
                    return null;
                }).get();
                if (all) {
                    assertThat(pair.peer().read(ByteBuffer.allocate(1))).isEqualTo(-1);
                } else {
                    assertThatThrownBy(() -> pair.peer().read(ByteBuffer.allocate(1))).hasMessage("Connection reset");
                }
                held.stepBack();
                loan.end();
                held.unlock();
            }
        }
    }

    @Test
    void nothingIsAllocated() throws Exception {
        try (Carrier.Pair pair = Carrier.RING.connected()) {
            ByteBuffer from = ByteBuffer.allocateDirect(2000);
            assertThat(AllocatedBytes.leastOf(() -> {
                for (int i = 0; i < 3000; i++) {
                    pair.peer().write(from.clear());
                    if (receive(pair.tested(), file, i, 2000) != 2000) {
                        throw new AssertionError("transfer " + i);
                    }
                }
            })).as("bytes in 3,000 transfers").isLessThan(3000);
        }
    }

    /** They are those of reads. */
    @Test
    void statisticsCountBytes() throws Exception {
        try (Carrier.Pair pair = Carrier.RING.connected()) {
            VerbenaSocketChannel channel = (VerbenaSocketChannel) pair.tested();
            long before = channel.statistics().receivedByRing();
            var writer = Threads.PLATFORM.start(writeAll(pair.peer()));
            assertThat(receive(channel, file, 0, SIZE)).isEqualTo(SIZE);
            writer.get();
            assertThat(channel.statistics().receivedByRing() - before).isEqualTo(SIZE);
        }
    }
}
