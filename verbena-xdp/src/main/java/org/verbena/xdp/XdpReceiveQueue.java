// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import org.verbena.linux.Errno;
import org.verbena.verbs.ReceiveQueue;

/**
 * Where chunks for frames to come are posted: each request is one chunk of an allocated region, all of one region. A
 * frame begins {@link XdpLimits#RECEIVE_OFFSET} bytes behind the chunk's begin.
 */
final class XdpReceiveQueue extends ReceiveQueue {
    private final Receiving owner;
    private final ReceiveSide side;
    private final int depth;
    private final long[] wrIds;
    private final long[] offsets;
    private final XdpMemoryRegion[] regions;
    private boolean open;
    private int error;
    private int staged;
    /** The request that was added last has no buffer yet. */
    private boolean needsBuffer;

    XdpReceiveQueue(Receiving owner, ReceiveSide side, int depth) {
        this.owner = owner;
        this.side = side;
        this.depth = depth;
        wrIds = new long[depth];
        offsets = new long[depth];
        regions = new XdpMemoryRegion[depth];
    }

    @Override
    public ReceiveQueue start() {
        open = true;
        error = 0;
        staged = 0;
        needsBuffer = false;
        return this;
    }

    @Override
    public ReceiveQueue receive(long wrId) {
        if (error != 0) {
            return this;
        }
        if (!open || needsBuffer) {
            error = Errno.EINVAL;
        } else if (staged == depth) {
            error = Errno.ENOMEM;
        } else {
            wrIds[staged++] = wrId;
            needsBuffer = true;
        }
        return this;
    }

    @Override
    public ReceiveQueue sge(int lkey, long address, long length) {
        if (error != 0) {
            return this;
        }
        XdpMemoryRegion r = owner.region(lkey);
        long offset = r == null ? -1 : r.offset(address, length);
        if (!open || !needsBuffer || r == null || offset < 0 || length != XdpLimits.CHUNK
                || (offset & XdpLimits.CHUNK - 1) != 0 || !r.isReceivable()) {
            error = Errno.EINVAL;
            return this;
        }
        regions[staged - 1] = r;
        offsets[staged - 1] = offset;
        needsBuffer = false;
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
        if (needsBuffer || owner.refusesReceives()) {
            return Errno.EINVAL;
        }
        int n = staged;
        staged = 0;
        int refused = n == 0 ? 0 : side.post(wrIds, regions, offsets, n);
        if (refused == 0 && owner.isFlushed()) {
            side.readable();
        }
        return refused;
    }
}
