// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;

import org.verbena.sockets.stream.memory.Bell;

/**
 * A pool of connections by rings, between two ends in this process, for the states of one stress test: a state takes
 * one and its arbiter gives it back empty. Made once per JVM that jcstress forks.
 */
final class StreamPairs {
    private static final long PATIENCE = 30_000_000_000L;
    private static final long BELL_PATIENCE = 20_000_000_000L;

    static {
        System.setProperty("verbena.stream.ring", String.valueOf(Link.FIRST_RING)); // rings stay small, and get full
        System.setProperty("verbena.stream.lap", "64"); // those that are empty begin anew, if they may
    }

    /** Two ends, both on rings. */
    static final class Pair {
        final SocketChannel tcpA;
        final SocketChannel tcpB;
        final Stream a;
        final Stream b;
        private final ByteBuffer buffer = ByteBuffer.allocate(2 * Link.FIRST_RING);

        private Pair(ServerSocketChannel listener) throws IOException {
            tcpA = SocketChannel.open(listener.getLocalAddress());
            tcpB = listener.accept();
            tcpA.configureBlocking(false);
            tcpB.configureBlocking(false);
            a = Stream.of(tcpA, Stream.Role.CLIENT);
            b = Stream.of(tcpB, Stream.Role.SERVER);
        }

        private void awaitRings() throws IOException {
            long end = System.nanoTime() + PATIENCE;
            while (!(a.isOutputByRing() && b.isOutputByRing() && a.isInputByRing() && b.isInputByRing())) {
                if (a.read(buffer) != 0 || b.read(buffer) != 0 || System.nanoTime() - end > 0) {
                    throw new IOException("no rings: " + a.fallbackReason() + b.fallbackReason());
                }
                LockSupport.parkNanos(100_000); // the engine has to run
            }
            while (a.bell() == null || b.bell() == null) {
                if (System.nanoTime() - end > 0) {
                    throw new IOException("no bells");
                }
                LockSupport.parkNanos(100_000);
            }
        }

        /** The bell of an end. */
        static Bell bell(Stream stream) {
            return Objects.requireNonNull(stream.bell());
        }

        /** Writes bytes that count up from {@code first}; says how many found room. */
        static int write(Stream stream, int first, int bytes) {
            ByteBuffer some = ByteBuffer.allocate(bytes);
            for (int i = 0; i < bytes; i++) {
                some.put(i, (byte) (first + i));
            }
            try {
                return stream.write(some);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** Reads up to that number of bytes, which are to count up from {@code first}; -2 if they do not. */
        static int read(Stream stream, int first, int bytes) {
            ByteBuffer some = ByteBuffer.allocate(bytes);
            int n;
            try {
                n = stream.read(some);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            for (int i = 0; i < n; i++) {
                if (some.get(i) != (byte) (first + i)) {
                    return -2;
                }
            }
            return n;
        }

        /** Whether the doorbell that one end waits for rings; it is taken. */
        static boolean hearsBell(Stream stream, SocketChannel tcp, int op) {
            long end = System.nanoTime() + BELL_PATIENCE;
            ByteBuffer bell = ByteBuffer.allocate(1);
            try {
                while (tcp.read(bell) == 0) {
                    if (System.nanoTime() - end > 0) {
                        return false;
                    }
                    Thread.onSpinWait();
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return stream.readyOps(op) == op;
        }

        /** Takes what is left: bytes, and doorbells that are not awaited any more. */
        private void empty() throws IOException {
            for (Stream stream : new Stream[] {a, b}) {
                int n;
                do {
                    n = stream.read(buffer.clear());
                } while (n > 0);
                stream.kernelReady(SelectionKey.OP_READ, SelectionKey.OP_READ);
            }
        }
    }

    private final Deque<Pair> free = new ArrayDeque<>();
    private final ServerSocketChannel listener;

    /** Starts with {@code n} pairs. */
    StreamPairs(int n) {
        try {
            listener = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), n);
            for (int i = 0; i < n; i++) {
                free.add(new Pair(listener));
            }
            for (Pair pair : free) {
                pair.awaitRings();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    synchronized Pair take() {
        Pair pair = free.poll();
        if (pair == null) {
            try {
                pair = new Pair(listener);
                pair.awaitRings();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return pair;
    }

    synchronized void give(Pair pair) {
        try {
            pair.empty();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        free.add(pair);
    }
}
