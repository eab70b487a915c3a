// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.pool;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.Claim;
import org.verbena.shm.layout.Hazard;
import org.verbena.shm.layout.LaneLayout;
import org.verbena.shm.memory.LocalBuffers;
import org.verbena.shm.memory.ReceiveCopy;
import org.verbena.shm.memory.RemoteAccess;
import org.verbena.shm.memory.Target;
import org.verbena.shm.memory.WorkRequest;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/**
 * Sends into receives that are claimed from a pool: for a peer's queue pair on a shared
 * receive queue, or requests that name one. The subclasses commit the entries that complete the receives.
 * Used by one thread at a time, inside a {@link Hazard}.
 *
 * <p>A receive that was claimed and could not be filled yet is held for the next try, visibly to the owner; one that
 * will not be used is given back.
 */
public abstract class PooledSends {
    /** There is no receive: a result of an operation beside {@link WcStatus} values and {@link Target#WAIT}. */
    public static final int WAIT_FOR_RECEIVE = -2;

    /** A kind of send: one whose key to invalidate is wrong, which takes a receive to report that. */
    public static final int REFUSED = 1 << 16;

    public final RemotePool pool;
    private final LocalBuffers buffers;
    private final RemoteAccess remoteAccess;
    private final ReceiveCopy receiveCopy;
    private final Target receives;
    private final long heldAddress;
    /** The claim that is kept or being used. */
    long held;
    private boolean committed;

    /**
     * Makes one.
     *
     * @param heldAddress address of the word that publishes the held claim to the owner
     */
    PooledSends(RemotePool pool, LocalBuffers buffers, RemoteAccess remoteAccess, ReceiveCopy receiveCopy,
            long heldAddress) {
        this.pool = pool;
        this.buffers = buffers;
        this.remoteAccess = remoteAccess;
        this.receiveCopy = receiveCopy;
        this.receives = new Target(pool.memories, pool.pd);
        this.heldAddress = heldAddress;
    }

    /** The receives' memory, for the errors of {@link Target}. */
    public final Target receives() {
        return receives;
    }

    public final RemotePool pool() {
        return pool;
    }

    /** True if the last request has committed an entry. */
    public final boolean hasCommitted() {
        return committed;
    }

    /** Takes a claim, the held one or a new one; false if there is no receive. */
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
    public final boolean isAvailable() {
        return held != Claim.NONE || pool.isAvailable();
    }

    /** Returns the held receive to the pool. */
    public final void giveBack() {
        if (held != Claim.NONE) {
            held = Claim.NONE;
            RawMemory.putLongRelease(heldAddress, Claim.NONE);
            pool.giveBack();
        }
    }

    /**
     * Executes a send.
     *
     * @param kind flags of the entry, or {@link #REFUSED}
     * @return a status, or a reason to wait
     */
    public final int send(WorkRequest w, int kind) {
        committed = false;
        if (!buffers.check(w, 0)) {
            giveBack();
            return WcStatus.LOC_PROT_ERR;
        }
        if (!claim()) {
            return WAIT_FOR_RECEIVE;
        }
        if (kind == REFUSED) {
            put(0, w.immediate, WcOpcode.RECV, WcStatus.REM_INV_REQ_ERR, 0);
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
            putInline(payload, (int) total, w.immediate, flags);
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
        put(total, w.immediate, WcOpcode.RECV, peerStatus, flags);
        used();
        return status;
    }

    /** Executes a write with immediate; as {@link #send}. */
    public final int writeImmediate(WorkRequest w, long link, Target target) {
        committed = false;
        if (!isAvailable()) {
            return WAIT_FOR_RECEIVE;
        }
        int status = remoteAccess.resolve(w, link, target); // first: a request that fails must not take a receive
        if (status == Target.OK) {
            if (!claim()) {
                return WAIT_FOR_RECEIVE;
            }
            status = remoteAccess.write(w, link, target);
        }
        if (status == Target.WAIT) {
            return status;
        }
        if (status != WcStatus.SUCCESS) {
            giveBack();
            return status;
        }
        put(w.total, w.immediate, WcOpcode.RECV_RDMA_WITH_IMM, WcStatus.SUCCESS,
                LaneLayout.HAS_IMMEDIATE | (w.isSolicited() ? LaneLayout.IS_SOLICITED : 0));
        used();
        return status;
    }

    /** Commits the entry that completes the held receive, for a message whose payload is elsewhere. */
    abstract void put(long length, int immediate, int opcode, int status, int flags);

    /** Commits the entry for a send that carries its payload, of at most {@link LaneLayout#FIRST_LINE} bytes. */
    abstract void putInline(long payload, int length, int immediate, int flags);
}
