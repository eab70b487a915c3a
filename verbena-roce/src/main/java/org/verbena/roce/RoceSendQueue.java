// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.spi.RawMemory;
import org.verbena.roce.transport.SendRing;
import org.verbena.roce.transport.SendWqe;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressHandle;
import org.verbena.verbs.FlushType;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.spi.KeepAlive;
import org.verbena.verbs.spi.SendOpcode;

/**
 * The send side: fills entries of the transport's ring without the lock, and posts them under it. When
 * {@link #complete()} returns, everything that may be sent was sent.
 */
final class RoceSendQueue extends SendQueue {
    /** Copied into this class, so that a flag of a later {@code verbena-verbs} is rejected. */
    private static final int KNOWN_FLAGS = SendFlags.FENCE | SendFlags.SIGNALED | SendFlags.SOLICITED
            | SendFlags.INLINE;
    private static final int WINDOW_ACCESS = AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ
            | AccessFlags.REMOTE_ATOMIC | AccessFlags.ZERO_BASED;

    private final RoceQueuePair qp;
    private final RoceContext context;
    private final QueuePairCore core;
    private final SendRing ring;
    private final int pd;
    private final int depth;
    private final int maxSge;
    private final int maxInline;
    private final int always;
    private final int operations;
    private final boolean datagrams;
    /** Each request has its own destination: type UD or XRC_SEND. */
    private final boolean addressed;

    private boolean open;
    private int error;
    private int staged;
    /** Entries known to be free after the posted ones; read anew when used up. */
    private int room;
    private @Nullable SendWqe current;
    /** The request that was staged last has no destination yet. */
    private boolean needsDestination;
    /** The request that was staged last accepts no (more) buffers. */
    private boolean full;
    /** Number of buffers that its inline data were copied from. */
    private int inlineBuffers;
    private long total;

    RoceSendQueue(RoceQueuePair qp, RoceContext context, QueuePairCore core, int pd, QueuePairInitAttributes init) {
        this.qp = qp;
        this.context = context;
        this.core = core;
        this.pd = pd;
        ring = core.sends;
        maxSge = init.maxSendSge();
        maxInline = init.maxInlineData();
        always = init.sqSigAll() ? SendFlags.SIGNALED : 0;
        operations = SendOpcode.allowed(init, RoceLimits.operations(init.type()));
        datagrams = init.type() == QueuePairType.UD;
        addressed = datagrams || init.type() == QueuePairType.XRC_SEND;
        depth = init.maxSendWr();
    }

    @Override
    public SendQueue start() {
        open = true;
        error = 0;
        staged = 0;
        current = null;
        needsDestination = false;
        return this;
    }

    @Override
    public SendQueue send(long wrId, int flags) {
        return stage(SendOpcode.SEND, wrId, flags, 0, 0, 0);
    }

    @Override
    public SendQueue sendImmediate(long wrId, int flags, int immediate) {
        return stage(SendOpcode.SEND_IMM, wrId, flags, 0, 0, immediate);
    }

    @Override
    public SendQueue write(long wrId, int flags, int rkey, long remoteAddress) {
        return stage(SendOpcode.WRITE, wrId, flags, rkey, remoteAddress, 0);
    }

    @Override
    public SendQueue writeImmediate(long wrId, int flags, int rkey, long remoteAddress, int immediate) {
        return stage(SendOpcode.WRITE_IMM, wrId, flags, rkey, remoteAddress, immediate);
    }

    @Override
    public SendQueue read(long wrId, int flags, int rkey, long remoteAddress) {
        return stage(SendOpcode.READ, wrId, flags, rkey, remoteAddress, 0);
    }

    @Override
    public SendQueue compareAndSwap(long wrId, int flags, int rkey, long remoteAddress, long compare, long swap) {
        stage(SendOpcode.CMP_SWP, wrId, flags, rkey, remoteAddress, 0);
        SendWqe w = current;
        if (error == 0 && w != null) {
            w.compareOrAdd = compare;
            w.swap = swap;
        }
        return this;
    }

    @Override
    public SendQueue fetchAndAdd(long wrId, int flags, int rkey, long remoteAddress, long add) {
        stage(SendOpcode.FETCH_ADD, wrId, flags, rkey, remoteAddress, 0);
        SendWqe w = current;
        if (error == 0 && w != null) {
            w.compareOrAdd = add;
        }
        return this;
    }

    @Override
    public SendQueue sendInvalidate(long wrId, int flags, int invalidated) {
        return stage(SendOpcode.SEND_INV, wrId, flags, 0, 0, invalidated);
    }

    @Override
    public SendQueue localInvalidate(long wrId, int flags, int rkey) {
        stageAlone(SendOpcode.LOCAL_INV, wrId, flags, rkey, 0);
        return this;
    }

    @Override
    public SendQueue bindMemoryWindow(long wrId, int flags, MemoryWindow window, int rkey, MemoryRegion region,
            long address, long length, int access) {
        if (window instanceof RoceMemoryWindow w && region instanceof RoceMemoryRegion r && !w.isClosed()
                && w.type() == MemoryWindow.TYPE_2 && w.isOf(context) && r.isOf(context)
                && (access & ~WINDOW_ACCESS) == 0) {
            stageBind(wrId, flags, w.window(), rkey, r.region(), address, length, access);
        } else if (error == 0) {
            error = Errno.EINVAL;
        }
        return this;
    }

    /** Posts the binding of a window of type 1; returns as {@link #complete()}. */
    int bindWindow(long wrId, int flags, Window window, @Nullable MemoryRegion region, long address, long length,
            int access) {
        int rkey = window.nextKey();
        start();
        stageBind(wrId, flags, window, rkey, region instanceof RoceMemoryRegion r ? r.region() : null, address, length,
                access);
        return complete();
    }

    private void stageBind(long wrId, int flags, Window window, int rkey, @Nullable Region region, long address,
            long length, int access) {
        SendWqe w = stageAlone(SendOpcode.BIND_MW, wrId, flags, rkey, address);
        if (w != null) {
            w.window = window;
            w.windowRegion = region;
            w.windowLength = length;
            w.windowAccess = access;
        }
    }

    @Override
    public SendQueue flush(long wrId, int flags, int rkey, long remoteAddress, long length, int type, int level) {
        SendWqe w = stageAlone(SendOpcode.FLUSH, wrId, flags, rkey, remoteAddress);
        if (w != null) {
            w.flushLength = length;
            w.flushType = type;
            w.flushLevel = level;
            int types = FlushType.GLOBAL | FlushType.PERSISTENT;
            if (type == 0 || (type & ~types) != 0 || level < FlushType.RANGE || level > FlushType.REGION
                    || length < 0) {
                error = Errno.EINVAL;
            }
        }
        return this;
    }

    @Override
    public SendQueue atomicWrite(long wrId, int flags, int rkey, long remoteAddress, long value) {
        SendWqe w = stageAlone(SendOpcode.ATOMIC_WRITE, wrId, flags, rkey, remoteAddress);
        if (w != null) {
            w.compareOrAdd = value;
        }
        return this;
    }

    /** Stages an operation without buffers; null if that failed. */
    private @Nullable SendWqe stageAlone(int opcode, long wrId, int flags, int rkey, long remoteAddress) {
        stage(opcode, wrId, flags, rkey, remoteAddress, 0);
        full = true;
        return error == 0 ? current : null;
    }

    private SendQueue stage(int opcode, long wrId, int flags, int rkey, long remoteAddress, int immediate) {
        if (error != 0 || !isAllowed(opcode, flags) || staged >= room && !hasRoom()) {
            return this;
        }
        if (addressed) {
            if (needsDestination) {
                error = Errno.EINVAL;
                return this;
            }
            needsDestination = !SendOpcode.isLocal(opcode);
        }
        SendWqe w = ring.free(staged).begin(wrId, opcode, flags | always);
        w.rkey = rkey;
        w.remoteAddress = remoteAddress;
        w.immediate = immediate;
        current = w;
        full = false;
        inlineBuffers = 0;
        total = 0;
        staged++;
        return this;
    }

    private boolean isAllowed(int opcode, int flags) {
        int wrong = open ? SendOpcode.check(opcode, flags, operations, KNOWN_FLAGS) : Errno.EINVAL;
        if (wrong != 0) {
            error = wrong;
        }
        return wrong == 0;
    }

    private boolean hasRoom() {
        room = depth - (int) (ring.posted() - core.room.freed());
        if (staged >= room) {
            error = Errno.ENOMEM;
        }
        return staged < room;
    }

    @Override
    public SendQueue datagram(AddressHandle to, int remoteQueuePair, int remoteQkey) {
        if (error == 0) {
            SendWqe w = current;
            if (!datagrams || !open || w == null || !(to instanceof RoceAddressHandle h) || !h.isOf(context, pd)
                    || (remoteQueuePair & ~0xffffff) != 0) {
                error = Errno.EINVAL;
                return this;
            }
            w.path = h.path();
            w.remoteQueuePair = remoteQueuePair;
            w.remoteQkey = remoteQkey;
            needsDestination = false;
        }
        return this;
    }

    @Override
    public SendQueue remoteSharedReceiveQueue(int number) {
        if (error == 0) {
            SendWqe w = current;
            if (!addressed || datagrams || !open || w == null || (number & ~0xffffff) != 0) {
                error = Errno.EINVAL;
                return this;
            }
            w.remoteSharedReceiveQueue = number;
            needsDestination = false;
        }
        return this;
    }

    @Override
    public SendQueue sge(int lkey, long address, long length) {
        if (error == 0) {
            SendWqe w = current;
            if (!open || w == null || full || length < 0 || total + length < 0) {
                error = Errno.EINVAL;
            } else if ((w.flags & SendFlags.INLINE) != 0) {
                takeInline(w, lkey, address, length);
            } else if (w.sgeCount == maxSge) {
                error = Errno.EINVAL;
            } else {
                w.addSge(lkey, address, length);
                total += length;
            }
        }
        return this;
    }

    /** The flag INLINE with a registered buffer: copies the data now. */
    private void takeInline(SendWqe w, int lkey, long address, long length) {
        if (inlineBuffers >= maxSge || length > maxInline - w.inlineLength) {
            error = Errno.EINVAL;
            return;
        }
        inlineBuffers++;
        if (length == 0) {
            return;
        }
        ContextLock lock = context.lock();
        lock.lock();
        try {
            if (!w.addInline(core.memory(), lkey, address, (int) length)) {
                error = Errno.EINVAL;
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public SendQueue inline(MemorySegment data, long offset, long length) {
        if (error == 0) {
            SendWqe w = current;
            if (!open || w == null || full || length < 0 || length > maxInline || offset < 0
                    || offset > data.byteSize() - length || w.sgeCount != 0 || w.inlineLength != 0
                    || !SendOpcode.takesInline(w.opcode)) {
                error = Errno.EINVAL;
                return this;
            }
            try {
                RawMemory.copyOut(data, offset, w.inlineAddress, length);
            } catch (IllegalStateException | WrongThreadException | InternalError e) { // closed, foreign, or truncated
                error = Errno.EFAULT;
                return this;
            }
            w.flags |= SendFlags.INLINE;
            w.inlineLength = (int) length;
            full = true;
        }
        return this;
    }

    @Override
    protected SendQueue unsupported() {
        if (error == 0) {
            error = open ? Errno.EOPNOTSUPP : Errno.EINVAL;
        }
        return this;
    }

    @Override
    public void abort() {
        open = false;
    }

    @Override
    public int complete() {
        if (!open) {
            return Errno.EINVAL;
        }
        open = false;
        if (error != 0) {
            return error;
        }
        if (needsDestination || !qp.state().acceptsSends() || qp.isClosed()) {
            return Errno.EINVAL;
        }
        int n = staged;
        staged = 0;
        if (n == 0) {
            return 0;
        }
        ContextLock lock = context.lock();
        lock.lock();
        try {
            if (core.isClosed()) {
                return Errno.EINVAL;
            }
            core.transport.post(n);
            room -= n;
            context.posted();
        } finally {
            lock.unlock();
        }
        KeepAlive.until(qp);
        return 0;
    }
}
