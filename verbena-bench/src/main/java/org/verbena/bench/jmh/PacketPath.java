// SPDX-License-Identifier: Apache-2.0
package org.verbena.bench.jmh;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.util.concurrent.TimeUnit;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

import org.verbena.sockets.Verbena;
import org.verbena.sockets.VerbenaServerSocketChannel;
import org.verbena.sockets.VerbenaSocketChannel;
import org.verbena.sockets.extra.ExtraApi;
import org.verbena.sockets.extra.ReceiveFlags;
import org.verbena.sockets.extra.ReceivedPackets;

/**
 * A message is written at one end of a connection over rings, and read or received without a copy at the other, by the same thread: what the second
 * copy costs. The program looks at one byte in 4096.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
    "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED", "--add-exports=java.base/sun.net=ALL-UNNAMED",
    "-XX:+UseSerialGC"})
public class PacketPath {
    /** The ring that an active reader gets: it stays in the caches. */
    private static final int GROWN = 256 << 10;
    private static final int STRIDE = 4096;

    /** Bytes of a message. */
    @Param({"64", "65536"}) public int bytes;

    private VerbenaSocketChannel from;
    private VerbenaSocketChannel to;
    private ExtraApi extra;
    private ReceivedPackets packets;
    private ByteBuffer source;
    private ByteBuffer target;
    private MemorySegment targetBytes;

    /** For JMH, which sets the fields. */
    @SuppressWarnings("NullAway.Init")
    public PacketPath() {}

    /** Connects two ends, and waits until a ring carries one direction that has room for a message. */
    @Setup(Level.Trial)
    public void connect() throws IOException, InterruptedException {
        try (ServerSocketChannel listener = VerbenaServerSocketChannel.open()) {
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            from = VerbenaSocketChannel.open();
            from.connect(listener.getLocalAddress());
            to = (VerbenaSocketChannel) listener.accept();
        }
        extra = Verbena.extraApi().orElseThrow();
        packets = extra.newPackets(16, 32);
        source = ByteBuffer.allocateDirect(bytes);
        target = ByteBuffer.allocateDirect(bytes);
        targetBytes = MemorySegment.ofBuffer(target);
        growRing();
    }

    private void growRing() throws IOException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        ByteBuffer much = ByteBuffer.allocateDirect(GROWN);
        from.configureBlocking(false);
        to.configureBlocking(false);
        while (from.statistics().sendRing() < GROWN || !to.isInputByRing()) {
            if (System.nanoTime() > end) {
                throw new IOException(from + " has no large ring: " + from.fallbackReason());
            }
            much.clear();
            from.write(much); // more than there is room for, so that there is a larger one
            do {
                much.clear();
            } while (to.read(much) > 0);
        }
        from.configureBlocking(true);
        to.configureBlocking(true);
    }

    /** Ends all. */
    @TearDown(Level.Trial)
    public void close() throws IOException {
        from.close();
        to.close();
    }

    /** By read. */
    @Benchmark
    public long read() throws IOException {
        from.write(source.clear());
        target.clear();
        while (target.hasRemaining()) {
            to.read(target);
        }
        return look(targetBytes, 0, bytes);
    }

    /** Without a copy, and freed at once. */
    @Benchmark
    public long receive() throws IOException {
        from.write(source.clear());
        long sum = 0;
        for (int n = 0; n < bytes;) {
            n += extra.receive(to, packets, null, ReceiveFlags.FORCE);
            for (int p = 0; p < packets.count(); p++) {
                for (int f = 0; f < packets.fragments(p); f++) {
                    sum += look(packets.memory(p, f), packets.offset(p, f), packets.length(p, f));
                }
            }
            extra.freePackets(to, packets);
        }
        return sum;
    }

    private static long look(MemorySegment memory, long offset, int length) {
        long sum = 0;
        for (int i = 0; i < length; i += STRIDE) {
            sum += memory.get(ValueLayout.JAVA_BYTE, offset + i);
        }
        return sum;
    }
}
