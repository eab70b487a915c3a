// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.LinuxException;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.Flow;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.VerbsException;
import org.verbena.xdp.program.FlowAction;
import org.verbena.xdp.program.FlowMatch;
import org.verbena.xdp.program.FlowTable;

/**
 * The flows of a queue pair: while it has some it has acquired the interface's program. Thread-safe. It does not refer to
 * the queue pair, so that one which was dropped is found out; its flows go with the context then. Their packets go to the
 * queue pair's socket, or where a subclass {@linkplain #connect connects} the target to.
 */
class QueuePairFlows implements RawFlows {
    private final XdpContext context;
    private final String queuePair;
    private final long publishedQueuePair;
    private final Set<InstalledFlow> installed = new HashSet<>();
    private @Nullable InterfaceProgram program;
    private @Nullable QueueSocket socket;
    private int target;

    /**
     * No flows.
     *
     * @param queuePair its name
     * @param published its entry for readers of counters
     */
    QueuePairFlows(XdpContext context, String queuePair, long published) {
        this.context = context;
        this.queuePair = queuePair;
        publishedQueuePair = published;
    }

    @Override
    public synchronized void use(String verb, Wire wire) throws VerbsException {
        socket = ((XskWire) wire).socket;
        try {
            connect(verb);
        } catch (VerbsException e) {
            socket = null;
            throw e;
        }
    }

    /** Connects the target in the program to what receives, if there are both. */
    void connect(String verb) throws VerbsException {
        InterfaceProgram p = program;
        QueueSocket s = socket;
        if (p != null && s != null) {
            p.redirect(verb, target, s.queue, s.fd());
        }
    }

    /** The target is about to be given back. */
    void disconnect(InterfaceProgram p) {
        QueueSocket s = socket;
        if (s != null) { // or whoever takes the target next would have it for packets of that queue
            p.unredirect(target, s.queue);
        }
    }

    /** What happens to packets of the queue pair's flows. */
    FlowAction delivery() {
        return FlowAction.REDIRECT;
    }

    /** Null without flows. */
    final @Nullable InterfaceProgram program() {
        return program;
    }

    /** The queue pair's number in the program, if there is one. */
    final int target() {
        return target;
    }

    /** Packets of its flows go to the kernel. */
    @Override
    public synchronized void unuse() {
        socket = null;
    }

    @Override
    public synchronized Flow create(XdpQueuePair qp, FlowAttributes attributes) throws VerbsException {
        String verb = "create flow on " + queuePair;
        FlowMatch match = FlowMatch.of(attributes);
        FlowAction action = FlowAction.of(attributes, match, delivery());
        boolean counts = match.watches() || attributes.specs().stream().anyMatch(s -> s.counters() != null);
        InterfaceProgram p = acquire(verb);
        try {
            InstalledFlow flow = install(verb, p, attributes, match, action, counts);
            try {
                XdpFlow f = new XdpFlow(this, qp, attributes, flow);
                context.adopt(f);
                return f;
            } catch (VerbsException e) { // the queue pair was closed meanwhile
                discard(flow);
                throw e;
            }
        } finally {
            releaseUnused();
        }
    }

    private InstalledFlow install(String verb, InterfaceProgram p, FlowAttributes attributes, FlowMatch match,
            FlowAction action, boolean asked) throws VerbsException {
        long cells = XdpCounted.of(ObjectType.FLOW);
        int counter = cells == 0 ? 0 : p.takeCounter(verb, asked);
        FlowTable.Entry entry;
        try {
            entry = p.add(verb, match, action, action == delivery() ? target : 0, counter);
        } catch (VerbsException | RuntimeException e) {
            p.giveCounter(counter, asked);
            throw e;
        }
        CounterEntry published = context.published().flow(context.nextFlow(), attributes, publishedQueuePair,
                counter == 0 ? 0 : cells);
        InstalledFlow flow = new InstalledFlow(p, entry, published, counter, asked);
        p.added(flow);
        installed.add(flow);
        context.withFlows(this, true);
        return flow;
    }

    private InterfaceProgram acquire(String verb) throws VerbsException {
        InterfaceProgram p = program;
        if (p == null) {
            p = InterfaceProgram.acquire(verb, context);
            try {
                target = p.takeTarget(verb);
            } catch (VerbsException e) {
                p.release();
                throw e;
            }
            program = p;
            try {
                connect(verb);
            } catch (VerbsException e) {
                releaseUnused();
                throw e;
            }
        }
        return p;
    }

    /** A flow is closed. */
    synchronized void remove(InstalledFlow flow) throws LinuxException {
        flow.remove();
        if (installed.remove(flow)) {
            releaseUnused();
        }
    }

    private void discard(InstalledFlow flow) {
        end(flow);
        flow.published().close();
    }

    private void end(InstalledFlow flow) {
        try {
            flow.remove();
        } catch (LinuxException e) {
            XdpLog.log(System.Logger.Level.WARNING, "cannot remove " + flow, e);
        }
        installed.remove(flow);
    }

    /** Flows that there still are were dropped without being closed. */
    @Override
    public synchronized void close() {
        List.copyOf(installed).forEach(this::discard);
        releaseUnused();
    }

    /** The context is about to be closed with all that there is. */
    synchronized void end() {
        List.copyOf(installed).forEach(this::end);
        releaseUnused();
    }

    private void releaseUnused() {
        InterfaceProgram p = program;
        if (p != null && installed.isEmpty()) {
            program = null;
            disconnect(p);
            p.giveTarget(target);
            p.release();
            context.withFlows(this, false);
        }
    }
}
