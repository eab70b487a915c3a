// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.Flow;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.VerbsException;
import org.verbena.xdp.program.FlowAction;
import org.verbena.xdp.program.FlowIndex;
import org.verbena.xdp.program.FlowMatch;

/**
 * The flows of a queue pair of a TAP device. All that the interface sends comes here, so they are looked up in Java when
 * a frame is received; what belongs to none is dropped. The index is used under the lock of the receive side.
 */
final class TapFlows implements RawFlows {
    private final XdpQueuePair qp;
    private final XdpContext context;
    private final long publishedQueuePair;
    /** Under the lock of the receive side. */
    final FlowIndex index = new FlowIndex();
    private final Set<Installed> installed = ConcurrentHashMap.newKeySet();

    /**
     * No flows.
     *
     * @param published its entry for readers of counters
     */
    TapFlows(XdpQueuePair qp, XdpContext context, long published) {
        this.qp = qp;
        this.context = context;
        publishedQueuePair = published;
    }

    /** A flow that is in the index. It does not refer to what the application has, so that a dropped one is found out. */
    private static final class Installed implements FlowIndex.Entry {
        final FlowMatch match;
        final CounterEntry published;
        private final FlowAction action;

        Installed(FlowMatch match, FlowAction action, CounterEntry published) {
            this.match = match;
            this.action = action;
            this.published = published;
        }

        @Override
        public FlowAction action() {
            return action;
        }

        @Override
        public void count(int bytes) {
            XdpCounted.add(published, SamplePoint.PACKETS, 1);
            XdpCounted.add(published, SamplePoint.BYTES, bytes);
        }
    }

    /** A flow. */
    private static final class TapFlow extends Flow {
        private final TapFlows flows;
        private final Installed its;

        TapFlow(TapFlows flows, FlowAttributes attributes, Installed its) throws VerbsException {
            super(flows.qp, attributes);
            this.flows = flows;
            this.its = its;
            publish(its.published);
            opened();
        }

        @Override
        public String describe() {
            return "flow of " + its.match + " of " + queuePair().describe();
        }

        @Override
        protected void implClose() {
            flows.remove(its);
        }
    }

    @Override
    public void use(String verb, Wire wire) {
        // it has the index already
    }

    @Override
    public void unuse() {
        // the index stays
    }

    @Override
    public Flow create(XdpQueuePair pair, FlowAttributes attributes) throws VerbsException {
        FlowMatch match = FlowMatch.of(attributes);
        FlowAction action = FlowAction.of(attributes, match, FlowAction.REDIRECT);
        Installed flow = new Installed(match, action, context.published().flow(context.nextFlow(), attributes,
                publishedQueuePair, XdpCounted.of(ObjectType.FLOW)));
        try {
            add("create flow on " + qp.describe(), flow);
            TapFlow made = new TapFlow(this, attributes, flow);
            context.adopt(made);
            return made;
        } catch (VerbsException e) { // also if the queue pair was closed meanwhile
            discard(flow);
            throw e;
        }
    }

    private void add(String verb, Installed flow) throws VerbsException {
        @Nullable VerbsException[] refused = {null};
        qp.receives().changeFlows(() -> {
            try {
                index.add(verb, flow.match, flow);
                installed.add(flow);
            } catch (VerbsException e) {
                refused[0] = e;
            }
        });
        VerbsException e = refused[0];
        if (e != null) {
            throw e;
        }
    }

    private void remove(Installed flow) {
        if (installed.remove(flow)) {
            qp.receives().changeFlows(() -> index.remove(flow.match, flow));
        }
    }

    private void discard(Installed flow) {
        remove(flow);
        flow.published.close();
    }

    /** Flows that there still are were dropped without being closed. */
    @Override
    public void close() {
        installed.forEach(this::discard);
    }
}
