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
 * A completion queue whose completions have the requested fields, {@code struct ibv_cq_ex}: the driver's functions move
 * the cursor and read each field. The queue cannot be destroyed while the cursor is open.
 */
final class ExtendedCompletionQueue extends RdmaCompletionQueue {
    /** Offset of the function for each {@code IBV_WC_EX_WITH_…} bit. */
    private static final int[] READERS = {Layout.CQ_EX_READ_BYTE_LEN, Layout.CQ_EX_READ_IMM_DATA,
        Layout.CQ_EX_READ_QP_NUM, Layout.CQ_EX_READ_SRC_QP, Layout.CQ_EX_READ_SLID, Layout.CQ_EX_READ_SL,
        Layout.CQ_EX_READ_DLID_PATH_BITS, Layout.CQ_EX_READ_COMPLETION_TS, Layout.CQ_EX_READ_CVLAN,
        Layout.CQ_EX_READ_FLOW_TAG, Layout.CQ_EX_READ_TM_INFO, Layout.CQ_EX_READ_WALLCLOCK};
    private static final int TM_PRIVATE = 8;

    private final long cq;
    private final MemorySegment start;
    private final MemorySegment next;
    private final MemorySegment end;
    private final MemorySegment opcode;
    private final MemorySegment vendorError;
    private final MemorySegment flags;
    private final MemorySegment byteLength;
    private final MemorySegment immediate;
    private final MemorySegment queuePairNumber;
    private final MemorySegment sourceQueuePair;
    private final MemorySegment slid;
    private final MemorySegment serviceLevel;
    private final MemorySegment dlidPathBits;
    private final MemorySegment timestamp;
    private final MemorySegment cvlan;
    private final MemorySegment flowTag;
    private final MemorySegment tmInfo;
    private final MemorySegment wallClock;
    /** {@code struct ibv_poll_cq_attr}, zeros; {@code struct ibv_wc_tm_info} behind. */
    private final MemorySegment memory;
    private final long pollAttributes;
    private final long tagInfo;
    private boolean open;

    ExtendedCompletionQueue(Handle handle, CompletionQueueAttributes a) throws VerbsException {
        super(handle, a);
        cq = handle.address;
        memory = Arena.ofAuto().allocate(32, Long.BYTES);
        pollAttributes = memory.address();
        tagInfo = pollAttributes + 16;
        start = at(Layout.CQ_EX_START_POLL);
        next = at(Layout.CQ_EX_NEXT_POLL);
        end = at(Layout.CQ_EX_END_POLL);
        opcode = at(Layout.CQ_EX_READ_OPCODE);
        vendorError = at(Layout.CQ_EX_READ_VENDOR_ERR);
        flags = at(Layout.CQ_EX_READ_WC_FLAGS);
        MemorySegment[] readers = new MemorySegment[READERS.length];
        boolean complete = has(start) && has(next) && has(end) && has(opcode) && has(vendorError) && has(flags);
        for (int i = 0; i < READERS.length; i++) {
            boolean asked = (a.fields() & 1 << i) != 0;
            readers[i] = asked ? at(READERS[i]) : MemorySegment.NULL; // what was not requested may be garbage
            complete &= !asked || has(readers[i]);
        }
        byteLength = readers[0];
        immediate = readers[1];
        queuePairNumber = readers[2];
        sourceQueuePair = readers[3];
        slid = readers[4];
        serviceLevel = readers[5];
        dlidPathBits = readers[6];
        timestamp = readers[7];
        cvlan = readers[8];
        flowTag = readers[9];
        tmInfo = readers[10];
        wallClock = readers[11];
        if (!complete) {
            abandon();
            throw new VerbsException("create CQ", Errno.EOPNOTSUPP, "the device's driver cannot read "
                    + CompletionQueueAttributes.fieldNames(a.fields()));
        }
        opened();
    }

    private MemorySegment at(int offset) {
        return MemorySegment.ofAddress(RawMemory.getLong(cq + offset));
    }

    private static boolean has(MemorySegment function) {
        return function.address() != 0;
    }

    @Override
    public int startPoll() {
        if (open || !guard.enter()) {
            return Errno.EINVAL;
        }
        int result = (int) Downcall.callCritical(start, cq, pollAttributes, 0);
        if (result == 0) {
            open = true;
        } else {
            guard.exit();
        }
        return Math.abs(result);
    }

    @Override
    public int nextPoll() {
        return open ? Math.abs((int) Downcall.callCritical(next, cq)) : Errno.EINVAL;
    }

    @Override
    public void endPoll() {
        if (open) {
            open = false;
            long _ = Downcall.callCritical(end, cq);
            guard.exit();
        }
    }

    /** A field of the completion under the cursor; 0 if it was not requested, or the cursor is not open. */
    private long read(MemorySegment function) {
        return open && has(function) ? Downcall.callCritical(function, cq) : 0;
    }

    @Override
    public long wrId() {
        return open ? RawMemory.getLong(cq + Layout.CQ_EX_WR_ID) : 0;
    }

    @Override
    public int status() {
        return open ? RawMemory.getInt(cq + Layout.CQ_EX_STATUS) : 0;
    }

    @Override
    public int opcode() {
        return (int) read(opcode);
    }

    @Override
    public int vendorError() {
        return (int) read(vendorError);
    }

    @Override
    public long byteLength() {
        return read(byteLength) & 0xffffffffL;
    }

    @Override
    public int immediate() {
        return Layout.networkOrder((int) read(immediate));
    }

    @Override
    public int invalidatedRkey() {
        return (int) read(immediate);
    }

    @Override
    public int queuePairNumber() {
        return (int) read(queuePairNumber);
    }

    @Override
    public int sourceQueuePair() {
        return (int) read(sourceQueuePair);
    }

    @Override
    public int flags() {
        return (int) read(flags);
    }

    @Override
    public int slid() {
        return (int) read(slid) & 0xffff;
    }

    @Override
    public int serviceLevel() {
        return (int) read(serviceLevel) & 0xff;
    }

    @Override
    public int dlidPathBits() {
        return (int) read(dlidPathBits) & 0xff;
    }

    @Override
    public long timestamp() {
        return read(timestamp);
    }

    @Override
    public long wallClockTimestamp() {
        return read(wallClock);
    }

    @Override
    public int cvlan() {
        return (int) read(cvlan) & 0xffff;
    }

    @Override
    public int flowTag() {
        return (int) read(flowTag);
    }

    @Override
    public long tmTag() {
        return readTag() ? RawMemory.getLong(tagInfo) : 0;
    }

    @Override
    public int tmPrivate() {
        return readTag() ? RawMemory.getInt(tagInfo + TM_PRIVATE) : 0;
    }

    private boolean readTag() {
        if (!open || !has(tmInfo)) {
            return false;
        }
        long _ = Downcall.callCritical(tmInfo, cq, tagInfo, 0);
        return true;
    }
}
