// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.Arena;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import org.verbena.linux.Epoll;
import org.verbena.linux.Errno;
import org.verbena.linux.Eventfd;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.ServiceThread;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.AsyncEvent;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.VerbsObject;

/**
 * The context's own thread: it sleeps until the device has asynchronous events, or until a channel is readable that a
 * virtual thread waits for. Events are acknowledged before they are raised, so that a thread that closes an object does
 * not wait for an application that does not read its events.
 */
final class Events implements Runnable {
    private static final long WAKE = 0;
    private static final long ASYNC = 1;
    private static final AtomicInteger THREADS = new AtomicInteger();

    private final RdmaContext context;
    private final NativeContext verbs;
    private final Epoll epoll;
    private final Fd wake;
    /** A duplicate: the context's own is closed with it. */
    private final Fd async;
    private final Thread thread;
    private final AtomicLong tokens = new AtomicLong(ASYNC);
    private final Map<Long, Watched> watches = new ConcurrentHashMap<>();
    private final Map<Long, Runnable> readers = new ConcurrentHashMap<>();
    private volatile boolean stopped;

    Events(RdmaContext context, NativeContext verbs) throws LinuxException {
        this.context = context;
        this.verbs = verbs;
        epoll = Epoll.create();
        Fd eventfd = null;
        Fd copy = null;
        try {
            eventfd = Eventfd.create();
            epoll.add(eventfd, Epoll.IN, WAKE);
            copy = Fd.duplicate(RawMemory.getInt(verbs.address + Layout.CONTEXT_ASYNC_FD));
            copy.setNonBlocking(true); // an event may disappear, with its object, before it is read
            epoll.add(copy, Epoll.IN, ASYNC);
        } catch (LinuxException e) {
            epoll.close();
            if (eventfd != null) {
                eventfd.close();
            }
            if (copy != null) {
                copy.close();
            }
            throw e;
        }
        wake = eventfd;
        async = copy;
        thread = ServiceThread.of("verbena-rdmacore-events-" + THREADS.incrementAndGet(), this);
    }

    void start() {
        thread.start();
    }

    /** Ends the thread, which makes no native call after this returns. */
    void stop() {
        stopped = true;
        Eventfd.signalQuietly(wake.value());
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        epoll.close();
        wake.close();
        async.close();
    }

    @Override
    public void run() {
        try {
            while (!stopped) {
                int n = epoll.await(-1);
                for (int i = 0; i < n && !stopped; i++) {
                    long token = epoll.token(i);
                    if (token == ASYNC) {
                        readEvent();
                    } else if (token != WAKE) {
                        Watched w = watches.get(token);
                        Runnable r = readers.get(token);
                        if (w != null) {
                            w.unparkAll();
                        } else if (r != null) {
                            r.run();
                        }
                    }
                }
            }
        } catch (LinuxException | VerbsException e) {
            System.getLogger("org.verbena.verbs").log(System.Logger.Level.WARNING,
                    "no more asynchronous events of {0}: {1}",
                    context.describe(), e.getMessage());
        }
    }

    /** Reads one event, if it is still pending. */
    private void readEvent() throws VerbsException, LinuxException {
        String verb = "get async event of " + context.describe();
        try (Arena arena = Arena.ofConfined()) {
            Struct s = new Struct(arena, Layout.EVENT_BYTES);
            try {
                Calls.zero(verb, verbs.function(verb, IbvFunction.GET_ASYNC_EVENT), verbs.address, s.address());
            } catch (VerbsException e) {
                if (e.errno() == Errno.EAGAIN || e.errno() == Errno.EINTR) {
                    return;
                }
                throw e;
            }
            int type = s.getInt(Layout.EVENT_TYPE);
            VerbsObject element = isOfDevice(type) ? context : context.object(s.getLong(0));
            AsyncEvent event = element == null // the object was closed meanwhile
                    ? null
                    : AsyncEvent.builder(type, element).detail(isOfPort(type) ? "port " + s.getInt(0) : "").build();
            Calls.call(verbs.function(verb, IbvFunction.ACK_ASYNC_EVENT), s.address());
            if (event != null) {
                context.raise(event);
            }
        }
    }

    /** True for events of no object but the context. */
    private static boolean isOfDevice(int type) {
        return type == AsyncEventType.DEVICE_FATAL || isOfPort(type);
    }

    private static boolean isOfPort(int type) {
        return switch (type) {
            case AsyncEventType.PORT_ACTIVE, AsyncEventType.PORT_ERR, AsyncEventType.LID_CHANGE,
                    AsyncEventType.PKEY_CHANGE, AsyncEventType.SM_CHANGE, AsyncEventType.CLIENT_REREGISTER,
                    AsyncEventType.GID_CHANGE, AsyncEventType.DEVICE_SPEED_CHANGE ->
                true;
            default -> false;
        };
    }

    /**
     * Runs {@code reader} on the context's thread whenever {@code fd} is readable, until it is closed. The reader does
     * not block and throws nothing.
     */
    void whenReadable(Fd fd, Runnable reader) throws LinuxException {
        long token = tokens.incrementAndGet();
        readers.put(token, reader);
        epoll.add(fd, Epoll.IN, token);
    }

    Watched watched(Fd fd) {
        return new Watched(fd);
    }

    /** A descriptor that virtual threads wait for, without blocking their carrier threads in the kernel. */
    final class Watched {
        private final Fd fd;
        private final long token = tokens.incrementAndGet();
        private final ConcurrentLinkedQueue<Thread> parked = new ConcurrentLinkedQueue<>();
        private boolean added;

        private Watched(Fd fd) {
            this.fd = fd;
        }

        /** Parks until the descriptor is readable, or spuriously. */
        void park(long nanos) throws LinuxException {
            Thread self = Thread.currentThread();
            parked.add(self);
            try {
                synchronized (this) {
                    if (added) {
                        epoll.modify(fd, Epoll.IN | Epoll.ONESHOT, token);
                    } else {
                        watches.put(token, this);
                        epoll.add(fd, Epoll.IN | Epoll.ONESHOT, token);
                        added = true;
                    }
                }
                LockSupport.parkNanos(this, nanos);
            } finally {
                parked.remove(self);
            }
        }

        private void unparkAll() {
            parked.forEach(LockSupport::unpark);
        }

        /** The descriptor is about to be closed. */
        void close() {
            synchronized (this) {
                watches.remove(token);
                if (added) {
                    try {
                        epoll.remove(fd);
                    } catch (LinuxException e) {
                        // closing the descriptor removes it from the epoll set
                    }
                }
            }
            unparkAll();
        }
    }
}
