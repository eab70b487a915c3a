// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.spi.Downcall;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressHandle;
import org.verbena.verbs.FlushType;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.VerbsObject;

/**
 * The send side: writes the work requests of a batch to its {@link SendSlots} and passes them to the driver when the
 * batch is complete; the subclasses implement that. After an error the rest of the batch is written to the first slot,
 * and not posted.
 */
abstract class RdmaSendQueue extends SendQueue {
    /**
     * Copied into this class, so that a flag of a later {@code verbena-verbs} is rejected. Without {@code INLINE},
     * which {@link #inline} sets: the driver would read the buffers of {@link #sge} by the CPU, and nothing checks
     * those.
     */
    private static final int KNOWN_FLAGS = SendFlags.FENCE | SendFlags.SIGNALED | SendFlags.SOLICITED;
    private static final int WINDOW_RIGHTS = AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ
            | AccessFlags.REMOTE_ATOMIC | AccessFlags.ZERO_BASED;
    /** Length of a flush; at an offset that the structure uses for other operations. */
    static final int WR_FLUSH_LENGTH = 56;
    static final int WR_FLUSH_TYPE = 64;
    static final int WR_FLUSH_LEVEL = 68;
    private static final int NUMBER_MASK = 0xffffff;
    private static final long MAX_LENGTH = 0xffffffffL;

    /** The capacity of a queue pair, and the limits of its device; without a domain there is nothing to send. */
    record Sizes(@Nullable ProtectionDomain domain, int depth, int maxSge, int maxInline, int maxHeader,
            boolean checksums, boolean segments) {}

    final long qp;
    private final int type;
    private final int operations;
    private final Sizes sizes;
    private final boolean addressed;
    private final QuiescenceGuard guard = new QuiescenceGuard();
    private final int maxSge;
    private final int knownFlags;
    final SendSlots slots;
    /** Whether requests are accepted in the current state. */
    private volatile boolean accepts;

    private @Nullable VerbsObject[] named;
    private @Nullable VerbsObject[] regions;
    /** Whether the batch refers to an object that could be closed meanwhile. */
    private boolean hasReferences;
    private int staged;
    private long current;
    private int opcode;
    private int elements;
    private boolean isInline;
    private boolean needsDestination;
    private int error;
    private boolean open;

    RdmaSendQueue(long qp, int type, int operations, Sizes sizes) {
        this.qp = qp;
        this.type = type;
        this.operations = operations;
        this.sizes = sizes;
        addressed = type == QueuePairType.UD || type == QueuePairType.XRC_SEND;
        maxSge = sizes.maxSge;
        knownFlags = sizes.checksums ? KNOWN_FLAGS | SendFlags.IP_CSUM : KNOWN_FLAGS;
        slots = new SendSlots(sizes.depth, maxSge, Math.max(sizes.maxInline, sizes.maxHeader));
        named = new VerbsObject[slots.count];
        regions = new VerbsObject[slots.count];
        current = slots.base;
    }

    QuiescenceGuard guard() {
        return guard;
    }

    void accept(boolean sends) {
        accepts = sends;
    }

    /**
     * Whether a request of one buffer is one that {@link #complete} would post unchanged; ends a batch that is open.
     */
    final boolean isPlain(int operation, int flags, long length) {
        open = false;
        return (operations & 1 << operation) != 0 && (flags & ~knownFlags) == 0 && !addressed && maxSge > 0
                && length >= 0
                && length <= MAX_LENGTH;
    }

    /** Whether requests are accepted in the queue pair's state; to be called inside the guard. */
    final boolean accepts() {
        return accepts;
    }

    @Override
    public final SendQueue start() {
        open = true;
        error = operations == 0 ? Errno.EINVAL : 0;
        staged = 0;
        hasReferences = false;
        needsDestination = false;
        return this;
    }

    @Override
    public final SendQueue send(long wrId, int flags) {
        stage(SendOperationBit.SEND, wrId, flags, 0);
        return this;
    }

    @Override
    public final SendQueue sendImmediate(long wrId, int flags, int immediate) {
        stage(SendOperationBit.SEND_IMM, wrId, flags, Layout.networkOrder(immediate));
        return this;
    }

    @Override
    public final SendQueue sendInvalidate(long wrId, int flags, int invalidated) {
        stage(SendOperationBit.SEND_INV, wrId, flags, invalidated);
        return this;
    }

    @Override
    public final SendQueue write(long wrId, int flags, int rkey, long remoteAddress) {
        return remote(stage(SendOperationBit.WRITE, wrId, flags, 0), rkey, remoteAddress);
    }

    @Override
    public final SendQueue writeImmediate(long wrId, int flags, int rkey, long remoteAddress, int immediate) {
        return remote(stage(SendOperationBit.WRITE_IMM, wrId, flags, Layout.networkOrder(immediate)), rkey,
                remoteAddress);
    }

    @Override
    public final SendQueue read(long wrId, int flags, int rkey, long remoteAddress) {
        return remote(stage(SendOperationBit.READ, wrId, flags, 0), rkey, remoteAddress);
    }

    private SendQueue remote(long wr, int rkey, long remoteAddress) {
        RawMemory.putLong(wr, Layout.SEND_WR_RDMA_ADDR, remoteAddress);
        RawMemory.putInt(wr + Layout.SEND_WR_RDMA_RKEY, rkey);
        return this;
    }

    @Override
    public final SendQueue compareAndSwap(long wrId, int flags, int rkey, long remoteAddress, long compare,
            long swap) {
        return atomic(stage(SendOperationBit.CMP_SWP, wrId, flags, 0), rkey, remoteAddress, compare, swap);
    }

    @Override
    public final SendQueue fetchAndAdd(long wrId, int flags, int rkey, long remoteAddress, long add) {
        return atomic(stage(SendOperationBit.FETCH_ADD, wrId, flags, 0), rkey, remoteAddress, add, 0);
    }

    private SendQueue atomic(long wr, int rkey, long remoteAddress, long compareOrAdd, long swap) {
        RawMemory.putLong(wr, Layout.SEND_WR_ATOMIC_ADDR, remoteAddress);
        RawMemory.putLong(wr, Layout.SEND_WR_ATOMIC_COMPARE_ADD, compareOrAdd);
        RawMemory.putLong(wr, Layout.SEND_WR_ATOMIC_SWAP, swap);
        RawMemory.putInt(wr + Layout.SEND_WR_ATOMIC_RKEY, rkey);
        return this;
    }

    @Override
    public final SendQueue localInvalidate(long wrId, int flags, int rkey) {
        stage(SendOperationBit.LOCAL_INV, wrId, flags, rkey);
        return this;
    }

    @Override
    public final SendQueue bindMemoryWindow(long wrId, int flags, MemoryWindow window, int rkey, MemoryRegion region,
            long address, long length, int access) {
        long wr = stage(SendOperationBit.BIND_MW, wrId, flags, 0);
        if (!(window instanceof RdmaMemoryWindow w) || !isOfDomain(w.protectionDomain())
                || !(region instanceof RdmaMemoryRegion r) || !isOfDomain(r.protectionDomain())
                || w.type() != MemoryWindow.TYPE_2 || (access & ~WINDOW_RIGHTS) != 0) {
            fail(Errno.EINVAL);
        } else if (error == 0) {
            RawMemory.putLong(wr, Layout.SEND_WR_BIND_MW, w.nativeAddress());
            RawMemory.putInt(wr + Layout.SEND_WR_BIND_RKEY, rkey);
            putBindInfo(wr + Layout.SEND_WR_BIND_INFO, r.nativeAddress(), address, length, access);
            reference(w, r);
        }
        return this;
    }

    /** Whether an object may be used here; one of another device would belong to another driver. */
    private boolean isOfDomain(ProtectionDomain pd) {
        ProtectionDomain own = sizes.domain;
        return own != null && pd.underlying() == own.underlying();
    }

    private static void putBindInfo(long info, long region, long address, long length, int access) {
        RawMemory.putLong(info, 0, region);
        RawMemory.putLong(info, Layout.BIND_INFO_ADDR, address);
        RawMemory.putLong(info, Layout.BIND_INFO_LENGTH, length);
        RawMemory.putInt(info + Layout.BIND_INFO_ACCESS, access);
    }

    /**
     * Records that the request refers to an object: a thread that closes the object waits until the batch is posted, or
     * the post finds it closed.
     */
    private void reference(VerbsObject object, @Nullable VerbsObject region) {
        named[staged - 1] = object;
        regions[staged - 1] = region;
        hasReferences = true;
    }

    @Override
    public final SendQueue flush(long wrId, int flags, int rkey, long remoteAddress, long length, int type, int level) {
        long wr = stage(SendOperationBit.FLUSH, wrId, flags, 0);
        if (length < 0 || (type & ~(FlushType.GLOBAL | FlushType.PERSISTENT)) != 0 || type == 0
                || level != FlushType.RANGE && level != FlushType.REGION) {
            fail(Errno.EINVAL);
        }
        RawMemory.putLong(wr, WR_FLUSH_LENGTH, length);
        RawMemory.putInt(wr + WR_FLUSH_TYPE, type);
        RawMemory.putInt(wr + WR_FLUSH_LEVEL, level);
        return remote(wr, rkey, remoteAddress);
    }

    @Override
    public final SendQueue atomicWrite(long wrId, int flags, int rkey, long remoteAddress, long value) {
        long wr = stage(SendOperationBit.ATOMIC_WRITE, wrId, flags, 0);
        RawMemory.putLong(wr + slots.dataOffset, value);
        return remote(wr, rkey, remoteAddress);
    }

    @Override
    public final SendQueue sendSegmented(long wrId, int flags, MemorySegment header, long offset, long length,
            int maxSegment) {
        if (open && !sizes.segments) {
            fail(Errno.EOPNOTSUPP);
            return this;
        }
        long wr = stage(SendOperationBit.TSO, wrId, flags, 0);
        if (length > sizes.maxHeader || maxSegment < 1 || maxSegment > 0xffff || !copy(header, offset, length)) {
            fail(Errno.EINVAL);
            return this;
        }
        RawMemory.putLong(wr, Layout.SEND_WR_TSO_HDR, wr + slots.dataOffset);
        RawMemory.putShort(wr + Layout.SEND_WR_TSO_HDR_SZ, (short) length);
        RawMemory.putShort(wr + Layout.SEND_WR_TSO_MSS, (short) maxSegment);
        return this;
    }

    /** Begins a request; returns its address, or that of the first slot if the batch has failed. */
    private long stage(int operation, long wrId, int flags, int immediateOrKey) {
        int k = staged;
        if (error != 0 || !isAllowed(operation, flags) || k == slots.count && !grow()) {
            return slots.base;
        }
        long wr = slots.base + k * slots.stride;
        RawMemory.putLong(wr, 0, wrId);
        RawMemory.putLong(wr, Layout.SEND_WR_NUM_SGE, (long) operation << 32); // no elements yet
        RawMemory.putLong(wr, Layout.SEND_WR_FLAGS, flags | (long) immediateOrKey << 32);
        current = wr;
        opcode = operation;
        elements = 0;
        isInline = false;
        staged = k + 1;
        if (addressed) {
            error = needsDestination ? Errno.EINVAL : 0;
            needsDestination = !SendOperationBit.isLocal(operation);
        }
        return wr;
    }

    private boolean isAllowed(int operation, int flags) {
        boolean has = (operations & 1 << operation) != 0;
        if (open && has && (flags & ~knownFlags) == 0) {
            return true;
        }
        int unknown = unknown(flags);
        boolean elsewhere = operation > SendOperationBit.TSO && (SendOperationBit.of(type) & 1 << operation) != 0;
        fail(!open ? Errno.EINVAL : unknown != 0 ? unknown : elsewhere ? Errno.EOPNOTSUPP : Errno.EINVAL);
        return false;
    }

    /** 0, or the errno for flags that are not accepted; {@code INLINE} is set by {@link #inline} only. */
    private int unknown(int flags) {
        return (flags & SendFlags.INLINE) != 0 ? Errno.EINVAL : SendFlags.check(flags, knownFlags);
    }

    private void fail(int errno) {
        error = error == 0 ? errno : error;
    }

    /** Makes space for a longer batch; false if it is longer than the queue. */
    private boolean grow() {
        if (!slots.grow()) {
            fail(Errno.ENOMEM);
            return false;
        }
        named = Arrays.copyOf(named, slots.count);
        regions = Arrays.copyOf(regions, slots.count);
        return true;
    }

    @Override
    public final SendQueue datagram(AddressHandle to, int remoteQueuePair, int remoteQkey) {
        if (error != 0 || !open || staged == 0 || type != QueuePairType.UD || !(to instanceof RdmaAddressHandle h)
                || !isOfDomain(h.protectionDomain())
                || (remoteQueuePair & ~NUMBER_MASK) != 0) {
            fail(Errno.EINVAL);
            return this;
        }
        long wr = current;
        RawMemory.putLong(wr, Layout.SEND_WR_UD_AH, h.nativeAddress());
        RawMemory.putInt(wr + Layout.SEND_WR_UD_QPN, remoteQueuePair);
        RawMemory.putInt(wr + Layout.SEND_WR_UD_QKEY, remoteQkey);
        reference(h, null);
        needsDestination = false;
        return this;
    }

    @Override
    public final SendQueue remoteSharedReceiveQueue(int number) {
        if (error != 0 || !open || staged == 0 || type != QueuePairType.XRC_SEND || (number & ~NUMBER_MASK) != 0) {
            fail(Errno.EINVAL);
            return this;
        }
        RawMemory.putInt(current + Layout.SEND_WR_XRC_SRQN, number);
        needsDestination = false;
        return this;
    }

    @Override
    public final SendQueue sge(int lkey, long address, long length) {
        int n = elements;
        if (error != 0 || !open || staged == 0 || n == maxSge || isInline || length < 0 || length > MAX_LENGTH
                || !SendOperationBit.takesBuffers(opcode)) {
            fail(Errno.EINVAL);
            return this;
        }
        long wr = current;
        long e = wr + Layout.SEND_WR_BYTES + (long) n * Layout.SGE_BYTES;
        RawMemory.putLong(e, 0, address);
        RawMemory.putLong(e, Layout.SGE_LENGTH, length | (long) lkey << 32); // length and lkey
        elements = n + 1;
        RawMemory.putInt(wr + Layout.SEND_WR_NUM_SGE, n + 1);
        return this;
    }

    @Override
    public final SendQueue inline(MemorySegment data, long offset, long length) {
        if (error != 0 || !open || staged == 0 || elements != 0 || length > sizes.maxInline || offset < 0 || length < 0
                || offset > data.byteSize() - length || !SendOperationBit.takesInline(opcode)) {
            fail(Errno.EINVAL);
            return this;
        }
        if (!copy(data, offset, length)) {
            fail(Errno.EFAULT);
            return this;
        }
        long wr = current;
        RawMemory.putLong(wr + Layout.SEND_WR_BYTES, wr + slots.dataOffset);
        RawMemory.putLong(wr + Layout.SEND_WR_BYTES + Layout.SGE_LENGTH, length);
        RawMemory.putInt(wr + Layout.SEND_WR_NUM_SGE, 1);
        RawMemory.putInt(wr + Layout.SEND_WR_FLAGS, RawMemory.getInt(wr + Layout.SEND_WR_FLAGS) | SendFlags.INLINE);
        elements = 1;
        isInline = true;
        return this;
    }

    /** Copies to the slot's data; false if the segment cannot be accessed there. The range was checked. */
    private boolean copy(MemorySegment data, long offset, long length) {
        try {
            RawMemory.copyOut(data, offset, current + slots.dataOffset, length);
            return true;
        } catch (IllegalStateException | WrongThreadException | InternalError e) { // closed, foreign, or truncated
            return false;
        }
    }

    /** The address of the data of a request: inline data, header, or the value of an atomic write. */
    final long data(long wr) {
        return wr + slots.dataOffset;
    }

    @Override
    public final int complete() {
        if (!open) {
            return Errno.EINVAL;
        }
        open = false;
        int n = staged;
        if (error != 0) {
            return error;
        }
        if (needsDestination || !guard.enter()) {
            return Errno.EINVAL;
        }
        try {
            int result = !accepts || hasReferences && !areReferencesOpen(n) ? Errno.EINVAL : n == 0 ? 0 : post(n);
            if (hasReferences) {
                forget(n, result);
            }
            guard.exit();
            return result;
        } finally {
            Reference.reachabilityFence(this); // keeps the memory of this object allocated
        }
    }

    private boolean areReferencesOpen(int n) {
        for (int i = 0; i < n; i++) {
            VerbsObject o = named[i];
            VerbsObject r = regions[i];
            if (o != null && o.isClosed() || r != null && r.isClosed()) {
                return false;
            }
        }
        return true;
    }

    /** Windows that were bound have their new keys; none of them is closed yet. */
    private void forget(int n, int result) {
        for (int i = 0; i < n; i++) {
            if (result == 0 && named[i] instanceof RdmaMemoryWindow w) {
                w.setBoundKey(RawMemory.getInt(slots.base + i * slots.stride + Layout.SEND_WR_BIND_RKEY));
            }
            named[i] = null;
            regions[i] = null;
        }
    }

    /** Passes the first {@code n} requests to the driver; returns 0 or an errno. */
    abstract int post(int n);

    /** Binds a window of type 1: the driver makes and posts the request. */
    final int bindWindow(MemorySegment bindMw, RdmaMemoryWindow window, long wrId, int flags,
            @Nullable RdmaMemoryRegion region, long address, long length, int access) {
        int unknown = unknown(flags);
        if (unknown != 0 || !guard.enter()) {
            return unknown != 0 ? unknown : Errno.EINVAL;
        }
        try {
            open = false; // the request is written where the first one of a batch is
            // rxe's library reads a region's key for an unbind, too: there it is the one that the window was bound to
            RdmaMemoryRegion named = region == null ? window.region() : region;
            int result = Errno.EINVAL;
            if (accepts && !window.isClosed() && named != null && !named.isClosed()) {
                result = bind(bindMw, window, wrId, flags, named.nativeAddress(), address, length, access);
            }
            if (result == 0 && region != null) {
                window.boundTo(region);
            }
            guard.exit();
            return result;
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    private int bind(MemorySegment bindMw, RdmaMemoryWindow window, long wrId, int flags, long region, long address,
            long length, int access) {
        long bind = slots.base;
        long next = RawMemory.getLong(bind + Layout.SEND_WR_NEXT);
        long list = RawMemory.getLong(bind + Layout.SEND_WR_SG_LIST);
        RawMemory.putLong(bind, 0, wrId);
        RawMemory.putInt(bind + Layout.MW_BIND_SEND_FLAGS, flags);
        putBindInfo(bind + Layout.MW_BIND_INFO, region, address, length, access);
        int result = Math.abs((int) Downcall.callCritical(bindMw, qp, window.nativeAddress(), bind));
        if (result == 0) {
            window.readKey();
        }
        RawMemory.putLong(bind + Layout.SEND_WR_NEXT, next);
        RawMemory.putLong(bind + Layout.SEND_WR_SG_LIST, list);
        return result;
    }

    @Override
    public final void abort() {
        open = false;
        if (hasReferences) {
            Arrays.fill(named, null);
            Arrays.fill(regions, null);
        }
    }

    @Override
    protected final SendQueue unsupported() {
        fail(open ? Errno.EOPNOTSUPP : Errno.EINVAL);
        return this;
    }
}
