// SPDX-License-Identifier: Apache-2.0
package org.verbena.bench.compare;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;

import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.Image;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.aeron.logbuffer.FragmentHandler;
import io.aeron.logbuffer.Header;
import org.HdrHistogram.Histogram;
import org.agrona.DirectBuffer;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.UnsafeBuffer;

import org.verbena.linux.CpuAffinity;
import org.verbena.linux.LinuxException;

/**
 * One of the two processes that measure Aeron IPC. {@code server DIR CPU} has the media driver, answers the ping-pong,
 * counts messages and prints {@code RATE}; {@code client DIR CPU} measures the ping-pong, sends messages and prints
 * {@code RTT} with each percentile. Both spin, each pinned to its processor, like {@code verbena perf}; the driver's one thread backs off
 * and is left to the kernel.
 */
public final class AeronPeer {
    private static final String CHANNEL = "aeron:ipc?term-length=16m";
    private static final int THERE = 1001;
    private static final int BACK = 1002;
    private static final int SIZE = 64;
    private static final int BURST = 64;
    private static final int FRAGMENTS = 64;
    /** First bytes of a message: its purpose. */
    private static final long PING = 1;
    private static final long STREAM = 2;
    private static final long STREAM_END = 3;
    private static final long END = 4;
    private static final long WARM_UP_NANOS = 1_000_000_000L;
    private static final long NANOS = 500_000_000L;

    private final ExclusivePublication out;
    private final Image in;
    private final UnsafeBuffer message = new UnsafeBuffer(java.nio.ByteBuffer.allocateDirect(SIZE));
    private final byte[] copy = new byte[SIZE];
    private final FragmentHandler handler = this::take;
    private long kind;
    private long received;
    private long streamed;
    private long streamBegan;
    private long streamEnded;

    private AeronPeer(ExclusivePublication out, Image in) {
        this.out = out;
        this.in = in;
    }

    /** See the class. */
    @SuppressWarnings("try") // the driver only has to exist
    public static void main(String[] args) throws Exception {
        boolean server = args[0].equals("server");
        Path dir = Path.of(args[1]);
        ErrorHandler errors = e -> {
            e.printStackTrace();
            Runtime.getRuntime().halt(1);
        };
        try (MediaDriver driver = server ? driver(dir, errors) : null;
                Aeron aeron = Aeron.connect(new Aeron.Context().aeronDirectoryName(dir.toString()).errorHandler(
                        errors));
                ExclusivePublication out = aeron.addExclusivePublication(CHANNEL, server ? BACK : THERE);
                Subscription in = aeron.addSubscription(CHANNEL, server ? THERE : BACK)) {
            if (server) {
                System.out.println("READY");
            }
            while (!in.isConnected() || !out.isConnected()) {
                Thread.sleep(1);
            }
            pin(Integer.parseInt(args[2]));
            AeronPeer peer = new AeronPeer(out, in.imageAtIndex(0));
            if (server) {
                peer.serve();
            } else {
                peer.measure();
            }
        }
        Runtime.getRuntime().halt(0); // only the files of the driver are left, which the parent deletes
    }

    private static MediaDriver driver(Path dir, ErrorHandler errors) throws java.io.IOException {
        Files.createDirectories(dir);
        return MediaDriver.launch(new MediaDriver.Context().aeronDirectoryName(dir.toString()).threadingMode(
                ThreadingMode.SHARED)
                .sharedIdleStrategy(new BackoffIdleStrategy(1, 1, 1_000, 1_000_000)).errorHandler(errors)
                .dirDeleteOnStart(true));
    }

    private static void pin(int cpu) throws LinuxException {
        BitSet one = new BitSet();
        one.set(cpu);
        CpuAffinity.set(one);
    }

    private void take(DirectBuffer buffer, int offset, int length, Header header) {
        buffer.getBytes(offset, copy, 0, length);
        kind = buffer.getLong(offset);
        received++;
        if (kind == STREAM) {
            if (streamed++ == 0) {
                streamBegan = System.nanoTime();
            }
        } else if (kind == STREAM_END) {
            streamEnded = System.nanoTime();
        }
    }

    private void send(long what) {
        message.putLong(0, what);
        while (out.offer(message, 0, SIZE) < 0) {
            Thread.onSpinWait();
        }
    }

    /** Waits for a message. */
    private void receive() {
        long before = received;
        while (received == before) {
            if (in.poll(handler, 1) == 0) {
                Thread.onSpinWait();
                if (in.isClosed()) {
                    throw new IllegalStateException("the other process has ended");
                }
            }
        }
    }

    private void serve() {
        while (true) {
            receive();
            if (kind == END) {
                return;
            } else if (kind == PING) {
                send(PING);
            } else if (kind == STREAM) {
                stream();
            }
        }
    }

    /** Takes messages until the end of the stream and reports their number and time. */
    private void stream() {
        while (kind != STREAM_END) {
            if (in.poll(handler, FRAGMENTS) == 0) {
                Thread.onSpinWait();
                if (in.isClosed()) {
                    throw new IllegalStateException("the other process has ended");
                }
            }
        }
        System.out.println("RATE " + streamed * 1e9 / (streamEnded - streamBegan));
        streamed = 0;
        send(STREAM_END);
    }

    private void measure() {
        pingPong(WARM_UP_NANOS, new Histogram(3));
        Histogram h = new Histogram(1, 10_000_000_000L, 3);
        pingPong(NANOS, h);
        for (String rank : Sample.RANKS) {
            System.out.println("RTT " + rank + " " + h.getValueAtPercentile(Double.parseDouble(rank)));
        }
        for (long nanos : new long[] {WARM_UP_NANOS, NANOS}) {
            long end = System.nanoTime() + nanos;
            while (System.nanoTime() - end < 0) {
                streamBurst();
            }
            send(STREAM_END);
            receive();
        }
        send(END);
    }

    private void pingPong(long nanos, Histogram h) {
        long last = System.nanoTime();
        long end = last + nanos;
        while (last - end < 0) {
            last = burst(last, h);
        }
    }

    private long burst(long began, Histogram h) {
        long last = began;
        for (int i = 0; i < BURST; i++) {
            send(PING);
            receive();
            long now = System.nanoTime();
            h.recordValue(now - last);
            last = now;
        }
        return last;
    }

    private void streamBurst() {
        for (int i = 0; i < BURST; i++) {
            send(STREAM);
        }
    }
}
