// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import java.util.ArrayList;
import java.util.List;

import org.verbena.linux.Epoll;
import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.roce.transport.Transport;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.Engine;

/**
 * Decides which thread makes the transport's progress. With {@code verbena.roce.progress=application}, which is the
 * default, polls do while the application polls often, and the engine's thread only checks once a millisecond whether
 * that is still so; otherwise the engine sleeps until a packet arrives or a timer expires. With {@code engine} it is
 * always the engine.
 */
final class Progress implements Engine.Waiting {
    /** Packets that are received at a time. */
    private static final int BATCH = 64;
    /** Batches that are received at most before a connection begins. */
    private static final int DRAIN = 64;

    private final RoceContext context;
    private final ContextLock lock;
    private final Transport transport;
    private final Engine engine;
    private final Fd descriptor;
    private final boolean byApplication;
    private final List<RoceCompletionQueue> moderated = new ArrayList<>();
    private final PollDetector pollDetector = new PollDetector();
    private volatile boolean watching = true;
    private boolean again;
    /** When the engine runs next by itself. */
    private volatile long engineDeadline = Long.MAX_VALUE;
    private volatile boolean stopped;

    Progress(RoceContext context, Transport transport, Engine engine, int descriptor, boolean byApplication) {
        this.context = context;
        lock = context.lock();
        this.transport = transport;
        this.engine = engine;
        this.descriptor = Fd.of(descriptor); // the wire closes it
        this.byApplication = byApplication;
    }

    /** Called before the engine starts. */
    void start() throws VerbsException {
        try {
            engine.watch(descriptor, Epoll.IN, events -> {}); // the engine makes progress in each of its rounds
        } catch (LinuxException e) {
            throw new VerbsException("watch the wire", e);
        }
        engine.startPolling(this);
    }

    /** The wire is about to be closed; no thread makes progress afterwards. */
    void stop() {
        lock.lock();
        stopped = true;
        lock.unlock();
        engine.forget(descriptor);
    }

    /** Under the lock: throws {@code EINVAL} if the wire is closed, or about to be. */
    void requireOpen(String verb) throws VerbsException {
        if (stopped) {
            throw new VerbsException(verb, Errno.EINVAL, context.describe() + " is closed");
        }
    }

    /** A poll has found nothing. */
    void fromPoll() {
        if (!byApplication) {
            return;
        }
        pollDetector.polled();
        if (lock.tryLock()) {
            try {
                run(pollDetector.isPolling()); // an application that polls often polls again at once
            } finally {
                lock.unlock();
            }
        }
    }

    /** Under the lock, after something was posted: sends it, and wakes the engine if it would run too late. */
    void posted() {
        if (stopped) {
            return;
        }
        context.failOverrun();
        transport.flush();
        context.publishCounts();
        long deadline = Math.min(transport.nextDeadline(), context.connections().nextDeadline());
        if (deadline < engineDeadline) {
            engineDeadline = deadline;
            engine.pollAgain();
        }
    }

    /** The application is about to sleep: packets are left to the engine. */
    void beforeSleep() {
        if (pollDetector.isPolling()) {
            lock.lock();
            try {
                if (!stopped) {
                    transport.flushAcks();
                }
            } finally {
                lock.unlock();
            }
        }
        if (!watching) {
            watch(true);
        }
    }

    /** Under the lock: includes a completion queue's moderated events. */
    void watch(RoceCompletionQueue cq) {
        if (!moderated.contains(cq)) {
            moderated.add(cq);
        }
        if (cq.deadline() < engineDeadline) {
            engineDeadline = cq.deadline();
            engine.pollAgain();
        }
    }

    /** Under the lock. */
    void forget(RoceCompletionQueue cq) {
        moderated.remove(cq);
    }

    /** Under the lock: receives all packets that have arrived, but no more than can be in flight for long. */
    void drain() {
        for (int i = 0; i < DRAIN && run(false) > 0; i++) {
            // the next ones
        }
    }

    private int run(boolean delayAcks) {
        if (stopped) {
            return 0;
        }
        int n = transport.progress(BATCH, delayAcks);
        context.failOverrun();
        if (context.connections().progress() > 0) {
            transport.flush(); // their responses
        }
        context.publishCounts();
        if (!moderated.isEmpty()) {
            long now = System.nanoTime();
            for (int i = 0; i < moderated.size(); i++) {
                moderated.get(i).expired(now);
            }
        }
        return n;
    }

    // ---- on the engine's thread

    @Override
    public boolean wake() {
        boolean polling = pollDetector.sample(lock.isHeld());
        if (stopped) {
            return true;
        }
        if (polling) {
            again = true;
            if (watching) {
                watch(false);
            }
            return false;
        }
        if (!watching) {
            watch(true);
        }
        lock.lock();
        try {
            again = run(false) >= BATCH;
            engineDeadline = nextDeadline();
        } finally {
            lock.unlock();
        }
        return false;
    }

    private long nextDeadline() {
        long next = Math.min(transport.nextDeadline(), context.connections().nextDeadline());
        for (int i = 0; i < moderated.size(); i++) {
            next = Math.min(next, moderated.get(i).deadline());
        }
        return next;
    }

    @Override
    public boolean tick() {
        return again;
    }

    @Override
    public long deadline() {
        return engineDeadline;
    }

    private void watch(boolean on) {
        lock.lock();
        try {
            if (!stopped) {
                transport.wire().watch(on);
                watching = on;
            }
        } finally {
            lock.unlock();
        }
    }
}
