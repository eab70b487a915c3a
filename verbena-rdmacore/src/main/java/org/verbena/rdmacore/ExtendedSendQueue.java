// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.MemorySegment;

import org.verbena.linux.Errno;
import org.verbena.linux.spi.Downcall;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;

/**
 * The send queue of a queue pair that was created with its send operations, {@code struct ibv_qp_ex}: a batch is
 * {@code ibv_wr_start}, one to three calls for each request, {@code ibv_wr_complete}; either all of it is posted or
 * nothing.
 */
final class ExtendedSendQueue extends RdmaSendQueue {
    /** Offset of the function for each {@link SendOperationBit}. */
    private static final int[] BUILDERS = {Layout.QP_EX_RDMA_WRITE, Layout.QP_EX_RDMA_WRITE_IMM, Layout.QP_EX_SEND,
        Layout.QP_EX_SEND_IMM, Layout.QP_EX_RDMA_READ, Layout.QP_EX_ATOMIC_CMP_SWP, Layout.QP_EX_ATOMIC_FETCH_ADD,
        Layout.QP_EX_LOCAL_INV, Layout.QP_EX_BIND_MW, Layout.QP_EX_SEND_INV, Layout.QP_EX_SEND_TSO,
        Layout.QP_EX_FLUSH, Layout.QP_EX_ATOMIC_WRITE};

    private final int type;
    private final MemorySegment start;
    private final MemorySegment complete;
    private final MemorySegment setInline;
    private final MemorySegment setSges;
    private final MemorySegment setDatagram;
    private final MemorySegment setSrq;
    private final MemorySegment[] builders = new MemorySegment[BUILDERS.length];

    /**
     * Makes a send queue.
     *
     * @param qp the {@code struct ibv_qp_ex}
     * @param operations the operations that it was created with; no other function pointer is read
     * @throws VerbsException {@code EOPNOTSUPP} if the driver lacks a function
     */
    ExtendedSendQueue(String verb, long qp, int type, int operations, Sizes sizes) throws VerbsException {
        super(qp, type, SendOperationBit.of(type) & operations, sizes);
        this.type = type;
        boolean buffers = (operations & SendOperationBit.PLAIN) != 0;
        start = find(verb, Layout.QP_EX_START, true);
        complete = find(verb, Layout.QP_EX_COMPLETE, true);
        setInline = find(verb, Layout.QP_EX_SET_INLINE_DATA, buffers && sizes.maxInline() > 0);
        setSges = find(verb, Layout.QP_EX_SET_SGE_LIST, buffers);
        setDatagram = find(verb, Layout.QP_EX_SET_UD_ADDR, type == QueuePairType.UD);
        setSrq = find(verb, Layout.QP_EX_SET_XRC_SRQN, type == QueuePairType.XRC_SEND);
        for (int i = 0; i < BUILDERS.length; i++) {
            builders[i] = find(verb, BUILDERS[i], (operations & 1 << i) != 0);
        }
    }

    private MemorySegment find(String verb, int offset, boolean needed) throws VerbsException {
        long function = needed ? RawMemory.getLong(qp + offset) : 0;
        if (needed && function == 0) {
            throw new VerbsException(verb, Errno.EOPNOTSUPP,
                    "the device's driver lacks an operation that was requested");
        }
        return MemorySegment.ofAddress(function);
    }

    @Override
    int post(int n) {
        long _ = Downcall.callCritical(start, qp);
        for (int i = 0; i < n; i++) {
            build(slots.base + i * slots.stride);
        }
        int result = Math.abs((int) Downcall.callCritical(complete, qp));
        return result == Errno.ENOSPC ? Errno.ENOMEM : result; // rxe's library for a full queue, only here
    }

    private void build(long wr) {
        int flags = RawMemory.getInt(wr + Layout.SEND_WR_FLAGS);
        RawMemory.putLong(qp + Layout.QP_EX_WR_ID, RawMemory.getLong(wr, 0));
        RawMemory.putInt(qp + Layout.QP_EX_WR_FLAGS, flags);
        int opcode = RawMemory.getInt(wr + Layout.SEND_WR_OPCODE);
        operation(opcode, wr);
        if (type == QueuePairType.UD) {
            long _ = Downcall.callCritical(setDatagram, qp, RawMemory.getLong(wr, Layout.SEND_WR_UD_AH), RawMemory
                    .getInt(wr
                            + Layout.SEND_WR_UD_QPN), RawMemory.getInt(wr + Layout.SEND_WR_UD_QKEY), 0, 0);
        } else if (type == QueuePairType.XRC_SEND && !SendOperationBit.isLocal(opcode)) {
            long _ = Downcall.callCritical(setSrq, qp, RawMemory.getInt(wr + Layout.SEND_WR_XRC_SRQN), 0);
        }
        if ((flags & SendFlags.INLINE) != 0) {
            long _ = Downcall.callCritical(setInline, qp, data(wr), RawMemory.getInt(wr + Layout.SEND_WR_BYTES
                    + Layout.SGE_LENGTH) & 0xffffffffL);
        } else if (SendOperationBit.takesBuffers(opcode)) {
            long _ = Downcall.callCritical(setSges, qp, RawMemory.getInt(wr + Layout.SEND_WR_NUM_SGE), wr
                    + Layout.SEND_WR_BYTES);
        }
    }

    private void operation(int opcode, long wr) {
        MemorySegment f = builders[opcode];
        int rkey = RawMemory.getInt(wr + Layout.SEND_WR_RDMA_RKEY);
        long remote = RawMemory.getLong(wr, Layout.SEND_WR_RDMA_ADDR);
        int immediate = RawMemory.getInt(wr + Layout.SEND_WR_IMM_DATA);
        long _ = switch (opcode) {
            case SendOperationBit.WRITE, SendOperationBit.READ -> Downcall.callCritical(f, qp, rkey, remote);
            case SendOperationBit.WRITE_IMM -> Downcall.callCritical(f, qp, rkey, remote, immediate, 0, 0);
            case SendOperationBit.SEND_IMM, SendOperationBit.SEND_INV, SendOperationBit.LOCAL_INV -> Downcall
                    .callCritical(f, qp, immediate, 0);
            case SendOperationBit.CMP_SWP, SendOperationBit.FETCH_ADD -> Downcall.callCritical(f, qp, RawMemory.getInt(
                    wr
                            + Layout.SEND_WR_ATOMIC_RKEY), remote, RawMemory.getLong(wr,
                                    Layout.SEND_WR_ATOMIC_COMPARE_ADD),
                    RawMemory.getLong(wr, Layout.SEND_WR_ATOMIC_SWAP), 0);
            case SendOperationBit.BIND_MW -> Downcall.callCritical(f, qp, RawMemory.getLong(wr, Layout.SEND_WR_BIND_MW),
                    RawMemory
                            .getInt(wr + Layout.SEND_WR_BIND_RKEY), wr + Layout.SEND_WR_BIND_INFO, 0, 0);
            case SendOperationBit.TSO -> Downcall.callCritical(f, qp, RawMemory.getLong(wr, Layout.SEND_WR_TSO_HDR),
                    RawMemory
                            .getShort(
                                    wr + Layout.SEND_WR_TSO_HDR_SZ) & 0xffff, RawMemory.getShort(wr
                                            + Layout.SEND_WR_TSO_MSS)
                                            & 0xffff,
                    0, 0);
            case SendOperationBit.FLUSH -> Downcall.callCritical(f, qp, rkey, remote, RawMemory.getLong(wr,
                    WR_FLUSH_LENGTH),
                    RawMemory
                            .getInt(wr + WR_FLUSH_TYPE), RawMemory.getInt(wr + WR_FLUSH_LEVEL));
            case SendOperationBit.ATOMIC_WRITE -> Downcall.callCritical(f, qp, rkey, remote, data(wr), 0, 0);
            default -> Downcall.callCritical(f, qp); // SEND
        };
    }
}
