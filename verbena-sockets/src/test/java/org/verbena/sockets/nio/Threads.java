package org.verbena.sockets.nio;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;

/** Threads of both kinds whose outcome a test looks at. */
enum Threads {
    PLATFORM,
    VIRTUAL;

    /** What a thread does. */
    @FunctionalInterface
    interface Work {
        @Nullable
        Object run() throws Exception;
    }

    /** A thread and what comes of it. */
    record Started(Thread thread, CompletableFuture<@Nullable Object> result) {
        @Nullable
        Object get() throws Exception {
            try {
                return result.get(20, TimeUnit.SECONDS);
            } catch (TimeoutException e) {
                AssertionError stuck = new AssertionError("still running after 20 s: " + thread);
                stuck.setStackTrace(thread.getStackTrace());
                throw stuck;
            }
        }

        Throwable failure() throws Exception {
            try {
                throw new AssertionError("no exception, but " + get());
            } catch (ExecutionException e) {
                return e.getCause();
            }
        }

        /** Until the thread waits for something. */
        void awaitBlocked() throws InterruptedException {
            Thread.sleep(Duration.ofMillis(30));
        }
    }

    Started start(Work work) {
        CompletableFuture<@Nullable Object> result = new CompletableFuture<>();
        Runnable run = () -> {
            try {
                result.complete(work.run());
            } catch (Throwable t) {
                result.completeExceptionally(t);
            }
        };
        Thread thread = this == VIRTUAL ? Thread.ofVirtual().start(run) : Thread.ofPlatform().daemon().start(run);
        return new Started(thread, result);
    }
}
