// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.verbs.Flow;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.FlowSpecType;
import org.verbena.verbs.VerbsException;
import org.verbena.xdp.program.FlowAction;
import org.verbena.xdp.program.FlowEntry;
import org.verbena.xdp.program.FlowMatch;
import org.verbena.xdp.program.FlowTable;

/** The flows of a queue pair: while it has some it has acquired the interface's program. Thread-safe. */
final class QueuePairFlows {
    private final XdpQueuePair qp;
    private final XdpContext context;
    private @Nullable InterfaceProgram program;
    private @Nullable QueueSocket socket;
    private int target;
    private int count;

    QueuePairFlows(XdpQueuePair qp, XdpContext context) {
        this.qp = qp;
        this.context = context;
    }

    /** The queue pair has a socket. */
    synchronized void use(String verb, QueueSocket s) throws VerbsException {
        InterfaceProgram p = program;
        if (p != null) {
            p.redirect(verb, target, s);
        }
        socket = s;
    }

    /** It has none any more: packets of its flows go to the kernel. */
    synchronized void unuse() {
        socket = null;
    }

    synchronized Flow create(FlowAttributes attributes) throws VerbsException {
        String verb = "create flow on " + qp.describe();
        FlowMatch match = FlowMatch.of(attributes);
        FlowAction action = match.watches() ? FlowAction.COUNT : FlowAction.REDIRECT;
        for (FlowSpec spec : attributes.specs()) {
            if (spec.counters() != null) {
                throw new VerbsException(verb, Errno.EOPNOTSUPP, context.describe() + " does not count flows");
            }
            if (spec.type() == FlowSpecType.ACTION_DROP) {
                action = FlowAction.DROP;
            }
        }
        InterfaceProgram p = acquire(verb);
        try {
            FlowTable.Entry entry = p.add(verb, match, new FlowEntry(action, action == FlowAction.REDIRECT
                    ? target
                    : 0, 0, ProcessHandle.current().pid()));
            try {
                XdpFlow flow = new XdpFlow(qp, attributes, entry);
                context.adopt(flow);
                count++;
                return flow;
            } catch (VerbsException e) { // the queue pair was closed meanwhile
                remove(entry);
                throw e;
            }
        } finally {
            releaseUnused();
        }
    }

    private static void remove(FlowTable.Entry entry) {
        try {
            entry.close();
        } catch (LinuxException e) {
            XdpLog.log(System.Logger.Level.WARNING, "cannot remove " + entry, e);
        }
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
            QueueSocket s = socket;
            if (s != null) {
                try {
                    p.redirect(verb, target, s);
                } catch (VerbsException e) {
                    releaseUnused();
                    throw e;
                }
            }
        }
        return p;
    }

    /** A flow was closed. */
    synchronized void closed() {
        count--;
        releaseUnused();
    }

    private void releaseUnused() {
        InterfaceProgram p = program;
        if (p != null && count == 0) {
            program = null;
            p.giveTarget(target);
            p.release();
        }
    }
}
