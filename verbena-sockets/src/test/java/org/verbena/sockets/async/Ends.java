// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.async;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.CompletionHandler;
import java.nio.channels.spi.AsynchronousChannelProvider;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;
import sun.nio.ch.LinuxAsynchronousChannelProvider;

import org.verbena.sockets.VerbenaAsynchronousChannelProvider;
import org.verbena.sockets.VerbenaSocketOptions;

/**
 * The carrier of a test's connection: each test runs on the JDK's own channels first, which define the expected
 * behaviour.
 */
enum Ends {
    /** Both ends are the JDK's. */
    JDK,
    /** The tested end is Verbena's and its peer is not. */
    TCP,
    /** Both ends are Verbena's, and rings carry both directions. */
    RING;

    private static final long LONGEST_SECONDS = 60;
    private static final AsynchronousChannelProvider JDKS = new LinuxAsynchronousChannelProvider();
    private static final AsynchronousChannelProvider OURS = new VerbenaAsynchronousChannelProvider();

    AsynchronousChannelProvider provider() {
        return this == JDK ? JDKS : OURS;
    }

    private AsynchronousChannelProvider peers() {
        return this == RING ? OURS : JDKS;
    }

    AsynchronousChannelGroup group() throws Exception {
        return provider().openAsynchronousChannelGroup(2, Executors.defaultThreadFactory());
    }

    AsynchronousChannelGroup group(ExecutorService pool) throws Exception {
        return provider().openAsynchronousChannelGroup(pool, 0);
    }

    static InetSocketAddress anyPort() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    static <V> @Nullable V get(Future<V> future) throws Exception {
        return future.get(LONGEST_SECONDS, TimeUnit.SECONDS);
    }

    static Throwable failure(Future<?> future) throws Exception {
        try {
            throw new AssertionError("no exception, but " + get(future));
        } catch (ExecutionException e) {
            return e.getCause();
        }
    }

    /** A connection: the end to test and its peer. */
    record Pair(AsynchronousSocketChannel tested, AsynchronousSocketChannel peer) implements AutoCloseable {
        @Override
        public void close() throws Exception {
            tested.close();
            peer.close();
        }
    }

    Pair connected() throws Exception {
        return connected(null);
    }

    /** @param group of the tested end */
    Pair connected(@Nullable AsynchronousChannelGroup group) throws Exception {
        try (AsynchronousServerSocketChannel server = peers().openAsynchronousServerSocketChannel(null)) {
            server.bind(anyPort());
            AsynchronousSocketChannel client = provider().openAsynchronousSocketChannel(group);
            Future<AsynchronousSocketChannel> accepted = server.accept();
            get(client.connect(server.getLocalAddress()));
            return awaitRings(new Pair(client, get(accepted)));
        }
    }

    private Pair awaitRings(Pair pair) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LONGEST_SECONDS);
        while (this == RING && !(onRings(pair.tested) && onRings(pair.peer))) {
            if (System.nanoTime() > end) {
                throw new AssertionError("no rings after a minute: " + pair);
            }
            pass(pair.tested, pair.peer, new byte[] {1});
            pass(pair.peer, pair.tested, new byte[] {2});
            Thread.sleep(1);
        }
        return pair;
    }

    private static boolean onRings(AsynchronousSocketChannel c) throws Exception {
        return c.getOption(VerbenaSocketOptions.TRANSPORT).equals("stream");
    }

    /** Writes all of it, without another reader. */
    static void pass(AsynchronousSocketChannel from, AsynchronousSocketChannel to, byte[] bytes) throws Exception {
        ByteBuffer out = ByteBuffer.wrap(bytes);
        ByteBuffer in = ByteBuffer.allocate(bytes.length);
        while (out.hasRemaining()) {
            get(from.write(out));
        }
        while (in.hasRemaining()) {
            if (get(to.read(in)) < 0) {
                throw new AssertionError("the end, after " + in.position());
            }
        }
        if (!in.flip().equals(ByteBuffer.wrap(bytes))) {
            throw new AssertionError("other bytes");
        }
    }

    /** Writes until a write does not end for half a second, and gives that. */
    static Future<Integer> fill(AsynchronousSocketChannel channel) throws Exception {
        ByteBuffer much = ByteBuffer.allocate(1 << 20);
        while (true) {
            Future<Integer> write = channel.write(much.clear());
            try {
                write.get(500, TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                return write;
            }
        }
    }

    /** A completion handler that a test waits for. */
    static final class Handled<V> implements CompletionHandler<V, Object> {
        final CompletableFuture<V> result = new CompletableFuture<>();
        volatile @Nullable Object attachment;
        volatile @Nullable Thread thread;

        @Override
        public void completed(V value, Object given) {
            attachment = given;
            thread = Thread.currentThread();
            result.complete(value);
        }

        @Override
        public void failed(Throwable failure, Object given) {
            attachment = given;
            thread = Thread.currentThread();
            result.completeExceptionally(failure);
        }
    }
}
