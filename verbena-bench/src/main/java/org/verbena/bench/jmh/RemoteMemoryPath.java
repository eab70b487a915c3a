// SPDX-License-Identifier: Apache-2.0
package org.verbena.bench.jmh;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

import org.verbena.erm.CopyFlags;
import org.verbena.erm.CopyQueue;
import org.verbena.erm.EventQueue;
import org.verbena.erm.LocalRegion;
import org.verbena.erm.RemoteMemory;
import org.verbena.sockets.VerbenaServerSocketChannel;
import org.verbena.sockets.VerbenaSocketChannel;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.WcStatus;

/**
 * Copies to the other end of a connection over rings, and their events: in every way that {@link RemoteMemory} has
 * without a future.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
    "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED", "--add-exports=java.base/sun.net=ALL-UNNAMED",
    "-XX:+UseSerialGC"})
public class RemoteMemoryPath {
    private static final int BYTES = 64;
    private static final int BATCH = 16;
    private static final Duration LONG = Duration.ofSeconds(10);
    private static final int ALL = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ;

    private SocketChannel a;
    private SocketChannel b;
    private CopyQueue fromA;
    private CopyQueue fromB;
    private EventQueue atA;
    private EventQueue atB;
    private int ofA;
    private int ofB;
    private long number;

    /** For JMH, which sets the fields. */
    @SuppressWarnings("NullAway.Init")
    public RemoteMemoryPath() {}

    /** Connects, and registers memory at both ends. */
    @Setup(Level.Trial)
    public void connect() throws IOException, InterruptedException {
        try (ServerSocketChannel listener = VerbenaServerSocketChannel.open()) {
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            a = VerbenaSocketChannel.open();
            a.connect(listener.getLocalAddress());
            b = listener.accept();
        }
        RemoteMemory.of(a);
        RemoteMemory memoryB = memory(b);
        RemoteMemory memoryA = memory(a);
        LocalRegion regionA = memoryA.allocate(1 << 16, ALL, 0);
        LocalRegion regionB = memoryB.allocate(1 << 16, ALL, 0);
        ofA = regionA.id();
        ofB = regionB.id();
        fromA = memoryA.copies();
        fromB = memoryB.copies();
        atA = memoryA.events();
        atB = memoryB.events();
        await(atA);
        await(atB);
    }

    private static RemoteMemory memory(SocketChannel channel) throws IOException, InterruptedException {
        return RemoteMemory.of(channel, LONG).orElseThrow(() -> new IOException(RemoteMemory.whyNot(channel)));
    }

    /** Ends all. */
    @TearDown(Level.Trial)
    public void close() throws IOException {
        a.close();
        b.close();
    }

    private static void await(EventQueue events) {
        while (!events.poll()) {
            Thread.onSpinWait();
        }
    }

    private static int done(CopyQueue copies) {
        while (!copies.poll()) {
            Thread.onSpinWait();
        }
        if (copies.status() != WcStatus.SUCCESS) {
            throw new IllegalStateException(WcStatus.toString(copies.status()));
        }
        return (int) copies.context();
    }

    private static void started(int error) {
        if (error != 0) {
            throw new IllegalStateException("errno " + error);
        }
    }

    /** To the other end's memory. */
    @Benchmark
    public int write() {
        started(fromA.copy(ofA, 0, ofB, 64, BYTES, CopyFlags.NONE, number++));
        return done(fromA);
    }

    /** From the other end's memory. */
    @Benchmark
    public int read() {
        started(fromA.copy(ofB, 0, ofA, 64, BYTES, CopyFlags.NONE, number++));
        return done(fromA);
    }

    /** There and back, with an event each. */
    @Benchmark
    public long events() {
        started(fromA.copy(ofA, 0, ofB, 64, BYTES, CopyFlags.REMOTE_COMPLETION, number++));
        await(atB);
        done(fromA);
        started(fromB.copy(ofB, 0, ofA, 64, BYTES, CopyFlags.REMOTE_COMPLETION, number++));
        await(atA);
        done(fromB);
        return atA.userData() + atB.offset();
    }

    /** One way, so that the other end returns credits in separate messages. */
    @Benchmark
    public long eventsOneWay() {
        while (fromA.copy(ofA, 0, ofB, 64, BYTES, CopyFlags.REMOTE_COMPLETION, number++, 1) != 0) {
            Thread.onSpinWait(); // the message is about to arrive
        }
        await(atB);
        done(fromA);
        return atB.userData();
    }

    /** Many with one commit. */
    @Benchmark
    public int batch() {
        CopyQueue open = fromA.start();
        for (int i = 0; i < BATCH; i++) {
            open.add(ofA, 0, ofB, 64L * i, BYTES, i == BATCH - 1 ? CopyFlags.NONE : CopyFlags.UNSIGNALED, number++, 0);
        }
        started(open.commit());
        return done(fromA);
    }

    /** Nothing is there. */
    @Benchmark
    public boolean nothing() {
        return fromA.poll() || atA.poll();
    }
}
