// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.Membarrier;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.EnhancedConnection;
import org.verbena.verbs.Feature;
import org.verbena.verbs.Flow;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.Gid;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.RateLimit;
import org.verbena.verbs.ReceiveQueue;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.QueuePairValues;

/** A queue pair, {@code struct ibv_qp}, of any type. */
final class RdmaQueuePair extends QueuePair {
    /** All bits of {@code enum ibv_qp_attr_mask} except the one below; copied, so that a later one is rejected. */
    private static final int KNOWN_ATTRIBUTES = 0x1fffff | QueuePairAttributes.RATE_LIMIT;
    /** Attributes that old libraries do not know, and no query returns. */
    private static final int NOT_QUERIED = QueuePairAttributes.RATE_LIMIT | QueuePairAttributes.CUR_STATE;
    /** {@code IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS}: old libraries return 0 for it. */
    private static final int RETURN_CAPS = 1;
    /** The opcodes of {@code enum ibv_wr_opcode} whose numbers differ from ours. */
    private static final int WR_FLUSH = 14;
    private static final int WR_ATOMIC_WRITE = 15;

    private record Attachment(Gid group, int lid) {}

    private final Handle handle;
    private final int number;
    private final RdmaSendQueue sends;
    private final RdmaReceiveQueue receives;
    private final boolean ownReceives;
    /** Held by verbs of the control path: no thread destroys the queue pair meanwhile. */
    private final Object control = new Object();
    /** Guarded by control. The kernel does not destroy a queue pair that is attached. */
    private final Set<Attachment> attachments = new LinkedHashSet<>();
    private volatile QueuePairState lastState = QueuePairState.RESET;
    private int set;

    RdmaQueuePair(Handle handle, RdmaProtectionDomain pd, QueuePairInitAttributes init, RdmaSendQueue sends,
            RdmaReceiveQueue receives) throws VerbsException {
        super(pd, init);
        this.handle = handle;
        this.sends = sends;
        this.receives = receives;
        ownReceives = !receives.isNone();
        number = RawMemory.getInt(handle.address + Layout.QP_NUM);
        entered(QueuePairState.RESET);
        handle.context.addPoster(sends.guard());
        opened();
    }

    /** A target of an XRC domain. */
    RdmaQueuePair(Handle handle, RdmaXrcDomain domain, QueuePairInitAttributes init) throws VerbsException {
        super(domain, init);
        this.handle = handle;
        sends = PlainSendQueue.none();
        receives = RdmaReceiveQueue.none();
        ownReceives = false;
        number = RawMemory.getInt(handle.address + Layout.QP_NUM);
        opened();
    }

    static QueuePair create(RdmaProtectionDomain pd, QueuePairInitAttributes a) throws VerbsException {
        return QueuePairCreation.create(pd, a);
    }

    long address() {
        return handle.address;
    }

    RdmaContext rdmaContext() {
        return handle.context;
    }

    @Override
    public int number() {
        return number;
    }

    /** Queries the device, since a queue pair moves to ERR by itself. */
    @Override
    public QueuePairState state() {
        try {
            QueuePairState now = query(QueuePairAttributes.STATE).state();
            lastState = now == null ? lastState : now;
        } catch (VerbsException e) {
            // closed, or the driver fails the query: the last known state
        }
        return lastState;
    }

    @Override
    public SendQueue sendQueue() {
        return sends;
    }

    @Override
    public ReceiveQueue receiveQueue() {
        return receives;
    }

    @Override
    protected int implBindMemoryWindow(MemoryWindow window, long wrId, int flags, @Nullable MemoryRegion region,
            long address, long length, int access) {
        MemorySegment bind = handle.verbs().inline(Layout.CONTEXT_BIND_MW);
        if (bind == null) {
            return Errno.EOPNOTSUPP;
        }
        if (type() == QueuePairType.XRC_RECV || !(window instanceof RdmaMemoryWindow w) || region != null
                && !(region instanceof RdmaMemoryRegion)) {
            return Errno.EINVAL;
        }
        return sends.bindWindow(bind, w, wrId, flags, region instanceof RdmaMemoryRegion r ? r : null, address, length,
                access);
    }

    @Override
    protected int supportedAttributes() {
        return handle.context.supports(Feature.ALTERNATE_PATH)
                ? KNOWN_ATTRIBUTES
                : KNOWN_ATTRIBUTES & ~QueuePairAttributes.ALT_PATH;
    }

    @Override
    protected void implModify(QueuePairAttributes a) throws VerbsException {
        String verb = "modify " + describe();
        handle.context.check(verb, describe(), a);
        if (a.has(QueuePairAttributes.PATH_MTU) && Queries.mtuCode(a.pathMtu()) == 0) {
            throw new VerbsException(verb, Errno.EINVAL, "the path MTU is " + a.pathMtu()
                    + ", must be 256, 512, 1024, 2048 or 4096");
        }
        synchronized (control) {
            checkOpen(verb);
            QueuePairState to = a.state();
            if (to != null && !to.acceptsSends()) {
                rejectPosts(to); // before the driver resets what a post would access
            }
            try (Arena arena = Arena.ofConfined()) {
                Struct s = new Struct(arena, Layout.QP_ATTR_BYTES);
                QueuePairBytes.put(s, a);
                Calls.zero(verb, handle.verbs().function(verb, IbvFunction.MODIFY_QP), handle.address, s.address(), a
                        .mask());
                entered(to == null ? lastState : to);
                set = to == QueuePairState.RESET ? 0 : set | a.mask();
            } catch (VerbsException e) {
                entered(lastState);
                throw e;
            }
        }
    }

    private void entered(QueuePairState state) {
        lastState = state;
        sends.accept(state.acceptsSends());
        if (ownReceives) {
            receives.refuse(state == QueuePairState.RESET);
        }
    }

    /** Rejects posts from now on; posts that had begun are done when this returns. */
    private void rejectPosts(QueuePairState to) {
        sends.accept(false);
        if (ownReceives && to == QueuePairState.RESET) {
            receives.refuse(true);
        }
        Membarrier.ownProcess();
        sends.guard().awaitQuiescence();
        receives.guard().awaitQuiescence();
    }

    boolean hasSharedReceives() {
        return !ownReceives;
    }

    /** Its connection has ended: posted requests are flushed. */
    void toError() {
        try {
            modify(QueuePairAttributes.to(QueuePairState.ERR).build());
        } catch (VerbsException e) {
            // it is closed, or in RESET, where nothing is posted
        }
    }

    @Override
    public QueuePairAttributes query() throws VerbsException {
        int mask;
        synchronized (control) {
            mask = set;
        }
        return query(mask & ~NOT_QUERIED | QueuePairAttributes.STATE).toBuilder().capabilities(QueuePairValues
                .capabilities(initAttributes())).build();
    }

    private QueuePairAttributes query(int mask) throws VerbsException {
        String verb = "query " + describe();
        synchronized (control) {
            checkOpen(verb);
            try (Arena arena = Arena.ofConfined()) {
                Struct s = new Struct(arena, Layout.QP_ATTR_BYTES);
                Struct init = new Struct(arena, Layout.QP_INIT_BYTES);
                Calls.zero(verb, handle.verbs().function(verb, IbvFunction.QUERY_QP), handle.address, s.address(), mask,
                        init.address());
                return QueuePairBytes.get(s, mask);
            }
        }
    }

    @Override
    public int queryDataInOrder(int operation) {
        String verb = "query data order of " + describe();
        int bit = Integer.numberOfTrailingZeros(operation);
        if (Integer.bitCount(operation) != 1 || bit > SendOperationBit.ATOMIC_WRITE || !handle.verbs().library.has(
                IbvFunction.QUERY_QP_DATA_IN_ORDER)) {
            return 0;
        }
        int opcode = bit == SendOperationBit.FLUSH
                ? WR_FLUSH
                : bit == SendOperationBit.ATOMIC_WRITE ? WR_ATOMIC_WRITE : bit;
        synchronized (control) {
            try {
                checkOpen(verb);
                MemorySegment f = handle.verbs().function(verb, IbvFunction.QUERY_QP_DATA_IN_ORDER);
                int answer = (int) Calls.call(f, handle.address, opcode, RETURN_CAPS);
                return answer > 0 ? answer : Math.max(0, (int) Calls.call(f, handle.address, opcode, 0));
            } catch (VerbsException e) {
                return 0;
            }
        }
    }

    @Override
    public EnhancedConnection queryEnhancedConnection() throws VerbsException {
        String verb = "query ECE of " + describe();
        synchronized (control) {
            checkOpen(verb);
            try (Arena arena = Arena.ofConfined()) {
                Struct s = new Struct(arena, Layout.ECE_BYTES);
                Calls.zero(verb, handle.verbs().function(verb, IbvFunction.QUERY_ECE), handle.address, s.address());
                return EnhancedConnection.of(s.getInt(0), s.getInt(Layout.ECE_OPTIONS));
            }
        }
    }

    @Override
    public void setEnhancedConnection(EnhancedConnection options) throws VerbsException {
        String verb = "set ECE of " + describe();
        synchronized (control) {
            checkOpen(verb);
            try (Arena arena = Arena.ofConfined()) {
                Struct s = new Struct(arena, Layout.ECE_BYTES);
                s.putInt(0, options.vendorId());
                s.putInt(Layout.ECE_OPTIONS, options.options());
                Calls.zero(verb, handle.verbs().function(verb, IbvFunction.SET_ECE), handle.address, s.address());
            }
        }
    }

    @Override
    public void modifyRateLimit(RateLimit limit) throws VerbsException {
        String verb = "limit " + describe();
        synchronized (control) {
            checkOpen(verb);
            try (Arena arena = Arena.ofConfined()) {
                Struct s = new Struct(arena, Layout.RATE_LIMIT_BYTES);
                s.putInt(0, limit.kilobitsPerSecond());
                s.putInt(Layout.RATE_LIMIT_MAX_BURST, limit.maxBurst());
                s.putShort(Layout.RATE_LIMIT_TYPICAL_PKT, limit.typicalPacket());
                Calls.zero(verb, handle.verbs().slot(verb, Slot.MODIFY_QP_RATE_LIMIT), handle.address, s.address());
            }
        }
    }

    @Override
    protected void implAttachMulticast(Gid group, int lid) throws VerbsException {
        String verb = "attach " + describe() + " to " + group;
        synchronized (control) {
            checkOpen(verb);
            multicast(verb, IbvFunction.ATTACH_MCAST, group, lid);
            attachments.add(new Attachment(group, lid));
        }
    }

    @Override
    protected void implDetachMulticast(Gid group, int lid) throws VerbsException {
        String verb = "detach " + describe() + " from " + group;
        synchronized (control) {
            checkOpen(verb);
            Attachment a = new Attachment(group, lid);
            if (!attachments.contains(a)) {
                throw new VerbsException(verb, Errno.EINVAL, "it is not attached");
            }
            detach(verb, a);
        }
    }

    private void detach(String verb, Attachment a) throws VerbsException {
        multicast(verb, IbvFunction.DETACH_MCAST, a.group, a.lid);
        attachments.remove(a);
    }

    private void multicast(String verb, IbvFunction f, Gid group, int lid) throws VerbsException {
        try (Arena arena = Arena.ofConfined()) {
            Struct s = new Struct(arena, Long.BYTES * 2);
            s.putGid(0, group);
            Calls.zero(verb, handle.verbs().function(verb, f), handle.address, s.address(), lid);
        }
    }

    @Override
    protected Flow implCreateFlow(FlowAttributes attributes) throws VerbsException {
        return RdmaFlow.create(this, attributes);
    }

    @Override
    public String describe() {
        return "QP 0x" + Integer.toHexString(number) + " of " + handle.context.describe();
    }

    private void destroy(String verb) throws VerbsException {
        List<VerbsException> stuck = new ArrayList<>();
        for (Attachment a : List.copyOf(attachments)) {
            try {
                detach(verb, a);
            } catch (VerbsException e) {
                stuck.add(e); // it matters if the queue pair cannot be destroyed because of it
            }
        }
        try {
            handle.destroy(this);
        } catch (VerbsException e) {
            stuck.forEach(e::addSuppressed);
            throw e;
        }
    }

    @Override
    protected void implClose() throws VerbsException {
        String verb = "close " + describe();
        sends.guard().close(verb);
        try {
            receives.guard().close(verb);
            synchronized (control) {
                destroy(verb);
            }
        } catch (VerbsException e) {
            sends.guard().reopen();
            receives.guard().reopen();
            throw e;
        }
        handle.context.removePoster(sends.guard());
    }
}
