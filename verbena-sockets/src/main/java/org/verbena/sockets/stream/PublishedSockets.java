// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.MemoryLimit;
import org.verbena.linux.ServiceThread;
import org.verbena.sockets.SocketObjectType;
import org.verbena.sockets.SocketSamplePoint;
import org.verbena.sockets.rules.Decision;
import org.verbena.sockets.rules.Rule;
import org.verbena.sockets.stream.memory.RingMemory;
import org.verbena.sockets.stream.memory.StreamLog;
import org.verbena.sockets.telemetry.SocketLayout;
import org.verbena.telemetry.CounterEntry;
import org.verbena.telemetry.CounterFile;
import org.verbena.telemetry.CounterLayout;

/**
 * The sockets that this process publishes in its {@link CounterFile}. Entries are updated on a reader's request, by the
 * thread that reads or the file's own: a socket has no entry before the first request, and publishing costs it nothing.
 */
public final class PublishedSockets {
    private static final String NAME = SocketLayout.NO_DEVICE;
    /** Sockets that have an entry; others are counted. */
    private static final int MAX_ENTRIES = Math.clamp(Integer.getInteger("verbena.counters.sockets", 1 << 14), 0,
            1 << 18);
    private static final long LATER_MILLIS = 100;
    private static final long NO_HANDSHAKE_MILLIS = 3000;
    private static final long LATEST_MILLIS = 60_000;
    /**
     * Descriptors that are to be left when the file is made: a class that cannot be read for want of one, and a file
     * that others cannot see, are lost for good.
     */
    private static final int DESCRIPTORS = 16;
    private static final long NANOS_OF_MILLI = 1_000_000;
    private static final FallbackReason[] REASONS = FallbackReason.values();

    private static volatile @Nullable IntSupplier active;

    private final CounterEntry all;
    private final PublishedRules rules;
    /** All that have an entry; what has ended is not to be kept here, which refer to no socket. */
    private final List<PublishedSocket> published = new ArrayList<>();
    private long updates;

    /** For an update. */
    private final List<Stream> streams = new ArrayList<>();
    private final List<OpenSocket> others = new ArrayList<>();
    private final StreamTally tally = new StreamTally();

    private PublishedSockets(CounterFile file) {
        int cells = FallbackReason.values().length - 1 + SocketSamplePoint.SOCKETS_GROWTHS
                - SocketSamplePoint.SOCKETS_OPENED + 1;
        all = file.take(SocketObjectType.SOCKETS, 0, NAME, 0, CounterLayout.SMALL_CELLS, (1L << cells) - 1
                | bit(SocketSamplePoint.SOCKETS_POLLS_FOUND) | bit(SocketSamplePoint.SOCKETS_POLLS_IN_VAIN)
                | bit(SocketSamplePoint.SOCKETS_POLL_NANOS) | bit(SocketSamplePoint.SOCKETS_RINGS_REFUSED));
        rules = new PublishedRules(file, all);
        file.onGather(this::update);
    }

    /** Begins to publish the sockets of this process. */
    private static final class Holder {
        static {
            if (!"off".equals(System.getProperty("verbena.counters"))) {
                start();
            }
        }

        private Holder() {}

        /** Without the thread the sockets are not published, but work: opening one does not throw. */
        private static void start() {
            try {
                ServiceThread.start("verbena-sockets-publish", new Runnable() { // a lambda costs more
                    @Override
                    public void run() {
                        Holder.make();
                    }
                });
            } catch (RuntimeException | Error e) {
                log(e);
            }
        }

        /**
         * Makes the file if this process can: what is lacking is reported elsewhere. That takes a while, and not before the
         * program has had one to open its first sockets in. What is lacking may be there later.
         */
        private static void make() {
            try {
                awaitFirstHandshake();
                long pause = LATER_MILLIS;
                do {
                    Thread.sleep(pause);
                    pause = Math.min(2 * pause, LATEST_MILLIS);
                } while (!Descriptors.areLeft(DESCRIPTORS) || SharedMemory.isExhausted());
                if (SharedMemory.problem() == null) {
                    new PublishedSockets(CounterFile.own());
                }
            } catch (InterruptedException | RuntimeException | LinkageError e) {
                log(e);
            }
        }

        /** A program that ends soon, and has no use for rings, pays for no file either. */
        private static void awaitFirstHandshake() throws InterruptedException {
            for (long waited = 0; waited < NO_HANDSHAKE_MILLIS && !Stream.isAtOnce() && !StreamEngine
                    .isStarted(); waited += LATER_MILLIS) {
                Thread.sleep(LATER_MILLIS);
            }
        }

        private static void log(Throwable why) {
            try {
                StreamLog.debug("the sockets of this process are not published: " + why);
            } catch (LinkageError | OutOfMemoryError e) {
                // it cannot be logged either
            }
        }

        static void begin() {}
    }

    /** Sets how to find out which parts of {@link SocketLayout#PARTS} are Verbena's in a program that has the agent. */
    public static void activeBy(IntSupplier parts) {
        active = parts;
    }

    /** Publishes the sockets of this process from now on, unless that is turned off. Idempotent; waits for nothing. */
    public static void begin() {
        Holder.begin();
    }

    private synchronized void update() {
        try {
            StreamCounters.addOpen(streams);
            OpenSocket.addAll(others);
            closeEnded();
            rules.update();
            sockets();
        } finally {
            streams.clear();
            others.clear();
        }
        IntSupplier parts = active;
        if (parts != null) {
            all.setAttribute(SocketLayout.ACTIVE, SocketLayout.AGENT | parts.getAsInt());
            all.setAttribute(SocketLayout.PLAIN_LISTENERS, PlainListeners.count());
        }
        memory();
        raise(all, SocketSamplePoint.SOCKETS_POLLS_FOUND, PollCounters.found());
        raise(all, SocketSamplePoint.SOCKETS_POLLS_IN_VAIN, PollCounters.inVain());
        raise(all, SocketSamplePoint.SOCKETS_POLL_NANOS, PollCounters.nanos());
        totals();
    }

    /** Before others get their entries, of which there may be too few. */
    private void closeEnded() {
        updates++;
        for (OpenSocket s : others) {
            found(s.published);
        }
        for (Stream s : streams) {
            found(s.published);
        }
        for (int i = published.size() - 1; i >= 0; i--) {
            PublishedSocket p = published.get(i);
            if (!p.isFoundBy(updates)) {
                published.set(i, published.getLast());
                published.removeLast();
                p.close();
            }
        }
    }

    private void found(@Nullable PublishedSocket p) {
        if (p != null) {
            p.found(updates);
        }
    }

    private void sockets() {
        int notPublished = 0;
        int listening = 0;
        for (OpenSocket s : others) {
            listening += s.listening() == null ? 0 : 1;
            notPublished += publish(s) ? 0 : 1;
        }
        for (Stream s : streams) {
            notPublished += publish(s) ? 0 : 1;
        }
        all.setAttribute(SocketLayout.OPEN, streams.size());
        all.setAttribute(SocketLayout.LISTENING, listening);
        all.setAttribute(SocketLayout.NOT_PUBLISHED, notPublished);
    }

    private void memory() {
        RingMemory rings = RingMemory.OF_PROCESS;
        MemoryLimit limit = rings.limit();
        all.setAttribute(SocketLayout.RING_BYTES, rings.taken());
        all.setAttribute(SocketLayout.RING_LIMIT, rings.most());
        all.setAttribute(SocketLayout.MEMORY_LIMIT, Math.min(limit.bytes(), SocketLayout.MEMORY_SHORT - 1)
                | (limit.group().isEmpty() ? 0 : SocketLayout.OF_GROUP)
                | (rings.isShort() ? SocketLayout.MEMORY_SHORT : 0));
        raise(all, SocketSamplePoint.SOCKETS_RINGS_REFUSED, rings.refused());
    }

    @SuppressWarnings("EnumOrdinal") // the points are in the order of the reasons
    private void totals() {
        tally.clear();
        raise(all, SocketSamplePoint.SOCKETS_OPENED, StreamCounters.addUp(tally));
        raise(all, SocketSamplePoint.SOCKETS_HANDSHAKES, StreamCounters.completedHandshakes());
        tally.raise(all, SocketSamplePoint.SOCKETS_TX_RING_BYTES);
        for (FallbackReason reason : REASONS) {
            if (reason != FallbackReason.NONE) {
                raise(all, SocketLayout.FIRST_REASON + reason.ordinal(), StreamCounters.fallbacks(reason));
            }
        }
    }

    private static long bit(int point) {
        return 1L << (point & 0xff);
    }

    static void raise(CounterEntry e, int point, long value) {
        e.raise(point & 0xff, value);
    }

    // ---- one socket; true if others can see it

    private boolean publish(OpenSocket s) {
        PublishedSocket p = s.published;
        if (p == null) {
            p = s.listening() == null
                    ? enter(SocketObjectType.CONNECTION, s.number(), null, s.created(), 0)
                    : enter(SocketObjectType.LISTENER, s.number(), null, s.created(), 1);
            s.published = p;
        }
        if (p == null) {
            return false;
        }
        p.update(s, rule(s.decision()));
        return p.isVisible();
    }

    private boolean publish(Stream s) {
        String device = s.remoteDevice();
        PublishedSocket p = s.published;
        if (p != null && device != null && !p.isByDevice()) {
            published.remove(p);
            p.close();
            p = null;
        }
        if (p == null) {
            p = enter(SocketObjectType.CONNECTION, s.number(), device, s.created(),
                    (s.times == null
                            ? SocketSamplePoint.CONNECTION_GROWTHS
                            : SocketSamplePoint.CONNECTION_RESPONSES_LONGER)
                            - SocketSamplePoint.CONNECTION_TX_RING_BYTES + 1);
            s.published = p;
        }
        if (p == null) {
            return false;
        }
        p.update(s, rule(s.decision()), tally);
        return p.isVisible();
    }

    private @Nullable PublishedSocket enter(int type, long number, @Nullable String device, long created, int cells) {
        if (published.size() >= MAX_ENTRIES) {
            return null;
        }
        PublishedSocket p = new PublishedSocket(CounterFile.own().take(type, (int) number, device == null
                ? NAME
                : device, all.id(), CounterLayout.SMALL_CELLS, (1L << cells) - 1, created * NANOS_OF_MILLI),
                device != null);
        p.found(updates);
        published.add(p);
        return p;
    }

    private long rule(@Nullable Decision d) {
        Rule by = d == null ? null : d.rule();
        return by == null ? 0 : rules.entry(by);
    }
}
