// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

import org.verbena.linux.Errno;
import org.verbena.linux.spi.Downcall;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.QueuePairType;

/**
 * The send queue of a plain queue pair: a batch is one {@code ibv_post_send}. If that rejects a request of a longer
 * batch, because the queue is full, those before it are posted, as in C.
 */
final class PlainSendQueue extends RdmaSendQueue {
    private final MemorySegment postSend;
    /** {@code bad_wr}. */
    private final MemorySegment bad = Arena.ofAuto().allocate(Long.BYTES, Long.BYTES);
    private final long badAddress = bad.address();
    /** A request for the single-request methods, with one buffer after it: it ends its list. */
    private final MemorySegment single = Arena.ofAuto().allocate(Layout.SEND_WR_BYTES + Layout.SGE_BYTES, Long.BYTES);
    private final long request = single.address();

    PlainSendQueue(MemorySegment postSend, long qp, int type, Sizes sizes) {
        super(qp, type, SendOperationBit.of(type) & SendOperationBit.PLAIN, sizes);
        this.postSend = postSend;
        RawMemory.putLong(request + Layout.SEND_WR_SG_LIST, request + Layout.SEND_WR_BYTES);
    }

    /** The send queue of a queue pair that sends nothing: it rejects every post. */
    static PlainSendQueue none() {
        return new PlainSendQueue(MemorySegment.NULL, 0, QueuePairType.XRC_RECV, new Sizes(null, 1, 0, 0, 0, false,
                false));
    }

    @Override
    public int postSend(long wrId, int flags, MemoryRegion region, long offset, long length) {
        return isPlain(SendOperationBit.SEND, flags, length)
                ? postSingle(SendOperationBit.SEND, wrId, flags, region, offset, length, 0, 0)
                : super.postSend(wrId, flags, region, offset, length);
    }

    @Override
    public int postWrite(long wrId, int flags, MemoryRegion region, long offset, long length, int rkey,
            long remoteAddress) {
        return isPlain(SendOperationBit.WRITE, flags, length)
                ? postSingle(SendOperationBit.WRITE, wrId, flags, region, offset, length, rkey, remoteAddress)
                : super.postWrite(wrId, flags, region, offset, length, rkey, remoteAddress);
    }

    @Override
    public int postRead(long wrId, int flags, MemoryRegion region, long offset, long length, int rkey,
            long remoteAddress) {
        return isPlain(SendOperationBit.READ, flags, length)
                ? postSingle(SendOperationBit.READ, wrId, flags, region, offset, length, rkey, remoteAddress)
                : super.postRead(wrId, flags, region, offset, length, rkey, remoteAddress);
    }

    /** Writes each word once: the compiler inlines a limited number of accesses. */
    private int postSingle(int opcode, long wrId, int flags, MemoryRegion region, long offset, long length, int rkey,
            long remoteAddress) {
        long wr = request;
        try {
            RawMemory.putLong(wr, 0, wrId);
            RawMemory.putLong(wr, Layout.SEND_WR_NUM_SGE, 1 | (long) opcode << 32);
            RawMemory.putLong(wr, Layout.SEND_WR_FLAGS, flags); // also clears the immediate value
            RawMemory.putLong(wr, Layout.SEND_WR_RDMA_ADDR, remoteAddress);
            RawMemory.putLong(wr, Layout.SEND_WR_RDMA_RKEY, rkey & 0xffffffffL);
            RawMemory.putLong(wr, Layout.SEND_WR_BYTES, region.address() + offset);
            RawMemory.putLong(wr, Layout.SEND_WR_BYTES + Layout.SGE_LENGTH, length | (long) region.lkey() << 32);
            if (!guard().enter()) {
                return Errno.EINVAL;
            }
            int result = accepts() ? Math.abs((int) Downcall.callCritical(postSend, qp, wr, badAddress)) : Errno.EINVAL;
            guard().exit();
            return result;
        } finally {
            Reference.reachabilityFence(this); // keeps the memory of this object allocated
        }
    }

    @Override
    int post(int n) {
        long base = slots.base;
        long last = base + (n - 1) * slots.stride;
        RawMemory.putLong(last, Layout.SEND_WR_NEXT, 0);
        int result = (int) Downcall.callCritical(postSend, qp, base, badAddress);
        RawMemory.putLong(last, Layout.SEND_WR_NEXT, last + slots.stride);
        return Math.abs(result);
    }
}
