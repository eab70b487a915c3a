// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.verbena.sockets.SocketStatistics;
import org.verbena.sockets.VerbenaSocketChannel;
import org.verbena.sockets.VerbenaSocketOptions;
import org.verbena.testkit.Thorough;

/**
 * Anything that a program can do with both ends of a connection, by seeds: before, during and after the handshake, on
 * rings that grow and on rings that must not. The model has the possible results of each step, and the JDK's own
 * channels, on which all of it runs too, that the model is right.
 *
 * <p>{@code -Dverbena.test.seeds=20000} runs more of them, {@code -Dverbena.test.seed=17} that one alone.
 */
@Tag("any-provider")
@Isolated
class ChannelModelTest {
    private static final int SEEDS = Integer.getInteger("verbena.test.seeds",
            Thorough.ON ? 1000 : 100);
    private static final int LARGEST = 100 << 10;
    /** Bytes that a connection holds in any case, without a reader; one whose rings must not grow holds a few. */
    private static final int HELD = 300_000;
    private static final String RING = "verbena.stream.ring";

    @TempDir Path folder;
    private FileChannel pattern;
    private FileChannel received;
    private Selector ofTested;
    private Selector ofPeer;
    private long byTcp;
    private long byRing;
    private long growths;

    /** A connection and what is done to it. */
    private final class Run {
        final Random random;
        final Carrier carrier;
        final boolean smallRings;
        final int held;
        final List<String> log = new ArrayList<>();
        ModelChannel[] ends;

        Run(Carrier carrier, long seed) {
            this.carrier = carrier;
            random = new Random(seed);
            smallRings = random.nextInt(4) == 0;
            held = smallRings ? 0 : HELD;
        }

        void run() throws Exception {
            boolean hasRings = random.nextInt(3) == 0;
            try (Carrier.Pair pair = hasRings ? carrier.connected() : connect()) {
                boolean swapped = random.nextBoolean();
                ends = new ModelChannel[] {new ModelChannel(pair.tested(), random, ofTested, random.nextInt(1 << 20)),
                    new ModelChannel(pair.peer(), random, ofPeer, random.nextInt(1 << 20))};
                ends[0].peer = ends[1];
                ends[1].peer = ends[0];
                ends[0].read = ends[1].written;
                ends[1].read = ends[0].written;
                int steps = 20 + random.nextInt(80);
                int decidedAt = random.nextInt(2 * steps);
                for (int i = 0; i < steps; i++) {
                    if (i == decidedAt) {
                        awaitDecision();
                    }
                    step(random.nextBoolean() == swapped ? ends[0] : ends[1]);
                }
                finish();
                countCarried();
            }
        }

        private Carrier.Pair connect() throws IOException {
            try (ServerSocketChannel server = carrier.peerProvider().openServerSocketChannel()) {
                server.bind(Carrier.anyPort());
                SocketChannel client = carrier.provider().openSocketChannel();
                client.connect(server.getLocalAddress());
                return new Carrier.Pair(client, server.accept());
            }
        }

        private void awaitDecision() throws Exception {
            log.add("await decision");
            for (ModelChannel end : ends) {
                // a plain peer is waited for long
                if (carrier == Carrier.RING && end.channel instanceof VerbenaSocketChannel c) {
                    long limit = System.nanoTime() + 60_000_000_000L;
                    while (c.isOpen() && c.getOption(VerbenaSocketOptions.TRANSPORT).equals("undecided")) {
                        assertThat(System.nanoTime()).as("undecided: %s", c).isLessThan(limit);
                        Thread.sleep(1);
                    }
                }
            }
        }

        private void countCarried() {
            for (ModelChannel end : ends) {
                if (end.channel instanceof VerbenaSocketChannel c) {
                    SocketStatistics s = c.statistics();
                    byTcp += s.sentByTcp();
                    byRing += s.sentByRing();
                    growths += s.ringGrowths();
                }
            }
        }

        private int size() {
            return switch (random.nextInt(8)) {
                case 0 -> 0;
                case 1, 2, 3 -> 1 + random.nextInt(100);
                case 4, 5 -> random.nextInt(5000);
                default -> random.nextInt(LARGEST);
            };
        }

        private int[] sizes() {
            int[] sizes = new int[1 + random.nextInt(4)];
            for (int i = 0; i < sizes.length; i++) {
                sizes[i] = size() / sizes.length;
            }
            return sizes;
        }

        private void step(ModelChannel end) throws Exception {
            int n = size();
            int what = random.nextInt(40);
            log.add((end == ends[0] ? "a" : "b") + " " + what + " " + n);
            switch (what) {
                case 0, 1, 2, 3, 4 -> write(end, n, () -> end.write(n));
                case 5, 6, 7 -> {
                    int[] sizes = sizes();
                    write(end, sum(sizes), () -> end.write(sizes));
                }
                case 8, 9 -> write(end, n, () -> end.writeStream(n));
                case 10, 11 -> write(end, n, () -> end.sendFile(pattern, n));
                case 12, 13, 14, 15, 16 -> read(end, () -> end.read(n));
                case 17, 18, 19 -> {
                    int[] rooms = sizes();
                    read(end, () -> end.read(rooms));
                }
                case 20, 21 -> read(end, () -> end.readStream(n));
                case 22, 23 -> receive(end, n);
                case 24, 25, 26, 27 -> end.configureBlocking(!end.isBlocking());
                case 28, 29, 30, 31, 32 -> end.select();
                case 33 -> end.refuseReadOnly();
                case 34, 35 -> readAsleep(end);
                case 36, 37 -> writeAsleep(end, n);
                default -> rare(end);
            }
        }

        private void rare(ModelChannel end) throws IOException {
            switch (random.nextInt(12)) {
                case 0 -> end.shutdownInput();
                case 1, 2 -> end.shutdownOutput();
                case 3 -> end.close(false);
                case 4 -> end.close(true);
                default -> {
                    // most connections live longer
                }
            }
        }

        private interface Io {
            void run() throws Exception;
        }

        private void write(ModelChannel end, int n, Io io) throws Exception {
            boolean fits = end.peer.unread() + n <= held;
            if (!end.isBlocking() || end.closed || end.outputShut || end.peer.closed || fits) {
                io.run();
            }
        }

        private void read(ModelChannel end, Io io) throws Exception {
            if (!end.isBlocking() || end.closed || end.wouldRead()) {
                io.run();
            }
        }

        /** One that waits waits until all of it is there. */
        private void receive(ModelChannel end, int n) throws Exception {
            boolean enough = end.inputShut || end.unread() >= n || end.peer.closed || end.peer.outputShut;
            if (!end.isBlocking() || end.closed || enough) {
                end.receiveFile(received, n);
            }
        }

        /** A reader that sleeps until the other end writes. */
        private void readAsleep(ModelChannel end) throws Exception {
            ModelChannel from = end.peer;
            if (end.closed || from.closed || from.outputShut || !end.isBlocking() || end.wouldRead()) {
                return;
            }
            ByteBuffer into = ByteBuffer.allocate(1000);
            Threads threads = random.nextBoolean() ? Threads.PLATFORM : Threads.VIRTUAL;
            var reader = threads.start(() -> end.channel.read(into));
            long n = 0;
            while (n == 0) {
                n = from.write(1 + random.nextInt(100));
            }
            int got = (int) reader.get();
            assertThat(got).isBetween(1, (int) n);
            for (int i = 0; i < got; i++) {
                assertThat(into.get(i)).isEqualTo(ModelChannel.at(end.read + i));
            }
            end.read += got;
        }

        /** A writer of more than there is room for, and the other end reads. */
        private void writeAsleep(ModelChannel end, int n) throws Exception {
            ModelChannel to = end.peer;
            if (end.closed || to.closed || end.outputShut || to.inputShut || !end.isBlocking()) {
                return;
            }
            ByteBuffer from = ByteBuffer.allocateDirect(n);
            for (int i = 0; i < n; i++) {
                from.put(i, ModelChannel.at(end.written + i));
            }
            end.written += n;
            Threads threads = random.nextBoolean() ? Threads.PLATFORM : Threads.VIRTUAL;
            var writer = threads.start(() -> writeAll(end.channel, from));
            while (to.unread() > 0) {
                to.read(1 + random.nextInt(20_000));
            }
            writer.get();
        }

        /** From a virtual thread the JDK's channel may write a part only. */
        private static int writeAll(SocketChannel to, ByteBuffer from) throws IOException {
            while (from.hasRemaining()) {
                to.write(from);
            }
            return from.position();
        }

        /** Ends both directions in order where they are not ended, and reads all that is to come. */
        private void finish() throws Exception {
            log.add("finish");
            for (ModelChannel end : ends) {
                if (!end.closed) {
                    end.shutdownOutput();
                    end.configureBlocking(true);
                }
            }
            for (ModelChannel end : ends) {
                if (!end.closed && !end.inputShut) {
                    while (end.read(LARGEST) >= 0) {
                        Thread.onSpinWait();
                    }
                    assertThat(end.mayReadFail() || end.unread() == 0).as("all has arrived: %s", end).isTrue();
                }
            }
        }
    }

    private static int sum(int[] sizes) {
        int sum = 0;
        for (int size : sizes) {
            sum += size;
        }
        return sum;
    }

    @BeforeEach
    void openFiles() throws IOException {
        pattern = FileChannel.open(folder.resolve("pattern"), CREATE, READ, WRITE);
        for (int i = 0; i < 3; i++) {
            pattern.write(ByteBuffer.wrap(ModelChannel.PATTERN));
        }
        received = FileChannel.open(folder.resolve("received"), CREATE, READ, WRITE);
    }

    @AfterEach
    void close() throws IOException {
        System.clearProperty(RING);
        for (Selector s : new Selector[] {ofTested, ofPeer}) {
            if (s != null) { // none if the test was left out
                s.close();
            }
        }
        pattern.close();
        received.close();
    }

    @ParameterizedTest
    @EnumSource
    void randomOperationsMatchTheModel(Carrier carrier) throws Exception {
        ofTested = carrier.provider().openSelector();
        ofPeer = carrier.peerProvider().openSelector();
        Integer only = Integer.getInteger("verbena.test.seed");
        for (int seed = only == null ? 0 : only; seed < (only == null ? SEEDS : only + 1); seed++) {
            Run run = new Run(carrier, seed);
            if (run.smallRings) {
                System.setProperty(RING, "4096");
            } else {
                System.clearProperty(RING);
            }
            try {
                run.run();
            } catch (AssertionError | Exception e) {
                List<String> last = run.log.subList(Math.max(0, run.log.size() - 30), run.log.size());
                throw new AssertionError(carrier + ", -Dverbena.test.seed=" + seed + ": " + List.of(run.ends) + " "
                        + last,
                        e);
            }
        }
        System.out.println("ChannelModelTest, " + carrier + ": " + byTcp + " bytes by TCP, " + byRing
                + " by rings, of which "
                + growths + " grew");
        if (only == null) {
            assertThat(byTcp > 0).isEqualTo(carrier != Carrier.JDK);
            assertThat(byRing > 0 && growths > 0).isEqualTo(carrier == Carrier.RING);
        }
    }
}
