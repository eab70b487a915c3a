// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

import org.verbena.testkit.Await;

/** A job of an {@link End} that runs on a thread of its own. */
final class BackgroundJob {
    private static final AtomicInteger RUNNING = new AtomicInteger();

    private final End end;
    private final FutureTask<?> task;

    /** Starts it. */
    BackgroundJob(End end, Job<?> job) {
        this.end = end;
        task = new FutureTask<>(() -> {
            try {
                return job.run(end);
            } finally {
                RUNNING.decrementAndGet();
            }
        });
        RUNNING.incrementAndGet();
        Thread.ofPlatform().daemon().name("conformance-job").start(task);
    }

    /** Whether one of this process has not ended. */
    static boolean areRunning() {
        return RUNNING.get() != 0;
    }

    /** Waits for its end; answers its result, or throws what it threw. */
    Object join() throws Exception {
        try {
            return task.get(Await.LIMIT.toSeconds() * 2, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception x) {
                throw x;
            }
            throw new AssertionError(e.getCause());
        } catch (TimeoutException e) {
            throw new AssertionError("the job does not end; " + end.describe(), e);
        }
    }
}
