// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.memory;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.Hazard;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.WcStatus;

/** Copies messages into receives that the peer has posted. Used by one thread at a time, inside a {@link Hazard}. */
public final class ReceiveCopy {
    private final LocalBuffers buffers;
    private int peerStatus;

    public ReceiveCopy(LocalBuffers buffers) {
        this.buffers = buffers;
    }

    /** The status that the peer's receive completes with, after {@link #copy}. */
    public int peerStatus() {
        return peerStatus;
    }

    /**
     * Copies a message of {@code total} bytes into the receive at {@code wqe}.
     *
     * @param maxSge how many elements a receive has at most
     * @return the sender's status; {@link Target#WAIT} if memory is in transit to us, {@link WcStatus#FATAL_ERR} if the
     *         receive violates the protocol
     */
    public int copy(WorkRequest w, long total, Target t, long wqe, int maxSge) {
        peerStatus = WcStatus.SUCCESS;
        int pieces = RawMemory.getInt(wqe);
        if (pieces < 0 || pieces > maxSge) {
            return WcStatus.FATAL_ERR;
        }
        if (!buffers.check(w, 0)) {
            return WcStatus.LOC_PROT_ERR;
        }
        int source = 0;
        long sourceDone = 0;
        long left = total;
        boolean inline = w.isInline();
        for (int p = 0; p < pieces && left > 0; p++) {
            long a = wqe + AdapterLayout.WQE_HEADER + AdapterLayout.WQE_SGE * p;
            long to = RawMemory.getLong(a);
            int key = RawMemory.getInt(a + 8);
            long room = Math.min(RawMemory.getInt(a + 12) & 0xffffffffL, left);
            int status = room == 0 ? Target.OK : t.resolve(key, to, room, AccessFlags.LOCAL_WRITE);
            if (status == Target.WAIT) {
                return Target.WAIT;
            }
            if (status != Target.OK) {
                peerStatus = WcStatus.LOC_PROT_ERR;
                return WcStatus.REM_OP_ERR;
            }
            while (room > 0) {
                long bytes;
                if (inline) {
                    bytes = room;
                    status = t.writeRaw(w.inlineBuffer + (total - left), to, bytes);
                } else {
                    long rest = w.length(source) - sourceDone;
                    bytes = Math.min(rest, room);
                    long from = w.address(source) + sourceDone;
                    Region local = buffers.region(w.lkey(source), from, bytes, 0);
                    status = local == null ? WcStatus.LOC_PROT_ERR : t.write(local, from, to, bytes);
                    sourceDone += bytes;
                    if (bytes == rest) {
                        source++;
                        sourceDone = 0;
                    }
                }
                if (status == WcStatus.REM_ACCESS_ERR) { // memory that the peer's receive names is gone
                    peerStatus = WcStatus.LOC_PROT_ERR;
                    return WcStatus.REM_OP_ERR;
                }
                if (status != Target.OK) {
                    return status;
                }
                to += bytes;
                room -= bytes;
                left -= bytes;
            }
        }
        if (left > 0) {
            peerStatus = WcStatus.LOC_LEN_ERR;
            return WcStatus.REM_INV_REQ_ERR;
        }
        return WcStatus.SUCCESS;
    }
}
