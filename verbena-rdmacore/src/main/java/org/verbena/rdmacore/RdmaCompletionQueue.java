// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.spi.Downcall;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.CompletionQueueModification;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.VerbsObject;

/** A completion queue: the common part of {@code struct ibv_cq} and {@code struct ibv_cq_ex}. */
abstract class RdmaCompletionQueue extends CompletionQueue {
    final Handle handle;
    /** Closed when the queue is destroyed: for the thread that polls. */
    final QuiescenceGuard guard = new QuiescenceGuard();
    /** The same for the thread that arms, which may be another one. */
    private final QuiescenceGuard arming = new QuiescenceGuard();
    private final @Nullable MemorySegment requestNotify;
    private final int number;
    private final Object control = new Object();
    private volatile int cqe;

    RdmaCompletionQueue(Handle handle, CompletionQueueAttributes attributes) throws VerbsException {
        super(handle.context, attributes);
        this.handle = handle;
        requestNotify = handle.verbs().inline(Layout.CONTEXT_REQ_NOTIFY_CQ);
        number = RawMemory.getInt(handle.address + Layout.CQ_HANDLE);
        cqe = RawMemory.getInt(handle.address + Layout.CQ_CQE);
    }

    /** Creates a plain queue, which every library supports, if that provides all requested properties. */
    static CompletionQueue create(RdmaContext context, CompletionQueueAttributes a) throws VerbsException {
        String verb = "create CQ on " + context.describe();
        List<VerbsObject> used = new ArrayList<>(List.of(context));
        RdmaCompletionChannel channel = a.channel() instanceof RdmaCompletionChannel c ? c : null;
        if (channel != null) {
            used.add(channel);
        }
        long events = channel == null ? 0 : channel.address();
        Handle.Destroyer destroyer = Handle.by(context, IbvFunction.DESTROY_CQ);
        NativeContext verbs = context.verbs();
        if ((a.fields() & ~CompletionQueueAttributes.STANDARD_FIELDS) == 0 && (a.compMask()
                & (CompletionQueueAttributes.FLAGS | CompletionQueueAttributes.PARENT_DOMAIN)) == 0) {
            return Handle.create(verb, context, used, destroyer, () -> Calls.pointer(verb, verbs.function(verb,
                    IbvFunction.CREATE_CQ), verbs.address, a.cqe(), 0, events, a.completionVector()),
                    h -> new PlainCompletionQueue(h, a));
        }
        try (Arena arena = Arena.ofConfined()) {
            Struct s = new Struct(arena, Layout.CQ_INIT_BYTES);
            s.putInt(0, a.cqe());
            s.putLong(Layout.CQ_INIT_CHANNEL, events);
            s.putInt(Layout.CQ_INIT_COMP_VECTOR, a.completionVector());
            s.putLong(Layout.CQ_INIT_WC_FLAGS, a.fields());
            s.putInt(Layout.CQ_INIT_COMP_MASK, a.compMask() & (CompletionQueueAttributes.FLAGS
                    | CompletionQueueAttributes.PARENT_DOMAIN));
            s.putInt(Layout.CQ_INIT_FLAGS, a.flags());
            if (a.parentDomain() instanceof RdmaProtectionDomain parent) {
                used.add(parent);
                s.putLong(Layout.CQ_INIT_PARENT_DOMAIN, parent.address());
            }
            return Handle.create(verb, context, used, destroyer, () -> createExtended(verb, verbs, s, a),
                    h -> new ExtendedCompletionQueue(h, a));
        }
    }

    /** A driver that does not support a requested property does not report which one. */
    private static long createExtended(String verb, NativeContext verbs, Struct s, CompletionQueueAttributes a)
            throws VerbsException {
        MemorySegment create = verbs.slot(verb, Slot.CREATE_CQ_EX);
        try {
            return Calls.pointer(verb, create, verbs.address, s.address());
        } catch (VerbsException e) {
            throw e.errno() == Errno.EOPNOTSUPP
                    ? new VerbsException(verb, e.errno(), "the device or its driver has no completion queues with "
                            + requestedProperties(a) + ": leave out those that are not needed")
                    : e;
        }
    }

    /** The names of the requested properties that a plain queue does not have. */
    private static String requestedProperties(CompletionQueueAttributes a) {
        List<String> all = new ArrayList<>();
        int fields = a.fields() & ~CompletionQueueAttributes.STANDARD_FIELDS;
        if (fields != 0) {
            all.add("completion fields " + CompletionQueueAttributes.fieldNames(fields));
        }
        if ((a.flags() & CompletionQueueAttributes.SINGLE_THREADED) != 0) {
            all.add("flag SINGLE_THREADED");
        }
        if ((a.flags() & CompletionQueueAttributes.IGNORE_OVERRUN) != 0) {
            all.add("flag IGNORE_OVERRUN");
        }
        if (a.parentDomain() != null) {
            all.add("a parent domain");
        }
        return all.isEmpty() ? "flags" : String.join(", ", all);
    }

    long address() {
        return handle.address;
    }

    @Override
    public final int cqe() {
        return cqe;
    }

    @Override
    public final int requestNotify(boolean solicitedOnly) {
        MemorySegment function = requestNotify;
        if (function == null || channel() == null || !arming.enter()) {
            return Errno.EINVAL;
        }
        int result = (int) Downcall.callCritical(function, handle.address, solicitedOnly ? 1 : 0, 0);
        arming.exit();
        return Math.abs(result);
    }

    @Override
    protected final void implResize(int newCqe) throws VerbsException {
        String verb = "resize " + describe();
        synchronized (control) {
            checkOpen(verb);
            Calls.zero(verb + " to " + newCqe + " entries", handle.verbs().function(verb, IbvFunction.RESIZE_CQ),
                    handle.address, newCqe);
            cqe = RawMemory.getInt(handle.address + Layout.CQ_CQE);
        }
    }

    @Override
    protected final void implModify(CompletionQueueModification change) throws VerbsException {
        String verb = "modify " + describe();
        synchronized (control) {
            checkOpen(verb);
            try (Arena arena = Arena.ofConfined()) {
                Struct s = new Struct(arena, Layout.MODIFY_CQ_BYTES);
                s.putInt(0, change.mask());
                s.putShort(Layout.MODIFY_CQ_COUNT, change.moderationCount());
                s.putShort(Layout.MODIFY_CQ_PERIOD, change.moderationPeriodMicros());
                Calls.zero(verb, handle.verbs().slot(verb, Slot.MODIFY_CQ), handle.address, s.address());
            }
        }
    }

    @Override
    public final String describe() {
        return "CQ " + number + " of " + handle.context.describe();
    }

    @Override
    protected final void implClose() throws VerbsException {
        String verb = "close " + describe();
        guard.close(verb);
        arming.close(verb);
        try {
            synchronized (control) {
                handle.destroy(this);
            }
        } catch (VerbsException e) {
            guard.reopen();
            arming.reopen();
            throw e;
        }
    }
}
