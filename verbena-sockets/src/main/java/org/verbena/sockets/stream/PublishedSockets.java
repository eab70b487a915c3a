// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.NetworkChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntSupplier;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.MemoryLimit;
import org.verbena.linux.ServiceThread;
import org.verbena.sockets.SocketObjectType;
import org.verbena.sockets.SocketSamplePoint;
import org.verbena.sockets.SocketState;
import org.verbena.sockets.rules.Decision;
import org.verbena.sockets.rules.Rule;
import org.verbena.sockets.telemetry.SocketAddresses;
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
    private static final int TCP = 1;
    private static final int RING = 2;

    private static volatile @Nullable IntSupplier active;

    private final CounterEntry all;
    private final PublishedRules rules;
    /**
     * By the number of the {@link Stream} or {@link OpenSocket} that each describes: what has ended is not to be kept here.
     */
    private final Map<Long, CounterEntry> published = new HashMap<>();

    /** Connections whose entry has the name of a device, which is known after the handshake. */
    private final Set<Long> byDevice = new HashSet<>();

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
                StreamEngine.debug("the sockets of this process are not published: " + why);
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
        List<Stream> streams = StreamCounters.open();
        List<OpenSocket> others = OpenSocket.all();
        Set<Long> open = new HashSet<>();
        streams.forEach(s -> open.add(s.number()));
        others.forEach(s -> open.add(s.number()));
        published.entrySet().removeIf(e -> {
            boolean gone = !open.contains(e.getKey());
            if (gone) {
                e.getValue().close();
            }
            return gone;
        });
        byDevice.retainAll(open);
        rules.update();
        int notPublished = 0;
        int listening = 0;
        for (OpenSocket s : others) {
            listening += s.listening() == null ? 0 : 1;
            notPublished += publish(s) ? 0 : 1;
        }
        for (Stream s : streams) {
            notPublished += publish(s) ? 0 : 1;
        }
        StreamTotals totals = StreamTotals.now();
        all.setAttribute(SocketLayout.OPEN, totals.open());
        all.setAttribute(SocketLayout.LISTENING, listening);
        all.setAttribute(SocketLayout.NOT_PUBLISHED, notPublished);
        IntSupplier parts = active;
        if (parts != null) {
            all.setAttribute(SocketLayout.ACTIVE, SocketLayout.AGENT | parts.getAsInt());
            all.setAttribute(SocketLayout.PLAIN_LISTENERS, PlainListeners.count());
        }
        memory();
        raise(all, SocketSamplePoint.SOCKETS_POLLS_FOUND, PollCounters.found());
        raise(all, SocketSamplePoint.SOCKETS_POLLS_IN_VAIN, PollCounters.inVain());
        raise(all, SocketSamplePoint.SOCKETS_POLL_NANOS, PollCounters.nanos());
        raise(totals);
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
    private void raise(StreamTotals totals) {
        raise(all, SocketSamplePoint.SOCKETS_OPENED, totals.opened());
        raise(all, SocketSamplePoint.SOCKETS_HANDSHAKES, totals.handshakes());
        figures(all, SocketSamplePoint.SOCKETS_TX_RING_BYTES, totals.figures());
        totals.fallbacks().forEach((reason, n) -> raise(all, SocketLayout.FIRST_REASON + reason.ordinal(), n));
    }

    private static void figures(CounterEntry e, int first, StreamFigures f) {
        raise(e, first, f.sentByRing());
        raise(e, first + 1, f.sentByTcp());
        raise(e, first + 2, f.receivedByRing());
        raise(e, first + 3, f.receivedByTcp());
        raise(e, first + 4, f.doorbells());
        raise(e, first + 5, f.wakeUps());
        raise(e, first + 6, f.stalls());
        raise(e, first + 7, f.growths());
    }

    private static long bit(int point) {
        return 1L << (point & 0xff);
    }

    private static void raise(CounterEntry e, int point, long value) {
        e.raise(point & 0xff, value);
    }

    private @Nullable CounterEntry entry(int type, long number, String name, long created, int cells) {
        CounterEntry e = published.get(number);
        if (e == null && published.size() < MAX_ENTRIES) {
            e = CounterFile.own().take(type, (int) number, name, all.id(), CounterLayout.SMALL_CELLS,
                    (1L << cells) - 1, created * NANOS_OF_MILLI);
            published.put(number, e);
        }
        return e;
    }

    // ---- one socket; true if others can see it

    private boolean publish(OpenSocket s) {
        ServerSocketChannel listening = s.listening();
        SocketChannel connecting = s.connecting();
        CounterEntry e = listening == null
                ? entry(SocketObjectType.CONNECTION, s.number(), NAME, s.created(), 0)
                : entry(SocketObjectType.LISTENER, s.number(), NAME, s.created(), 1);
        if (e == null) {
            return false;
        }
        if (listening != null) {
            e.setState(SocketState.LISTEN);
            addresses(e, listening, null, 0);
            raise(e, SocketSamplePoint.LISTENER_ACCEPTED, s.connectionsAccepted());
        } else if (connecting != null) {
            e.setState(SocketState.CONNECTING);
            addresses(e, connecting, connecting, SocketLayout.CLIENT << SocketLayout.ROLE);
        }
        rule(e, s.decision());
        return e.isVisible();
    }

    @SuppressWarnings("EnumOrdinal")
    private boolean publish(Stream s) {
        String device = s.remoteDevice();
        if (device != null && byDevice.add(s.number())) {
            CounterEntry before = published.remove(s.number());
            if (before != null) {
                before.close();
            }
        }
        CounterEntry e = entry(SocketObjectType.CONNECTION, s.number(), device == null ? NAME : device, s.created(),
                SocketSamplePoint.CONNECTION_GROWTHS - SocketSamplePoint.CONNECTION_TX_RING_BYTES + 1);
        if (e == null) {
            return false;
        }
        StreamState state = s.state();
        e.setState(state.state());
        addresses(e, s.tcp(), s.tcp(),
                (s.role() == Stream.Role.CLIENT ? SocketLayout.CLIENT : SocketLayout.SERVER) << SocketLayout.ROLE
                        | (state.inputByRing() ? RING : TCP) << SocketLayout.IN_BY
                        | (state.outputByRing() ? RING : TCP) << SocketLayout.OUT_BY
                        | state.reason().ordinal() << SocketLayout.REASON);
        e.setAttribute(SocketLayout.OUT_RING, (long) state.outRing() << 32 | state.outOccupied());
        e.setAttribute(SocketLayout.IN_RING, (long) state.inRing() << 32 | state.inOccupied());
        rule(e, s.decision());
        figures(e, SocketSamplePoint.CONNECTION_TX_RING_BYTES, s.figures());
        return e.isVisible();
    }

    private void rule(CounterEntry e, @Nullable Decision d) {
        Rule by = d == null ? null : d.rule();
        e.setAttribute(SocketLayout.RULE, by == null ? 0 : rules.entry(by));
    }

    /** Addresses and bits; of a channel that is closed meanwhile they stay as they were. */
    private static void addresses(CounterEntry e, NetworkChannel local, @Nullable SocketChannel remote, int bits) {
        try {
            SocketAddresses.put(e, internet(local.getLocalAddress()), remote == null
                    ? null
                    : internet(remote.getRemoteAddress()), bits);
        } catch (IOException closed) {
            // the next update finds it gone
        }
    }

    private static @Nullable InetSocketAddress internet(@Nullable SocketAddress address) {
        return address instanceof InetSocketAddress a ? a : null;
    }
}
