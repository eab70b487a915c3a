// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.sockets.VerbenaSocketChannel;
import org.verbena.testkit.AllocatedBytes;
import org.verbena.testkit.Await;
import org.verbena.testkit.Thorough;

/** Files that are read straight into a ring, as far as they are cached, compared with what the JDK's transferTo sends. */
@Timeout(120)
class FileToRingTest {
    private static final int BLOCK = 4096;
    private static final int SIZE = 3 * (1 << 20);
    private static final byte[] BYTES = new byte[SIZE + 77];

    static {
        new Random(2).nextBytes(BYTES);
    }

    @TempDir Path folder;
    private Path path;
    private FileChannel file;

    @BeforeEach
    void write() throws IOException {
        path = folder.resolve("file");
        Files.write(path, BYTES);
        file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    @AfterEach
    void close() throws IOException {
        file.close();
    }

    static java.util.stream.Stream<org.junit.jupiter.params.provider.Arguments> carriersAndThreads() {
        return TransferTest.carriersAndThreads();
    }

    private static long send(FileChannel from, SocketChannel to, long position, long count) throws IOException {
        return to instanceof VerbenaSocketChannel ours
                ? ours.sendFile(from, position, count)
                : from.transferTo(position, count, to);
    }

    /** {@code O_DIRECT}, of a module of the JDK that this one does not read. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    static OpenOption direct() throws ClassNotFoundException {
        return (OpenOption) Enum.valueOf((Class) Class.forName("com.sun.nio.file.ExtendedOpenOption"), "DIRECT");
    }

    private static byte[] slice(long from, long count) {
        return Arrays.copyOfRange(BYTES, (int) from, (int) (from + count));
    }

    /** What the ring takes without a buffer in between, of a file in the page cache. */
    private static long straight(Carrier.Pair pair, FileChannel from, long position, long count) throws IOException {
        return ((StreamSocketChannel) pair.tested()).connectedStream().sendFile(from, position, count);
    }

    @Test
    void cachedFileIsReadStraightIntoTheRing() throws Exception {
        try (Carrier.Pair pair = Carrier.RING.connected()) {
            assertThat(straight(pair, file, 5, 1000)).isEqualTo(1000);
            assertThat(TransferTest.read(pair.peer(), 1000)).isEqualTo(slice(5, 1000));
            long n = straight(pair, file, 100, BYTES.length);
            assertThat(n).as("as much as there is room for").isPositive();
            assertThat(straight(pair, file, 0, 1)).as("full").isZero();
            assertThat(TransferTest.read(pair.peer(), (int) n)).isEqualTo(slice(100, n));
            assertThat(straight(pair, file, BYTES.length - 3, 10)).as("to the end of the file").isEqualTo(3);
            assertThat(straight(pair, file, BYTES.length, 10)).as("at the end of the file").isEqualTo(-1);
            assertThat(TransferTest.read(pair.peer(), 3)).isEqualTo(slice(BYTES.length - 3, 3));
        }
    }

    /** What cannot be read so is left to reads into a buffer, and nothing is sent of it. */
    @Test
    void whatIsToBeReportedIsLeftToABuffer() throws Exception {
        try (Carrier.Pair pair = Carrier.RING.connected()) {
            assertThat(straight(pair, file, 0, 0)).isEqualTo(-1);
            try (FileChannel blind = FileChannel.open(path, StandardOpenOption.APPEND)) {
                assertThat(straight(pair, blind, 0, 10)).as("not for reading").isEqualTo(-1);
            }
            try (FileChannel direct = FileChannel.open(path, StandardOpenOption.READ, direct())) {
                assertThat(straight(pair, direct, 0, BLOCK)).as("past the page cache").isEqualTo(-1);
            }
            Thread.currentThread().interrupt();
            assertThat(straight(pair, file, 0, 10)).as("interrupted").isEqualTo(-1);
            assertThat(Thread.interrupted()).isTrue();
            file.close();
            assertThat(straight(pair, file, 0, 10)).as("closed").isEqualTo(-1);
            pair.tested().write(ByteBuffer.wrap(BYTES, 0, 7));
            assertThat(TransferTest.read(pair.peer(), 7)).isEqualTo(slice(0, 7));
        }
    }

    /**
     * Positions, counts and pauses by chance, so that rings of all sizes wrap and fill anywhere; between them plain writes, and
     * stretches of the file that are on disk only, where its file system and the disk allow that.
     */
    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void anyPartArrives(Carrier carrier, Threads threads) throws Exception {
        for (long seed = 0; seed < (Thorough.ON ? 40 : 6); seed++) {
            Random random = new Random(seed);
            try (Carrier.Pair pair = carrier.connected();
                    FileChannel partly = partlyCached(folder.resolve("partly" + seed), random)) {
                int total = 4_000_000;
                byte[] expected = new byte[total];
                boolean blocks = seed % 2 == 0;
                pair.tested().configureBlocking(blocks);
                var sender = threads.start(() -> sendParts(pair.tested(), partly, expected, random));
                byte[] got = readInParts(pair.peer(), total, new Random(seed));
                sender.get();
                assertThat(Arrays.mismatch(got, expected)).as("seed %d", seed).isEqualTo(-1);
            }
        }
    }

    private static @org.jspecify.annotations.Nullable Object sendParts(SocketChannel to, FileChannel from,
            byte[] expected, Random random) throws IOException {
        int at = 0;
        while (at < expected.length) {
            int position = random.nextInt(SIZE);
            int count = Math.min(1 + random.nextInt(1 << random.nextInt(1, 21)), expected.length - at);
            if (random.nextInt(4) == 0) {
                count = Math.min(count, SIZE - position);
                ByteBuffer part = ByteBuffer.wrap(BYTES, position, count);
                while (part.hasRemaining()) {
                    to.write(part);
                }
                System.arraycopy(BYTES, position, expected, at, count);
                at += count;
                continue;
            }
            long n = send(from, to, position, count);
            assertThat(n).isBetween(0L, (long) Math.min(count, SIZE - position));
            System.arraycopy(BYTES, position, expected, at, (int) n);
            at += (int) n;
        }
        return null;
    }

    private static byte[] readInParts(SocketChannel from, int total, Random random) throws Exception {
        byte[] got = new byte[total];
        for (int at = 0; at < total;) {
            ByteBuffer part = ByteBuffer.wrap(got, at, Math.min(total - at, 1 + random.nextInt(300_000)));
            assertThat(from.read(part)).isNotNegative();
            at = part.position();
            if (random.nextInt(20) == 0) {
                Thread.sleep(1);
            }
        }
        return got;
    }

    /** Written past the page cache, and read here and there. */
    private FileChannel partlyCached(Path name, Random random) throws Exception {
        try (FileChannel direct = FileChannel.open(name, StandardOpenOption.CREATE, StandardOpenOption.WRITE,
                direct())) {
            ByteBuffer all = ByteBuffer.allocateDirect(SIZE + BLOCK).alignedSlice(BLOCK).limit(SIZE);
            direct.write(all.put(0, BYTES, 0, SIZE));
        } catch (IOException | UnsupportedOperationException e) {
            Files.write(name, slice(0, SIZE));
        }
        FileChannel file = FileChannel.open(name, StandardOpenOption.READ);
        for (int i = 0; i < 20; i++) {
            file.read(ByteBuffer.allocate(1 + random.nextInt(50_000)), random.nextInt(SIZE));
        }
        return file;
    }

    /** In memory as a whole, though its file system does not tell. */
    @ParameterizedTest
    @EnumSource
    void fileOfTmpfsArrives(Carrier carrier) throws Exception {
        Path name = Files.createTempFile(Path.of("/dev/shm"), "verbena-test", null);
        try (Carrier.Pair pair = carrier.connected();
                FileChannel there = FileChannel.open(name,
                        StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.DELETE_ON_CLOSE)) {
            there.write(ByteBuffer.wrap(BYTES));
            if (carrier == Carrier.RING) {
                assertThat(straight(pair, there, 1, 1000)).isEqualTo(1000);
                assertThat(TransferTest.read(pair.peer(), 1000)).isEqualTo(slice(1, 1000));
            }
            var sender = Threads.PLATFORM.start(() -> sendAll(there, pair.tested(), BYTES.length));
            assertThat(Arrays.mismatch(TransferTest.read(pair.peer(), BYTES.length), BYTES)).isEqualTo(-1);
            sender.get();
        }
    }

    private static @org.jspecify.annotations.Nullable Object sendAll(FileChannel from, SocketChannel to, long size)
            throws IOException {
        for (long at = 0; at < size;) {
            at += send(from, to, at, size - at);
        }
        return null;
    }

    /** Each call answers how much it has sent, whatever becomes of the file meanwhile. */
    @ParameterizedTest
    @EnumSource
    void fileIsTruncatedMeanwhile(Carrier carrier) throws Exception {
        int least = 100_000;
        try (Carrier.Pair pair = carrier.connected()) {
            AtomicBoolean over = new AtomicBoolean();
            var truncating = Threads.PLATFORM.start(() -> {
                Random random = new Random(3);
                while (!over.get()) {
                    file.truncate(least + random.nextInt(SIZE - least));
                    Thread.sleep(0, 50_000);
                    file.write(ByteBuffer.wrap(BYTES, least, SIZE - least), least);
                }
                return null;
            });
            var sender = Threads.PLATFORM.start(() -> {
                long sent = 0;
                for (int i = 0; i < 100; i++) {
                    long n = send(file, pair.tested(), 0, SIZE);
                    assertThat(n).isBetween((long) least, (long) SIZE);
                    pair.tested().write(ByteBuffer.wrap(BYTES, 0, 3));
                    sent += n + 3;
                }
                pair.tested().shutdownOutput();
                return sent;
            });
            long got = 0;
            ByteBuffer into = ByteBuffer.allocateDirect(1 << 20);
            for (int n; (n = pair.peer().read(into.clear())) >= 0;) {
                got += n;
            }
            assertThat(sender.get()).isEqualTo(got);
            over.set(true);
            truncating.get();
        }
    }

    /** At the end of what there is the file is shorter than asked: nothing waits for a reader. */
    @ParameterizedTest
    @EnumSource
    void fileEndsAtTruncation(Carrier carrier) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            file.truncate(1000);
            assertThat(send(file, pair.tested(), 0, BYTES.length)).isEqualTo(1000);
            assertThat(send(file, pair.tested(), 1000, 5)).isZero();
            assertThat(send(file, pair.tested(), 2000, 5)).isZero();
            file.truncate(0);
            assertThat(send(file, pair.tested(), 0, 5)).isZero();
            assertThat(TransferTest.read(pair.peer(), 1000)).isEqualTo(slice(0, 1000));
        }
    }

    @ParameterizedTest
    @EnumSource
    void nothingIsWaitedForAtTheEndOfTheFile(Carrier carrier) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            pair.tested().configureBlocking(false);
            long sent = 0;
            for (int full = 0; full < 50;) {
                long n = send(file, pair.tested(), 0, BYTES.length);
                sent += n;
                full = n == 0 ? full + 1 : 0;
                Thread.sleep(1);
            }
            pair.tested().configureBlocking(true);
            var waiting = Threads.PLATFORM.start(() -> send(file, pair.tested(), BYTES.length, 10));
            assertThat(waiting.get()).isEqualTo(0L);
            assertThat(TransferTest.read(pair.peer(), (int) sent)).hasSize((int) sent);
        }
    }

    /** Files without a size, whose bytes the JDK's transferTo sends as well; and those that have no positions. */
    @ParameterizedTest
    @EnumSource
    void specialFiles(Carrier carrier) throws Exception {
        byte[] version = Files.readAllBytes(Path.of("/proc/version"));
        try (Carrier.Pair pair = carrier.connected()) {
            try (FileChannel proc = FileChannel.open(Path.of("/proc/version"))) {
                assertThat(send(proc, pair.tested(), 0, 10_000)).isEqualTo(version.length);
            }
            try (FileChannel zeros = FileChannel.open(Path.of("/dev/zero"))) {
                assertThat(send(zeros, pair.tested(), 0, 10_000)).isEqualTo(10_000);
            }
            byte[] got = TransferTest.read(pair.peer(), version.length + 10_000);
            assertThat(got).isEqualTo(Arrays.copyOf(version, version.length + 10_000));
            Path fifo = folder.resolve("fifo");
            assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor()).isZero();
            try (FileChannel pipe = FileChannel.open(fifo, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                pipe.write(ByteBuffer.wrap(BYTES, 0, 10));
                assertThatThrownBy(() -> send(pipe, pair.tested(), 0, 10)).isInstanceOf(IOException.class)
                        .hasMessage("Illegal seek");
            }
            pair.tested().write(ByteBuffer.wrap(BYTES, 0, 7));
            assertThat(TransferTest.read(pair.peer(), 7)).isEqualTo(slice(0, 7));
        }
    }

    /** Its number is another file's at once, of which nothing may be sent. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void fileIsClosedMeanwhile(boolean virtual) throws Exception {
        Path other = folder.resolve("other");
        Files.write(other, new byte[SIZE]);
        byte[] ones = new byte[SIZE];
        Arrays.fill(ones, (byte) 1);
        Files.write(path, ones);
        for (int i = 0; i < 20; i++) {
            try (Carrier.Pair pair = Carrier.RING.connected(); FileChannel closing = FileChannel.open(path)) {
                var sender = (virtual ? Threads.VIRTUAL : Threads.PLATFORM).start(() -> {
                    try {
                        for (;;) {
                            send(closing, pair.tested(), 0, 200_000);
                        }
                    } finally {
                        pair.tested().shutdownOutput();
                    }
                });
                var opening = Threads.PLATFORM.start(() -> {
                    Thread.sleep(3);
                    closing.close();
                    FileChannel next = FileChannel.open(other);
                    Thread.sleep(5);
                    next.close();
                    return null;
                });
                ByteBuffer into = ByteBuffer.allocate(1 << 20);
                for (int n; (n = pair.peer().read(into.clear())) >= 0;) {
                    assertThat(Arrays.mismatch(into.array(), 0, n, ones, 0, n)).isEqualTo(-1);
                }
                assertThat(sender.failure()).isInstanceOf(ClosedChannelException.class);
                assertThat(pair.tested().isOpen()).isTrue();
                opening.get();
            }
        }
    }

    @Test
    void nothingIsAllocated() throws Exception {
        try (Carrier.Pair pair = Carrier.RING.connected()) {
            ByteBuffer into = ByteBuffer.allocateDirect(2000);
            assertThat(AllocatedBytes.leastOf(() -> {
                for (int i = 0; i < 3000; i++) {
                    if (send(file, pair.tested(), i, 2000) != 2000) {
                        throw new AssertionError("transfer " + i);
                    }
                    into.clear();
                    while (into.hasRemaining()) {
                        pair.peer().read(into);
                    }
                }
            })).as("bytes in 3,000 transfers").isLessThan(3000);
        }
    }

    /** They are those of writes. */
    @Test
    void statisticsCountBytesAndStalls() throws Exception {
        try (Carrier.Pair pair = Carrier.RING.connected()) {
            VerbenaSocketChannel channel = (VerbenaSocketChannel) pair.tested();
            long before = channel.statistics().sentByRing();
            assertThat(send(file, pair.tested(), 0, 1000)).isEqualTo(1000);
            assertThat(channel.statistics().sentByRing() - before).isEqualTo(1000);
            long stalls = channel.statistics().stalls();
            var sender = Threads.PLATFORM.start(() -> sendAll(file, pair.tested(), BYTES.length));
            Await.until("a stall", () -> channel.statistics().stalls() > stalls || sender.result().isDone());
            assertThat(TransferTest.read(pair.peer(), 1000 + BYTES.length)).hasSize(1000 + BYTES.length);
            sender.get();
            assertThat(channel.statistics().sentByRing() - before).isEqualTo(1000 + BYTES.length);
        }
    }
}
