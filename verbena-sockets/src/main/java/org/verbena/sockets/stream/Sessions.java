// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.ServiceThread;
import org.verbena.sockets.stream.memory.StreamLog;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.Context;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;

/**
 * The sessions of this process, one for each other process. Of two processes the one with the lower number connects; in
 * a session of a process with itself, the end that connected the TCP socket. The map is for the engine's thread alone;
 * connecting and accepting, which wait, have threads of their own.
 */
final class Sessions {
    static final int MAGIC = 0x5653_4531; // the version of a session's layout is in it
    /** Other processes that are remembered to have been refused: those that are gone are not removed. */
    private static final int MAX_REFUSED = 64;

    /** @param accepts whether this process is the one that is connected to */
    private record Key(long instance, boolean accepts) {
        // a record's own methods have the JVM make classes for them, which the first connection would wait for

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Key k && instance == k.instance && accepts == k.accepts;
        }

        @Override
        public int hashCode() {
            return Long.hashCode(instance) * 2 + (accepts ? 1 : 0);
        }
    }

    /** A wait for a session. */
    @FunctionalInterface
    interface SessionRequest {
        /**
         * It waits no more.
         *
         * @param session null if there is none to be had, for the reason {@code why}
         */
        void found(@Nullable Session session, FallbackReason why);
    }

    private static final class Entry {
        @Nullable Session session;
        final List<SessionRequest> waiting = new ArrayList<>();
    }

    /** The system property with the name of the device that carries streams. */
    static final String DEVICE = "verbena.stream.device";

    private final StreamEngine engine;
    private final Context context;
    private final CompletionChannel events;
    private final ConnectionListener listener;
    private final long instance;
    private final Map<Key, Entry> entries = new HashMap<>();
    private final FailedSessions failures;
    /** Sessions that this process could not take when the other one last asked, and why; the eldest goes first. */
    private final LinkedHashMap<Key, FallbackReason> refused = new LinkedHashMap<>();

    /** @throws VerbsException without a device, or memory */
    Sessions(StreamEngine engine) throws VerbsException {
        this.engine = engine;
        instance = new SplittableRandom(System.nanoTime() ^ ProcessHandle.current().pid() * 0x9e3779b97f4a7c15L)
                .nextLong();
        Deque<AutoCloseable> made = new ArrayDeque<>(); // to be closed in the opposite order
        try {
            context = Verbs.open(System.getProperty(DEVICE, "shm0"));
            made.push(context);
            events = context.createCompletionChannel();
            made.push(events);
            listener = context.connectionManager().listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            made.push(listener);
            ServiceThread.start("verbena-stream-accept", this::acceptAll);
            ExitHook.announce(context);
        } catch (Throwable t) { // an error too: that of a thread that cannot be had
            made.forEach(StreamEngine::closeQuietly);
            throw t;
        }
        failures = new FailedSessions(engine, events, session -> entries.values().removeIf(
                entry -> entry.session == session));
    }

    long instance() {
        return instance;
    }

    /** Where sessions are taken. */
    int port() {
        return listener.localAddress().getPort();
    }

    /** Its descriptor is readable when a session has died. */
    CompletionChannel events() {
        return events;
    }

    private Key key(long peer, Stream.Role role) {
        return new Key(peer,
                peer == instance ? role == Stream.Role.SERVER : Long.compareUnsigned(peer, instance) < 0);
    }

    /** Gives the session with another process to the caller, now or later. */
    void obtain(long peer, int port, Stream.Role role, SessionRequest then) {
        Key key = key(peer, role);
        Entry entry = entries.get(key);
        if (entry != null && entry.session != null && entry.session.isFailed()) {
            entry = null;
        }
        if (entry != null && entry.session != null) {
            then.found(entry.session, FallbackReason.NONE);
            return;
        }
        boolean first = entry == null;
        if (entry == null) {
            entry = new Entry();
            entries.put(key, entry);
        }
        entry.waiting.add(then);
        if (first && !key.accepts()) {
            try {
                ServiceThread.start("verbena-stream-connect", () -> connect(key, port));
            } catch (OutOfMemoryError e) { // no thread, as the JVM reports it
                failed(key, e);
            }
        }
    }

    /** Cancels a wait: the other process may never connect. */
    void forget(long peer, Stream.Role role, SessionRequest then) {
        Key key = key(peer, role);
        Entry entry = entries.get(key);
        if (entry != null && entry.waiting.remove(then) && entry.waiting.isEmpty() && entry.session == null
                && key.accepts()) {
            entries.remove(key);
        }
    }

    /**
     * Why there is no session with a process that asked for one and has gone without an offer: the connection that it
     * asked for may be greeted only after this process has refused.
     */
    FallbackReason missingReason(long peer, Stream.Role role) {
        return refused.getOrDefault(key(peer, role), FallbackReason.NO_SESSION);
    }

    private void connect(Key key, int port) {
        Session session = null;
        try {
            session = newSession(key.instance());
            Connection connection = context.connectionManager().connect(session.queuePair(),
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), port), parameters(session));
            connected(session, connection, connection.privateData());
            Session made = session;
            engine.submit(() -> ready(key, made, FallbackReason.NONE));
        } catch (VerbsException | RuntimeException | LinkageError | OutOfMemoryError e) {
            close(session);
            failed(key, e);
        }
    }

    /** There is no session: informs its waiters. */
    private void failed(Key key, Throwable e) {
        FallbackReason why = e instanceof VerbsException v
                ? StreamEngine.reason(v.errno(), FallbackReason.NO_SESSION)
                : e instanceof OutOfMemoryError ? FallbackReason.NO_MEMORY : FallbackReason.NO_SESSION;
        String what = String.valueOf(e instanceof Error ? e : e.getMessage());
        if (why == FallbackReason.NO_SESSION) {
            StreamLog.debug("no session with another process: " + what); // which may be gone
        } else {
            StreamEngine.reportLack(why, what);
        }
        engine.submit(() -> {
            Entry entry = entries.get(key);
            if (entry == null || entry.session == null) {
                ready(key, null, why);
            }
        });
    }

    private void acceptAll() {
        try {
            while (true) {
                ConnectionRequest request = listener.awaitRequest(Duration.ofDays(1));
                if (request != null) {
                    acceptAndLogFailure(request);
                }
            }
        } catch (VerbsException e) {
            StreamLog.warn("no more sessions are taken: " + e.getMessage());
        }
    }

    /**
     * An error of one session, even while its failure is reported, must not end this thread, the only one that accepts.
     */
    private void acceptAndLogFailure(ConnectionRequest request) {
        try {
            accept(request);
        } catch (RuntimeException | LinkageError | OutOfMemoryError e) {
            StreamLog.debug("a session was not taken: " + e);
        }
    }

    private void accept(ConnectionRequest request) {
        Session session = null;
        Key key = null;
        try {
            if (Rendezvous.take(request)) {
                return;
            }
            byte[] data = request.privateData();
            if (data.length != 24 || ByteBuffer.wrap(data).getInt() != MAGIC) {
                request.reject();
                return;
            }
            key = new Key(ByteBuffer.wrap(data).getLong(4), true);
            session = newSession(key.instance());
            Connection connection = request.accept(session.queuePair(), parameters(session));
            connected(session, connection, data);
            Key of = key;
            Session made = session;
            engine.submit(() -> ready(of, made, FallbackReason.NONE));
        } catch (VerbsException | RuntimeException | LinkageError | OutOfMemoryError e) {
            close(session);
            if (key != null) {
                failed(key, e);
            }
            engine.submit(() -> refuse(request)); // after those here have been informed of the reason
        }
    }

    /** Unless it was answered already: the other process need not wait for its time-out. */
    private static void refuse(ConnectionRequest request) {
        try {
            request.reject();
        } catch (VerbsException e) {
            StreamLog.debug("a session was not taken: " + e.getMessage());
        }
    }

    private Session newSession(long peer) throws VerbsException {
        Descriptors.requireAmple("begin a session with another process");
        return new Session(context, peer, events, () -> engine.submit(() -> {}), Long.getLong("verbena.stream.memory",
                1L << 30));
    }

    private ConnectionParameters parameters(Session session) {
        byte[] data = ByteBuffer.allocate(24).putInt(MAGIC).putLong(instance).putLong(session.header().address())
                .putInt(session.header().rkey()).array();
        return ConnectionParameters.builder().privateData(data).build();
    }

    private static void connected(Session session, Connection connection, byte[] data) throws VerbsException {
        if (data.length != 24 || ByteBuffer.wrap(data).getInt() != MAGIC) {
            throw new IllegalStateException("the other process has another version of sessions");
        }
        session.connected(connection, ByteBuffer.wrap(data).getLong(12), ByteBuffer.wrap(data).getInt(20));
    }

    static void close(@Nullable Session session) {
        if (session != null) {
            try {
                session.close();
            } catch (VerbsException e) {
                StreamLog.warn("a session was not closed: " + e.getMessage());
            }
        }
    }

    /** On the engine's thread. */
    private void ready(Key key, @Nullable Session session, FallbackReason why) {
        Entry entry = entries.computeIfAbsent(key, k -> new Entry());
        entry.session = session;
        refused.remove(key);
        if (session == null) {
            entries.remove(key);
            if (key.accepts()) {
                refused.put(key, why);
                if (refused.size() > MAX_REFUSED) {
                    refused.pollFirstEntry();
                }
            }
        }
        List<SessionRequest> waiting = List.copyOf(entry.waiting);
        entry.waiting.clear();
        waiting.forEach(then -> then.found(session, why));
    }

    /** Takes the deaths of sessions that were noticed; on the engine's thread. */
    void pollFailures() {
        failures.poll();
    }

    /** Closes dead sessions that have no connection any more. */
    void closeFailed() {
        failures.closeFailed();
    }

    boolean hasFailed() {
        return failures.areAny();
    }

    /** Polls sessions with WRITEs under way that no thread polls; true if there are any. */
    boolean pollBusy() {
        boolean busy = false;
        for (Entry entry : entries.values()) {
            Session session = entry.session;
            if (session != null) {
                busy |= session.pollIfBusy();
            }
        }
        return busy;
    }
}
