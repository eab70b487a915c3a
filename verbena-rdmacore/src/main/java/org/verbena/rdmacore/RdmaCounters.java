// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.verbs.CounterAttachAttributes;
import org.verbena.verbs.CounterTarget;
import org.verbena.verbs.Counters;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.VerbsException;

/**
 * Counters of flows, {@code struct ibv_counters}. Descriptions are passed to the device at once; the device counts a
 * flow that was created with them from then on, until it is closed.
 */
final class RdmaCounters extends Counters {
    private final Handle handle;
    private final Object control = new Object();

    private RdmaCounters(Handle handle) throws VerbsException {
        super(handle.context);
        this.handle = handle;
        opened();
    }

    static Counters create(RdmaContext context) throws VerbsException {
        NativeContext verbs = context.verbs();
        String verb = "create counters on " + context.describe();
        try (Arena arena = Arena.ofConfined()) {
            Struct s = new Struct(arena, Layout.COUNTERS_INIT_BYTES);
            return Handle.create(verb, context, List.of(), Handle.by(context, Slot.DESTROY_COUNTERS), () -> Calls
                    .pointer(verb, verbs.slot(verb, Slot.CREATE_COUNTERS), verbs.address, s.address()),
                    RdmaCounters::new);
        }
    }

    long address() {
        return handle.address;
    }

    @Override
    protected void implDescribe(String verb, CounterAttachAttributes a) throws VerbsException {
        attach(verb, a, 0);
    }

    private void attach(String verb, CounterAttachAttributes a, long flow) throws VerbsException {
        synchronized (control) {
            checkOpen(verb);
            try (Arena arena = Arena.ofConfined()) {
                Struct s = new Struct(arena, Layout.COUNTER_ATTACH_BYTES);
                s.putInt(0, a.samplePoint());
                s.putInt(Layout.COUNTER_ATTACH_INDEX, a.index());
                Calls.zero(verb, handle.verbs().slot(verb, Slot.ATTACH_COUNTERS_POINT_FLOW), handle.address, s
                        .address(), flow);
            }
        }
    }

    @Override
    protected void implAttach(String verb, CounterAttachAttributes a, CounterTarget target) throws VerbsException {
        if (!(target instanceof RdmaFlow flow)) {
            throw new VerbsException(verb, Errno.EOPNOTSUPP, "the device counts flows only");
        }
        for (FlowSpec s : flow.attributes().specs()) {
            if (s.counters() == this) {
                return; // it was created with them, and is counted
            }
        }
        attach(verb, a, flow.address());
    }

    /** There is no such verb: a flow is counted until it is closed. */
    @Override
    protected void implDetach(@Nullable CounterAttachAttributes attributes, @Nullable CounterTarget target)
            throws VerbsException {
        if (target != null) {
            throw new VerbsException("detach " + target.describe(), Errno.EOPNOTSUPP, "close it to end its counting");
        }
    }

    @Override
    protected void implRead(String verb, long[] values, int flags) throws VerbsException {
        synchronized (control) {
            checkOpen(verb);
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG, Math.max(1, values.length));
                Calls.zero(verb, handle.verbs().slot(verb, Slot.READ_COUNTERS), handle.address, out.address(),
                        values.length, flags);
                MemorySegment.copy(out, ValueLayout.JAVA_LONG, 0, values, 0, values.length);
            }
        }
    }

    @Override
    protected void implClose() throws VerbsException {
        synchronized (control) {
            handle.destroy(this);
        }
    }
}
