// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.async;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.CompletionHandler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.verbena.sockets.async.Ends.Handled;

/** Completion handlers that throw, and pools that have no thread: what else is pending is not to suffer from it. */
@Timeout(180)
class HandlersThatThrowTest {
    /** Throws whatever becomes of the operation. */
    private static final class Throwing implements CompletionHandler<Integer, Object> {
        private final CountDownLatch called = new CountDownLatch(1);

        @Override
        public void completed(Integer value, Object given) {
            failed(null, given);
        }

        @Override
        public void failed(Throwable failure, Object given) {
            called.countDown();
            throw new IllegalStateException("by the handler, on purpose");
        }
    }

    /** A pool whose threads end without a word. */
    private static ThreadPoolExecutor quietPool(int threads) {
        return new ThreadPoolExecutor(threads, threads, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), r -> {
            Thread t = new Thread(r);
            t.setUncaughtExceptionHandler((_, _) -> {});
            return t;
        });
    }

    /** Runs in a thread of the group, by a handler. */
    private static <V> V inHandler(Ends ends, AsynchronousChannelGroup group, ThrowingWork<V> work) throws Exception {
        CompletableFuture<V> outcome = new CompletableFuture<>();
        try (Ends.Pair p = ends.connected(group)) {
            p.tested().read(ByteBuffer.allocate(1), null, new CompletionHandler<Integer, Object>() {
                @Override
                public void completed(Integer value, Object given) {
                    try {
                        outcome.complete(work.run());
                    } catch (Throwable t) {
                        outcome.completeExceptionally(t);
                    }
                }

                @Override
                public void failed(Throwable failure, Object given) {
                    outcome.completeExceptionally(failure);
                }
            });
            Ends.get(p.peer().write(ByteBuffer.allocate(1)));
            return Ends.get(outcome);
        }
    }

    private interface ThrowingWork<V> {
        V run() throws Exception;
    }

    @ParameterizedTest
    @EnumSource
    void closeDoesNotPropagateExceptionsOfHandlers(Ends ends) throws Exception {
        AsynchronousChannelGroup group = ends.group(quietPool(3));
        Ends.Pair p = ends.connected(group);
        Throwing reads = new Throwing();
        p.tested().read(ByteBuffer.allocate(1), null, reads);
        assertThatCode(() -> inHandler(ends, group, () -> {
            p.tested().close();
            return "closed";
        })).doesNotThrowAnyException();
        assertThat(reads.called.await(60, TimeUnit.SECONDS)).isTrue();
        p.close();
        group.shutdown();
        assertThat(group.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void groupShutDownByAHandlerEndsThoughOthersThrow(Ends ends) throws Exception {
        AsynchronousChannelGroup group = ends.group(quietPool(3));
        List<Ends.Pair> pairs = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            Ends.Pair p = ends.connected(group);
            p.tested().read(ByteBuffer.allocate(1), null, new Throwing());
            pairs.add(p);
        }
        inHandler(ends, group, () -> {
            group.shutdownNow();
            return "shut down";
        });
        assertThat(group.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
        for (Ends.Pair p : pairs) {
            assertThat(p.tested().isOpen()).isFalse();
            p.close();
        }
    }

    /** Each accepts the next one; the JDK never does that inside the handler before. */
    @ParameterizedTest
    @EnumSource
    void waitingConnectionsAreServedInOrder(Ends ends) throws Exception {
        int many = 5;
        AsynchronousChannelGroup group = ends.group();
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger deepest = new AtomicInteger();
        CountDownLatch all = new CountDownLatch(many);
        List<AsynchronousSocketChannel> open = new ArrayList<>();
        try (AsynchronousServerSocketChannel server = ends.provider().openAsynchronousServerSocketChannel(group)) {
            server.bind(Ends.anyPort(), many);
            for (int i = 0; i < many; i++) {
                AsynchronousSocketChannel c = ends.provider().openAsynchronousSocketChannel(null);
                open.add(c);
                Ends.get(c.connect(server.getLocalAddress()));
            }
            server.accept(null, new CompletionHandler<AsynchronousSocketChannel, Object>() {
                @Override
                public void completed(AsynchronousSocketChannel accepted, Object given) {
                    int depth = inside.incrementAndGet();
                    deepest.accumulateAndGet(depth, Math::max);
                    synchronized (open) {
                        open.add(accepted);
                    }
                    all.countDown();
                    if (all.getCount() > 0) {
                        server.accept(null, this);
                    }
                    inside.decrementAndGet();
                }

                @Override
                public void failed(Throwable failure, Object given) {
                    // seen by the count
                }
            });
            assertThat(all.await(60, TimeUnit.SECONDS)).isTrue();
        }
        // the pool has two threads: a handler may begin before the one before has returned, in the other
        assertThat(deepest.get()).isLessThanOrEqualTo(2);
        synchronized (open) {
            for (AsynchronousSocketChannel c : open) {
                c.close();
            }
        }
        group.shutdownNow();
    }

    /** It was called with the wrong unit, and is not called again when bytes come. */
    @Test
    void operationWithoutATimerCompletesOnce() throws Exception {
        AtomicInteger ends = new AtomicInteger();
        CompletableFuture<Throwable> failure = new CompletableFuture<>();
        AsynchronousChannelGroup group = Ends.TCP.group();
        try (Ends.Pair p = Ends.TCP.connected(group)) {
            p.tested().read(ByteBuffer.allocate(1), 1, null, null, new CompletionHandler<Integer, Object>() {
                @Override
                public void completed(Integer value, Object given) {
                    ends.incrementAndGet();
                }

                @Override
                public void failed(Throwable why, Object given) {
                    ends.incrementAndGet();
                    failure.complete(why);
                }
            });
            assertThat(Ends.get(failure)).isInstanceOf(NullPointerException.class);
            Handled<Integer> next = new Handled<>();
            p.tested().read(ByteBuffer.allocate(1), null, next);
            Ends.get(p.peer().write(ByteBuffer.allocate(1)));
            assertThat(Ends.get(next.result)).isEqualTo(1);
            assertThat(ends.get()).isEqualTo(1);
        } finally {
            group.shutdownNow();
        }
    }

    /** As a pool that makes threads when they are needed, where there are no more just now. */
    @Test
    void busyPoolIsRetried() throws Exception {
        AtomicInteger refusals = new AtomicInteger();
        ThreadPoolExecutor pool = new ThreadPoolExecutor(2, 2, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>()) {
            @Override
            public void execute(Runnable task) {
                if (refusals.getAndDecrement() > 0) {
                    throw new OutOfMemoryError("unable to create native thread, by the test");
                }
                super.execute(task);
            }
        };
        AsynchronousChannelGroup group = Ends.TCP.group(pool);
        try (Ends.Pair p = Ends.TCP.connected(group); Ends.Pair other = Ends.TCP.connected(group)) {
            Handled<Integer> read = new Handled<>();
            p.tested().read(ByteBuffer.allocate(1), null, read);
            refusals.set(3);
            Ends.get(p.peer().write(ByteBuffer.allocate(1)));
            assertThat(Ends.get(read.result)).isEqualTo(1);
            assertThat(refusals.get()).isNegative();
            Ends.pass(other.tested(), other.peer(), new byte[] {7});
        } finally {
            group.shutdownNow();
        }
    }

    @ParameterizedTest
    @EnumSource
    void poolOfTheProgramStartsItsThreadsAtOnce(Ends ends) throws Exception {
        ThreadPoolExecutor pool = (ThreadPoolExecutor) Executors.newFixedThreadPool(2);
        AsynchronousChannelGroup group = ends.provider().openAsynchronousChannelGroup(pool, 2);
        assertThat(pool.getPoolSize()).isEqualTo(2); // which keep the program alive
        group.shutdownNow();
        assertThat(group.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
    }
}
