package org.verbena.shm;

import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

import org.verbena.linux.Doorbell;
import org.verbena.linux.Epoll;
import org.verbena.linux.Eventfd;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.spi.CounterEntry;
import org.verbena.verbs.spi.FlightEvents;

/**
 * The context's own thread: control sockets, deaths of peers, and work that waits while the application's threads are
 * elsewhere. It sleeps in {@code epoll_wait}; it ticks only for a while after something had to wait.
 */
final class Engine implements Runnable {
    private static final int TICK_MILLIS = 1;
    /** So many ticks without work, and the engine sleeps. */
    private static final int IDLE_TICKS = 10;
    private static final long WAKE = 0;
    private static final long PEERS_WAKE = 1;

    private final Epoll epoll;
    private final Fd wake;
    /** What peers ring when there is something for work that waits here. */
    private final Doorbell bell;
    private final Thread thread;
    private final CounterEntry device;
    private final AtomicLong tokens = new AtomicLong(PEERS_WAKE);
    private final Map<Long, Watch> watches = new ConcurrentHashMap<>();
    private final Map<Fd, Long> tokenOf = new ConcurrentHashMap<>();
    private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final List<Waiting> waiting = new ArrayList<>();
    private final ConcurrentLinkedQueue<Waiting> newlyWaiting = new ConcurrentLinkedQueue<>();
    private volatile boolean ticking;
    /** What waits has changed since the engine last looked. */
    private volatile boolean changed;
    private volatile boolean stopped;

    /** Called when a descriptor is ready. */
    interface Watch {
        void ready(int events);
    }

    /** Something that has to be looked after until it is done. */
    interface Waiting {
        /** Answers false when it needs no tick any more: it is done, or somebody will wake the engine for it. */
        boolean tick();

        /** Called in every round of the engine; answers true if it is over. */
        boolean wake();
    }

    /**
     * Makes one.
     *
     * @param bellName what peers know its doorbell by
     * @param device where it is counted how often it was woken
     */
    Engine(String name, String bellName, CounterEntry device) throws LinuxException {
        epoll = Epoll.create();
        Fd eventfd = null;
        Doorbell doorbell = null;
        try {
            eventfd = Eventfd.create();
            doorbell = Doorbell.bind(bellName);
            epoll.add(eventfd, Epoll.IN, WAKE);
            epoll.add(doorbell.fd(), Epoll.IN, PEERS_WAKE);
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
        this.device = device;
        wake = eventfd;
        bell = doorbell;
        thread = Thread.ofPlatform().daemon().name(name).unstarted(this);
    }

    void start() {
        thread.start();
    }

    /** Gives the descriptors back; the thread has ended or was never started. */
    void discard() {
        epoll.close();
        wake.close();
        bell.close();
    }

    boolean isCurrentThread() {
        return Thread.currentThread() == thread;
    }

    /** Runs a task on the engine's thread, soon. */
    void submit(Runnable task) {
        tasks.add(task);
        wakeUp();
    }

    private void wakeUp() {
        if (!wake.isClosed() && !isCurrentThread()) {
            try {
                Eventfd.signalQuietly(wake.value());
            } catch (IllegalStateException closedMeanwhile) {
                // the context is being closed: there is nobody to wake
            }
        }
    }

    /** Watches a descriptor until {@link #forget}. */
    void watch(Fd fd, int events, Watch w) throws LinuxException {
        long token = tokens.incrementAndGet();
        watches.put(token, w);
        tokenOf.put(fd, token);
        epoll.add(fd, events, token);
    }

    /** Changes what is watched for. */
    void rewatch(Fd fd, int events) throws LinuxException {
        Long token = tokenOf.get(fd);
        if (token != null) {
            epoll.modify(fd, events, token);
        }
    }

    /** Runs {@code action} when the descriptor is readable next; {@code first} at the first call for a descriptor. */
    void watchOnce(Fd fd, boolean first, Runnable action) throws LinuxException {
        if (first) {
            watch(fd, Epoll.IN | Epoll.ONESHOT, events -> action.run());
        } else {
            rewatch(fd, Epoll.IN | Epoll.ONESHOT);
        }
    }

    void forget(Fd fd) {
        Long token = tokenOf.remove(fd);
        if (token != null) {
            watches.remove(token);
            try {
                epoll.remove(fd);
            } catch (LinuxException | IllegalStateException e) {
                EngineLog.log(Level.DEBUG, "descriptor was closed already", e);
            }
        }
    }

    /** Looks after {@code w} from now on. */
    void lookAfter(Waiting w) {
        newlyWaiting.add(w);
        if (!ticking) {
            wakeUp();
        }
    }

    /** Looks again at what it looks after, though it may have found before that somebody would wake it. */
    void lookAgain() {
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
                FlightEvents.Sleep slept = sleep ? FlightEvents.sleeps(ShmDevice.NAME) : null;
                int n = epoll.await(sleep ? -1 : tasks.isEmpty() ? TICK_MILLIS : 0);
                if (sleep && n > 0) {
                    device.add(ShownObjects.cell(SamplePoint.DEVICE_WAKE_UPS), 1);
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
                idle = look(woken) ? 0 : Math.min(idle + 1, IDLE_TICKS);
            } catch (Throwable t) {
                // without the engine nobody would notice the death of a peer, so it goes on whatever happens
                EngineLog.log(Level.ERROR, "the engine of shm0 goes on after", t);
            }
        }
        discard();
        waiting.clear();
        newlyWaiting.clear();
        tasks.clear();
        watches.clear();
    }

    private boolean dispatch(long token, int events) throws LinuxException {
        if (token == WAKE) {
            Eventfd.drain(wake);
            return true;
        }
        if (token == PEERS_WAKE) {
            bell.silence();
            return true;
        }
        Watch w = watches.get(token);
        if (w != null) {
            guarded(() -> w.ready(events));
        }
        return false;
    }

    /** Looks at what waits; answers true if there is a reason to tick. */
    private boolean look(boolean woken) {
        boolean busy = changed;
        changed = false;
        for (Waiting w = newlyWaiting.poll(); w != null; w = newlyWaiting.poll()) {
            waiting.add(w);
            busy = true;
        }
        for (Iterator<Waiting> it = waiting.iterator(); it.hasNext();) {
            Waiting w = it.next();
            try {
                if (w.wake()) {
                    it.remove();
                    busy |= woken;
                } else {
                    busy |= w.tick();
                }
            } catch (RuntimeException e) {
                EngineLog.log(Level.ERROR, "waiting work of shm0 failed", e);
                it.remove();
            }
        }
        return busy;
    }

    private static void guarded(Runnable r) {
        try {
            r.run();
        } catch (Throwable t) {
            EngineLog.log(Level.ERROR, "a task of shm0's engine failed", t);
        }
    }

    /** Ends the thread and waits for it. */
    void stop() {
        stopped = true;
        wakeUp(); // unless it has looked meanwhile and ended
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
