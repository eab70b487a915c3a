// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Doorbell;
import org.verbena.linux.Epoll;
import org.verbena.linux.Eventfd;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.ServiceThread;
import org.verbena.telemetry.CounterEntry;
import org.verbena.telemetry.CounterLayout;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.telemetry.FlightEvents;

/**
 * A context's own thread: descriptors that it watches, and work that waits while the application's threads are
 * elsewhere. It sleeps in {@code epoll_wait}; it ticks only for a while after something had to wait, and wakes for
 * deadlines. Safe for use by several threads.
 */
public final class Engine implements Runnable {
    private static final int TICK_MILLIS = 1;
    private static final long NANOS_PER_MILLI = 1_000_000;
    /** After this number of ticks without work the engine sleeps. */
    private static final int IDLE_TICKS = 10;
    private static final long WAKE = 0;
    private static final long PEERS_WAKE = 1;
    /** The point's cell: its low six bits. */
    private static final int WAKE_UPS = SamplePoint.DEVICE_WAKE_UPS & CounterLayout.LARGE_CELLS - 1;

    private final Epoll epoll;
    private final Fd wake;
    /** What peers ring when there is something for work that waits here; null if they do not. */
    private final @Nullable Doorbell bell;
    private final String deviceName;
    private final Log log;
    private final Thread thread;
    private final CounterEntry device;
    private final AtomicLong tokens = new AtomicLong(PEERS_WAKE);
    private final Map<Long, Watch> watches = new ConcurrentHashMap<>();
    private final Map<Fd, Long> tokenOf = new ConcurrentHashMap<>();
    private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final List<Waiting> waiting = new ArrayList<>();
    private final ConcurrentLinkedQueue<Waiting> newlyWaiting = new ConcurrentLinkedQueue<>();
    private volatile boolean ticking;
    /** Waiting work has changed since the engine last polled it. */
    private volatile boolean changed;
    private volatile boolean stopped;

    /** Called when a descriptor is ready. */
    public interface Watch {
        /** On the engine's thread; {@code events} are those of {@link Epoll}. */
        void ready(int events);
    }

    /** Where failures are noted; never throws. */
    public interface Log {
        /** Notes one. */
        void log(Level level, String message, Throwable cause);
    }

    /** Work that is polled until it is over. */
    public interface Waiting {
        /**
         * Answers false when it needs no tick any more: it is done, or a peer or thread will wake the engine for it.
         */
        boolean tick();

        /** Called in every round of the engine; answers true if it is over. */
        boolean wake();

        /**
         * Called before the engine sleeps: the time of {@link System#nanoTime()} for the next round, {@link
         * Long#MAX_VALUE} for none.
         */
        default long deadline() {
            return Long.MAX_VALUE;
        }
    }

    /**
     * Makes one.
     *
     * @param name of the thread
     * @param deviceName in messages and events
     * @param bellName what peers know its doorbell by; null if they need none
     * @param device where it is counted how often it was woken
     */
    public Engine(String name, String deviceName, @Nullable String bellName, CounterEntry device, Log log)
            throws LinuxException {
        epoll = Epoll.create();
        Fd eventfd = null;
        Doorbell doorbell = null;
        try {
            eventfd = Eventfd.create();
            epoll.add(eventfd, Epoll.IN, WAKE);
            if (bellName != null) {
                doorbell = Doorbell.bind(bellName);
                epoll.add(doorbell.fd(), Epoll.IN, PEERS_WAKE);
            }
        } catch (LinuxException e) {
            epoll.close();
            if (eventfd != null) {
                eventfd.close();
            }
            if (doorbell != null) {
                doorbell.close();
            }
            throw e;
        }
        this.deviceName = deviceName;
        this.device = device;
        this.log = log;
        wake = eventfd;
        bell = doorbell;
        thread = ServiceThread.of(name, this);
    }

    /** Starts the thread. */
    public void start() {
        thread.start();
    }

    /** Gives the descriptors back; the thread has ended or was never started. */
    public void discard() {
        epoll.close();
        wake.close();
        if (bell != null) {
            bell.close();
        }
    }

    /** True on the engine's thread. */
    public boolean isCurrentThread() {
        return Thread.currentThread() == thread;
    }

    /** Runs a task on the engine's thread, soon. */
    public void submit(Runnable task) {
        tasks.add(task);
        wakeUp();
    }

    private void wakeUp() {
        if (!wake.isClosed() && !isCurrentThread()) {
            try {
                Eventfd.signalQuietly(wake.value());
            } catch (IllegalStateException closedMeanwhile) {
                // the context is being closed: no thread is left to wake
            }
        }
    }

    /** Watches a descriptor until {@link #forget}. */
    public void watch(Fd fd, int events, Watch w) throws LinuxException {
        long token = tokens.incrementAndGet();
        watches.put(token, w);
        tokenOf.put(fd, token);
        epoll.add(fd, events, token);
    }

    /** Changes what is watched for. */
    public void rewatch(Fd fd, int events) throws LinuxException {
        Long token = tokenOf.get(fd);
        if (token != null) {
            epoll.modify(fd, events, token);
        }
    }

    /** Runs {@code action} when the descriptor is readable next; {@code first} at the first call for a descriptor. */
    public void watchOnce(Fd fd, boolean first, Runnable action) throws LinuxException {
        if (first) {
            watch(fd, Epoll.IN | Epoll.ONESHOT, events -> action.run());
        } else {
            rewatch(fd, Epoll.IN | Epoll.ONESHOT);
        }
    }

    /** Watches a descriptor no more. */
    public void forget(Fd fd) {
        Long token = tokenOf.remove(fd);
        if (token != null) {
            watches.remove(token);
            try {
                epoll.remove(fd);
            } catch (LinuxException | IllegalStateException e) {
                log.log(Level.DEBUG, "descriptor was closed already", e);
            }
        }
    }

    /** Polls {@code w} in each round from now on, until it is over. */
    public void startPolling(Waiting w) {
        newlyWaiting.add(w);
        if (!ticking) {
            wakeUp();
        }
    }

    /** Polls waiting work again, though it may have stopped ticking because a wake-up was to come. */
    public void pollAgain() {
        if (!changed) {
            changed = true;
        }
        if (!ticking) {
            wakeUp();
        }
    }

    @Override
    public void run() {
        int idle = IDLE_TICKS;
        while (!stopped) {
            try {
                ticking = idle < IDLE_TICKS;
                boolean sleep = !ticking && tasks.isEmpty() && newlyWaiting.isEmpty() && !changed;
                FlightEvents.Sleep slept = sleep ? FlightEvents.sleeps(deviceName) : null;
                int n = epoll.await(sleep ? untilDeadline() : tasks.isEmpty() ? TICK_MILLIS : 0);
                if (sleep && n > 0) {
                    device.add(WAKE_UPS, 1);
                    if (slept != null) {
                        slept.wokenBy("the device's own thread");
                    }
                }
                boolean woken = false;
                for (int i = 0; i < n; i++) {
                    woken |= dispatch(epoll.token(i), epoll.events(i));
                }
                for (Runnable t = tasks.poll(); t != null; t = tasks.poll()) {
                    guarded(t);
                }
                idle = pollWaiting(woken) ? 0 : Math.min(idle + 1, IDLE_TICKS);
            } catch (Throwable t) {
                // without the engine the death of a peer would go unnoticed, so it continues after any error
                log.log(Level.ERROR, "the engine of " + deviceName + " goes on after", t);
            }
        }
        discard();
        waiting.clear();
        newlyWaiting.clear();
        tasks.clear();
        watches.clear();
    }

    /** Milliseconds, rounded up; -1 without a deadline. */
    private int untilDeadline() {
        long next = Long.MAX_VALUE;
        long now = System.nanoTime();
        for (int i = 0; i < waiting.size(); i++) {
            long deadline = waiting.get(i).deadline();
            if (deadline != Long.MAX_VALUE) {
                next = Math.min(next, Math.max(0, deadline - now));
            }
        }
        return next == Long.MAX_VALUE
                ? -1
                : (int) Math.min(Integer.MAX_VALUE, (next + NANOS_PER_MILLI - 1) / NANOS_PER_MILLI);
    }

    private boolean dispatch(long token, int events) throws LinuxException {
        if (token == WAKE) {
            Eventfd.drain(wake);
            return true;
        }
        if (token == PEERS_WAKE) {
            if (bell != null) {
                bell.silence();
            }
            return true;
        }
        Watch w = watches.get(token);
        if (w != null) {
            try {
                w.ready(events);
            } catch (Throwable t) {
                failed(t);
            }
        }
        return false;
    }

    /** Polls the waiting work; true if there is a reason to tick. */
    private boolean pollWaiting(boolean woken) {
        boolean busy = changed;
        changed = false;
        for (Waiting w = newlyWaiting.poll(); w != null; w = newlyWaiting.poll()) {
            waiting.add(w);
            busy = true;
        }
        for (int i = 0; i < waiting.size(); i++) { // without an iterator: a round allocates nothing
            Waiting w = waiting.get(i);
            try {
                if (w.wake()) {
                    waiting.remove(i--);
                    busy |= woken;
                } else {
                    busy |= w.tick();
                }
            } catch (RuntimeException e) {
                log.log(Level.ERROR, "waiting work of " + deviceName + " failed", e);
                waiting.remove(i--);
            }
        }
        return busy;
    }

    private void guarded(Runnable r) {
        try {
            r.run();
        } catch (Throwable t) {
            failed(t);
        }
    }

    private void failed(Throwable t) {
        log.log(Level.ERROR, "a task of the engine of " + deviceName + " failed", t);
    }

    /** Ends the thread and waits for it. */
    public void stop() {
        stopped = true;
        wakeUp(); // unless it has seen the flag meanwhile and ended
        if (isCurrentThread()) {
            return;
        }
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
    }
}
