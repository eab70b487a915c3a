// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.sockets;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.verbena.cli.perf.run.PerfControl;
import org.verbena.cli.perf.run.PerfJob;
import org.verbena.cli.perf.run.PerfLoop;
import org.verbena.cli.perf.run.PerfPaced;
import org.verbena.cli.perf.run.PerfPattern;
import org.verbena.cli.perf.run.PerfTest;
import org.verbena.cli.support.CommandException;
import org.verbena.sockets.VerbenaSocketChannel;
import org.verbena.sockets.VerbenaSocketOptions;

/** Channels of TCP, of the JDK, of Verbena or of a stack in user space: the part that the tests share. */
public abstract class PerfTcp extends PerfLoop {
    private static final long CONNECT_NANOS = TimeUnit.SECONDS.toNanos(10);
    static final int RECEIVE_BUFFER = 1 << 20;

    protected final ByteChannel channel;
    private Closeable owner = () -> {};

    PerfTcp(PerfControl peer, ByteChannel channel) {
        super(peer);
        this.channel = channel;
    }

    /** Closes this, too, after the channels. */
    final PerfTcp closing(Closeable thing) {
        owner = thing;
        return this;
    }

    public static PerfTcp of(PerfJob job, PerfControl peer, SocketChannel channel, boolean initiator)
            throws IOException {
        return job.test().isBandwidth()
                ? stream(job, peer, channel, initiator)
                : latency(job, peer, List.of(channel), initiator);
    }

    /** Of a channel whose options are set. */
    static PerfTcp of(PerfJob job, PerfControl peer, ByteChannel channel, boolean initiator) {
        return job.test().isBandwidth()
                ? stream(job, peer, channel, initiator)
                : new Latency(job, peer, List.of(channel), initiator);
    }

    private static PerfTcp stream(PerfJob job, PerfControl peer, ByteChannel channel, boolean initiator) {
        return initiator ? new Sender(job, peer, channel) : new Receiver(job, peer, channel);
    }

    static CommandException closed() {
        return new CommandException("the peer closed the TCP connection");
    }

    /** Writes the whole buffer from its start; a channel that accepts nothing is tried again. */
    static void write(ByteChannel channel, ByteBuffer buffer, PerfControl peer) throws IOException {
        buffer.clear();
        long turns = 0;
        while (buffer.hasRemaining()) {
            if (channel.write(buffer) == 0) {
                turns = peer.spin(turns);
            }
        }
    }

    /** Over connections that take turns. */
    static PerfTcp latency(PerfJob job, PerfControl peer, List<SocketChannel> channels, boolean initiator)
            throws IOException {
        for (SocketChannel channel : channels) {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.configureBlocking(job.test().blocks());
            if (job.test() == PerfTest.NIO_LAT_SLEEP && channel instanceof VerbenaSocketChannel) {
                channel.setOption(VerbenaSocketOptions.SPIN, Duration.ZERO);
            }
        }
        return new Latency(job, peer, channels, initiator);
    }

    public static SocketChannel accept(ServerSocketChannel listener, PerfControl peer) throws IOException {
        listener.configureBlocking(false);
        long deadline = System.nanoTime() + CONNECT_NANOS;
        peer.look(true);
        for (;;) {
            SocketChannel c = listener.accept();
            if (c != null) {
                return c;
            }
            peer.look(false);
            if (System.nanoTime() > deadline) {
                throw new CommandException("the peer did not connect its TCP socket within 10 seconds");
            }
            LockSupport.parkNanos(100_000);
        }
    }

    public static SocketChannel connect(InetSocketAddress address) throws IOException {
        return SocketChannel.open(address);
    }

    @Override
    public void close() throws IOException {
        try {
            channel.close();
        } finally {
            owner.close();
        }
    }

    /** {@code tcp-lat-spin} and {@code tcp-lat-block}; {@code nio-} likewise, {@code nio-lat-sleep} and {@code stack-lat}. */
    private static final class Latency extends PerfTcp implements PerfPaced {
        private final ByteChannel[] channels;
        private final boolean initiator;
        private final ByteBuffer buffer;
        private final ByteBuffer out;
        private final boolean blocks;
        private int turn;
        private int answerTurn;

        Latency(PerfJob job, PerfControl peer, List<? extends ByteChannel> channels, boolean initiator) {
            super(peer, channels.getFirst());
            this.channels = channels.toArray(ByteChannel[]::new);
            this.initiator = initiator;
            this.buffer = ByteBuffer.allocateDirect(Math.toIntExact(job.size()));
            this.out = job.rate() > 0 && initiator ? ByteBuffer.allocateDirect(buffer.capacity()) : buffer;
            this.blocks = job.test().blocks();
        }

        @Override
        public int inFlight() {
            return blocks ? 1 : UNLIMITED;
        }

        @Override
        public boolean send() throws IOException {
            channels[turn].write(out);
            if (out.hasRemaining()) {
                return false;
            }
            out.clear();
            turn = turn + 1 == channels.length ? 0 : turn + 1;
            return true;
        }

        /** The peer answers in the order in which it was asked, over all connections. */
        @Override
        public void poll() throws IOException {
            if (channels[answerTurn].read(buffer) < 0) {
                throw closed();
            }
            if (!buffer.hasRemaining()) {
                buffer.clear();
                answerTurn = answerTurn + 1 == channels.length ? 0 : answerTurn + 1;
                answered();
            }
        }

        @Override
        protected void burst(int n) throws IOException {
            for (int i = 0; i < n; i++) {
                ByteChannel c = channels[turn];
                turn = turn + 1 == channels.length ? 0 : turn + 1;
                if (initiator) {
                    write(c, buffer, peer);
                    read(c);
                    roundTrip();
                } else {
                    read(c);
                    write(c, buffer, peer);
                }
            }
        }

        private void read(ByteChannel c) throws IOException {
            buffer.clear();
            long turns = 0;
            while (buffer.hasRemaining()) {
                int n = c.read(buffer);
                if (n < 0) {
                    throw closed();
                }
                if (n == 0) {
                    turns = peer.spin(turns);
                }
            }
        }

        @Override
        public void close() throws IOException {
            for (ByteChannel c : channels) {
                c.close();
            }
            super.close();
        }
    }

    /** {@code tcp-bw}, {@code nio-bw}, {@code stack-bw}: writes of the message's size. */
    private static final class Sender extends PerfTcp {
        private final ByteBuffer buffer;

        Sender(PerfJob job, PerfControl peer, ByteChannel channel) {
            super(peer, channel);
            this.buffer = ByteBuffer.allocateDirect(Math.toIntExact(job.size()));
        }

        @Override
        protected void burst(int n) throws IOException {
            for (int i = 0; i < n; i++) {
                write(channel, buffer, peer);
            }
        }
    }

    /** {@code tcp-bw}, {@code nio-bw}, {@code stack-bw}: reads the available bytes, as many as fit. */
    private static final class Receiver extends PerfTcp {
        private final ByteBuffer buffer;
        private final MemorySegment memory;
        private final boolean consume;
        private final long size;
        private long sum;

        Receiver(PerfJob job, PerfControl peer, ByteChannel channel) {
            super(peer, channel);
            this.size = job.size();
            this.consume = job.consume();
            this.buffer = ByteBuffer.allocateDirect(RECEIVE_BUFFER);
            this.memory = MemorySegment.ofBuffer(buffer);
        }

        @Override
        protected boolean receives() {
            return true;
        }

        /** A stream has no messages: the rest of the run is one burst. */
        @Override
        protected void burst(int n) throws IOException {
            long left = remaining * size;
            long turns = 0;
            while (left > 0) {
                buffer.clear().limit((int) Math.min(left, RECEIVE_BUFFER));
                int got = channel.read(buffer);
                if (got < 0) {
                    throw closed();
                }
                if (got == 0) {
                    turns = peer.spin(turns);
                    continue;
                }
                turns = 0;
                arrived();
                if (consume) {
                    sum += PerfPattern.sum(memory, 0, got);
                }
                left -= got;
            }
            remaining = 0;
        }

        @Override
        public String toString() {
            return "sum " + sum;
        }
    }
}
