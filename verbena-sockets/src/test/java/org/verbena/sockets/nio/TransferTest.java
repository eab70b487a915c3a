// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.verbena.testkit.Thorough;

/** Bytes arrive as they were written: by ring and by TCP, with every kind of buffer, mode and thread. */
@Tag("any-provider")
class TransferTest {
    private static final int[] SIZES = {1, 2, 63, 64, 65, 4095, 4096, 65_536, 1_000_003, 4 << 20};

    static Stream<Arguments> carriersAndThreads() {
        return Stream.of(Carrier.values()).flatMap(c -> Stream.of(Threads.values()).map(t -> Arguments.of(c, t)));
    }

    private static byte[] bytes(int size) {
        byte[] b = new byte[size];
        new Random(size).nextBytes(b);
        return b;
    }

    static String hash(byte[] bytes) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    }

    static byte[] read(SocketChannel from, int size) throws IOException {
        ByteBuffer all = ByteBuffer.allocateDirect(size);
        while (all.hasRemaining() && from.read(all) >= 0) {
            Thread.onSpinWait();
        }
        byte[] got = new byte[all.flip().remaining()];
        all.get(got);
        return got;
    }

    /** A ring holds what the kernel's buffers would hold: no end has to read before the other has written. */
    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void bothEndsWriteBeforeReading(Carrier carrier, Threads threads) throws Exception {
        for (int size : new int[] {9000, 400_003}) {
            try (Carrier.Pair pair = carrier.connected()) {
                byte[] sent = bytes(size);
                List<Threads.Started> got = new ArrayList<>();
                for (SocketChannel end : List.of(pair.tested(), pair.peer())) {
                    got.add(threads.start(() -> {
                        ByteBuffer all = ByteBuffer.wrap(sent);
                        while (all.hasRemaining()) {
                            end.write(all);
                        }
                        return hash(read(end, size));
                    }));
                }
                for (Threads.Started hash : got) {
                    assertThat(hash.get()).isEqualTo(hash(sent));
                }
            }
        }
    }

    /** As above, by one thread that polls instead of blocking. */
    @ParameterizedTest
    @EnumSource
    void oneThreadWritesAllBeforeReading(Carrier carrier) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            byte[] sent = bytes(400_003);
            pair.tested().configureBlocking(false);
            ByteBuffer all = ByteBuffer.wrap(sent);
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
            while (all.hasRemaining()) {
                pair.tested().write(all);
                assertThat(System.nanoTime()).as("%d bytes are left", all.remaining()).isLessThan(end);
            }
            assertThat(hash(read(pair.peer(), sent.length))).isEqualTo(hash(sent));
        }
    }

    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void allSizesPassInBothDirectionsSimultaneously(Carrier carrier, Threads threads) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            for (int size : SIZES) {
                byte[] sent = bytes(size);
                var writer = threads.start(() -> {
                    ByteBuffer all = ByteBuffer.wrap(sent);
                    while (all.hasRemaining()) {
                        pair.tested().write(all); // from a virtual thread the JDK's channel may write a part only
                    }
                    return all.position();
                });
                var echo = threads.start(() -> {
                    ByteBuffer heap = ByteBuffer.allocate(Math.min(size, 10_000));
                    for (int left = size; left > 0;) {
                        left -= pair.peer().read(heap.clear().limit(Math.min(left, heap.capacity())));
                        for (heap.flip(); heap.hasRemaining();) {
                            pair.peer().write(heap);
                        }
                    }
                    return size;
                });
                var reader = threads.start(() -> read(pair.tested(), size));
                assertThat(writer.get()).isEqualTo(size);
                assertThat(echo.get()).isEqualTo(size);
                assertThat(hash((byte[]) reader.get())).isEqualTo(hash(sent));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void nonBlockingChannelsTransferInBothDirections(Carrier carrier) throws Exception {
        byte[] sent = bytes(3_000_000);
        try (Carrier.Pair pair = carrier.accepted()) {
            pair.tested().configureBlocking(false);
            pair.peer().configureBlocking(false);
            ByteBuffer out = ByteBuffer.allocateDirect(sent.length).put(sent).flip();
            ByteBuffer in = ByteBuffer.allocate(sent.length);
            boolean wasFull = false;
            while (in.hasRemaining()) {
                if (out.hasRemaining() && pair.tested().write(out) == 0) {
                    wasFull = true;
                }
                if (wasFull || !out.hasRemaining()) {
                    pair.peer().read(in);
                }
            }
            assertThat(hash(in.array())).isEqualTo(hash(sent));
            assertThat(pair.peer().read(ByteBuffer.allocate(1))).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void scatteredAndGatheredBytesArrive(Carrier carrier) throws Exception {
        byte[] sent = bytes(200_000);
        try (Carrier.Pair pair = carrier.connected()) {
            List<ByteBuffer> parts = new ArrayList<>();
            ByteBuffer all = ByteBuffer.wrap(sent).asReadOnlyBuffer();
            for (int i = 1; all.hasRemaining(); i = i * 3 % 1999) {
                ByteBuffer part = all.slice(all.position(), Math.min(i, all.remaining()));
                all.position(all.position() + part.remaining());
                parts.add(i % 2 == 0 ? ByteBuffer.allocateDirect(part.remaining()).put(part).flip() : part);
            }
            ByteBuffer[] array = parts.toArray(ByteBuffer[]::new);
            var writer = Threads.PLATFORM.start(() -> {
                for (int at = 0; at < array.length;) {
                    pair.tested().write(array, at, array.length - at);
                    while (at < array.length && !array[at].hasRemaining()) {
                        at++;
                    }
                }
                return null;
            });
            ByteBuffer got = ByteBuffer.allocate(sent.length);
            ByteBuffer[] into = {ByteBuffer.allocate(0), ByteBuffer.allocate(77), ByteBuffer.allocateDirect(5000)};
            while (got.hasRemaining()) {
                assertThat(pair.peer().read(into)).isPositive();
                for (ByteBuffer b : into) {
                    got.put(b.flip());
                    b.clear();
                }
            }
            writer.get();
            assertThat(hash(got.array())).isEqualTo(hash(sent));
        }
    }

    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void socketStreamsTransferBytes(Carrier carrier, Threads threads) throws Exception {
        byte[] sent = bytes(2_000_000);
        try (Carrier.Pair pair = carrier.connected()) {
            var writer = threads.start(() -> {
                OutputStream out = pair.tested().socket().getOutputStream();
                out.write(sent[0]);
                out.write(sent, 1, sent.length - 1);
                pair.tested().socket().shutdownOutput();
                return null;
            });
            InputStream in = pair.peer().socket().getInputStream();
            byte[] got = in.readAllBytes();
            writer.get();
            assertThat(hash(got)).isEqualTo(hash(sent));
            assertThat(in.read()).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void fileTransfersInBothDirections(Carrier carrier, @TempDir Path folder) throws Exception {
        byte[] sent = bytes(5_000_000);
        try (Carrier.Pair pair = carrier.connected();
                FileChannel file = FileChannel.open(folder.resolve("from"), StandardOpenOption.CREATE,
                        StandardOpenOption.READ, StandardOpenOption.WRITE);
                FileChannel copy = FileChannel.open(folder.resolve("to"), StandardOpenOption.CREATE,
                        StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            file.write(ByteBuffer.wrap(sent));
            var sender = Threads.PLATFORM.start(() -> {
                for (long at = 0; at < sent.length;) {
                    at += file.transferTo(at, sent.length - at, pair.tested());
                }
                return null;
            });
            for (long at = 0; at < sent.length;) {
                at += copy.transferFrom(pair.peer(), at, sent.length - at);
            }
            sender.get();
            ByteBuffer got = ByteBuffer.allocate(sent.length);
            copy.position(0).read(got);
            assertThat(hash(got.array())).isEqualTo(hash(sent));
        }
    }

    @ParameterizedTest
    @EnumSource
    void transferToAFullNonBlockingChannelReturnsShortCounts(Carrier carrier, @TempDir Path folder)
            throws Exception {
        try (Carrier.Pair pair = carrier.connected();
                FileChannel file = FileChannel.open(folder.resolve("from"), StandardOpenOption.CREATE,
                        StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            int size = 20_000_000;
            file.write(ByteBuffer.allocate(size));
            pair.tested().configureBlocking(false);
            long at = 0;
            for (int zeros = 0; zeros < 50;) {
                long n = file.transferTo(at, size - at, pair.tested());
                assertThat(n).isNotNegative();
                at += n;
                if (n == 0) {
                    zeros++;
                    Thread.sleep(1);
                }
            }
            assertThat(at).isPositive().isLessThan(size);
        }
    }

    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void pingPongWithSleepsCompletes(Carrier carrier, Threads threads) throws Exception {
        int rounds = Thorough.ON ? 2000 : 500;
        try (Carrier.Pair pair = carrier.connected()) {
            var peer = threads.start(() -> {
                ByteBuffer b = ByteBuffer.allocateDirect(64);
                for (int i = 0; i < rounds; i++) {
                    while (b.hasRemaining()) {
                        pair.peer().read(b);
                    }
                    b.flip();
                    pair.peer().write(b);
                    b.clear();
                    if (i % 100 == 0) {
                        Thread.sleep(1);
                    }
                }
                return null;
            });
            var tested = threads.start(() -> {
                ByteBuffer b = ByteBuffer.allocateDirect(64);
                for (int i = 0; i < rounds; i++) {
                    b.clear().putInt(0, i);
                    pair.tested().write(b);
                    b.clear();
                    while (b.hasRemaining()) {
                        pair.tested().read(b);
                    }
                    assertThat(b.getInt(0)).isEqualTo(i);
                    if (i % 130 == 0) {
                        Thread.sleep(2);
                    }
                }
                return null;
            });
            tested.get();
            peer.get();
        }
    }
}
