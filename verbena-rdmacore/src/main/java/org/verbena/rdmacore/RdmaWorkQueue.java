// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

import org.verbena.linux.Errno;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.ReceiveQueue;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WorkQueue;
import org.verbena.verbs.WorkQueueAttributes;
import org.verbena.verbs.WorkQueueInitAttributes;
import org.verbena.verbs.WorkQueueState;

/** A work queue, {@code struct ibv_wq}. */
final class RdmaWorkQueue extends WorkQueue {
    private final Handle handle;
    private final int number;
    private final RdmaReceiveQueue receives;
    private final Object control = new Object();
    private volatile int state = WorkQueueState.RESET;

    private RdmaWorkQueue(Handle handle, MemorySegment post, WorkQueueInitAttributes a) throws VerbsException {
        super(a);
        this.handle = handle;
        number = RawMemory.getInt(handle.address + Layout.WQ_NUM);
        receives = new RdmaReceiveQueue(post, handle.address, a.maxWr(), a.maxSge());
        receives.refuse(true);
        opened();
    }

    static WorkQueue create(RdmaContext context, WorkQueueInitAttributes a) throws VerbsException {
        NativeContext verbs = context.verbs();
        String verb = "create WQ on " + context.describe();
        if (!(a.protectionDomain() instanceof RdmaProtectionDomain pd)
                || !(a.completionQueue() instanceof RdmaCompletionQueue cq)) {
            throw new VerbsException(verb, Errno.EINVAL, "foreign PD or CQ");
        }
        try (Arena arena = Arena.ofConfined()) {
            Struct s = new Struct(arena, Layout.WQ_INIT_BYTES);
            s.putInt(Layout.WQ_INIT_TYPE, a.type());
            s.putInt(Layout.WQ_INIT_MAX_WR, a.maxWr());
            s.putInt(Layout.WQ_INIT_MAX_SGE, a.maxSge());
            s.putLong(Layout.WQ_INIT_PD, pd.address());
            s.putLong(Layout.WQ_INIT_CQ, cq.address());
            s.putInt(Layout.WQ_INIT_COMP_MASK, a.compMask());
            s.putInt(Layout.WQ_INIT_CREATE_FLAGS, a.flags());
            return Handle.create(verb, context, List.of(pd, cq), Handle.by(context, Slot.DESTROY_WQ), () -> initialised(
                    Calls.pointer(verb, verbs.slot(verb, Slot.CREATE_WQ), verbs.address, s.address())), h -> {
                        long post = RawMemory.getLong(h.address + Layout.WQ_POST_RECV);
                        if (post == 0) {
                            throw new VerbsException(verb, Errno.EOPNOTSUPP, "the device's driver cannot post to it");
                        }
                        return new RdmaWorkQueue(h, MemorySegment.ofAddress(post), a);
                    });
        }
    }

    /**
     * The part that C does in the header, since the driver leaves it to the caller. Zeros are what the initializers of
     * glibc write.
     */
    private static long initialised(long wq) {
        RawMemory.fill(wq + Layout.WQ_MUTEX, Layout.WQ_EVENTS_COMPLETED + Integer.BYTES - Layout.WQ_MUTEX, (byte) 0);
        return wq;
    }

    long address() {
        return handle.address;
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public int state() {
        return state;
    }

    @Override
    public ReceiveQueue receiveQueue() {
        return receives;
    }

    @Override
    protected void implModify(WorkQueueAttributes a) throws VerbsException {
        String verb = "modify " + describe();
        synchronized (control) {
            checkOpen(verb);
            try (Arena arena = Arena.ofConfined()) {
                Struct s = new Struct(arena, Layout.WQ_ATTR_BYTES);
                s.putInt(0, a.mask());
                s.putInt(Layout.WQ_ATTR_STATE, a.state());
                s.putInt(Layout.WQ_ATTR_CURR_STATE, a.currentState());
                s.putInt(Layout.WQ_ATTR_FLAGS, a.flags());
                s.putInt(Layout.WQ_ATTR_FLAGS_MASK, a.flagsMask());
                Calls.zero(verb, handle.verbs().slot(verb, Slot.MODIFY_WQ), handle.address, s.address());
            }
            if (a.has(WorkQueueAttributes.STATE)) {
                state = a.state();
                receives.refuse(state == WorkQueueState.RESET);
            }
        }
    }

    @Override
    public String describe() {
        return "WQ 0x" + Integer.toHexString(number) + " of " + handle.context.describe();
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
