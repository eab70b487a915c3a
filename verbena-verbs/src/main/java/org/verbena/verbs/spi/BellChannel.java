// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Doorbell;
import org.verbena.linux.Epoll;
import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Poll;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Context;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.telemetry.FlightEvents;

/**
 * A completion channel that is a {@link Doorbell}: this process rings it, and peers that know its name. Events
 * themselves wait in the completion queues, which are asked when the bell has rung.
 */
public abstract class BellChannel extends CompletionChannel {
    /** A platform thread looks for interruption this often while it sleeps in the kernel. */
    private static final int SLICE_MILLIS = 200;

    private final Context context;
    private final int id;
    private final Doorbell bell;
    private final Doorbell ringer;
    private final Fd fd;
    /** Replaced when one comes or goes: looking at them makes no object. */
    private volatile Source[] queues = {};
    private final Object changing = new Object();
    private final ConcurrentLinkedQueue<Thread> parked = new ConcurrentLinkedQueue<>();
    private volatile boolean watched;
    private volatile boolean closing;

    /** A completion queue of the channel. */
    public interface Source {
        /** The queue. */
        CompletionQueue queue();

        /** True if an event waits; then, if {@code take}, it is taken. */
        boolean event(boolean take);
    }

    /**
     * For providers.
     *
     * @param id number of the channel in messages
     * @param name what the bell is known by in this network namespace
     */
    @SuppressWarnings("this-escape") // to what is final here
    protected BellChannel(Context context, int id, String name) throws VerbsException {
        super(context);
        this.context = context;
        this.id = id;
        Doorbell bound = null;
        try {
            bound = Doorbell.bind(name);
            ringer = Doorbell.connect(name);
        } catch (LinuxException e) {
            if (bound != null) {
                bound.close();
            }
            abandon();
            throw new VerbsException("create completion channel on " + context.describe(), e);
        }
        bell = bound;
        fd = bell.fd();
        opened();
    }

    /** Runs {@code action} when the descriptor is readable next; {@code first} at the first call. */
    protected abstract void watchOnce(Fd descriptor, boolean first, Runnable action) throws LinuxException;

    /** Watches the descriptor no more. */
    protected abstract void forget(Fd descriptor);

    /** The number in messages. */
    public final int id() {
        return id;
    }

    /** Asks a queue for events from now on. */
    public final void add(Source cq) {
        synchronized (changing) {
            Source[] more = Arrays.copyOf(queues, queues.length + 1);
            more[queues.length] = cq;
            queues = more;
        }
    }

    /** Asks a queue no more. */
    public final void remove(Source cq) {
        synchronized (changing) {
            queues = Arrays.stream(queues).filter(other -> other != cq).toArray(Source[]::new);
        }
    }

    /** Makes the descriptor readable. */
    public final void signal() {
        ringer.ring();
    }

    @Override
    public final int descriptor() {
        try {
            return fd.value();
        } catch (IllegalStateException e) {
            return -1; // closed
        }
    }

    @Override
    public final @Nullable CompletionQueue await(Duration timeout) throws VerbsException {
        long nanos = TimeUnit.NANOSECONDS.convert(timeout);
        long end = System.nanoTime() + nanos;
        FlightEvents.Sleep slept = null;
        while (true) {
            CompletionQueue cq = take();
            if (cq != null) {
                if (slept != null) {
                    slept.wokenBy(describe());
                }
                return cq;
            }
            long left = end - System.nanoTime();
            if (left <= 0 || Thread.currentThread().isInterrupted()) {
                return null;
            }
            if (slept == null) {
                slept = FlightEvents.sleeps(context.device().name());
            }
            try {
                if (Thread.currentThread().isVirtual()) {
                    park(left);
                } else {
                    Poll.await(fd, Epoll.IN, (int) Math.min(SLICE_MILLIS, TimeUnit.NANOSECONDS.toMillis(left) + 1));
                }
            } catch (IllegalStateException e) {
                throw new VerbsException("await event on " + describe(), Errno.EINVAL, "the channel was closed");
            } catch (LinuxException e) {
                throw new VerbsException("await event on " + describe(), e);
            }
        }
    }

    /** Takes an event, and leaves the descriptor readable if and only if another one waits. */
    private synchronized @Nullable CompletionQueue take() throws VerbsException {
        if (closing || isClosed()) {
            throw new VerbsException("await event on " + describe(), Errno.EINVAL, "the channel is closed");
        }
        bell.silence();
        CompletionQueue found = null;
        for (Source cq : queues) {
            if (found == null && cq.event(true)) {
                found = cq.queue();
            } else if (found != null && cq.event(false)) {
                signal();
                break;
            }
        }
        return found;
    }

    /** Parks a virtual thread until the engine sees the descriptor readable; no carrier blocks in the kernel. */
    private void park(long nanos) throws LinuxException {
        Thread self = Thread.currentThread();
        parked.add(self);
        try {
            synchronized (parked) {
                watchOnce(fd, !watched, this::unparkAll);
                watched = true;
            }
            LockSupport.parkNanos(this, nanos);
        } finally {
            parked.remove(self);
        }
    }

    private void unparkAll() {
        for (Thread t : parked) {
            LockSupport.unpark(t);
        }
    }

    @Override
    public final String describe() {
        return "completion channel " + id + " of " + context.describe();
    }

    @Override
    protected final void implClose() {
        closing = true;
        signal();
        unparkAll();
        synchronized (this) {
            if (watched) {
                forget(fd);
            }
            bell.close();
            ringer.close();
        }
    }
}
