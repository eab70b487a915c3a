// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import org.verbena.linux.Fd;
import org.verbena.verbs.RxHashConfiguration;
import org.verbena.verbs.VerbsException;
import org.verbena.xdp.program.FlowAction;
import org.verbena.xdp.program.Spread;

/**
 * The flows of a queue pair with an indirection table: each of its work queues has a target of its own, and the program
 * chooses one by a packet's hash. Work queues are known by number. Thread-safe.
 */
final class SpreadFlows extends QueuePairFlows {
    private final RxHashConfiguration hash;
    private final List<Integer> entries;
    /** By work queue: its target, while the program is acquired. */
    private final Map<Integer, Integer> targets = new HashMap<>();
    /** By work queue: its socket of each queue of the interface, while it takes packets. */
    private final Map<Integer, List<Fd>> sockets = new HashMap<>();
    private boolean used;

    /**
     * No flows.
     *
     * @param entries the numbers of the work queues in the table
     */
    SpreadFlows(XdpContext context, String queuePair, long published, RxHashConfiguration hash,
            List<Integer> entries) {
        super(context, queuePair, published);
        this.hash = hash;
        this.entries = entries;
    }

    @Override
    FlowAction delivery() {
        return FlowAction.SPREAD;
    }

    @Override
    public void use(String verb, Wire wire) {
        // work queues receive, see change
    }

    /** The queue pair receives from now on, by sockets of its work queues. */
    synchronized void use(String verb, Map<Integer, List<Fd>> now) throws VerbsException {
        used = true;
        try {
            for (Map.Entry<Integer, List<Fd>> e : now.entrySet()) {
                change(verb, e.getKey(), e.getValue());
            }
        } catch (VerbsException e) {
            unuse();
            throw e;
        }
    }

    /** A work queue has sockets, or none any more; it may be one of another table. */
    synchronized void change(String verb, int workQueue, List<Fd> now) throws VerbsException {
        if (!used || !entries.contains(workQueue)) {
            return;
        }
        if (now.isEmpty()) {
            sockets.remove(workQueue); // closed sockets leave the program by themselves
            return;
        }
        sockets.put(workQueue, now);
        InterfaceProgram p = program();
        if (p != null) {
            redirect(verb, p, workQueue, now);
        }
    }

    private void redirect(String verb, InterfaceProgram p, int workQueue, List<Fd> now) throws VerbsException {
        Integer target = targets.get(workQueue);
        for (int queue = 0; target != null && queue < now.size(); queue++) {
            p.redirect(verb, target, queue, now.get(queue));
        }
    }

    @Override
    public synchronized void unuse() {
        used = false;
        InterfaceProgram p = program();
        if (p != null) {
            disconnectSockets(p);
        }
        sockets.clear();
    }

    private void disconnectSockets(InterfaceProgram p) {
        for (Map.Entry<Integer, List<Fd>> e : sockets.entrySet()) {
            Integer target = targets.get(e.getKey());
            for (int queue = 0; target != null && queue < e.getValue().size(); queue++) {
                p.unredirect(target, queue);
            }
        }
    }

    /** The program has been acquired. */
    @Override
    void connect(String verb) throws VerbsException {
        InterfaceProgram p = program();
        if (p == null) {
            return;
        }
        Set<Integer> workQueues = new TreeSet<>(entries);
        for (int workQueue : workQueues) {
            targets.put(workQueue, p.takeTarget(verb));
        }
        p.spread(verb, target(), new Spread(hash, entries.stream().map(this::targetOf).toList()));
        for (Map.Entry<Integer, List<Fd>> e : sockets.entrySet()) {
            redirect(verb, p, e.getKey(), e.getValue());
        }
    }

    private int targetOf(int workQueue) {
        return targets.getOrDefault(workQueue, 0);
    }

    @Override
    void disconnect(InterfaceProgram p) {
        disconnectSockets(p);
        p.unspread(target());
        targets.values().forEach(p::giveTarget);
        targets.clear();
    }
}
