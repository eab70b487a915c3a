// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.shm.datagram.ShmAddressHandle;
import org.verbena.shm.layout.Hazard;
import org.verbena.shm.memory.KeyTable;
import org.verbena.shm.memory.Region;
import org.verbena.shm.memory.RemoteSync;
import org.verbena.shm.memory.Window;
import org.verbena.shm.memory.WorkRequest;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressHandle;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.spi.SendOpcode;

/**
 * The batch of a send queue: from {@link #start} to {@link #endBatch} each request is checked and put into the next free slot,
 * where {@link ShmSendQueue} executes it. One thread at a time posts.
 *
 * <p>A superclass and not a part of the queue, so that a post reaches its fields without one more load; roce has one of its own
 * ({@code docs/decisions/two-staged-send-queues.md}).
 */
abstract class StagedSendQueue extends SendQueue {
    /** Copied into this class, so that a flag of a later {@code verbena-verbs} is refused. */
    private static final int KNOWN_FLAGS = SendFlags.FENCE | SendFlags.SIGNALED | SendFlags.SOLICITED
            | SendFlags.INLINE;

    private final QueuePairBase qp;
    private final KeyTable keys;
    private final int pd;
    private final WorkRequest[] slots;
    private final int mask;
    private final int depth;
    private final boolean isDatagram;
    /** Each request names its destination: of type UD or XRC_SEND. */
    private final boolean addressed;
    /** A bit for each {@link SendOpcode} that may be posted. */
    private final int operations;

    private boolean open;
    private int error;
    private long staged;
    /** Slots up to this one are free; read again when used up. */
    private long room;
    private WorkRequest current;
    /** The request that was staged last has not been given its destination. */
    private boolean needsDestination;

    StagedSendQueue(QueuePairBase qp, KeyTable keys, int pd, WorkRequest[] slots, int depth, int operations) {
        this.qp = qp;
        this.keys = keys;
        this.pd = pd;
        this.slots = slots;
        this.mask = slots.length - 1;
        this.depth = depth;
        this.operations = operations;
        this.isDatagram = qp.type() == QueuePairType.UD;
        this.addressed = isDatagram || qp.type() == QueuePairType.XRC_SEND;
        this.current = slots[0];
    }

    /** The number of the request that is posted next. */
    abstract long tail();

    /** Number of requests whose slots are free again; read each time. */
    abstract long freed();

    /** True if the key names memory of the peer without atomics. */
    abstract boolean isOnlyRegistered(int rkey);

    final boolean isAddressed() {
        return addressed;
    }

    final WorkRequest slot(long number) {
        return slots[(int) number & mask];
    }

    /** The number after that of the request staged last. */
    final long staged() {
        return staged;
    }

    /** Ends the batch: 0 if it may be posted, else an errno. */
    final int endBatch() {
        if (!open) {
            return Errno.EINVAL;
        }
        open = false;
        if (error != 0) {
            return error;
        }
        return needsDestination ? Errno.EINVAL : 0;
    }

    /** Nothing is staged, and the free slots are read again. */
    final void forgetBatch() {
        room = 0;
        open = false;
    }

    @Override
    public SendQueue start() {
        open = true;
        error = 0;
        staged = tail();
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
        return atomic(SendOpcode.CMP_SWP, wrId, flags, rkey, remoteAddress, compare, swap);
    }

    @Override
    public SendQueue fetchAndAdd(long wrId, int flags, int rkey, long remoteAddress, long add) {
        return atomic(SendOpcode.FETCH_ADD, wrId, flags, rkey, remoteAddress, add, 0);
    }

    @Override
    public SendQueue sendInvalidate(long wrId, int flags, int invalidated) {
        return stage(SendOpcode.SEND_INV, wrId, flags, Hazard.RECEIVES_KEY, 0, invalidated);
    }

    @Override
    public SendQueue localInvalidate(long wrId, int flags, int rkey) {
        stageAlone(SendOpcode.LOCAL_INV, wrId, flags, rkey, 0, 0, 0);
        return this;
    }

    @Override
    public SendQueue bindMemoryWindow(long wrId, int flags, MemoryWindow window, int rkey, MemoryRegion region,
            long address, long length, int access) {
        int unknown = access & ~(AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC
                | AccessFlags.ZERO_BASED);
        if (window instanceof ShmMemoryWindow w && region instanceof ShmMemoryRegion r && !w.isClosed()
                && w.type() == MemoryWindow.TYPE_2 && r.region().table == keys && w.window().isOf(keys)
                && unknown == 0) {
            stageBind(wrId, flags, w.window(), rkey, r.region(), address, length, access);
        } else if (error == 0) {
            error = Errno.EINVAL;
        }
        return this;
    }

    /** Posts the binding of a window of type 1; returns as {@link #complete()}. */
    final int bindWindow(long wrId, int flags, Window window, @Nullable MemoryRegion region, long address, long length,
            int access) {
        int rkey = window.nextKey();
        start();
        stageBind(wrId, flags, window, rkey, region instanceof ShmMemoryRegion r ? r.region() : null, address, length,
                access);
        return complete();
    }

    private void stageBind(long wrId, int flags, Window window, int rkey, @Nullable Region region, long address,
            long length, int access) {
        if (stageAlone(SendOpcode.BIND_MW, wrId, flags, rkey, address, length, access)) {
            current.window = window;
            current.region = region;
        }
    }

    @Override
    public SendQueue flush(long wrId, int flags, int rkey, long remoteAddress, long length, int type, int level) {
        if (stageAlone(SendOpcode.FLUSH, wrId, flags, rkey, remoteAddress, length, level)) {
            current.immediate = type;
            if (!RemoteSync.isFlush(type, level) || length < 0) {
                error = Errno.EINVAL;
            }
        }
        return this;
    }

    @Override
    public SendQueue atomicWrite(long wrId, int flags, int rkey, long remoteAddress, long value) {
        if (stageAlone(SendOpcode.ATOMIC_WRITE, wrId, flags, rkey, remoteAddress, value, 0)
                && isOnlyRegistered(rkey)) {
            error = Errno.EOPNOTSUPP;
        }
        return this;
    }

    /** Stages an operation that takes no buffers, with two operands; true if it was staged. */
    private boolean stageAlone(int opcode, long wrId, int flags, int rkey, long remoteAddress, long first,
            long second) {
        stage(opcode, wrId, flags, rkey, remoteAddress, 0);
        if (error != 0) {
            return false;
        }
        current.compare = first;
        current.swap = second;
        current.takeNoBuffers();
        return true;
    }

    private SendQueue atomic(int opcode, long wrId, int flags, int rkey, long remoteAddress, long compare, long swap) {
        stage(opcode, wrId, flags, rkey, remoteAddress, 0);
        if (error == 0) {
            current.compare = compare;
            current.swap = swap;
            if (isOnlyRegistered(rkey)) {
                error = Errno.EOPNOTSUPP;
            }
        }
        return this;
    }

    private SendQueue stage(int opcode, long wrId, int flags, int rkey, long remoteAddress, int immediate) {
        long k = staged;
        if (error == 0 && hasRoom(k) && isAllowed(opcode, flags)) {
            WorkRequest w = slot(k);
            w.set(opcode, wrId, flags, rkey, remoteAddress, immediate);
            current = w;
            staged = k + 1;
            if (addressed) {
                error = needsDestination ? Errno.EINVAL : 0;
                needsDestination = !SendOpcode.isLocal(opcode);
            }
        }
        return this;
    }

    @Override
    public SendQueue datagram(AddressHandle to, int remoteQueuePair, int remoteQkey) {
        if (error == 0) {
            if (!isDatagram || !open || staged == tail() || !(to instanceof ShmAddressHandle h) || h.pd != pd
                    || h.protectionDomain().context() != qp.protectionDomain().context() || h.isClosed()
                    || (remoteQueuePair & ~0xffffff) != 0) {
                error = Errno.EINVAL;
                return this;
            }
            current.destination = h;
            current.remoteAddress = remoteQueuePair;
            current.rkey = remoteQkey;
            needsDestination = false;
        }
        return this;
    }

    @Override
    public SendQueue remoteSharedReceiveQueue(int number) {
        if (error == 0) {
            if (!addressed || isDatagram || !open || staged == tail() || (number & ~0xffffff) != 0) {
                error = Errno.EINVAL;
                return this;
            }
            current.sharedReceiveQueue = number;
            needsDestination = false;
        }
        return this;
    }

    /** True if the slot of request {@code k} is free. */
    final boolean hasRoom(long k) {
        return k < room || findRoom(k);
    }

    private boolean findRoom(long k) {
        room = freed() + depth;
        if (k >= room) {
            error = open ? Errno.ENOMEM : Errno.EINVAL;
        }
        return k < room;
    }

    private boolean isAllowed(int opcode, int flags) {
        int wrong = open ? SendOpcode.check(opcode, flags, operations, KNOWN_FLAGS) : Errno.EINVAL;
        if (wrong != 0) {
            error = wrong;
        }
        return wrong == 0;
    }

    @Override
    public SendQueue sge(int lkey, long address, long length) {
        if (error == 0) {
            error = open && staged != tail() ? current.addSge(lkey, address, length, keys, pd) : Errno.EINVAL;
        }
        return this;
    }

    @Override
    public SendQueue inline(MemorySegment data, long offset, long length) {
        if (error == 0) {
            error = open && staged != tail() ? current.setInline(data, offset, length) : Errno.EINVAL;
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
}
