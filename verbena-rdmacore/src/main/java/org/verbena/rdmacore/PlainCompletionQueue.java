// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import org.verbena.linux.Errno;
import org.verbena.linux.spi.Downcall;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.VerbsException;

/**
 * A completion queue as every library has it: {@code ibv_poll_cq} fills an array of completions, over which the cursor
 * moves. So completions that were polled from the device wait here until the application reads them.
 */
final class PlainCompletionQueue extends RdmaCompletionQueue {
    private static final int BATCH = 16;

    private final MemorySegment pollCq;
    private final MemorySegment memory;
    private final long entries;
    private final long cq;
    private int count;
    private int next;
    private long current;

    PlainCompletionQueue(Handle handle, CompletionQueueAttributes attributes) throws VerbsException {
        super(handle, attributes);
        MemorySegment function = handle.verbs().inline(Layout.CONTEXT_POLL_CQ);
        if (function == null) {
            abandon();
            throw new VerbsException("create CQ", Errno.EOPNOTSUPP, "the device's driver has no poll_cq");
        }
        pollCq = function;
        memory = Arena.ofAuto().allocate((long) BATCH * Layout.WC_BYTES, Long.BYTES);
        entries = memory.address();
        current = entries;
        cq = handle.address;
        opened();
    }

    @Override
    public int startPoll() {
        return guard.isClosed() ? Errno.EINVAL : advance();
    }

    @Override
    public int nextPoll() {
        return advance();
    }

    private int advance() {
        int i = next;
        if (i == count) {
            int error = fill();
            if (error != 0) {
                return error;
            }
            i = 0;
        }
        next = i + 1;
        current = entries + (long) i * Layout.WC_BYTES;
        return 0;
    }

    private int fill() {
        if (!guard.enter()) {
            return Errno.EINVAL;
        }
        int n = (int) Downcall.callCritical(pollCq, cq, BATCH, entries);
        guard.exit();
        next = 0;
        count = n > 0 && n <= BATCH ? n : 0;
        return count > 0 ? 0 : n == 0 ? Errno.ENOENT : Errno.EIO;
    }

    @Override
    public void endPoll() {}

    @Override
    public long wrId() {
        return RawMemory.getLong(current, 0);
    }

    @Override
    public int status() {
        return RawMemory.getInt(current + Layout.WC_STATUS);
    }

    @Override
    public int opcode() {
        return RawMemory.getInt(current + Layout.WC_OPCODE);
    }

    @Override
    public int vendorError() {
        return RawMemory.getInt(current + Layout.WC_VENDOR_ERR);
    }

    @Override
    public long byteLength() {
        return RawMemory.getInt(current + Layout.WC_BYTE_LEN) & 0xffffffffL;
    }

    @Override
    public int immediate() {
        return Layout.networkOrder(RawMemory.getInt(current + Layout.WC_IMM_DATA));
    }

    @Override
    public int invalidatedRkey() {
        return RawMemory.getInt(current + Layout.WC_IMM_DATA);
    }

    @Override
    public int queuePairNumber() {
        return RawMemory.getInt(current + Layout.WC_QP_NUM);
    }

    @Override
    public int sourceQueuePair() {
        return RawMemory.getInt(current + Layout.WC_SRC_QP);
    }

    @Override
    public int flags() {
        return RawMemory.getInt(current + Layout.WC_FLAGS);
    }

    @Override
    public int slid() {
        return RawMemory.getShort(current + Layout.WC_SLID) & 0xffff;
    }

    @Override
    public int serviceLevel() {
        return RawMemory.getByte(current + Layout.WC_SL);
    }

    @Override
    public int dlidPathBits() {
        return RawMemory.getByte(current + Layout.WC_DLID_PATH_BITS);
    }
}
