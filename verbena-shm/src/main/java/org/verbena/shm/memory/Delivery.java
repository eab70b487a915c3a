// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.memory;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.Copy;
import org.verbena.shm.layout.LaneLayout;
import org.verbena.shm.ring.LaneReader;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/** Copies inline messages into their receives. Used by one thread at a time. */
public final class Delivery {
    private final KeyTable keys;
    private final int pd;
    private final long scratch;
    private @Nullable Region lastRegion;

    /**
     * Makes one.
     *
     * @param pd the protection domain that receives belong to
     * @param scratch address of {@link LaneLayout#INLINE} bytes
     */
    public Delivery(KeyTable keys, int pd, long scratch) {
        this.keys = keys;
        this.pd = pd;
        this.scratch = scratch;
    }

    /** The operation of the completion of an entry, whatever else a peer has written. */
    public static int opcode(long commit) {
        return LaneLayout.opcode(commit) == WcOpcode.RECV_RDMA_WITH_IMM ? WcOpcode.RECV_RDMA_WITH_IMM : WcOpcode.RECV;
    }

    /** The status of the completion of an entry, whose message is in its receive then. */
    public int complete(long entry, long commit, long length, long wqe, PostedReceive p) {
        int status = LaneLayout.status(commit);
        return status == WcStatus.SUCCESS && opcode(commit) == WcOpcode.RECV
                ? deliver(entry, commit, length, wqe, p)
                : status;
    }

    /** Copies a message into its receive, unless the initiator has done so; returns the status. */
    private int deliver(long entry, long commit, long length, long wqe, PostedReceive p) {
        if (length > RawMemory.getLong(wqe, AdapterLayout.WQE_LENGTH)) {
            return WcStatus.LOC_LEN_ERR;
        }
        if ((LaneLayout.flags(commit) & LaneLayout.IS_INLINE) == 0) {
            return WcStatus.SUCCESS;
        }
        if (length > LaneLayout.INLINE) {
            return WcStatus.LOC_LEN_ERR;
        }
        long payload = LaneReader.payload(entry, commit);
        Region r = p.region;
        if (r != null && r.valid) {
            Copy.small(payload, p.address, (int) length);
            return WcStatus.SUCCESS;
        }
        return scatter(payload, wqe + AdapterLayout.WQE_HEADER, (int) length);
    }

    private int scatter(long payload, long firstSge, int length) {
        int done = 0;
        for (long a = firstSge; done < length; a += AdapterLayout.WQE_SGE) {
            long address = RawMemory.getLong(a);
            long keyAndLength = RawMemory.getLong(a + 8);
            int n = (int) Math.min(length - done, keyAndLength >>> 32);
            Region r = n == 0 ? null : region((int) keyAndLength, address, n);
            if (n > 0 && r == null) {
                return WcStatus.LOC_PROT_ERR;
            }
            if (r != null) {
                Copy.small(payload + done, scratch, n);
                if (!r.copyIn(scratch, address, n)) {
                    return WcStatus.LOC_PROT_ERR;
                }
            }
            done += n;
        }
        return WcStatus.SUCCESS;
    }

    /** Copies a datagram of our own memory into the elements of a receive that is long enough; returns the status. */
    public int scatterDatagram(long data, long firstSge, int length) {
        int done = 0;
        for (long a = firstSge; done < length; a += AdapterLayout.WQE_SGE) {
            long address = RawMemory.getLong(a);
            long keyAndLength = RawMemory.getLong(a + 8);
            int n = (int) Math.min(length - done, keyAndLength >>> 32);
            Region r = n == 0 ? null : region((int) keyAndLength, address, n);
            if (n > 0 && (r == null || !r.copyIn(data + done, address, n))) {
                return WcStatus.LOC_PROT_ERR;
            }
            done += n;
        }
        return WcStatus.SUCCESS;
    }

    /** The region that a buffer of a receive lies in; null if there is none, or it may not be written. */
    @Nullable
    public Region region(int key, long at, long bytes) {
        Region r = lastRegion;
        if (r == null || r.key != key || !r.valid || !r.covers(at, bytes)
                || (r.access & AccessFlags.LOCAL_WRITE) == 0) {
            r = keys.find(key, pd, at, bytes, AccessFlags.LOCAL_WRITE);
            lastRegion = r;
        }
        return r;
    }

    public void reset() {
        lastRegion = null;
    }
}
