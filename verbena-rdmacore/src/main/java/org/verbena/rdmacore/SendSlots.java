// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.SendFlags;

/**
 * The memory for the work requests of a batch of a send queue. It is reused, and grows if a batch is longer than any
 * before. For the one thread that uses the queue.
 *
 * <pre>
 * ibv_send_wr (128 bytes), linked and with its sg_list set | maxSge times ibv_sge | inline data or header; the next
 * </pre>
 */
final class SendSlots {
    private static final int FIRST = 16;
    private static final int LINE = 64;

    final long stride;
    /** Offset of the data in a slot. */
    final int dataOffset;
    /** The address of the first slot. */
    long base;
    /** Number of slots. */
    int count;
    private final int depth;
    private MemorySegment memory;

    /**
     * Makes a few slots.
     *
     * @param depth the longest batch
     * @param dataBytes the longest inline data, or header
     */
    SendSlots(int depth, int maxSge, int dataBytes) {
        this.depth = depth;
        dataOffset = Layout.SEND_WR_BYTES + Math.max(1, maxSge) * Layout.SGE_BYTES;
        stride = (long) dataOffset + Math.max(dataBytes, Long.BYTES) + LINE - 1 & -LINE;
        memory = allocate(Math.clamp(depth, 1, FIRST));
    }

    private MemorySegment allocate(int slots) {
        MemorySegment fresh = Arena.ofAuto().allocate(slots * stride, LINE);
        count = slots;
        base = fresh.address();
        for (int i = 0; i < slots; i++) {
            long wr = base + i * stride;
            RawMemory.putLong(wr + Layout.SEND_WR_NEXT, wr + stride);
            RawMemory.putLong(wr + Layout.SEND_WR_SG_LIST, wr + Layout.SEND_WR_BYTES);
        }
        return fresh;
    }

    /** Makes space for a longer batch; false if it is longer than the queue. */
    boolean grow() {
        int before = count;
        if (before >= depth) {
            return false;
        }
        MemorySegment old = memory;
        memory = allocate((int) Math.min(depth, 2L * before));
        for (int i = 0; i < before; i++) {
            long at = i * stride;
            MemorySegment.copy(old, at, memory, at, Long.BYTES); // wr_id; the links are set
            MemorySegment.copy(old, at + Layout.SEND_WR_NUM_SGE, memory, at + Layout.SEND_WR_NUM_SGE, stride
                    - Layout.SEND_WR_NUM_SGE);
            relocate(base + at);
        }
        return true;
    }

    /** Adjusts the pointers into the slot after it was moved. */
    private void relocate(long wr) {
        if ((RawMemory.getInt(wr + Layout.SEND_WR_FLAGS) & SendFlags.INLINE) != 0) {
            RawMemory.putLong(wr + Layout.SEND_WR_BYTES, wr + dataOffset);
        }
        if (RawMemory.getInt(wr + Layout.SEND_WR_OPCODE) == SendOperationBit.TSO) {
            RawMemory.putLong(wr + Layout.SEND_WR_TSO_HDR, wr + dataOffset);
        }
    }
}
