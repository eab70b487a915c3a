// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.ServiceThread;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.Context;
import org.verbena.verbs.Gid;
import org.verbena.verbs.GidEntry;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;

/**
 * The device of a rule, by which other hosts are reached: opened when it is needed first, and tried again if it is not there. All is
 * for the engine's thread; the device is opened on a thread of its own.
 */
final class RemoteDevice {
    /** The system property with the port of the connection manager where processes take sessions. */
    private static final String PORT = "verbena.stream.port";
    private static final int DEFAULT_PORT = 4792;
    /** A device that could not be opened is tried again after this time, and each time after twice as long, */
    private static final long FIRST_RETRY_NANOS = 250_000_000L;
    /** up to this: its link may have been down, or its address not there yet. */
    private static final long LAST_RETRY_NANOS = 10_000_000_000L;

    /** What is open of it. */
    record Port(Context context, CompletionChannel events, ConnectionListener listener, Set<InetAddress> addresses) {}

    private final StreamEngine engine;
    private final String name;
    private final Function<Port, FallbackReason> user;
    private final Consumer<FallbackReason> missing;
    private final int number = Math.clamp(Integer.getInteger(PORT, DEFAULT_PORT), 1, 65_535);
    private @Nullable Port port;
    private boolean opening;
    private boolean listening;
    private FallbackReason reason = FallbackReason.UNAVAILABLE;
    private boolean failed;
    private long again;
    private long retryNanos = FIRST_RETRY_NANOS;

    /**
     * One that is not open.
     *
     * @param user is given what was opened; answers {@link FallbackReason#NONE}, or why it closed it
     * @param missing is told why it could not be opened
     */
    RemoteDevice(StreamEngine engine, String name, Function<Port, FallbackReason> user,
            Consumer<FallbackReason> missing) {
        this.engine = engine;
        this.name = name;
        this.user = user;
        this.missing = missing;
    }

    /** The port of the connection manager where processes take sessions. */
    int number() {
        return number;
    }

    /** What is open; null if nothing is. */
    @Nullable
    Port port() {
        return port;
    }

    /** Whether it is being opened. */
    boolean isOpening() {
        return opening;
    }

    /** Why it is not open. */
    FallbackReason reason() {
        return reason;
    }

    /** Opens it now or as soon as that is possible: a server listens. */
    void listen() {
        if (!listening && failed && port == null && !opening) { // a client's connection has tried it a moment ago
            engine.at(again, this::open);
        }
        listening = true;
        open();
    }

    /** Opens it, unless it is open or was not to be had a moment ago. */
    void open() {
        if (port == null && !opening && (!failed || System.nanoTime() - again >= 0)) {
            opening = true;
            start("verbena-stream-device", this::openDevice, this::notOpened);
        }
    }

    /** Starts a thread, which may be what is lacking. */
    static void start(String thread, Runnable task, Consumer<FallbackReason> otherwise) {
        try {
            ServiceThread.start(thread, task);
        } catch (OutOfMemoryError e) { // no thread, as the JVM reports it
            StreamEngine.reportLack(FallbackReason.NO_MEMORY, String.valueOf(e));
            otherwise.accept(FallbackReason.NO_MEMORY);
        }
    }

    /** On a thread of its own: it takes a while. */
    private void openDevice() {
        Deque<AutoCloseable> made = new ArrayDeque<>();
        try {
            Context context = Verbs.open(name);
            made.push(context);
            CompletionChannel events = context.createCompletionChannel();
            made.push(events);
            Set<InetAddress> addresses = new HashSet<>();
            for (GidEntry entry : context.queryGidTable()) {
                addresses.add(address(entry.gid()));
            }
            ConnectionListener listener = context.connectionManager().listen(new InetSocketAddress(number));
            Port opened = new Port(context, events, listener, addresses);
            made.clear();
            engine.submit(() -> opened(opened));
        } catch (VerbsException | RuntimeException | LinkageError | OutOfMemoryError e) {
            made.forEach(StreamEngine::closeQuietly);
            FallbackReason why = reason(e, FallbackReason.UNAVAILABLE);
            StreamEngine.reportLack(why, String.valueOf(e.getMessage()));
            engine.submit(() -> notOpened(why));
        }
    }

    private void opened(Port made) {
        opening = false;
        port = made;
        FallbackReason why = user.apply(made);
        if (why != FallbackReason.NONE) {
            port = null;
            notOpened(why);
        }
    }

    private void notOpened(FallbackReason why) {
        opening = false;
        reason = why;
        failed = true;
        again = System.nanoTime() + retryNanos;
        retryNanos = Math.min(2 * retryNanos, LAST_RETRY_NANOS);
        if (listening) {
            engine.at(again, this::open);
        }
        missing.accept(why);
    }

    static FallbackReason reason(Throwable e, FallbackReason otherwise) {
        return e instanceof VerbsException v
                ? StreamEngine.reason(v.errno(), otherwise)
                : e instanceof OutOfMemoryError ? FallbackReason.NO_MEMORY : otherwise;
    }

    static InetAddress address(Gid gid) {
        try {
            return InetAddress.getByAddress(gid.bytes()); // of IPv4 if it is mapped
        } catch (UnknownHostException impossible) {
            throw new AssertionError("16 bytes are an address", impossible);
        }
    }
}
