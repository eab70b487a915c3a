// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.io.IOException;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * Sleeping under a channel's blocking lock. The streams that {@link java.nio.channels.Channels} makes of a channel that
 * is not of the JDK's own class hold that lock while they read or write, so a reader that waits would keep the writer
 * out indefinitely, and the program would hang where it does not with the JDK's channels. Here another thread sleeps in
 * place of such a reader, which lends the lock to others meanwhile.
 */
final class LentLock {
    private static final Set<String> STREAMS = Set.of("sun.nio.ch.ChannelInputStream",
            "sun.nio.ch.ChannelOutputStream");
    private static final int FRAMES = 20;

    private final Object lock;
    private final DirectionLock direction;
    private boolean over;
    private @Nullable Throwable failure;

    private LentLock(Object blockingLock, DirectionLock direction) {
        lock = blockingLock;
        this.direction = direction;
    }

    /** What a thread sleeps by. */
    @FunctionalInterface
    interface Sleep {
        void sleep() throws IOException;
    }

    /** Whether this thread is in one of those streams. */
    static boolean isHeld(Object blockingLock) {
        return Thread.holdsLock(blockingLock) && StackWalker.getInstance()
                .walk(frames -> frames.limit(FRAMES).anyMatch(f -> STREAMS.contains(f.getClassName())));
    }

    /**
     * Sleeps as {@code sleep} does; returns whether the thread was interrupted, and if so its interrupt is cleared.
     *
     * @param direction what the thread holds besides, and waits in
     */
    static boolean sleep(Object blockingLock, DirectionLock direction, Sleep sleep) throws IOException {
        LentLock lent = new LentLock(blockingLock, direction);
        Thread.ofVirtual().name("verbena-sleep").start(() -> lent.sleepInPlace(sleep));
        try {
            return lent.await();
        } finally {
            direction.stepBack();
        }
    }

    private void sleepInPlace(Sleep sleep) {
        Throwable thrown = null;
        try {
            sleep.sleep();
        } catch (IOException | RuntimeException | Error e) {
            thrown = e;
        }
        direction.stepAside(); // the present holder may be closing the channel, and must not wait for this thread
        synchronized (lock) {
            failure = thrown;
            over = true;
            lock.notifyAll();
        }
    }

    private boolean await() throws IOException {
        boolean interrupted = false;
        synchronized (lock) {
            while (!over) {
                try {
                    lock.wait();
                } catch (InterruptedException e) {
                    interrupted = true; // the channel is being closed for it, which ends the sleep
                }
            }
            Throwable thrown = failure;
            if (thrown instanceof IOException e) {
                throw e;
            } else if (thrown != null) {
                throw new IllegalStateException("a thread that slept in place of another failed", thrown);
            }
        }
        return interrupted;
    }
}
