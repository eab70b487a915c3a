// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Fd;
import org.verbena.linux.Xsk;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WorkQueueState;

/**
 * The work queues of a context as far as they receive: those in the tables of queue pairs that are in RTR or later, and in
 * RDY themselves. The first such queue pair takes all queues of the interface, for the work queues of its table; others
 * may have tables of the same ones. The last one gives the queues back. Thread-safe.
 */
final class Spreading {
    private final XdpContext context;
    private final List<SpreadWire> wires = new ArrayList<>();
    private final Set<XdpWorkQueue> members = new HashSet<>();
    private @Nullable SpreadSockets sockets;

    Spreading(XdpContext context) {
        this.context = context;
    }

    /** A queue pair receives from now on. */
    synchronized SpreadWire open(String verb, XdpQueuePair qp, Collection<XdpWorkQueue> table, SpreadFlows flows)
            throws VerbsException {
        SpreadSockets s = sockets;
        if (s == null || !members.containsAll(table)) {
            s = take(verb, qp, Set.copyOf(table)); // or it says who has the queues
        }
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
        int sends = qp.initAttributes().maxSendWr();
        SpreadSockets s = SpreadSockets.open(verb, "the work queues of " + qp.describe(), context, table, context
                .rawDevice().ownChunks(sends, context.mtu()));
        sockets = s;
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

    /** A queue pair receives no more. */
    synchronized void close(SpreadWire wire) {
        wires.remove(wire);
        wire.close();
        releaseUnused();
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
    synchronized void move(String verb, XdpWorkQueue wq, int to) throws VerbsException {
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
    synchronized void forget(XdpWorkQueue wq) {
        wq.side().detach();
        wq.closeSockets();
        members.remove(wq);
        wq.side().reset();
    }
}
