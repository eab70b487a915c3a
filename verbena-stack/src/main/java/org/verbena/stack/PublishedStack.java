// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

import org.verbena.stack.model.StackObjectType;
import org.verbena.stack.model.StackSamplePoint;
import org.verbena.stack.model.TcpInfo;
import org.verbena.stack.model.TcpStatistics;
import org.verbena.stack.tcp.Connection;
import org.verbena.stack.telemetry.StackLayout;
import org.verbena.telemetry.CounterEntry;
import org.verbena.telemetry.CounterFile;
import org.verbena.telemetry.CounterLayout;

/**
 * A stack and its sockets in the {@link CounterFile} of the process. Entries are made and brought up to date when a reader asks, on its thread or the file's
 * own, by looks at a few connections at a time: nothing is added to the work of the stack.
 */
final class PublishedStack implements AutoCloseable {
    /** Sockets and connections that have an entry; others are counted. */
    private static final int MAX_ENTRIES = Math.clamp(Integer.getInteger("verbena.counters.sockets", 1 << 14), 0,
            1 << 18);
    /** Connections that are looked at with the lock held. */
    private static final int BATCH = 64;
    private static final long ALL_CELLS = -1L;
    private static final AtomicInteger STACKS = new AtomicInteger();

    /** An entry, and the last look that has found its object. */
    private static final class Published {
        final CounterEntry entry;
        long found;

        Published(CounterEntry entry) {
            this.entry = entry;
        }
    }

    private final Engine engine;
    private final InetAddress address;
    private final String device;
    private final CounterFile file = CounterFile.own();
    private final CounterEntry stack;
    private final Runnable stop;
    private final IdentityHashMap<Object, Published> published = new IdentityHashMap<>();
    private int number;
    private long looks;
    private int notPublished;
    private boolean closed;

    PublishedStack(Engine engine, InetAddress address, String device) {
        this.engine = engine;
        this.address = address;
        this.device = device;
        int points = (StackSamplePoint.STACK_TCP_REUSED & 0xff) + 1;
        stack = file.take(StackObjectType.STACK, STACKS.getAndIncrement(), device, 0, CounterLayout.LARGE_CELLS,
                ALL_CELLS >>> Long.SIZE - points);
        StackLayout.addresses(stack, address, 0, null, 0);
        stop = file.onGather(this::update);
    }

    private synchronized void update() {
        if (closed) {
            return;
        }
        looks++;
        notPublished = 0;
        List<Connection> connections = new ArrayList<>();
        List<Engine.Sleeper> sockets = new ArrayList<>();
        int timeWaits;
        engine.lock.lock();
        try {
            engine.tcp.forEach(connections::add);
            timeWaits = engine.tcp.timeWaits();
            engine.forEach(s -> {
                if (!(s instanceof TcpSocket)) { // those are connections
                    sockets.add(s);
                }
            });
            statistics(StackStatistics.of(engine.counts));
            statistics(engine.tcp.counts().statistics());
        } finally {
            engine.lock.unlock();
        }
        sockets.forEach(this::socket);
        for (int i = 0; i < connections.size(); i += BATCH) {
            List<Connection> some = connections.subList(i, Math.min(i + BATCH, connections.size()));
            engine.lock.lock();
            try {
                some.forEach(this::connection);
            } finally {
                engine.lock.unlock();
            }
        }
        StackLayout.open(stack, connections.size(), sockets.size(), timeWaits, notPublished);
        for (Iterator<Published> all = published.values().iterator(); all.hasNext();) {
            Published p = all.next();
            if (p.found != looks) {
                p.entry.close();
                all.remove();
            }
        }
    }

    private void socket(Engine.Sleeper s) {
        switch (s) {
            case UdpSocket u -> {
                Published p = entry(u, StackObjectType.UDP, 1, u.port(), null, 0);
                if (p != null) {
                    StackLayout.queues(p.entry, u.waiting(), 0);
                    raise(p.entry, StackSamplePoint.UDP_DROPPED, u.dropped());
                }
            }
            case TcpServer t -> {
                Published p = entry(t, StackObjectType.TCP_LISTENER, 0, t.port(), null, 0);
                if (p != null) {
                    StackLayout.queues(p.entry, t.waiting(), 0);
                }
            }
            case TcpSocket _ -> throw new IllegalStateException();
        }
    }

    private void connection(Connection c) {
        Published p = entry(c, StackObjectType.TCP, 2, c.port(), c, c.remotePort());
        if (p != null) {
            TcpInfo i = c.info();
            StackLayout.info(p.entry, i);
            raise(p.entry, StackSamplePoint.TCP_RETRANSMITTED, i.retransmitted());
            raise(p.entry, StackSamplePoint.TCP_LOST, i.lost());
        }
    }

    /** That of a socket or connection, which is made if there is none; null if there are too many. */
    private @Nullable Published entry(Object of, int type, int points, int port, @Nullable Connection remote,
            int remotePort) {
        Published p = published.get(of);
        if (p == null) {
            if (published.size() >= MAX_ENTRIES) {
                notPublished++;
                return null;
            }
            p = new Published(file.take(type, number++, device, stack.id(), CounterLayout.SMALL_CELLS, (1L << points)
                    - 1));
            if (remote == null) {
                StackLayout.addresses(p.entry, address, port, null, 0);
            } else {
                StackLayout.addresses(p.entry, remote.path().local().toInetAddress(), port, remote.path().remote()
                        .toInetAddress(), remotePort);
            }
            published.put(of, p);
        }
        p.found = looks;
        return p;
    }

    private static void raise(CounterEntry e, int point, long value) {
        e.raise(point & 0xff, value);
    }

    private void statistics(StackStatistics s) {
        raise(stack, StackSamplePoint.STACK_FRAMES_IN, s.framesIn());
        raise(stack, StackSamplePoint.STACK_FRAMES_OUT, s.framesOut());
        raise(stack, StackSamplePoint.STACK_MALFORMED, s.malformed());
        raise(stack, StackSamplePoint.STACK_NOT_FOR_US, s.notForUs());
        raise(stack, StackSamplePoint.STACK_FRAGMENTS_IN, s.fragmentsIn());
        raise(stack, StackSamplePoint.STACK_FRAGMENTS_OUT, s.fragmentsOut());
        raise(stack, StackSamplePoint.STACK_REASSEMBLED, s.reassembled());
        raise(stack, StackSamplePoint.STACK_REASSEMBLY_FAILED, s.reassemblyFailed());
        raise(stack, StackSamplePoint.STACK_NO_BUFFER, s.noBuffer());
        raise(stack, StackSamplePoint.STACK_UNRESOLVED, s.unresolved());
        raise(stack, StackSamplePoint.STACK_CONFLICTS, s.conflicts());
        raise(stack, StackSamplePoint.STACK_ECHOES, s.echoes());
        raise(stack, StackSamplePoint.STACK_ERRORS_OUT, s.errorsOut());
        raise(stack, StackSamplePoint.STACK_ERRORS_LIMITED, s.errorsLimited());
        raise(stack, StackSamplePoint.STACK_ERRORS_IN, s.errorsIn());
        raise(stack, StackSamplePoint.STACK_DATAGRAMS_IN, s.datagramsIn());
        raise(stack, StackSamplePoint.STACK_DATAGRAMS_OUT, s.datagramsOut());
        raise(stack, StackSamplePoint.STACK_NO_PORT, s.noPort());
        raise(stack, StackSamplePoint.STACK_QUEUE_FULL, s.queueFull());
    }

    private void statistics(TcpStatistics t) {
        raise(stack, StackSamplePoint.STACK_TCP_SEGMENTS_IN, t.segmentsIn());
        raise(stack, StackSamplePoint.STACK_TCP_SEGMENTS_OUT, t.segmentsOut());
        raise(stack, StackSamplePoint.STACK_TCP_RETRANSMITTED, t.retransmitted());
        raise(stack, StackSamplePoint.STACK_TCP_MALFORMED, t.malformed());
        raise(stack, StackSamplePoint.STACK_TCP_SIGNED, t.signed());
        raise(stack, StackSamplePoint.STACK_TCP_OLD, t.old());
        raise(stack, StackSamplePoint.STACK_TCP_OUT_OF_ORDER, t.outOfOrder());
        raise(stack, StackSamplePoint.STACK_TCP_NO_MEMORY, t.noMemory());
        raise(stack, StackSamplePoint.STACK_TCP_RESETS_OUT, t.resetsOut());
        raise(stack, StackSamplePoint.STACK_TCP_RESETS_IN, t.resetsIn());
        raise(stack, StackSamplePoint.STACK_TCP_CHALLENGES, t.challenges());
        raise(stack, StackSamplePoint.STACK_TCP_OPENED, t.opened());
        raise(stack, StackSamplePoint.STACK_TCP_ACCEPTED, t.accepted());
        raise(stack, StackSamplePoint.STACK_TCP_BACKLOG_FULL, t.backlogFull());
        raise(stack, StackSamplePoint.STACK_TCP_COOKIES_OUT, t.cookiesOut());
        raise(stack, StackSamplePoint.STACK_TCP_COOKIES_IN, t.cookiesIn());
        raise(stack, StackSamplePoint.STACK_TCP_REUSED, t.reused());
    }

    /** Takes all away. */
    @Override
    public void close() {
        stop.run();
        synchronized (this) {
            if (!closed) {
                closed = true;
                published.values().forEach(p -> p.entry.close());
                published.clear();
                stack.close();
            }
        }
    }
}
