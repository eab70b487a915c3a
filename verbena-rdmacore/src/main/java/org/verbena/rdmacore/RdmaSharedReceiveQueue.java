// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.ReceiveQueue;
import org.verbena.verbs.SharedReceiveQueue;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.SharedReceiveQueueType;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.VerbsObject;

/** A shared receive queue, {@code struct ibv_srq}, also of type XRC. */
final class RdmaSharedReceiveQueue extends SharedReceiveQueue {
    /** {@code IBV_SRQ_INIT_ATTR_…}: type, domain, XRC domain and completion queue are all set. */
    private static final int XRC_MASK = 0xf;

    private final Handle handle;
    private final RdmaReceiveQueue receives;
    private final int number;
    private final Object control = new Object();

    private RdmaSharedReceiveQueue(Handle handle, RdmaProtectionDomain pd, MemorySegment post,
            SharedReceiveQueueAttributes attributes, int depth, int maxSge) throws VerbsException {
        super(pd, attributes);
        this.handle = handle;
        number = RawMemory.getInt(handle.address + Layout.SRQ_HANDLE);
        receives = new RdmaReceiveQueue(post, handle.address, depth, maxSge);
        opened();
    }

    static SharedReceiveQueue create(RdmaProtectionDomain pd, SharedReceiveQueueAttributes a) throws VerbsException {
        RdmaContext context = pd.rdmaContext();
        NativeContext verbs = context.verbs();
        String verb = "create SRQ on " + pd.describe();
        List<VerbsObject> used = new ArrayList<>(List.of(pd));
        try (Arena arena = Arena.ofConfined()) {
            Struct s = new Struct(arena, Layout.SRQ_INIT_BYTES);
            Struct attr = s.at(Layout.SRQ_INIT_ATTR);
            attr.putInt(0, a.maxWr());
            attr.putInt(Layout.SRQ_ATTR_MAX_SGE, a.maxSge());
            attr.putInt(Layout.SRQ_ATTR_LIMIT, a.limit());
            Handle.Creator creator;
            if (a.type() == SharedReceiveQueueType.BASIC) {
                creator = () -> Calls.pointer(verb, verbs.function(verb, IbvFunction.CREATE_SRQ), pd.address(), s
                        .address());
            } else {
                s.putInt(Layout.SRQ_INIT_COMP_MASK, XRC_MASK);
                s.putInt(Layout.SRQ_INIT_TYPE, a.type());
                s.putLong(Layout.SRQ_INIT_PD, pd.address());
                if (a.xrcDomain() instanceof RdmaXrcDomain d) {
                    used.add(d);
                    s.putLong(Layout.SRQ_INIT_XRCD, d.address());
                }
                if (a.completionQueue() instanceof RdmaCompletionQueue cq) {
                    used.add(cq);
                    s.putLong(Layout.SRQ_INIT_CQ, cq.address());
                }
                creator = () -> Calls.pointer(verb, verbs.slot(verb, Slot.CREATE_SRQ_EX), verbs.address, s.address());
            }
            MemorySegment post = verbs.inline(verb, Layout.CONTEXT_POST_SRQ_RECV);
            return Handle.create(verb, context, used, Handle.by(context, IbvFunction.DESTROY_SRQ), creator,
                    h -> new RdmaSharedReceiveQueue(h, pd, post, a, Math.max(a.maxWr(), attr.getInt(0)), Math.max(a
                            .maxSge(), attr.getInt(Layout.SRQ_ATTR_MAX_SGE))));
        }
    }

    long address() {
        return handle.address;
    }

    @Override
    protected int implNumber() throws VerbsException {
        String verb = "get number of " + describe();
        synchronized (control) {
            checkOpen(verb);
            try (Arena arena = Arena.ofConfined()) {
                Struct s = new Struct(arena, Integer.BYTES);
                Calls.zero(verb, handle.verbs().slot(verb, Slot.GET_SRQ_NUM), handle.address, s.address());
                return s.getInt(0);
            }
        }
    }

    @Override
    public ReceiveQueue receiveQueue() {
        return receives;
    }

    @Override
    protected void implModify(SharedReceiveQueueAttributes a) throws VerbsException {
        String verb = "modify " + describe();
        synchronized (control) {
            checkOpen(verb);
            try (Arena arena = Arena.ofConfined()) {
                Struct s = new Struct(arena, Layout.SRQ_ATTR_BYTES);
                s.putInt(0, a.maxWr());
                s.putInt(Layout.SRQ_ATTR_LIMIT, a.limit());
                Calls.zero(verb, handle.verbs().function(verb, IbvFunction.MODIFY_SRQ), handle.address, s.address(), a
                        .mask());
            }
        }
        if ((a.mask() & SharedReceiveQueueAttributes.MAX_WR) != 0) {
            receives.setDepth(implQuery().maxWr());
        }
    }

    @Override
    protected SharedReceiveQueueAttributes implQuery() throws VerbsException {
        String verb = "query " + describe();
        synchronized (control) {
            checkOpen(verb);
            try (Arena arena = Arena.ofConfined()) {
                Struct s = new Struct(arena, Layout.SRQ_ATTR_BYTES);
                Calls.zero(verb, handle.verbs().function(verb, IbvFunction.QUERY_SRQ), handle.address, s.address());
                return SharedReceiveQueueAttributes.builder().maxWr(s.getInt(0)).maxSge(s.getInt(
                        Layout.SRQ_ATTR_MAX_SGE)).limit(s.getInt(Layout.SRQ_ATTR_LIMIT)).build();
            }
        }
    }

    @Override
    public String describe() {
        return "SRQ " + number + " of " + handle.context.describe();
    }

    @Override
    protected void implClose() throws VerbsException {
        receives.guard().close("close " + describe());
        try {
            synchronized (control) {
                handle.destroy(this);
            }
        } catch (VerbsException e) {
            receives.guard().reopen();
            throw e;
        }
    }
}
