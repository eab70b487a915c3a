// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.control;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.shm.layout.ControlMessage;

/**
 * Messages for which the control socket of a session had no room, in order. Any thread sends, the engine's thread flushes.
 *
 * <p>A peer whose engine has no processor for a while must not lose its session by that, however fast this process continues: callers
 * that may block wait above the high watermark, and the peer is given up only when it has taken no message for some seconds.
 */
public final class Outbox {
    /** Above this number of messages, callers that may block wait. */
    public static final int HIGH_WATERMARK = 4096;
    /** A peer that takes no message for this time, above the high watermark, is given up. */
    static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final Wire wire;
    private final LongSupplier clock;
    private final ArrayDeque<Outgoing> messages = new ArrayDeque<>();
    /** When the peer last took a message; valid while messages wait. */
    private long taken;
    private boolean ended;

    /** The control socket; called under the outbox's lock. */
    interface Wire {
        /** Sends a message: 0, or an errno. */
        int transmit(ControlMessage.Writer message, @Nullable Fd fd);

        /** Has {@link #flush} called when there is room, or no more. */
        void watchForRoom(boolean on);
    }

    private record Outgoing(ControlMessage.Writer message, @Nullable Fd fd) {}

    Outbox(Wire wire, LongSupplier clock) {
        this.wire = wire;
        this.clock = clock;
    }

    /**
     * Sends a message, or keeps it until there is room; never waits.
     *
     * @return 0, {@code ETIMEDOUT} if the peer is to be given up, or why the message cannot be sent
     */
    synchronized int send(ControlMessage.Writer message, @Nullable Fd fd) {
        if (ended) {
            return 0;
        }
        if (messages.isEmpty()) {
            int error = wire.transmit(message, fd);
            if (error != Errno.EAGAIN) {
                return error;
            }
            taken = clock.getAsLong();
            wire.watchForRoom(true);
        } else if (isStuck()) {
            return Errno.ETIMEDOUT;
        }
        messages.add(new Outgoing(message, fd));
        return 0;
    }

    private boolean isStuck() {
        return messages.size() >= HIGH_WATERMARK && clock.getAsLong() - taken > TIMEOUT_NANOS;
    }

    /** The socket has room again. */
    synchronized void flush() {
        int before = messages.size();
        while (!messages.isEmpty()) {
            Outgoing o = messages.element();
            if (wire.transmit(o.message, o.fd) == Errno.EAGAIN) {
                break;
            }
            messages.remove();
        }
        if (messages.size() < before) {
            taken = clock.getAsLong();
            notifyAll();
        }
        if (messages.isEmpty()) {
            wire.watchForRoom(false);
        }
    }

    /**
     * Waits above the high watermark: for callers about to send messages, before they take a lock, and not for the engine's thread.
     *
     * @return false if the peer is to be given up
     */
    synchronized boolean awaitRoom() {
        while (messages.size() >= HIGH_WATERMARK) {
            if (isStuck()) {
                return false;
            }
            try {
                wait(TimeUnit.NANOSECONDS.toMillis(TIMEOUT_NANOS) / 10);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt(); // the call continues without the wait
                return true;
            }
        }
        return true;
    }

    /** Drops all messages, and those that are sent later. */
    synchronized void end() {
        ended = true;
        messages.clear();
        notifyAll();
    }
}
