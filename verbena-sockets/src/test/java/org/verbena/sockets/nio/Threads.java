// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;

import org.verbena.testkit.Await;
import org.verbena.testkit.KernelThread;

/** Threads of both kinds whose outcome a test checks. */
enum Threads {
    PLATFORM,
    VIRTUAL;

    private static final int LONGEST_SECONDS = 60;

    /** What a thread does. */
    @FunctionalInterface
    interface Work {
        @Nullable
        Object run() throws Exception;
    }

    /** A thread, its result, and where the kernel has its state if it is a platform thread that has begun. */
    record Started(Thread thread, CompletableFuture<@Nullable Object> result, CompletableFuture<Path> folder) {
        @Nullable
        Object get() throws Exception {
            try {
                return result.get(LONGEST_SECONDS, TimeUnit.SECONDS);
            } catch (TimeoutException e) {
                AssertionError stuck = new AssertionError("still running after " + LONGEST_SECONDS + " s: " + thread);
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

        /** Until the thread waits for something, or is through. */
        void awaitBlocked() {
            Await.untilLasting("the thread waits", () -> result.isDone() || (thread.isVirtual()
                    ? isParked(thread)
                    : folder.isDone() && KernelThread.isAsleep(folder.join())));
        }
    }

    static boolean isParked(Thread virtual) {
        Thread.State s = virtual.getState();
        return s == Thread.State.WAITING || s == Thread.State.TIMED_WAITING;
    }

    Started start(Work work) {
        CompletableFuture<@Nullable Object> result = new CompletableFuture<>();
        CompletableFuture<Path> folder = new CompletableFuture<>();
        Runnable run = () -> {
            try {
                if (this == PLATFORM) {
                    folder.complete(KernelThread.self());
                }
                result.complete(work.run());
            } catch (Throwable t) {
                result.completeExceptionally(t);
            }
        };
        Thread thread = this == VIRTUAL ? Thread.ofVirtual().start(run) : Thread.ofPlatform().daemon().start(run);
        return new Started(thread, result, folder);
    }
}
