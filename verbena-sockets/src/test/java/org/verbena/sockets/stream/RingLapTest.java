// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

import org.verbena.sockets.stream.memory.BlockLayout;
import org.verbena.testkit.Await;
import org.verbena.testkit.Seeds;
import org.verbena.testkit.Thorough;

/** A writer begins a large ring anew whenever its reader has read all. */
@Isolated
class RingLapTest extends TcpEnds {
    private static final int LARGEST_PIECE = 40_000;
    private static final byte UNTOUCHED = 0x5a;

    private RingStream client;
    private RingStream server;
    private long written;
    private long read;

    private static byte at(long position) {
        return (byte) (position * 31 + (position >>> 8) * 7 + (position >>> 17) + 1);
    }

    /** Ends with the largest ring, which is empty. */
    @BeforeEach
    void growRing() throws Exception {
        Tcp tcp = connect();
        client = (RingStream) Stream.of(tcp.client(), Stream.Role.CLIENT);
        server = (RingStream) Stream.of(tcp.server(), Stream.Role.SERVER);
        Await.until("rings", () -> client.isOutputByRing() && server.isOutputByRing());
        long end = System.nanoTime() + 60_000_000_000L;
        while (client.out().ringSize() < Link.maxRing()) {
            assertThat(System.nanoTime()).isLessThan(end);
            while (write(LARGEST_PIECE) > 0) {
                // until it is full
            }
            client.arm(SelectionKey.OP_WRITE, null); // a writer that sleeps gets a larger one
            client.kernelReady(SelectionKey.OP_READ, SelectionKey.OP_WRITE);
        }
        readAll();
        assertThat(write(1)).isOne(); // which brings the reader into the last ring
        readAll();
    }

    private int write(int length) throws IOException {
        ByteBuffer out = ByteBuffer.allocate(length);
        for (int i = 0; i < length; i++) {
            out.put(i, at(written + i));
        }
        int n = client.write(out);
        written += n;
        return n;
    }

    private int read(int length) throws IOException {
        ByteBuffer in = ByteBuffer.allocate(length);
        int n = server.read(in);
        for (int i = 0; i < n; i++) {
            if (in.get(i) != at(read + i)) {
                assertThat(in.get(i)).as("byte %d", read + i).isEqualTo(at(read + i));
            }
        }
        read += Math.max(0, n);
        return n;
    }

    private void readAll() throws IOException {
        while (read < written) {
            assertThat(read(LARGEST_PIECE)).isNotNegative();
        }
    }

    private void closeEnds() throws Exception {
        client.close(false);
        server.close(false);
    }

    @Test
    void readerThatKeepsUpIsServedFromTheBeginningOfTheRing() throws Exception {
        MemorySegment ring = server.link().ring.segment();
        long touched = RingWriter.lapBytes(1) + 2L * LARGEST_PIECE;
        assertThat(ring.byteSize()).isGreaterThan(4 * touched);
        assertThat(write(LARGEST_PIECE)).isPositive(); // which begins a lap, for many bytes have passed
        readAll();
        ring.asSlice(touched).fill(UNTOUCHED);
        for (int i = 0; i < 500; i++) {
            assertThat(write(1 + i * 97 % LARGEST_PIECE)).isPositive();
            readAll();
        }
        assertThat(ring.asSlice(touched).mismatch(MemorySegment.ofArray(fill(ring.byteSize() - touched)))).as(
                "first byte that was written beyond").isEqualTo(-1);
        closeEnds();
    }

    private static byte[] fill(long length) {
        byte[] all = new byte[(int) length];
        Arrays.fill(all, UNTOUCHED);
        return all;
    }

    /** Nothing that is unread is overwritten, and the ring can be filled but for the quarter that the reader need not report. */
    @Test
    void readerThatLagsGetsAllBytes() throws Exception {
        SplittableRandom random = new SplittableRandom(Seeds.FIRST);
        int size = client.out().ringSize();
        int laps = 0;
        long lap = 0;
        for (int i = 0; i < (Thorough.ON ? 100_000 : 3000); i++) {
            switch (random.nextInt(40)) {
                case 0 -> readAll();
                case 1 -> {
                    int n;
                    do {
                        n = write(LARGEST_PIECE);
                    } while (n > 0);
                    assertThat(written - read).isLessThanOrEqualTo(size);
                }
                default -> {
                    write(1 + random.nextInt(LARGEST_PIECE));
                    read(1 + random.nextInt(LARGEST_PIECE));
                }
            }
            long now = BlockLayout.getAcquire(server.link().block, BlockLayout.LAP);
            laps += now == lap ? 0 : 1;
            lap = now;
        }
        readAll();
        assertThat(laps).isGreaterThan(3);
        readAll();
        while (write(LARGEST_PIECE) > 0) {
            // until it is full
        }
        assertThat(written - read).isBetween(size * 3L / 4, (long) size);
        readAll();
        closeEnds();
    }

    @Test
    void readerBesideTheWriterGetsAllBytes() throws Exception {
        long total = written + (Thorough.ON ? 3_000_000_000L : 100_000_000L);
        AtomicReference<Throwable> failed = new AtomicReference<>();
        Thread reader = Thread.ofPlatform().start(() -> {
            try {
                SplittableRandom random = new SplittableRandom(Seeds.FIRST);
                while (read < total) {
                    if (read(1 + random.nextInt(LARGEST_PIECE)) == 0) {
                        Thread.onSpinWait();
                    }
                }
            } catch (Throwable e) {
                failed.set(e);
            }
        });
        SplittableRandom random = new SplittableRandom(Seeds.FIRST);
        while (written < total && failed.get() == null) {
            if (write((int) Math.min(total - written, 1 + random.nextInt(LARGEST_PIECE))) == 0) {
                Thread.onSpinWait();
            }
        }
        reader.join(120_000);
        assertThat(failed.get()).isNull();
        assertThat(reader.isAlive()).isFalse();
        closeEnds();
    }
}
