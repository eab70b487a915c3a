// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.lang.invoke.VarHandle;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.completion.ReadySet;
import org.verbena.shm.control.Remote;
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
import org.verbena.shm.xrc.XrcTargets;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.VerbsException;

/**
 * The sending end of a connection's lane: attached to the peer when that is ready, it knows how many entries may be committed,
 * and tells the peer of those that are. Used by one thread at a time, see {@link ShmSendQueue}.
 *
 * <p>A superclass and not a part of {@link SendExecutor}, so that a send reaches its fields without one more load.
 */
abstract class LaneProducer {
    final ShmQueuePair qp;
    final long hazard;
    final LocalBuffers buffers;
    final RemoteAccess remoteAccess;
    final ReceiveCopy receiveCopy;
    final SendCounts counts;
    /** For type XRC_SEND, whose requests name the queue that they go to; else null. */
    final @Nullable XrcTargets xrc;

    /** Null as long as this end is not attached. */
    @Nullable Remote remote;
    /** The memory that requests are for; with XRC that of the last request. */
    @Nullable Target target;
    /** If the peer's receives come from a shared queue; there is never credit then. */
    @Nullable PooledSends pooled;
    /** Lane entries committed so far. */
    long sent;
    /** So many may be. */
    long credit;
    /** Messages up to this length travel inside the lane entry. */
    int inline;

    private @Nullable LaneWriter lane;
    /** The same as the session keeps it. */
    private OwnLanes.@Nullable OwnLane ownLane;
    private long lastNotified;
    /** Why this end could not be attached to the other when it was tried last. */
    private @Nullable VerbsException attachFailure;

    LaneProducer(ShmQueuePair qp, LocalBuffers buffers, long hazard) {
        this.qp = qp;
        this.hazard = hazard;
        this.buffers = buffers;
        this.remoteAccess = new RemoteAccess(buffers);
        this.receiveCopy = new ReceiveCopy(buffers);
        this.counts = qp.sendCounts();
        this.xrc = qp.type() == QueuePairType.XRC_SEND
                ? new XrcTargets(qp, qp.shmContext().xrc(), buffers, remoteAccess, receiveCopy, hazard
                        - AdapterLayout.QP_HAZARD)
                : null;
    }

    /** Attaches this end to the peer, if that is connected to it by now; else answers null. */
    final @Nullable Remote attach() {
        try {
            Remote r = qp.peer().findRemote();
            if (r != null && xrc != null) {
                remote = r;
            } else if (r != null) {
                r.reachBell();
                OwnLanes.OwnLane l = r.session.ownLanes().make(r.entry, r.number, r.link, r.entries);
                if (l == null) {
                    return null; // it has just left
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

    /** Reads anew how many receives the peer has posted; answers whether there is one that is not used. */
    final boolean refreshCredit(Remote r) {
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
     * A message of so many bytes inside its entry was sent. If it answers one, so will the next: the entry which that takes is
     * fetched while this one travels. A one-way sender would gain nothing, and pay for the fetch.
     */
    final void fetchNextEntry(long length) {
        if (qp.answers && sent < credit) {
            qp.answers = false;
            lane().fetch(sent, length);
        }
    }

    /**
     * Tells the peer of what was just committed, if its completion queue wants to be told.
     *
     * @return false if the peer may not have seen it, and will not
     */
    final boolean notify(Remote r, boolean solicited) {
        // the peer arms, or gives up, passes a full barrier, then looks into the lane
        VarHandle.fullFence();
        long word = RawMemory.getLongOpaque(r.armWord);
        if (!ArmWord.isQuiet(word)) {
            react(r, word, solicited);
        }
        long link = RawMemory.getLongOpaque(r.entry + AdapterLayout.QP_LINK);
        return link == 0 || ((link ^ r.link) & Link.IDENTITY) == 0; // withdrawn, and this end is waited for; or as it was
    }

    private void react(Remote r, long word, boolean solicited) {
        if ((word & ArmWord.MANY) != 0) {
            ReadySet.raise(r.hint);
        }
        if (ArmWord.isArmed(word, solicited) && word != lastNotified) {
            lastNotified = word;
            r.wake(word);
            counts.wokePeer();
        }
    }

    /** Tells the owner of a shared queue, if there is one, that a request waits for receives. */
    final void setPoolStarving() {
        PooledSends p = pooled;
        if (p != null) {
            p.pool().setStarving();
        }
    }

    /** A receive that is kept for the next try is not needed any more. */
    final void giveBack() {
        PooledSends p = pooled;
        if (p != null) {
            p.giveBack();
        }
    }

    /** Gives up the lane, what reaches others than the peer, and what is counted for that one. */
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
