// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.lang.foreign.MemorySegment;

import org.verbena.linux.Errno;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendOperations;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.spi.KeepAlive;

/**
 * Where frames to send are posted: each request is one frame. When {@link #complete()} returns, the kernel was called for
 * all of them.
 */
final class XdpSendQueue extends SendQueue {
    /** Copied into this class, so that a flag of a later {@code verbena-verbs} is rejected. */
    private static final int KNOWN_FLAGS = SendFlags.FENCE | SendFlags.SIGNALED | SendFlags.SOLICITED
            | SendFlags.INLINE | SendFlags.IP_CSUM;

    /** The operations that there are. */
    static final int OPERATIONS = SendOperations.SEND | SendOperations.SEGMENTED_SEND;

    private final XdpQueuePair qp;
    private final SendSide side;
    private final SendRequests requests;
    private final int depth;
    private final int maxSge;
    private final int maxInline;
    private final int maxHeader;
    private final int always;
    private final int allowed;

    private boolean open;
    private int error;
    private int staged;
    private int slot = -1;
    /** The current request takes no more buffers. */
    private boolean full;

    XdpSendQueue(XdpQueuePair qp, SendSide side, QueuePairInitAttributes init) {
        this.qp = qp;
        this.side = side;
        requests = side.requests();
        depth = init.maxSendWr();
        maxSge = init.maxSendSge();
        maxInline = init.maxInlineData();
        maxHeader = init.maxTsoHeader();
        allowed = init.has(QueuePairInitAttributes.SEND_OPS_FLAGS) ? init.sendOperations() : OPERATIONS;
        always = init.sqSigAll() ? SendFlags.SIGNALED : 0;
    }

    @Override
    public SendQueue start() {
        open = true;
        error = 0;
        staged = 0;
        slot = -1;
        return this;
    }

    @Override
    public SendQueue send(long wrId, int flags) {
        return stage(SendOperations.SEND, wrId, flags);
    }

    private SendQueue stage(int operation, long wrId, int flags) {
        if (error != 0) {
            return this;
        }
        int wrong = !open
                ? Errno.EINVAL
                : (allowed & operation) == 0 ? Errno.EOPNOTSUPP : SendFlags.check(flags, KNOWN_FLAGS);
        if (wrong == 0 && side.outstanding() + staged >= depth && !side.makeRoom(depth - staged)) {
            wrong = Errno.ENOMEM;
        }
        if (wrong != 0) {
            error = wrong;
            return this;
        }
        slot = requests.slot(side.posted() + staged);
        requests.begin(slot, wrId, flags | always);
        staged++;
        full = false;
        return this;
    }

    @Override
    public SendQueue sendSegmented(long wrId, int flags, MemorySegment header, long offset, long length,
            int maxSegment) {
        stage(SendOperations.SEGMENTED_SEND, wrId, flags & ~SendFlags.INLINE);
        if (error != 0) {
            return this;
        }
        if ((flags & SendFlags.INLINE) != 0 || maxSegment < 1 || maxSegment > 0xffff || length < 0 || length > maxHeader
                || offset < 0 || offset > header.byteSize() - length) {
            error = Errno.EINVAL;
            return this;
        }
        requests.segments[slot] = maxSegment;
        requests.headerLengths[slot] = (int) length;
        copy(header, offset, (int) length, requests.headerAt(slot));
        return this;
    }

    @Override
    public SendQueue sge(int lkey, long address, long length) {
        if (error != 0) {
            return this;
        }
        if (!open || slot < 0 || full || length < 0 || length > Integer.MAX_VALUE) {
            error = Errno.EINVAL;
        } else if ((requests.flags[slot] & SendFlags.INLINE) != 0) {
            takeInline(lkey, address, (int) length);
        } else if (requests.sgeCounts[slot] == maxSge) {
            error = Errno.EINVAL;
        } else {
            requests.addSge(slot, lkey, address, (int) length);
        }
        return this;
    }

    /** The flag INLINE with a registered buffer: copies the data now. */
    private void takeInline(int lkey, long address, int length) {
        int before = Math.max(0, requests.inlineLengths[slot]);
        XdpMemoryRegion r = qp.region(lkey);
        long offset = r == null ? -1 : r.offset(address, length);
        if (r == null || offset < 0 || length > maxInline - before) {
            error = Errno.EINVAL;
            return;
        }
        copyInline(r.memory(), offset, length, before);
    }

    @Override
    public SendQueue inline(MemorySegment data, long offset, long length) {
        if (error != 0) {
            return this;
        }
        if (!open || slot < 0 || full || length < 0 || length > maxInline || offset < 0
                || offset > data.byteSize() - length || requests.sgeCounts[slot] != 0
                || requests.inlineLengths[slot] >= 0 || requests.segments[slot] > 0) {
            error = Errno.EINVAL;
            return this;
        }
        copyInline(data, offset, (int) length, 0);
        full = true;
        return this;
    }

    private void copyInline(MemorySegment data, long offset, int length, int before) {
        if (copy(data, offset, length, requests.inlineAt(slot) + before)) {
            requests.inlineLengths[slot] = before + length;
        }
    }

    private boolean copy(MemorySegment data, long offset, int length, long to) {
        MemorySegment memory = requests.inlineMemory();
        try {
            RawMemory.copyOut(data, offset, memory.address() + to, length);
        } catch (IllegalStateException | WrongThreadException | InternalError e) { // closed, foreign, or truncated
            error = Errno.EFAULT;
            return false;
        }
        KeepAlive.until(memory);
        return true;
    }

    @Override
    public SendQueue sendImmediate(long wrId, int flags, int immediate) {
        return unsupported();
    }

    @Override
    public SendQueue write(long wrId, int flags, int rkey, long remoteAddress) {
        return unsupported();
    }

    @Override
    public SendQueue writeImmediate(long wrId, int flags, int rkey, long remoteAddress, int immediate) {
        return unsupported();
    }

    @Override
    public SendQueue read(long wrId, int flags, int rkey, long remoteAddress) {
        return unsupported();
    }

    @Override
    public SendQueue compareAndSwap(long wrId, int flags, int rkey, long remoteAddress, long compare, long swap) {
        return unsupported();
    }

    @Override
    public SendQueue fetchAndAdd(long wrId, int flags, int rkey, long remoteAddress, long add) {
        return unsupported();
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
        if (qp.isClosed()) {
            return Errno.EINVAL;
        }
        int n = staged;
        staged = 0;
        if (n == 0) {
            return qp.state().acceptsSends() ? 0 : Errno.EINVAL;
        }
        int refused = side.post(n);
        if (side.hasFailed()) {
            qp.fail(side.failure());
        }
        KeepAlive.until(qp);
        return refused;
    }
}
