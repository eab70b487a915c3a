// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.completion.CompletionCursor;
import org.verbena.shm.control.Session;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.Claim;
import org.verbena.shm.layout.LaneLayout;
import org.verbena.shm.layout.Posted;
import org.verbena.shm.layout.ProtocolException;
import org.verbena.shm.memory.Delivery;
import org.verbena.shm.memory.KeyTable;
import org.verbena.shm.memory.PostedReceive;
import org.verbena.shm.memory.Revocation;
import org.verbena.shm.memory.WindowWork;
import org.verbena.shm.pool.ClaimOwners;
import org.verbena.shm.pool.ReceivePool;
import org.verbena.shm.ring.LaneReader;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.KeepAlive;

/**
 * The receive side of a connected queue pair on a shared receive queue: entries that its peer committed into the lane, for
 * receives that the peer claimed from the pool. The lane has room for as many entries as the pool
 * had slots when the queue pair was made; {@code posted} counts the entries that may be used, as it counts the receives of a queue pair with a ring.
 */
final class AttachedReceives extends SharedReceiveSide {
    private static final VarHandle COMPLETED;

    static {
        try {
            COMPLETED = MethodHandles.lookup().findVarHandle(AttachedReceives.class, "completed", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final KeyTable keys;
    private final int entries;
    /** Identifies this queue pair to the pool as the owner of what it completes. */
    private final int owner;
    private final long postedAddress;
    /** Lane entries read; written by the poller only. */
    private long completed;
    private volatile @Nullable LaneReader lane;
    /** Address of the peer's directory entry; 0 until connected. */
    private volatile long peerEntry;
    /** The same entry, kept when the connection has ended, for the peer may still be inside; null before, and after a reset. */
    private volatile @Nullable HazardLocation hazardLocation;

    /** Where the peer's hazard word lies; the session keeps it mapped. */
    private record HazardLocation(Session session, long entry) {}

    AttachedReceives(QueuePairBase qp, KeyTable keys, ShmSharedReceiveQueue srq, int entries, long postedAddress,
            long scratch) {
        super(qp, keys, srq, scratch);
        this.keys = keys;
        this.entries = entries;
        this.owner = qp.index() + 1;
        this.postedAddress = postedAddress;
    }

    // ---- the life of a connection

    @Override
    void connect(long peerDirectoryEntry) {
        RawMemory.putLongRelease(postedAddress, Posted.of(entries, 0));
        Session s = qp.session();
        hazardLocation = s == null ? null : new HazardLocation(s, peerDirectoryEntry);
        peerEntry = peerDirectoryEntry;
        attach();
    }

    @Override
    void disconnect(boolean left) {
        Session s = qp.session();
        if (s != null && (!left || s.isDead())) {
            own.keepStopped(Revocation.Inside.peerOf(qp, s.peer()));
        }
        own.remove(this);
    }

    @Override
    void peerDied() {
        own.recover();
    }

    @Override
    void reset() {
        peerEntry = 0;
        hazardLocation = null;
        lane = null;
        COMPLETED.setRelease(this, 0L);
        delivery.reset();
        RawMemory.putLongRelease(postedAddress, 0);
    }

    // ---- completions

    @Override
    boolean poll(CompletionCursor cq) {
        LaneReader l = lane;
        if (l == null) {
            l = peerEntry == 0 ? null : findLane();
            if (l == null) {
                return false;
            }
        }
        long k = completed;
        long entry = l.entry(k);
        long commit = LaneReader.commit(entry);
        return LaneLayout.isOf(commit, k) && take(cq, entry, commit, k);
    }

    @Override
    long completions() {
        return (long) COMPLETED.getAcquire(this);
    }

    @Override
    long completionsWaiting() {
        LaneReader l = anyLane();
        return l == null ? 0 : l.waiting(completions(), entries);
    }

    /** The lane, for threads other than the poller. */
    private @Nullable LaneReader anyLane() {
        LaneReader l = lane;
        return l == null && peerEntry != 0 ? qp.peer().peekLane(entries) : l;
    }

    private @Nullable LaneReader findLane() {
        try {
            LaneReader l = qp.peer().findLane(entries);
            lane = l;
            return l;
        } catch (ProtocolException e) {
            qp.fatal(e);
            return null;
        }
    }

    private boolean take(CompletionCursor cq, long entry, long commit, long k) {
        long claim = LaneReader.claim(entry);
        int flags = LaneLayout.flags(commit);
        int outcome = (flags & ~LaneLayout.KNOWN_FLAGS) != 0
                ? ReceivePool.PROTOCOL_VIOLATION
                : pool.complete(claim, owner);
        if (outcome != ReceivePool.DONE) {
            refuseCompletion(outcome);
            return false;
        }
        int slot = Claim.slot(claim);
        PostedReceive p = pool.receive(slot);
        long length = LaneReader.length(entry, commit);
        int status = delivery.complete(entry, commit, length, pool.wqe(slot), p);
        if ((flags & LaneLayout.HAS_INVALIDATE) != 0 && status == WcStatus.SUCCESS
                && !WindowWork.invalidateFor(qp, keys, LaneReader.immediate(entry))) {
            status = WcStatus.REM_INV_REQ_ERR;
        }
        if (status != WcStatus.SUCCESS) {
            qp.receiveFailed(status);
        }
        if (!cq.hasTimestamps()) {
            flags &= ~LaneLayout.HAS_TIMESTAMP; // whatever the peer has set
        }
        cq.set(qp.number(), qp.peerNumber(), p.wrId, LaneLayout.commit(k, Delivery.opcode(commit), status, flags),
                length);
        cq.setMore(LaneReader.immediate(entry), LaneReader.timestamp(entry, commit), 0);
        qp.receiveCounts().completed(cq);
        COMPLETED.setRelease(this, k + 1);
        RawMemory.putLongRelease(postedAddress, Posted.of(k + 1 + entries, 0));
        pool.free(slot);
        return true;
    }

    private void refuseCompletion(int outcome) {
        if (outcome == ReceivePool.PROTOCOL_VIOLATION) {
            qp.fatal(new ProtocolException("the peer completed a receive that it had not claimed"));
        } else if (own.users().contains(this)) { // else the connection ends, and the engine has claimed the receive
            own.damaged();
        }
    }

    // ---- for the pool

    /** Also read after the connection has ended: a peer that was inside then stays inside until it leaves. */
    @Override
    public long hazard() {
        HazardLocation p = hazardLocation;
        long h = p == null ? 0 : RawMemory.getLongAcquire(p.entry + AdapterLayout.QP_HAZARD);
        KeepAlive.until(p);
        return p == null || h == 0 || p.session.peer().isGone() ? 0 : h;
    }

    @Override
    public long held() {
        return qp.peer().held();
    }

    @Override
    public void noteCommitted(ClaimOwners owners) {
        Session s = qp.session(); // which keeps the lane mapped
        noteAll(anyLane(), owners);
        KeepAlive.until(s);
    }

    private void noteAll(@Nullable LaneReader l, ClaimOwners owners) {
        if (l == null) {
            return;
        }
        long from = completions();
        for (long k = from; k < from + entries; k++) {
            long entry = l.entry(k);
            long commit = LaneReader.commit(entry);
            if (!LaneLayout.isReached(commit, k)) {
                return;
            }
            if (LaneLayout.isOf(commit, k) && !owners.note(LaneReader.claim(entry)) && k > completions()) {
                return; // not polled meanwhile: the peer violates the protocol, and its queue pair will fail when it is polled
            }
        }
    }

    @Override
    public boolean isStarving() {
        return qp.peer().isStarving();
    }

    @Override
    public void wake() {
        qp.peer().wakeStarving();
    }
}
