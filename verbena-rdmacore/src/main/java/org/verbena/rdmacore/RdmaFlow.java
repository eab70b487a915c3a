// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;

import org.verbena.verbs.Flow;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.VerbsObject;

/** A flow, {@code struct ibv_flow}. */
final class RdmaFlow extends Flow {
    private final Handle handle;

    private RdmaFlow(Handle handle, RdmaQueuePair qp, FlowAttributes attributes) throws VerbsException {
        super(qp, attributes);
        this.handle = handle;
        opened();
    }

    static Flow create(RdmaQueuePair qp, FlowAttributes a) throws VerbsException {
        RdmaContext context = qp.rdmaContext();
        String verb = "create flow on " + qp.describe();
        List<VerbsObject> used = new ArrayList<>(List.of(qp));
        for (FlowSpec s : a.specs()) {
            if (s.counters() instanceof RdmaCounters c) {
                used.add(c);
            }
        }
        try (Arena arena = Arena.ofConfined()) {
            long attributes = FlowBytes.of(verb, arena, a).address();
            return Handle.create(verb, context, used, Handle.by(context, Slot.DESTROY_FLOW), () -> Calls.pointer(verb,
                    context.verbs().slot(verb, Slot.CREATE_FLOW), qp.address(), attributes), h -> new RdmaFlow(h, qp,
                            a));
        }
    }

    long address() {
        return handle.address;
    }

    @Override
    public String describe() {
        return "flow of " + queuePair().describe();
    }

    @Override
    protected void implClose() throws VerbsException {
        handle.destroy(this);
    }
}
