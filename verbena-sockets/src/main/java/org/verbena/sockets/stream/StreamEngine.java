// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;
import sun.nio.ch.SelChImpl;

import org.verbena.linux.Epoll;
import org.verbena.linux.Errno;
import org.verbena.linux.Eventfd;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.ServiceThread;
import org.verbena.linux.SockDiag;
import org.verbena.sockets.stream.memory.Arena;
import org.verbena.sockets.stream.memory.StreamLog;
import org.verbena.verbs.VerbsException;

/**
 * The thread behind the streams of this process: it runs the handshakes, notices other processes' deaths and
 * gives memory back. It starts with the first connection, and sleeps when there is nothing to do.
 */
final class StreamEngine {
    private static final long FIRST_TICK_NANOS = 10_000_000L;
    private static final long LAST_TICK_NANOS = 1_000_000_000L;
    private static final long FIRST_DECISION_NANOS = 500_000L;
    private static final long LAST_DECISION_NANOS = 100_000_000L;
    /** Connections that live no longer than this are spared the handshake, and the engine its wake-ups. */
    private static final long HANDSHAKE_DELAY_NANOS = 1000L * Math.clamp(Long.getLong("verbena.stream.delay", 2000), 0,
            60_000_000);
    /**
     * Those that are older begin together with others: this long after the first of them was made, and again after
     * that.
     */
    private static final long BATCH_NANOS = HANDSHAKE_DELAY_NANOS + HANDSHAKE_DELAY_NANOS / 2;

    /** What has run out is asked for again after this time. */
    private static final long RETRY_NANOS = 500_000_000L;
    /** After what seems to be lacking for good: a lack of descriptors has many faces. */
    private static final long LACK_RETRY_NANOS = 10_000_000_000L;
    private static final Set<FallbackReason> LOGGED = ConcurrentHashMap.newKeySet();

    /** Something to be done later; the engine's thread alone deals with it. */
    static final class Timer {
        private final long at;
        private @Nullable Runnable task;

        private Timer(long at, Runnable task) {
            this.at = at;
            this.task = task;
        }

        /** Nothing will be done; whatever the task holds may go now rather than when it would have been due. */
        void cancel() {
            task = null;
        }
    }

    /** What runs when a TCP socket ends. */
    private record End(int fd, Runnable callback) {}

    /**
     * The engine, made with the first connection. What it lacks may be there later: then a later connection makes it.
     */
    private static final class Holder {
        private static volatile @Nullable StreamEngine engine;
        private static FallbackReason reason = FallbackReason.NONE;
        private static long again;

        private Holder() {}

        static @Nullable StreamEngine started() {
            return engine;
        }

        /** Null if there is none now, for the reason {@link #why}. */
        static @Nullable StreamEngine start() {
            StreamEngine started = engine;
            return started != null ? started : startOne();
        }

        private static synchronized @Nullable StreamEngine startOne() {
            if (engine == null && (reason == FallbackReason.NONE || System.nanoTime() - again >= 0)) {
                try {
                    engine = startNew();
                } catch (LinuxException e) {
                    reason = StreamEngine.reason(e);
                    reportLack(reason, String.valueOf(e.getMessage()));
                } catch (OutOfMemoryError e) { // or no thread can be started
                    reason = FallbackReason.NO_MEMORY;
                    reportLack(reason, String.valueOf(e.getMessage()));
                } catch (RuntimeException | LinkageError e) {
                    reason = FallbackReason.UNAVAILABLE;
                    reportLack(reason, String.valueOf(e.getMessage()));
                }
                again = System.nanoTime() + retryNanos(reason);
            }
            return engine;
        }

        static synchronized FallbackReason why() {
            return reason;
        }
    }

    private final Epoll epoll;
    private final Fd wake;
    private final SockDiag diag;
    private final ListenPermits listening = new ListenPermits(Descriptors::most);
    private final Queue<Runnable> jobs = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean awake = new AtomicBoolean(true);
    private final Queue<Handshake> beginning = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean beginningDue = new AtomicBoolean();
    private final Map<Integer, Runnable> watched = new HashMap<>();
    private final Map<RingStream, End> ends = new HashMap<>();
    private final PriorityQueue<Timer> timers = new PriorityQueue<>(Comparator.comparingLong(t -> t.at));
    private final List<Link> lingering = new ArrayList<>();
    private long tickNanos = FIRST_TICK_NANOS;
    private @Nullable Sessions sessions;
    private @Nullable VerbsException unavailable;
    private long sessionsAgain;
    private boolean neverAgain;
    private final Map<String, RemoteSessions> remotes = new HashMap<>();

    private StreamEngine(Epoll epoll, Fd wake, SockDiag diag) throws LinuxException {
        this.epoll = epoll;
        this.wake = wake;
        this.diag = diag;
        epoll.add(wake, Epoll.IN, wake.value());
    }

    private static StreamEngine startNew() throws LinuxException {
        if (!Descriptors.areAmple()) {
            throw new LinuxException("begin streams: " + Descriptors.SCARCE, Errno.EMFILE);
        }
        Deque<AutoCloseable> made = new ArrayDeque<>();
        try {
            Epoll epoll = Epoll.create();
            made.push(epoll);
            Fd wake = Eventfd.create();
            made.push(wake);
            SockDiag diag = SockDiag.open();
            made.push(diag);
            StreamEngine engine = new StreamEngine(epoll, wake, diag);
            ServiceThread.start("verbena-stream-engine", engine::run);
            made.clear();
            return engine;
        } finally {
            made.forEach(StreamEngine::closeQuietly);
        }
    }

    static void closeQuietly(AutoCloseable what) {
        try {
            what.close();
        } catch (Exception e) {
            StreamLog.debug("not closed: " + e);
        }
    }

    /** Starts to find the other end of a connection; does not block. */
    static void begin(RingStream stream) {
        StreamEngine engine = Holder.start();
        if (engine == null) {
            stream.fallBack(Holder.why());
        } else {
            Handshake handshake = Handshake.of(engine, stream);
            stream.handshake(handshake);
            engine.begin(handshake);
        }
    }

    /** Has a device opened, so that peers on other hosts find it. */
    static void expect(String device) {
        StreamEngine engine = Holder.start();
        if (engine != null) {
            engine.submit(() -> engine.remotes(device).listen());
        }
    }

    /** Whether there is one: the first handshake of this process has begun. */
    static boolean isStarted() {
        return Holder.started() != null;
    }

    /** Has the engine's thread do something, if there is one. */
    static void submitIfStarted(Runnable job) {
        StreamEngine engine = Holder.started();
        if (engine != null) {
            engine.submit(job);
        }
    }

    /** A stream was closed: its memory is given back when the peer has closed it too. */
    static void closed(RingStream stream) {
        StreamEngine engine = Holder.started();
        if (engine == null) {
            return;
        }
        if (stream.isHandshakeComplete()) {
            engine.submit(() -> {
                engine.unwatch(stream);
                engine.linger(stream);
            });
        } else {
            Handshake handshake = stream.handshake();
            if (handshake != null && handshake.isStarted()) {
                engine.submit(handshake::streamClosed);
            }
        }
    }

    /** Memory of rings is not used any more: it is given back, unless it is used again soon. */
    static void closeIdleLater(Arena arena) {
        StreamEngine engine = Holder.started();
        if (engine != null) {
            engine.submit(() -> engine.closeIdle(arena, Arena.IDLE_NANOS));
        }
    }

    /** What this process lacks: reported once for each reason, and counted. */
    static void reportLack(FallbackReason reason, String what) {
        if (LOGGED.add(reason)) {
            String line = "connections stay with TCP, " + reason + ": " + what + " (reported once, counted each time)";
            if (reason == FallbackReason.NO_DESCRIPTORS) { // a logger that opens its files now fails for good
                System.err.println("verbena: " + line);
            } else {
                StreamLog.warn(line);
            }
        }
    }

    /** Another part has reported what this process lacks. */
    static void isLogged(FallbackReason reason) {
        LOGGED.add(reason);
    }

    static FallbackReason reason(LinuxException e) {
        return reason(e.errno(), FallbackReason.UNAVAILABLE);
    }

    private static long retryNanos(FallbackReason why) {
        return why == FallbackReason.UNAVAILABLE ? LACK_RETRY_NANOS : RETRY_NANOS;
    }

    /** @param otherwise the reason if the error does not mean that something has run out */
    static FallbackReason reason(int errno, FallbackReason otherwise) {
        return switch (errno) {
            case Errno.EMFILE, Errno.ENFILE -> FallbackReason.NO_DESCRIPTORS;
            case Errno.ENOMEM, Errno.ENOBUFS, Errno.ENOSPC, Errno.EFBIG -> FallbackReason.NO_MEMORY;
            default -> otherwise;
        };
    }

    /** Starts a handshake in a moment, together with others of that moment; without a delay the moment is now. */
    private void begin(Handshake handshake) {
        beginning.add(handshake);
        if (beginningDue.compareAndSet(false, true)) {
            submit(this::startLater);
        }
    }

    private void startLater() {
        at(System.nanoTime() + BATCH_NANOS, this::startHandshakes);
    }

    private void startHandshakes() {
        beginningDue.set(false);
        long now = System.nanoTime();
        Handshake first;
        while ((first = beginning.peek()) != null) { // the oldest
            if (first.isOpenedAfter(now - HANDSHAKE_DELAY_NANOS)) {
                if (beginningDue.compareAndSet(false, true)) {
                    startLater();
                }
                return;
            }
            beginning.remove();
            jobs.add(first::start); // each by itself: one that fails takes no other with it
        }
    }

    /** Has the engine's thread do something. */
    void submit(Runnable job) {
        jobs.add(job);
        if (!awake.get() && awake.compareAndSet(false, true)) {
            Eventfd.signalQuietly(wake.value());
        }
    }

    // for the engine's thread

    SockDiag diag() {
        return diag;
    }

    ListenPermits listening() {
        return listening;
    }

    /**
     * @throws VerbsException if there is no device, or something has run out; it is tried again after a while
     */
    Sessions sessions() throws VerbsException {
        if (unavailable != null && (neverAgain || System.nanoTime() - sessionsAgain < 0)) {
            throw unavailable;
        }
        Sessions open = sessions;
        if (open == null) {
            try {
                Descriptors.requireAmple("begin sessions");
                open = new Sessions(this);
                Sessions made = open;
                watch(Fd.of(open.events().descriptor()), Epoll.IN, made::pollFailures);
                sessions = open;
            } catch (VerbsException e) {
                throw temporarilyUnavailable(e);
            } catch (OutOfMemoryError e) { // no thread, as the JVM reports it, or no memory
                throw temporarilyUnavailable(new VerbsException("begin sessions", Errno.ENOMEM, String.valueOf(e
                        .getMessage())));
            } catch (LinuxException e) {
                unavailable = new VerbsException("watch sessions", e);
                neverAgain = true; // its threads run already
                throw unavailable;
            }
        }
        return open;
    }

    /** The sessions with processes on other hosts that a device carries. */
    RemoteSessions remotes(String device) {
        return remotes.computeIfAbsent(device, d -> new RemoteSessions(this, d));
    }

    private VerbsException temporarilyUnavailable(VerbsException e) {
        unavailable = e;
        sessionsAgain = System.nanoTime() + retryNanos(reason(e.errno(), FallbackReason.UNAVAILABLE));
        return e;
    }

    /** Cancels a wait for a session. */
    void forget(long peer, Stream.Role role, Sessions.SessionRequest asking) {
        Sessions open = sessions;
        if (open != null) {
            open.forget(peer, role, asking);
        }
    }

    /** Why no session came about with a process that left. */
    FallbackReason noSessionReason(long peer, Stream.Role role) {
        Sessions open = sessions;
        return open == null ? FallbackReason.NO_SESSION : open.missingReason(peer, role);
    }

    void watch(Fd fd, int events, Runnable handler) throws LinuxException {
        epoll.add(fd, events, fd.value());
        watched.put(fd.value(), handler);
    }

    /** Before the descriptor is closed. */
    void forget(Fd fd) {
        watched.remove(fd.value());
        try {
            epoll.remove(fd);
        } catch (LinuxException e) {
            // closing it takes it out as well
        }
    }

    /** Informs a stream of the end of its TCP, beside readers and writers: a ring does not show it. */
    void watchTcp(RingStream stream) {
        if (!(stream.tcp() instanceof SelChImpl channel) || stream.isClosed()) {
            return;
        }
        Runnable callback = () -> {
            stream.tcpEnded();
            awaitDecision(stream, FIRST_DECISION_NANOS);
        };
        int fd = channel.getFDVal();
        try {
            epoll.add(Fd.of(fd), Epoll.RDHUP | Epoll.ET, fd); // errors and the end of both halves are always reported
            if (stream.isClosed()) { // meanwhile: the number may be another's, which is added by this thread alone
                epoll.remove(Fd.of(fd));
                return;
            }
            watched.put(fd, callback);
            ends.put(stream, new End(fd, callback));
            stream.in().watched();
            stream.changed(); // a thread that waits for its end may sleep at a bell now
        } catch (LinuxException e) {
            StreamLog.debug("the end of a connection is noticed late: " + e.getMessage());
        }
    }

    /**
     * Its TCP socket is closed, or about to be: then the kernel forgets it, and its number may be another's already.
     */
    private void unwatch(RingStream stream) {
        End end = ends.remove(stream);
        if (end != null) {
            watched.remove(end.fd, end.callback);
        }
    }

    /** What an end of TCP means may take a moment to decide. */
    private void awaitDecision(RingStream stream, long pauseNanos) {
        if (stream.isUndecided()) {
            at(System.nanoTime() + pauseNanos, () -> awaitDecision(stream, Math.min(2 * pauseNanos,
                    LAST_DECISION_NANOS)));
        }
    }

    private void closeIdle(Arena arena, long nanos) {
        at(System.nanoTime() + nanos, () -> {
            long left = arena.closeIdle(System.nanoTime());
            if (left != Long.MAX_VALUE) {
                closeIdle(arena, left);
            }
        });
    }

    Timer at(long nanoTime, Runnable task) {
        Timer timer = new Timer(nanoTime, task);
        timers.add(timer);
        return timer;
    }

    void linger(RingStream stream) {
        Link link = stream.takeLink();
        if (link != null) {
            if (link.isReleasable()) {
                link.release();
            } else {
                lingering.add(link);
                tickNanos = FIRST_TICK_NANOS;
            }
        }
    }

    private void run() {
        while (true) {
            try {
                runOnce();
            } catch (LinuxException | RuntimeException | Error e) {
                StreamLog.error("the engine of streams", e);
            }
        }
    }

    private void runOnce() throws LinuxException {
        runJobs();
        long wait = Math.min(nextTimer(), reclaim());
        awake.set(false);
        if (!jobs.isEmpty()) {
            awake.set(true);
            return;
        }
        int n = epoll.await(wait == Long.MAX_VALUE ? -1 : (int) Math.min((wait + 999_999) / 1_000_000, 60_000));
        awake.set(true);
        for (int i = 0; i < n; i++) {
            int fd = (int) epoll.token(i);
            if (fd == wake.value()) {
                Eventfd.drain(wake);
                continue;
            }
            Runnable handler = watched.get(fd);
            if (handler != null) {
                handler.run();
            }
        }
        runTimers(); // after what came: a machine that is slow is no peer that is silent
    }

    private void runJobs() {
        Runnable job;
        while ((job = jobs.poll()) != null) {
            job.run();
        }
    }

    /** Nanoseconds until a timer is due; 0 or less if one is. */
    private long nextTimer() {
        Timer next = timers.peek();
        return next == null ? Long.MAX_VALUE : Math.max(0, next.at - System.nanoTime());
    }

    private void runTimers() {
        long now = System.nanoTime();
        Timer next;
        while ((next = timers.peek()) != null && next.at - now <= 0) {
            timers.poll();
            Runnable task = next.task;
            if (task != null) {
                task.run();
            }
        }
    }

    /** Gives back what the peers have let go. */
    private long reclaim() {
        Sessions open = sessions;
        boolean busy = open != null && open.pollBusy();
        for (RemoteSessions remote : remotes.values()) {
            busy |= remote.pollBusy();
        }
        int before = lingering.size();
        lingering.removeIf(link -> {
            boolean releasable = link.isReleasable();
            if (releasable) {
                link.release();
            } else {
                link.session.probe();
            }
            return releasable;
        });
        boolean dead = false;
        if (open != null) {
            open.closeFailed();
            dead = open.hasFailed();
        }
        for (RemoteSessions remote : remotes.values()) {
            remote.closeFailed();
            dead |= remote.hasFailed();
        }
        if (busy) {
            return 1_000_000;
        }
        if (lingering.isEmpty() && !dead) {
            tickNanos = FIRST_TICK_NANOS;
            return Long.MAX_VALUE;
        }
        tickNanos = lingering.size() < before ? FIRST_TICK_NANOS : Math.min(2 * tickNanos, LAST_TICK_NANOS);
        return tickNanos;
    }
}
