// SPDX-License-Identifier: Apache-2.0
package org.verbena.bench.jmh;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

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

import org.verbena.sockets.VerbenaServerSocketChannel;
import org.verbena.sockets.VerbenaSocketChannel;
import org.verbena.sockets.VerbenaSockets;

/** Write at one end of a connection over rings, read at the other: in every way that a channel has. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
    "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED", "--add-exports=java.base/sun.net=ALL-UNNAMED",
    "-XX:+UseSerialGC"})
public class ChannelPath {
    private static final int BYTES = 64;
    private static final int LARGE = 2 << 10;
    private static final long AGREE_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** The location of the bytes of the program. */
    @Param({"direct", "heap"}) public String memory = "";

    private VerbenaSocketChannel from;
    private VerbenaSocketChannel to;
    private VerbenaSocketChannel looked;
    private VerbenaSocketChannel lookedPeer;
    private ByteBuffer source;
    private ByteBuffer large;
    private ByteBuffer target;
    private ByteBuffer[] parts;
    private ByteBuffer[] targets;
    private Selector selector;
    private int selected;
    private final Consumer<SelectionKey> take = this::take;

    /** For JMH, which sets the fields. */
    @SuppressWarnings("NullAway.Init")
    public ChannelPath() {}

    /** Connects two pairs of channels, one of them with a selector at one end, and waits until rings carry them. */
    @Setup(Level.Trial)
    public void connect() throws IOException, InterruptedException {
        try (ServerSocketChannel listener = VerbenaServerSocketChannel.open()) {
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            InetSocketAddress address = (InetSocketAddress) listener.getLocalAddress();
            from = connected(address);
            to = (VerbenaSocketChannel) listener.accept();
            lookedPeer = connected(address);
            looked = (VerbenaSocketChannel) listener.accept();
        }
        source = buffer(BYTES);
        large = buffer(LARGE);
        target = buffer(LARGE);
        parts = new ByteBuffer[] {buffer(BYTES / 4), buffer(BYTES / 2), buffer(BYTES / 4)};
        targets = new ByteBuffer[] {buffer(BYTES / 2), buffer(BYTES / 2)};
        for (VerbenaSocketChannel channel : new VerbenaSocketChannel[] {from, to, looked, lookedPeer}) {
            awaitRing(channel);
        }
        looked.configureBlocking(false);
        selector = VerbenaSockets.selectorProvider().openSelector();
        looked.register(selector, SelectionKey.OP_READ);
    }

    private static VerbenaSocketChannel connected(InetSocketAddress address) throws IOException {
        VerbenaSocketChannel channel = VerbenaSocketChannel.open();
        channel.connect(address);
        return channel;
    }

    private ByteBuffer buffer(int bytes) {
        return memory.equals("heap") ? ByteBuffer.allocate(bytes) : ByteBuffer.allocateDirect(bytes);
    }

    private static void awaitRing(VerbenaSocketChannel channel) throws IOException, InterruptedException {
        channel.configureBlocking(false);
        long end = System.nanoTime() + AGREE_NANOS;
        ByteBuffer nothing = ByteBuffer.allocate(1);
        while (!channel.isOutputByRing() || !channel.isInputByRing()) {
            if (channel.read(nothing) != 0 || System.nanoTime() > end) {
                throw new IOException(channel + " stays with TCP: " + channel.fallbackReason());
            }
            Thread.sleep(1);
        }
        channel.configureBlocking(true);
    }

    /** Ends all. */
    @TearDown(Level.Trial)
    public void close() throws IOException {
        selector.close();
        from.close();
        to.close();
        looked.close();
        lookedPeer.close();
    }

    /** One buffer. */
    @Benchmark
    public int writeRead() throws IOException {
        from.write(source.clear());
        return to.read(target.clear());
    }

    /** One buffer there, and one back. */
    @Benchmark
    public int requestResponse() throws IOException {
        from.write(source.clear());
        to.read(target.clear());
        to.write(source.clear());
        return from.read(target.clear());
    }

    /** As many bytes as make the reader report its progress each time. */
    @Benchmark
    public int writeReadLarge() throws IOException {
        from.write(large.clear());
        int n = 0;
        while (n < LARGE) {
            n += to.read(target.clear());
        }
        return n;
    }

    /** Several buffers. */
    @Benchmark
    public long gatherScatter() throws IOException {
        for (ByteBuffer part : parts) {
            part.clear();
        }
        for (ByteBuffer part : targets) {
            part.clear();
        }
        from.write(parts);
        return to.read(targets);
    }

    /** Nothing is there. */
    @Benchmark
    public int readNothing() throws IOException {
        return looked.read(target.clear());
    }

    /** A selector finds the channel readable, and calls. */
    @Benchmark
    public int select() throws IOException {
        lookedPeer.write(source.clear());
        while (selector.selectNow(take) == 0) {
            Thread.onSpinWait();
        }
        return selected;
    }

    /** A selector finds the channel readable, and adds it to its set. */
    @Benchmark
    public int selectedKeys() throws IOException {
        lookedPeer.write(source.clear());
        while (selector.select() == 0) {
            Thread.onSpinWait();
        }
        selector.selectedKeys().clear();
        return looked.read(target.clear());
    }

    private void take(SelectionKey key) {
        try {
            selected += ((VerbenaSocketChannel) key.channel()).read(target.clear());
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
