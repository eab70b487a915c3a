// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.verbs.Flow;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.FlowSpecType;
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
    /** Under the lock of the receive side. */
    final FlowIndex index = new FlowIndex();

    TapFlows(XdpQueuePair qp, XdpContext context) {
        this.qp = qp;
        this.context = context;
    }

    /** A flow. */
    private static final class TapFlow extends Flow {
        private final XdpQueuePair qp;
        private final FlowIndex index;
        private final FlowMatch match;

        TapFlow(XdpQueuePair qp, FlowAttributes attributes, FlowIndex index, FlowMatch match) throws VerbsException {
            super(qp, attributes);
            this.qp = qp;
            this.index = index;
            this.match = match;
            opened();
        }

        @Override
        public String describe() {
            return "flow of " + match + " of " + qp.describe();
        }

        @Override
        protected void implClose() {
            qp.receives().changeFlows(() -> index.remove(match));
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
        String verb = "create flow on " + qp.describe();
        FlowMatch match = FlowMatch.of(attributes);
        FlowAction action = FlowAction.REDIRECT;
        for (FlowSpec spec : attributes.specs()) {
            if (spec.counters() != null) {
                throw new VerbsException(verb, Errno.EOPNOTSUPP, context.describe() + " does not count flows");
            }
            if (spec.type() == FlowSpecType.ACTION_DROP) {
                action = FlowAction.DROP;
            }
        }
        add(verb, match, action);
        try {
            TapFlow flow = new TapFlow(qp, attributes, index, match);
            context.adopt(flow);
            return flow;
        } catch (VerbsException e) { // the queue pair was closed meanwhile
            qp.receives().changeFlows(() -> index.remove(match));
            throw e;
        }
    }

    private void add(String verb, FlowMatch match, FlowAction action) throws VerbsException {
        @Nullable VerbsException[] refused = {null};
        qp.receives().changeFlows(() -> {
            try {
                index.add(verb, match, action);
            } catch (VerbsException e) {
                refused[0] = e;
            }
        });
        VerbsException e = refused[0];
        if (e != null) {
            throw e;
        }
    }

    @Override
    public void close() {
        // nothing is shared
    }
}
