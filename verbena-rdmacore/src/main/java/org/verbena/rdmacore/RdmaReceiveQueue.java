// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

import org.verbena.linux.Errno;
import org.verbena.linux.spi.Downcall;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.ReceiveQueue;

/**
 * Posts receives: {@code ibv_post_recv}, {@code ibv_post_srq_recv} or {@code ibv_post_wq_recv}. The work requests of a
 * batch are written to memory that is reused, and linked already; it grows if a batch is longer than any before.
 *
 * <pre>
 * ibv_recv_wr (32 bytes), then maxSge times ibv_sge; the next one follows
 * </pre>
 */
final class RdmaReceiveQueue extends ReceiveQueue {
    private static final int FIRST_SLOTS = 16;
    private static final long MAX_LENGTH = 0xffffffffL;

    private final MemorySegment function;
    private final long target;
    private final QuiescenceGuard guard = new QuiescenceGuard();
    private final int maxSge;
    private final long stride;
    private volatile int depth;
    /** Set while receives would be lost: the queue pair is in RESET, or has no receive queue of its own. */
    private volatile boolean refuses;

    private MemorySegment memory;
    private long base;
    private int slots;
    /** {@code bad_wr}, which is not read: a batch of one is rejected as a whole. */
    private long bad;
    private int staged;
    private int elements;
    private long current;
    private int error;
    private boolean open;

    RdmaReceiveQueue(MemorySegment post, long target, int depth, int maxSge) {
        function = post;
        this.target = target;
        this.depth = depth;
        this.maxSge = maxSge;
        stride = Layout.RECV_WR_BYTES + (long) maxSge * Layout.SGE_BYTES;
        memory = allocate(Math.clamp(depth, 1, FIRST_SLOTS));
    }

    /** The receive queue of a queue pair that has none of its own: it rejects every post. */
    static RdmaReceiveQueue none() {
        RdmaReceiveQueue q = new RdmaReceiveQueue(MemorySegment.NULL, 0, 1, 0);
        q.refuses = true;
        return q;
    }

    private MemorySegment allocate(int count) {
        MemorySegment fresh = Arena.ofAuto().allocate(count * stride + Long.BYTES, Long.BYTES);
        slots = count;
        base = fresh.address();
        bad = base + count * stride;
        for (int i = 0; i < count; i++) {
            long wr = base + i * stride;
            RawMemory.putLong(wr + Layout.RECV_WR_NEXT, wr + stride);
            RawMemory.putLong(wr + Layout.RECV_WR_SG_LIST, wr + Layout.RECV_WR_BYTES);
        }
        current = base;
        return fresh;
    }

    boolean isNone() {
        return target == 0;
    }

    QuiescenceGuard guard() {
        return guard;
    }

    void refuse(boolean all) {
        refuses = all;
    }

    /** The capacity of the queue has changed. */
    void setDepth(int newDepth) {
        depth = newDepth;
    }

    @Override
    public ReceiveQueue start() {
        open = true;
        error = 0;
        staged = 0;
        return this;
    }

    @Override
    public ReceiveQueue receive(long wrId) {
        if (!open || error != 0 || staged == slots && !grow()) {
            error = !open ? Errno.EINVAL : error == 0 ? Errno.ENOMEM : error;
            return this;
        }
        long wr = base + staged * stride;
        RawMemory.putLong(wr, 0, wrId);
        RawMemory.putInt(wr + Layout.RECV_WR_NUM_SGE, 0);
        current = wr;
        elements = 0;
        staged++;
        return this;
    }

    /** Makes space for a longer batch; false if it is longer than the queue. */
    private boolean grow() {
        if (slots >= depth) {
            return false;
        }
        int before = slots;
        MemorySegment old = memory;
        memory = allocate(Math.min(depth, 2 * before));
        for (int i = 0; i < before; i++) {
            long at = i * stride;
            MemorySegment.copy(old, at, memory, at, Long.BYTES); // wr_id; the links are set
            MemorySegment.copy(old, at + Layout.RECV_WR_NUM_SGE, memory, at + Layout.RECV_WR_NUM_SGE, stride
                    - Layout.RECV_WR_NUM_SGE);
        }
        return true;
    }

    @Override
    public ReceiveQueue sge(int lkey, long address, long length) {
        int n = elements;
        if (!open || error != 0 || staged == 0 || n == maxSge || length < 0 || length > MAX_LENGTH) {
            error = error == 0 ? Errno.EINVAL : error;
            return this;
        }
        long e = current + Layout.RECV_WR_BYTES + (long) n * Layout.SGE_BYTES;
        RawMemory.putLong(e, 0, address);
        RawMemory.putLong(e, Layout.SGE_LENGTH, length | (long) lkey << 32); // length and lkey
        elements = n + 1;
        RawMemory.putInt(current + Layout.RECV_WR_NUM_SGE, n + 1);
        return this;
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
        if (!guard.enter()) {
            return Errno.EINVAL;
        }
        int result = refuses ? Errno.EINVAL : staged == 0 ? 0 : post();
        guard.exit();
        return result;
    }

    private int post() {
        try {
            long next = base + (staged - 1) * stride + Layout.RECV_WR_NEXT;
            RawMemory.putLong(next, 0);
            int result = (int) Downcall.callCritical(function, target, base, bad);
            RawMemory.putLong(next, next - Layout.RECV_WR_NEXT + stride);
            return Math.abs(result);
        } finally {
            Reference.reachabilityFence(this); // keeps the memory of this object allocated
        }
    }
}
