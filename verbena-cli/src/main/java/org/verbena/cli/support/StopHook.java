// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.support;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Ends a run cleanly when a user presses Ctrl-C or the process is told to terminate: asks it to stop and gives it a
 * moment, for instance to disconnect and to record its progress.
 */
public final class StopHook implements AutoCloseable {
    private final CountDownLatch done = new CountDownLatch(1);
    private final Thread hook;

    /**
     * Begins.
     *
     * @param name of the command, for the thread
     * @param seconds how long the JVM waits for the run to end
     * @param stop called on a thread of its own when the JVM has to end before {@link #close()}
     */
    public StopHook(String name, int seconds, Runnable stop) {
        hook = new Thread(() -> {
            stop.run();
            try {
                boolean _ = done.await(seconds, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "verbena-" + name + "-stop");
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** The run has ended. */
    @Override
    public void close() {
        done.countDown();
        try {
            boolean _ = Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // the JVM is ending: the hook runs
        }
    }
}
