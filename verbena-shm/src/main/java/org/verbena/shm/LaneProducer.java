// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.lang.invoke.VarHandle;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.completion.ReadySet;
import org.verbena.shm.control.RemoteQueuePair;
import org.verbena.shm.counts.SendCounts;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.ArmWord;
import org.verbena.shm.layout.LaneLayout;
import org.verbena.shm.layout.Link;
import org.verbena.shm.layout.Posted;
import org.verbena.shm.layout.ProtocolException;
import org.verbena.shm.memory.LocalBuffers;
import org.verbena.shm.memory.ReceiveCopy;
import org.verbena.shm.memory.RemoteAccess;
import org.verbena.shm.memory.Target;
import org.verbena.shm.pool.LaneSends;
import org.verbena.shm.pool.PooledSends;
import org.verbena.shm.pool.RemotePool;
import org.verbena.shm.ring.LaneWriter;
import org.verbena.shm.ring.OwnLanes;
import org.verbena.shm.xrc.XrcDirectory;
import org.verbena.shm.xrc.XrcTargets;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.VerbsException;

/**
 * The sending end of a connection's lane: attached to the peer when that is ready, it keeps the credit and
 * signals the peer when entries have been committed. Used by one thread at a time, see {@link ShmSendQueue}.
 *
 * <p>A superclass and not a part of {@link SendExecutor}, so that a send reaches its fields without one more load.
 */
abstract class LaneProducer {
    final QueuePairBase qp;
    final long hazard;
    final LocalBuffers buffers;
    final RemoteAccess remoteAccess;
    final ReceiveCopy receiveCopy;
    final SendCounts counts;
    /** For type XRC_SEND, whose requests name their destination queue; else null. */
    final @Nullable XrcTargets xrc;

    /** Null as long as this end is not attached. */
    @Nullable RemoteQueuePair remote;
    /** The memory that requests access; with XRC that of the last request. */
    @Nullable Target target;
    /** If the peer's receives come from a shared queue; there is never credit then. */
    @Nullable PooledSends pooled;
    /** Lane entries committed so far. */
    long sent;
    /** Lane entries that may be committed. */
    long credit;
    /** Messages up to this length travel inside the lane entry. */
    int inline;

    private @Nullable LaneWriter lane;
    /** The same as the session keeps it. */
    private OwnLanes.@Nullable OwnLane ownLane;
    private long lastNotified;
    /** Why the last attempt to attach failed. */
    private @Nullable VerbsException attachFailure;

    LaneProducer(QueuePairBase qp, XrcDirectory directory, LocalBuffers buffers, long hazard) {
        this.qp = qp;
        this.hazard = hazard;
        this.buffers = buffers;
        this.remoteAccess = new RemoteAccess(buffers);
        this.receiveCopy = new ReceiveCopy(buffers);
        this.counts = qp.sendCounts();
        this.xrc = qp.type() == QueuePairType.XRC_SEND
                ? new XrcTargets(qp, directory, buffers, remoteAccess, receiveCopy, hazard - AdapterLayout.QP_HAZARD)
                : null;
    }

    /** Attaches this end to the peer, if that is connected to it by now; else returns null. */
    final @Nullable RemoteQueuePair attach() {
        try {
            RemoteQueuePair r = qp.peer().findRemote();
            if (r != null && xrc != null) {
                remote = r;
            } else if (r != null) {
                r.reachBell();
                OwnLanes.OwnLane l = r.session.ownLanes().make(r.entry, r.number, r.link, r.entries);
                if (l == null) {
                    return null; // the peer has just left
                }
                ownLane = l;
                lane = new LaneWriter(l.address, r.entries, r.timestamps);
                sent = l.sent();
                target = new Target(r.session.peerMemories(), r.pd, qp.peerNumber());
                RemotePool pool = r.pool;
                if (pool != null) {
                    pooled = new LaneSends(pool, buffers, remoteAccess, receiveCopy, hazard
                            + (AdapterLayout.QP_HELD - AdapterLayout.QP_HAZARD), lane(), r.entry, r.entries);
                }
                remote = r;
            }
            return r;
        } catch (ProtocolException e) {
            qp.fatal(e);
        } catch (VerbsException e) {
            // no memory for the lane: as if the peer did not answer, until the retries are used up
            attachFailure = e;
        }
        return null;
    }

    /** Why {@link #attach} failed last; null if it did not. */
    final @Nullable VerbsException attachFailure() {
        return attachFailure;
    }

    final LaneWriter lane() {
        LaneWriter l = lane;
        if (l == null) {
            throw new IllegalStateException("not attached");
        }
        return l;
    }

    final Target target() {
        Target t = target;
        if (t == null) {
            throw new IllegalStateException("not attached");
        }
        return t;
    }

    /** Reads the number of receives that the peer has posted; true if one of them is unused. */
    final boolean refreshCredit(RemoteQueuePair r) {
        if (pooled != null) {
            return false;
        }
        long word = RawMemory.getLongAcquire(r.entry + AdapterLayout.QP_POSTED);
        long count = Posted.count(word);
        if (count - sent > r.entries) {
            qp.fatal(new ProtocolException("the peer posted more receives than its queue holds"));
            return false;
        }
        credit = count;
        inline = Math.min(Posted.shortest(word), LaneLayout.INLINE);
        return count > sent;
    }

    /**
     * An inline message of this length was sent. If it answers one, the next will too: its entry is
     * fetched while this one travels. A one-way sender would gain nothing, and pay for the fetch.
     */
    final void fetchNextEntry(long length) {
        if (qp.answers && sent < credit) {
            qp.answers = false;
            lane().fetch(sent, length);
        }
    }

    /**
     * Signals the peer after a commit, if its completion queue is armed.
     *
     * @return false if the peer may have missed the entry, and will not find it any more
     */
    final boolean notify(RemoteQueuePair r, boolean solicited) {
        // the peer arms, or gives up, passes a full barrier, then reads the lane
        VarHandle.fullFence();
        long word = RawMemory.getLongOpaque(r.armWord);
        if (!ArmWord.isQuiet(word)) {
            react(r, word, solicited);
        }
        long link = RawMemory.getLongOpaque(r.entry + AdapterLayout.QP_LINK);
        return link == 0 || ((link ^ r.link) & Link.IDENTITY) == 0; // withdrawn, and the peer waits for this end; or unchanged
    }

    private void react(RemoteQueuePair r, long word, boolean solicited) {
        if ((word & ArmWord.MANY) != 0) {
            ReadySet.raise(r.hint);
        }
        if (ArmWord.isArmed(word, solicited) && word != lastNotified) {
            lastNotified = word;
            r.wake(word);
            counts.wokePeer();
        }
    }

    /** Marks the pool of a shared queue, if there is one, as having a request that waits for receives. */
    final void setPoolStarving() {
        PooledSends p = pooled;
        if (p != null) {
            p.pool().setStarving();
        }
    }

    /** Returns a receive that was kept for the next try. */
    final void giveBack() {
        PooledSends p = pooled;
        if (p != null) {
            p.giveBack();
        }
    }

    /** Releases the lane, the access to queues of other contexts, and the counters that the peer reads. */
    final void leave() {
        giveBack();
        OwnLanes.OwnLane l = ownLane;
        if (l != null && remote != null) {
            ownLane = null;
            remote.session.ownLanes().writerDone(l, sent);
        }
        if (xrc != null) {
            xrc.clear();
        } else if (target != null) {
            target.close();
        }
    }

    /** Forgets the connection. */
    void reset() {
        leave();
        pooled = null;
        remote = null;
        target = null;
        lane = null;
        sent = 0;
        credit = 0;
        lastNotified = 0;
        buffers.reset();
        attachFailure = null;
    }
}
