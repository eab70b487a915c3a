// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.async;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.CompletionHandler;
import java.nio.channels.IllegalChannelGroupException;
import java.nio.channels.ShutdownChannelGroupException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.verbena.sockets.async.Ends.Handled;

/** Groups of asynchronous channels: whose threads call handlers, and how they end; first on the JDK's. */
@Timeout(180)
@Execution(ExecutionMode.CONCURRENT)
class ChannelGroupTest {
    private static final int MANY = 200;

    private static void awaitEnd(AsynchronousChannelGroup group) throws Exception {
        assertThat(group.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
        assertThat(group.isTerminated()).isTrue();
        assertThat(group.isShutdown()).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void handlersRunOnThreadsOfTheGroup(Ends ends) throws Exception {
        ExecutorService pool = Executors.newCachedThreadPool(r -> new Thread(r, "of the program"));
        for (AsynchronousChannelGroup group : List.of(ends.group(pool), ends.provider().openAsynchronousChannelGroup(2,
                r -> new Thread(r, "of the program")))) {
            try (Ends.Pair p = ends.connected(group)) {
                Handled<Integer> waits = new Handled<>();
                p.tested().read(ByteBuffer.allocate(1), null, waits);
                Ends.get(p.peer().write(ByteBuffer.allocate(2)));
                Ends.get(waits.result);
                assertThat(waits.thread.getName()).isEqualTo("of the program");
                Handled<Integer> atOnce = new Handled<>();
                p.tested().read(ByteBuffer.allocate(1), null, atOnce);
                Ends.get(atOnce.result);
                assertThat(atOnce.thread.getName()).isEqualTo("of the program");
            }
            group.shutdown();
            awaitEnd(group);
        }
        assertThat(pool.isShutdown()).isTrue();
    }

    /** A handler that reads again, byte by byte: were each called inside the other the stack would overflow. */
    @ParameterizedTest
    @EnumSource
    void handlersDoNotRecurseWithoutLimit(Ends ends) throws Exception {
        int bytes = 30_000;
        AsynchronousChannelGroup group = ends.group();
        try (Ends.Pair p = ends.connected(group)) {
            AtomicInteger deepest = new AtomicInteger();
            CompletableFuture<Integer> all = new CompletableFuture<>();
            ByteBuffer one = ByteBuffer.allocate(1);
            CompletionHandler<Integer, Integer> reader = new CompletionHandler<>() {
                @Override
                public void completed(Integer n, Integer before) {
                    long depth = StackWalker.getInstance().walk(s -> s.filter(f -> f.getMethodName().equals(
                            "completed")).count());
                    deepest.accumulateAndGet((int) depth, Math::max);
                    if (before + n == bytes) {
                        all.complete(before + n);
                    } else {
                        p.tested().read(one.clear(), before + n, this);
                    }
                }

                @Override
                public void failed(Throwable failure, Integer before) {
                    all.completeExceptionally(failure);
                }
            };
            p.tested().read(one, 0, reader);
            for (ByteBuffer out = ByteBuffer.allocate(bytes); out.hasRemaining();) {
                Ends.get(p.peer().write(out));
            }
            assertThat(Ends.get(all)).isEqualTo(bytes);
            assertThat(deepest.get()).isBetween(1, 40);
        } finally {
            group.shutdownNow();
        }
    }

    @ParameterizedTest
    @EnumSource
    void groupShutDownEndsWithItsLastChannel(Ends ends) throws Exception {
        AsynchronousChannelGroup group = ends.group();
        Ends.Pair p = ends.connected(group);
        AsynchronousServerSocketChannel server = ends.provider().openAsynchronousServerSocketChannel(group);
        group.shutdown();
        assertThat(group.isShutdown()).isTrue();
        assertThat(group.isTerminated()).isFalse();
        assertThatThrownBy(() -> ends.provider().openAsynchronousSocketChannel(group))
                .isInstanceOf(ShutdownChannelGroupException.class);
        assertThatThrownBy(() -> ends.provider().openAsynchronousServerSocketChannel(group))
                .isInstanceOf(ShutdownChannelGroupException.class);
        Ends.pass(p.tested(), p.peer(), new byte[] {1}); // what is open goes on
        Ends.pass(p.peer(), p.tested(), new byte[] {2});
        p.close();
        assertThat(group.awaitTermination(1, TimeUnit.MILLISECONDS)).isFalse();
        server.close();
        awaitEnd(group);
    }

    @ParameterizedTest
    @EnumSource
    void shutdownNowClosesAllChannels(Ends ends) throws Exception {
        AsynchronousChannelGroup group = ends.group();
        Ends.Pair p = ends.connected(group);
        AsynchronousServerSocketChannel server = ends.provider().openAsynchronousServerSocketChannel(group);
        server.bind(Ends.anyPort());
        Future<AsynchronousSocketChannel> accept = server.accept();
        Handled<Integer> read = new Handled<>();
        p.tested().read(ByteBuffer.allocate(1), null, read);
        group.shutdownNow();
        assertThat(Ends.failure(accept)).isInstanceOf(AsynchronousCloseException.class);
        assertThat(Ends.failure(read.result)).isInstanceOf(AsynchronousCloseException.class);
        assertThat(p.tested().isOpen()).isFalse();
        assertThat(server.isOpen()).isFalse();
        assertThat(Ends.get(p.peer().read(ByteBuffer.allocate(1)))).isEqualTo(-1);
        p.peer().close();
        awaitEnd(group);
    }

    @ParameterizedTest
    @EnumSource
    void groupOfAnotherProviderIsRefused(Ends ends) throws Exception {
        AsynchronousChannelGroup others = (ends == Ends.JDK ? Ends.TCP : Ends.JDK).group();
        assertThatThrownBy(() -> ends.provider().openAsynchronousSocketChannel(others))
                .isInstanceOf(IllegalChannelGroupException.class);
        others.shutdown();
        awaitEnd(others);
        assertThatThrownBy(() -> ends.provider().openAsynchronousChannelGroup(0, Executors.defaultThreadFactory()))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @EnumSource
    void manyChannelsEchoSimultaneously(Ends ends) throws Exception {
        AsynchronousChannelGroup group = ends.group();
        List<Ends.Pair> all = new ArrayList<>();
        try {
            for (int i = 0; i < MANY; i++) {
                all.add(ends.connected(group));
                new Echo(all.getLast().tested()).read();
            }
            for (int round = 0; round < 20; round++) {
                for (int i = 0; i < MANY; i++) {
                    ByteBuffer out = ByteBuffer.wrap(new byte[] {(byte) i, (byte) round, 3});
                    while (out.hasRemaining()) {
                        Ends.get(all.get(i).peer().write(out));
                    }
                }
                for (int i = 0; i < MANY; i++) {
                    ByteBuffer in = ByteBuffer.allocate(3);
                    while (in.hasRemaining()) {
                        assertThat(Ends.get(all.get(i).peer().read(in))).isPositive();
                    }
                    assertThat(in.array()).containsExactly((byte) i, (byte) round, 3);
                }
            }
        } finally {
            group.shutdownNow();
            for (Ends.Pair p : all) {
                p.close();
            }
        }
        awaitEnd(group);
    }

    private record Echo(AsynchronousSocketChannel channel, ByteBuffer buffer)
            implements
                CompletionHandler<Integer, Boolean> {
        Echo(AsynchronousSocketChannel channel) {
            this(channel, ByteBuffer.allocate(64));
        }

        void read() {
            channel.read(buffer.clear(), false, this);
        }

        @Override
        public void completed(Integer n, Boolean written) {
            if (n < 0) {
                return;
            }
            if (!written) {
                buffer.flip();
            }
            if (buffer.hasRemaining()) {
                channel.write(buffer, true, this);
            } else {
                read();
            }
        }

        @Override
        public void failed(Throwable failure, Boolean written) {
            // the group was shut down
        }
    }
}
