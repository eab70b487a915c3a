package org.verbena.shm;

import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/**
 * Sends over a lane into receives that are claimed from a pool: what {@link SendExecutor} does if the peer's queue pair is
 * on a shared receive queue. Used by one thread at a time, inside a {@link Hazard}.
 *
 * <p>A receive that was claimed and could not be filled yet is kept for the next try, and the owner can see that; one that
 * will not be used is given back.
 */
final class PooledSends {
    /** A kind of send: one whose key to invalidate is wrong, which takes a receive to say so. */
    static final int REFUSED = 1 << 16;

    private final RemotePool pool;
    private final LocalBuffers buffers;
    private final RemoteAccess remoteAccess;
    private final ReceiveCopy receiveCopy;
    private final Target receives;
    private final long heldAddress;
    private long held;
    private boolean committed;

    /**
     * Makes one.
     *
     * @param heldAddress address of the word that tells the owner which claim is kept
     */
    PooledSends(RemotePool pool, LocalBuffers buffers, RemoteAccess remoteAccess, ReceiveCopy receiveCopy,
            long heldAddress) {
        this.pool = pool;
        this.buffers = buffers;
        this.remoteAccess = remoteAccess;
        this.receiveCopy = receiveCopy;
        this.receives = new Target(pool.session, pool.pd);
        this.heldAddress = heldAddress;
    }

    /** The receives' memory, for what {@link Target} knows of an error. */
    Target receives() {
        return receives;
    }

    RemotePool pool() {
        return pool;
    }

    /** True if the last request has committed an entry. */
    boolean hasCommitted() {
        return committed;
    }

    /** Has a claim, the one that was kept or a new one; false if there is no receive. */
    private boolean claim() {
        committed = false;
        if (held == Claim.NONE) {
            held = pool.claim();
            RawMemory.putLongRelease(heldAddress, held);
        }
        return held != Claim.NONE;
    }

    private void used() {
        committed = true;
        held = Claim.NONE;
        RawMemory.putLongRelease(heldAddress, Claim.NONE);
    }

    /** True if there is a receive for the next request. */
    boolean isAvailable() {
        return held != Claim.NONE || pool.isAvailable();
    }

    /** The receive that is kept goes back to the pool. */
    void giveBack() {
        if (held != Claim.NONE) {
            held = Claim.NONE;
            RawMemory.putLongRelease(heldAddress, Claim.NONE);
            pool.giveBack();
        }
    }

    /**
     * Executes a send as entry {@code index} of the lane.
     *
     * @param kind flags of the entry, or {@link #REFUSED}
     * @return a status, or a reason to wait
     */
    int send(WorkRequest w, int kind, LaneWriter lane, long index) {
        committed = false;
        if (!buffers.check(w, 0)) {
            giveBack();
            return WcStatus.LOC_PROT_ERR;
        }
        if (!claim()) {
            return SendExecutor.WAIT_FOR_RECEIVE;
        }
        if (kind == REFUSED) {
            lane.setClaim(index, held);
            lane.put(index, 0, w.immediate, WcOpcode.RECV, WcStatus.REM_INV_REQ_ERR, 0);
            used();
            return WcStatus.REM_ACCESS_ERR;
        }
        long total = w.total;
        int flags = kind | (w.isSolicited() ? LaneLayout.IS_SOLICITED : 0);
        if (total <= LaneLayout.FIRST_LINE && total <= Claim.length(held)) {
            long payload = buffers.gather(w, total);
            if (payload < 0) {
                giveBack();
                return WcStatus.LOC_PROT_ERR;
            }
            lane.setClaim(index, held);
            lane.putInline(index, payload, (int) total, w.immediate, WcOpcode.RECV, flags);
            used();
            return WcStatus.SUCCESS;
        }
        int status = receiveCopy.copy(w, total, receives, pool.wqe(held), pool.maxSge);
        int peerStatus = receiveCopy.peerStatus();
        if (status == Target.WAIT) {
            return status;
        }
        if (status != WcStatus.SUCCESS && peerStatus == WcStatus.SUCCESS) {
            giveBack();
            return status;
        }
        lane.setClaim(index, held);
        lane.put(index, total, w.immediate, WcOpcode.RECV, peerStatus, flags);
        used();
        return status;
    }

    /** Executes a write with immediate; as {@link #send}. */
    int writeImmediate(WorkRequest w, long link, Target target, LaneWriter lane, long index) {
        if (!claim()) {
            return SendExecutor.WAIT_FOR_RECEIVE;
        }
        int status = remoteAccess.write(w, link, target);
        if (status == Target.WAIT) {
            return status;
        }
        if (status != WcStatus.SUCCESS) {
            giveBack();
            return status;
        }
        lane.setClaim(index, held);
        lane.put(index, w.total, w.immediate, WcOpcode.RECV_RDMA_WITH_IMM, WcStatus.SUCCESS,
                LaneLayout.HAS_IMMEDIATE | (w.isSolicited() ? LaneLayout.IS_SOLICITED : 0));
        used();
        return status;
    }
}
