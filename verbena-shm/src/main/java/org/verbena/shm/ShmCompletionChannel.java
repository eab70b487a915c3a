package org.verbena.shm;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
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
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.FlightEvents;

/** A completion channel: a doorbell that this process and its peers ring. */
final class ShmCompletionChannel extends CompletionChannel {
    /** A platform thread looks for interruption this often while it sleeps in the kernel. */
    private static final int SLICE_MILLIS = 200;

    private final ShmContext context;
    private final int id;
    private final Doorbell bell;
    private final Doorbell ringer;
    private final Fd fd;
    private final List<ShmCompletionQueue> queues = new CopyOnWriteArrayList<>();
    private final ConcurrentLinkedQueue<Thread> parked = new ConcurrentLinkedQueue<>();
    private volatile boolean watched;
    private volatile boolean closing;

    ShmCompletionChannel(ShmContext context, int id) throws VerbsException {
        super(context);
        this.context = context;
        this.id = id;
        String name = name(context.instance(), id);
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

    /** The name by which peers ring a channel of a context; 0 is its engine. */
    static String name(long instance, int id) {
        return "verbena-bell/" + Long.toHexString(instance) + "/" + id;
    }

    int id() {
        return id;
    }

    void add(ShmCompletionQueue cq) {
        queues.add(cq);
    }

    void remove(ShmCompletionQueue cq) {
        queues.remove(cq);
    }

    /** Makes the descriptor readable. */
    void signal() {
        ringer.ring();
    }

    @Override
    public int descriptor() {
        try {
            return fd.value();
        } catch (IllegalStateException e) {
            return -1; // closed
        }
    }

    @Override
    public @Nullable CompletionQueue await(Duration timeout) throws VerbsException {
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
                slept = FlightEvents.sleeps(ShmDevice.NAME);
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
        for (ShmCompletionQueue cq : queues) {
            if (found == null && cq.event(true)) {
                found = cq;
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
                context.engine().watchOnce(fd, !watched, this::unparkAll);
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
    public String describe() {
        return "completion channel " + id + " of " + context.describe();
    }

    @Override
    protected void implClose() {
        closing = true;
        signal();
        unparkAll();
        synchronized (this) {
            if (watched) {
                context.engine().forget(fd);
            }
            bell.close();
            ringer.close();
        }
    }
}
