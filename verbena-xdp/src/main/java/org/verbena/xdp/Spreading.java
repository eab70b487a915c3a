// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Fd;
import org.verbena.linux.Xsk;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WorkQueueState;

/**
 * The work queues of a context as far as they receive: those in the tables of queue pairs that are in RTR or later, and in
 * RDY themselves. The first such queue pair takes all queues of the interface, for the work queues of its table; others
 * may have tables of the same ones. The last one gives the queues back. Thread-safe; while a queue pair waits for the queues to
 * become free, which may take long, only those wait that want them, too.
 */
final class Spreading {
    /** How long it takes the kernel to give back what was sent, if it can send. */
    private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(300);
    private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

    private final XdpContext context;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition taken = lock.newCondition();
    /** All below under the lock. */
    private final List<SpreadWire> wires = new ArrayList<>();
    private final Set<XdpWorkQueue> members = new HashSet<>();
    private @Nullable SpreadSockets sockets;
    /** Whether a queue pair waits for the queues, without the lock. */
    private boolean taking;

    Spreading(XdpContext context) {
        this.context = context;
    }

    /** A queue pair receives from now on. */
    SpreadWire open(String verb, XdpQueuePair qp, Collection<XdpWorkQueue> table, SpreadFlows flows)
            throws VerbsException {
        lock.lock();
        try {
            long deadline = System.nanoTime() + PATIENCE_NANOS;
            while (true) {
                while (taking) {
                    taken.awaitUninterruptibly();
                }
                SpreadSockets s = sockets;
                if (s == null || !members.containsAll(table)) {
                    s = take(verb, qp, Set.copyOf(table)); // or it says who has the queues
                } else if (qp.initAttributes().maxSendWr() > 0 && System.nanoTime() - deadline < 0 && s
                        .isPortLeaving()) {
                    pause();
                    continue;
                }
                return open(verb, qp, flows, s);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Others may do anything meanwhile. */
    private void pause() {
        lock.unlock();
        try {
            LockSupport.parkNanos(PAUSE_NANOS);
        } finally {
            lock.lock();
        }
    }

    private SpreadWire open(String verb, XdpQueuePair qp, SpreadFlows flows, SpreadSockets s) throws VerbsException {
        SpreadWire wire = null;
        try {
            wire = SpreadWire.open(verb, qp, flows, s);
            Map<Integer, List<Fd>> now = new HashMap<>();
            for (XdpWorkQueue wq : members) {
                now.put(wq.number(), wq.sockets());
            }
            flows.use(verb, now);
            wires.add(wire);
            return wire;
        } catch (VerbsException | RuntimeException e) {
            if (wire != null) {
                wire.close();
            }
            releaseUnused();
            throw e;
        }
    }

    private SpreadSockets take(String verb, XdpQueuePair qp, Set<XdpWorkQueue> table) throws VerbsException {
        SpreadSockets s = takeUnlocked(verb, qp, table);
        sockets = s; // nobody else has set it: who wants the queues waits, and there is one who has them
        members.addAll(table);
        try {
            for (XdpWorkQueue wq : table) {
                if (wq.state() == WorkQueueState.RDY) {
                    wq.attach(s, s.open(verb, wq));
                }
            }
            return s;
        } catch (VerbsException | RuntimeException e) {
            releaseUnused();
            throw e;
        }
    }

    /** Waits for the queues; others go on meanwhile, and work queues may come to other states. */
    private SpreadSockets takeUnlocked(String verb, XdpQueuePair qp, Set<XdpWorkQueue> table) throws VerbsException {
        int sends = qp.initAttributes().maxSendWr();
        taking = true;
        lock.unlock();
        try {
            return SpreadSockets.open(verb, "the work queues of " + qp.describe(), context, table, context.rawDevice()
                    .ownChunks(sends, context.mtu()));
        } finally {
            lock.lock();
            taking = false;
            taken.signalAll();
        }
    }

    /** A queue pair receives no more. */
    void close(SpreadWire wire) {
        lock.lock();
        try {
            wires.remove(wire);
            wire.close();
            releaseUnused();
        } finally {
            lock.unlock();
        }
    }

    private void releaseUnused() {
        SpreadSockets s = sockets;
        if (s != null && wires.isEmpty()) {
            for (XdpWorkQueue wq : members) {
                wq.side().detach();
                wq.closeSockets();
            }
            members.clear();
            sockets = null;
            s.close();
        }
    }

    /** Moves a work queue to another state. */
    void move(String verb, XdpWorkQueue wq, int to) throws VerbsException {
        lock.lock();
        try {
            moveLocked(verb, wq, to);
        } finally {
            lock.unlock();
        }
    }

    private void moveLocked(String verb, XdpWorkQueue wq, int to) throws VerbsException {
        int from = wq.state();
        switch (to) {
            case WorkQueueState.RDY -> {
                if (from != WorkQueueState.RDY) {
                    ready(verb, wq);
                }
            }
            case WorkQueueState.ERR -> {
                if (from != WorkQueueState.ERR) {
                    wq.side().fail();
                    stop(verb, wq);
                }
            }
            default -> {
                wq.side().detach();
                stop(verb, wq);
                wq.set(to); // before the reset, after which nothing is posted
                wq.side().reset();
            }
        }
        wq.set(to);
    }

    private void ready(String verb, XdpWorkQueue wq) throws VerbsException {
        SpreadSockets s = sockets;
        if (s == null || !members.contains(wq)) {
            return;
        }
        List<Xsk> opened = s.open(verb, wq);
        wq.attach(s, opened);
        try {
            for (SpreadWire w : wires) {
                w.flows.change(verb, wq.number(), wq.sockets());
            }
        } catch (VerbsException e) {
            wq.side().detach();
            stop(verb, wq);
            throw e;
        }
    }

    private void stop(String verb, XdpWorkQueue wq) throws VerbsException {
        wq.closeSockets();
        for (SpreadWire w : wires) {
            w.flows.change(verb, wq.number(), List.of());
        }
    }

    /** A work queue is closed, which no table has any more. */
    void forget(XdpWorkQueue wq) {
        lock.lock();
        try {
            wq.side().detach();
            wq.closeSockets();
            members.remove(wq);
            wq.side().reset();
        } finally {
            lock.unlock();
        }
    }
}
