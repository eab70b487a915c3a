// SPDX-License-Identifier: Apache-2.0
package org.verbena.bench.jmh;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
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

import org.verbena.sockets.Verbena;
import org.verbena.sockets.VerbenaServerSocketChannel;
import org.verbena.sockets.VerbenaSocketChannel;
import org.verbena.sockets.VerbenaSockets;

/**
 * A message to another thread and back, over each transport of a channel; a waiting thread sleeps at once, since
 * nothing is polled.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
    "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED", "--add-exports=java.base/sun.net=ALL-UNNAMED",
    "-XX:+UseSerialGC", "-Dverbena.spin=0"})
public class WaitingPath {
    private static final int BYTES = 64;
    private static final long DECIDE_NANOS = TimeUnit.SECONDS.toNanos(20);
    static final String RING = "ring";
    static final String BY_RULE = "rule";
    static final String PLAIN = "plain_peer";

    /** The transport of the connections: rings, TCP since the peer is plain, or TCP by rule. */
    @Param({RING, PLAIN, BY_RULE}) public String carrier = "";

    private VerbenaSocketChannel blocking;
    private VerbenaSocketChannel selected;
    private SocketChannel echo;
    private SocketChannel selectedEcho;
    private final ByteBuffer out = ByteBuffer.allocateDirect(BYTES);
    private final ByteBuffer in = ByteBuffer.allocateDirect(BYTES);
    private final ByteBuffer[] outs = {ByteBuffer.allocate(BYTES / 4), ByteBuffer.allocate(BYTES / 4 * 3)};
    private final ByteBuffer[] ins = {ByteBuffer.allocate(BYTES / 2), ByteBuffer.allocate(BYTES / 2)};
    private final byte[] array = new byte[BYTES];
    private final Consumer<SelectionKey> take = this::take;
    private OutputStream outStream;
    private InputStream inStream;
    private Selector selector;
    private int taken;

    /** For JMH, which sets the fields. */
    @SuppressWarnings("NullAway.Init")
    public WaitingPath() {}

    /** Connects two channels, one of them with a selector, to threads that echo messages. */
    @Setup(Level.Trial)
    public void connect() throws IOException, InterruptedException {
        // the wait for a plain peer lasts this long, and another one does not time out because the machine is busy
        System.setProperty("verbena.stream.patience", carrier.equals(PLAIN) ? "2000" : "20000");
        Verbena.offload(!carrier.equals(BY_RULE));
        try (ServerSocketChannel listener = carrier.equals(RING)
                ? VerbenaServerSocketChannel.open()
                : ServerSocketChannel.open()) {
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            blocking = connected(listener);
            echo = listener.accept();
            selected = connected(listener);
            selectedEcho = listener.accept();
        }
        outStream = blocking.socket().getOutputStream();
        inStream = blocking.socket().getInputStream();
        decide(blocking, echo);
        decide(selected, selectedEcho);
        start(echo);
        start(selectedEcho);
        selected.configureBlocking(false);
        selector = VerbenaSockets.selectorProvider().openSelector();
        selected.register(selector, SelectionKey.OP_READ);
    }

    private static VerbenaSocketChannel connected(ServerSocketChannel listener) throws IOException {
        VerbenaSocketChannel channel = VerbenaSocketChannel.open();
        channel.connect(listener.getLocalAddress());
        return channel;
    }

    /** Sends messages until their transport is decided, and checks that it is the intended one. */
    private void decide(VerbenaSocketChannel channel, SocketChannel peer) throws IOException, InterruptedException {
        long end = System.nanoTime() + DECIDE_NANOS;
        boolean ring = carrier.equals(RING);
        while (ring ? !channel.isInputByRing() || !channel.isOutputByRing() : channel.fallbackReason().isEmpty()) {
            if (System.nanoTime() > end || ring && !channel.fallbackReason().isEmpty()) {
                throw new IOException(channel + " is not carried as wanted: " + channel.fallbackReason());
            }
            out.clear();
            channel.write(out);
            echo(peer, in);
            in.clear();
            readFully(channel, in);
            Thread.sleep(1);
        }
    }

    private static void start(SocketChannel channel) {
        Thread.ofPlatform().daemon().name("echo").start(() -> {
            ByteBuffer buffer = ByteBuffer.allocateDirect(BYTES);
            try {
                while (echo(channel, buffer)) {}
            } catch (IOException e) {
                // the end
            }
        });
    }

    private static boolean echo(SocketChannel channel, ByteBuffer buffer) throws IOException {
        buffer.clear();
        if (!readFully(channel, buffer)) {
            return false;
        }
        buffer.flip();
        channel.write(buffer);
        return true;
    }

    private static boolean readFully(SocketChannel channel, ByteBuffer into) throws IOException {
        while (into.hasRemaining()) {
            if (channel.read(into) < 0) {
                return false;
            }
        }
        return true;
    }

    /** Ends all. */
    @TearDown(Level.Trial)
    public void close() throws IOException {
        selector.close();
        blocking.close();
        selected.close();
        echo.close();
        selectedEcho.close();
    }

    /** Blocking, one buffer. */
    @Benchmark
    public int roundTrip() throws IOException {
        out.clear();
        blocking.write(out);
        in.clear();
        readFully(blocking, in);
        return in.position();
    }

    /** Blocking, several buffers of the heap. */
    @Benchmark
    public long gatherScatter() throws IOException {
        clear(outs);
        clear(ins);
        blocking.write(outs);
        long n = 0;
        while (n < BYTES) {
            n += blocking.read(ins);
        }
        return n;
    }

    /** Blocking, by the streams of a socket. */
    @Benchmark
    public int streams() throws IOException {
        outStream.write(array);
        int n = 0;
        while (n < BYTES) {
            n += inStream.read(array, n, BYTES - n);
        }
        return n;
    }

    private static void clear(ByteBuffer[] buffers) {
        for (ByteBuffer buffer : buffers) {
            buffer.clear();
        }
    }

    /** A selection that sleeps, and calls. */
    @Benchmark
    public int select() throws IOException {
        out.clear();
        selected.write(out);
        taken = 0;
        while (taken < BYTES) {
            selector.select(take);
        }
        return taken;
    }

    /** A selection that sleeps, with a limit, and fills its set. */
    @Benchmark
    public int selectedKeys() throws IOException {
        out.clear();
        selected.write(out);
        in.clear();
        while (in.hasRemaining()) {
            selector.select(1000);
            selector.selectedKeys().clear();
            selected.read(in);
        }
        return in.position();
    }

    private void take(SelectionKey key) {
        try {
            in.clear();
            taken += ((SocketChannel) key.channel()).read(in);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
