// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.control.RemoteQueuePair;
import org.verbena.shm.control.Session;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.Claim;
import org.verbena.shm.layout.OwnEntry;
import org.verbena.shm.layout.ProtocolException;
import org.verbena.shm.ring.LaneReader;
import org.verbena.verbs.QueuePairType;

/**
 * What the peer publishes for the queue pair that is connected to it: in its entry of the directory of {@link AdapterLayout}, the
 * counterpart of {@link OwnEntry}, and in the lane directory. For any thread.
 */
final class PeerEntry {
    private final QueuePairBase qp;

    PeerEntry(QueuePairBase qp) {
        this.qp = qp;
    }

    /** Where the entry lies in this process. */
    long address(Session s) {
        return s.mapping().base() + AdapterLayout.qpEntry(qp.peerNumber());
    }

    /** The far end, if it is connected to this one by now. */
    @Nullable
    RemoteQueuePair findRemote() throws ProtocolException {
        Session s = qp.session();
        int type = qp.type() == QueuePairType.XRC_SEND ? QueuePairType.XRC_RECV : qp.type();
        return s == null || s.isDead() ? null : RemoteQueuePair.find(s, qp.number(), qp.peerNumber(), type);
    }

    /** The lane that the peer made for this connection; null if there is none yet. */
    @Nullable
    LaneReader findLane(int entries) throws ProtocolException {
        Session s = qp.session();
        if (s == null) {
            return null;
        }
        return LaneReader.find(s.mapping().arenaBase(), qp.number(), qp.linkIdentity(), entries);
    }

    /** The lane for threads other than the poller, which alone keeps it and reports invalid values of the peer. */
    @Nullable
    LaneReader peekLane(int entries) {
        try {
            return findLane(entries);
        } catch (ProtocolException e) {
            return null;
        }
    }

    /** The session with the peer has ended. */
    boolean isDead() {
        Session s = qp.session();
        return s != null && s.isDead();
    }

    /** The hazard word of the peer; 0 if it is dead or not connected. */
    long hazard() {
        Session s = qp.session();
        return s == null || s.isDead() ? 0 : RawMemory.getLongAcquire(address(s) + AdapterLayout.QP_HAZARD);
    }

    /** The receive that the peer has claimed of a shared receive queue; {@link Claim#NONE} if there is none or it is dead. */
    long held() {
        Session s = qp.session();
        return s == null || s.isDead()
                ? Claim.NONE
                : RawMemory.getLongAcquire(address(s) + AdapterLayout.QP_HELD);
    }

    /** The peer waits for a receive and is to be woken when there is one. */
    boolean isStarving() {
        Session s = qp.session();
        return s != null && !s.isDead() && RawMemory.getLongAcquire(address(s) + AdapterLayout.QP_STARVING) != 0;
    }

    void wakeStarving() {
        Session s = qp.session();
        if (s != null) {
            s.bells().ring(0);
        }
    }

    /** True if the peer has signalled this arm word last. */
    boolean isNotified(long armWord) {
        Session s = qp.session();
        return s != null && LaneReader.isNotified(s.mapping().arenaBase(), qp.number(), qp.linkIdentity(), armWord);
    }
}
