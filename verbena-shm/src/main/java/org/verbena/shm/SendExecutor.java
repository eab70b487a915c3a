// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.lang.invoke.VarHandle;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.control.Remote;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.ArmWord;
import org.verbena.shm.layout.Copy;
import org.verbena.shm.layout.Hazard;
import org.verbena.shm.layout.LaneLayout;
import org.verbena.shm.layout.Link;
import org.verbena.shm.layout.Posted;
import org.verbena.shm.layout.ProtocolException;
import org.verbena.shm.layout.ShmLimits;
import org.verbena.shm.memory.KeyTable;
import org.verbena.shm.memory.LocalBuffers;
import org.verbena.shm.memory.ReceiveCopy;
import org.verbena.shm.memory.Region;
import org.verbena.shm.memory.RemoteAccess;
import org.verbena.shm.memory.RemoteSync;
import org.verbena.shm.memory.Target;
import org.verbena.shm.memory.WindowWork;
import org.verbena.shm.memory.WorkRequest;
import org.verbena.shm.pool.LaneSends;
import org.verbena.shm.pool.PooledSends;
import org.verbena.shm.pool.RemotePool;
import org.verbena.shm.ring.LaneWriter;
import org.verbena.shm.ring.OwnLanes;
import org.verbena.shm.xrc.XrcTarget;
import org.verbena.shm.xrc.XrcTargets;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.Opcode;
import org.verbena.verbs.spi.ShownObjects;

/**
 * Carries out send work requests: the initiator's side of the transport. Used by one thread at a time, see
 * {@link ShmSendQueue}.
 *
 * <p>Every request runs inside a {@link Hazard}: enter, read the peer's link and keys, copy, commit, leave.
 */
final class SendExecutor {
    /** An answer of an operation, as {@link PooledSends#WAIT_FOR_RECEIVE}: the peer has not polled what fills the lane; only with {@link PooledSends}. */
    private static final int WAIT_FOR_ROOM = -3;

    /** The peer had given this end up before it could see what was committed. */
    private static final int GIVEN_UP = -5;

    private final ShmQueuePair qp;
    private final SendCompletions completions;
    private final KeyTable keys;
    private final int pd;
    private final boolean signalAll;
    /** Of type UC: what the peer does not take is lost, and nobody is told. */
    private final boolean unreliable;
    private final long hazard;
    private final LocalBuffers buffers;
    private final RemoteAccess remoteAccess;
    private final ReceiveCopy receiveCopy;
    private final Patience patience;
    private final SendCounts counts;

    private @Nullable Remote remote;
    private @Nullable Target target;
    private @Nullable LaneWriter lane;
    /** The same as the session keeps it. */
    private OwnLanes.@Nullable OwnLane ownLane;
    /** For type XRC_SEND, whose requests name the queue that they go to; else null. */
    private final @Nullable XrcTargets xrc;
    /** If the peer's receives come from a shared queue; there is never credit then. */
    private @Nullable PooledSends pooled;
    /** With that: how many lane entries may be committed. */
    private long room;
    private int sequence;
    /** Lane entries committed so far. */
    private long sent;
    private long credit;
    /** Messages up to this length travel inside the lane entry. */
    private int inline;
    private long lastNotified;
    private @Nullable Region usual;

    /** Why this end could not be attached to the other when it was tried last. */
    private @Nullable VerbsException obstacle;

    SendExecutor(ShmQueuePair qp, SendCompletions completions, KeyTable keys, int pd, boolean signalAll,
            LocalBuffers buffers, long hazard) {
        this.qp = qp;
        this.completions = completions;
        this.keys = keys;
        this.pd = pd;
        this.signalAll = signalAll;
        this.hazard = hazard;
        this.unreliable = qp.type() == QueuePairType.UC;
        this.buffers = buffers;
        this.remoteAccess = new RemoteAccess(buffers);
        this.receiveCopy = new ReceiveCopy(buffers);
        this.counts = qp.sendCounts();
        this.patience = new Patience(qp);
        this.xrc = qp.type() == QueuePairType.XRC_SEND
                ? new XrcTargets(qp, qp.shmContext().xrc(), buffers, remoteAccess, receiveCopy, hazard
                        - AdapterLayout.QP_HAZARD)
                : null;
    }

    /**
     * Executes work request {@code w}, the queue pair's {@code number}th.
     *
     * @return false if it has to wait; it is then to be executed again
     */
    boolean execute(WorkRequest w, long number) {
        QueuePairState s = qp.state();
        if (s != QueuePairState.RTS && !(s == QueuePairState.SQD && finishesInSqd())) {
            return s != QueuePairState.SQD && flush(w, number);
        }
        Remote r = remote;
        if (r == null) {
            r = attach();
            if (r == null) {
                return notReady(w, number, false);
            }
        }
        int op = w.opcode;
        Hazard.enter(hazard, ++sequence,
                Opcode.isSend(op) ? Hazard.RECEIVES : Hazard.region(w.rkey));
        long link = RawMemory.getLongAcquire(r.entry + AdapterLayout.QP_LINK);
        if ((link & Link.IDENTITY) != r.link) {
            Hazard.leave(hazard);
            return notReady(w, number, false);
        }
        int status = run(r, w, op, link);
        if (status == WcStatus.SUCCESS) {
            count(w, op);
        }
        Hazard.leave(hazard);
        if (status == WcStatus.SUCCESS) {
            patience.forget();
            if (signalAll || w.isSignaled()) {
                complete(w, number, WcStatus.SUCCESS, 0);
            }
            return true;
        }
        return status < 0 ? await(w, number, status) : fail(r, w, number, status);
    }

    /** Before the hazard is left: who sees that nobody is inside finds the numbers. */
    private void count(WorkRequest w, int op) {
        if (ShownObjects.COUNTING) {
            counts.done(op, w.total);
            if (Opcode.isOneSided(op)) {
                target().counts(qp.number()).done(w, op);
            }
        }
    }

    private int run(Remote r, WorkRequest w, int op, long link) {
        if (w.total > ShmLimits.MAX_MESSAGE) {
            return WcStatus.LOC_LEN_ERR;
        }
        if (xrc != null && !Opcode.isLocal(op)) {
            int status = aim(xrc, r, w);
            if (status != Target.OK) {
                return status;
            }
        }
        return switch (op) {
            case Opcode.SEND -> send(r, w, 0);
            case Opcode.SEND_IMM -> send(r, w, LaneLayout.HAS_IMMEDIATE);
            case Opcode.WRITE -> remoteAccess.write(w, link, target());
            case Opcode.WRITE_IMM -> writeImmediate(r, w, link);
            case Opcode.READ -> remoteAccess.read(w, link, target());
            case Opcode.CMP_SWP, Opcode.FETCH_ADD -> remoteAccess.atomic(w, op, link, target());
            case Opcode.SEND_INV -> sendInvalidate(r, w);
            case Opcode.FLUSH -> RemoteSync.flush(w, link, target());
            case Opcode.ATOMIC_WRITE -> RemoteSync.atomicWrite(w, link, target());
            default -> executeLocally(w);
        };
    }

    /** Directs what follows to the shared receive queue that the request names; answers as {@link XrcTarget#prepare}. */
    private int aim(XrcTargets all, Remote r, WorkRequest w) {
        XrcTarget x = all.get(w.sharedReceiveQueue);
        int status = x.prepare(r);
        if (status == Target.OK) {
            target = x.memory();
            pooled = x.sends();
        }
        return status;
    }

    /** What needs no peer, and waits for those who are inside. */
    private int executeLocally(WorkRequest w) {
        Hazard.leave(hazard);
        return WindowWork.execute(w, qp, keys);
    }

    // ---- the short way for requests of one buffer

    /**
     * Executes a send that travels inside the lane entry.
     *
     * @return false if anything is not as usual: nothing was done then, and the long way finds out why
     */
    boolean sendNow(Region from, long offset, long length, int flags, long wrId, long number) {
        Remote r = remote;
        // while there is credit there is a lane
        if (r == null || sent >= credit || length > inline || !isUsual(from, offset, length)) {
            return false;
        }
        Hazard.enter(hazard, ++sequence, Hazard.RECEIVES);
        if ((RawMemory.getLongAcquire(r.entry + AdapterLayout.QP_LINK) & Link.IDENTITY) != r.link) {
            Hazard.leave(hazard);
            return false;
        }
        boolean solicited = (flags & SendFlags.SOLICITED) != 0;
        lane().putInline(sent++, from.address + offset, (int) length, 0, WcOpcode.RECV, solicited
                ? LaneLayout.IS_SOLICITED
                : 0);
        if (!notify(r, solicited)) {
            Hazard.leave(hazard);
            return false;
        }
        expectAnswer(length);
        counts.sent(length);
        if (sent >= credit) {
            refreshCredit(r); // now, while the message travels
        }
        Hazard.leave(hazard);
        if (signalAll || (flags & SendFlags.SIGNALED) != 0) {
            completions.add(wrId, WcOpcode.SEND, WcStatus.SUCCESS, 0, length, number + 1);
            qp.sendCompletionQueue().signal(qp, false);
        }
        return true;
    }

    /** Executes a write; as {@link #sendNow}. */
    boolean writeNow(Region from, long offset, long length, int rkey, long remoteAddress, int flags, long wrId,
            long number) {
        Remote r = remote;
        Target t = target;
        if (r == null || t == null || !isUsual(from, offset, length) || length > ShmLimits.MAX_MESSAGE) {
            return false;
        }
        Hazard.enter(hazard, ++sequence, Hazard.region(rkey));
        long link = RawMemory.getLongAcquire(r.entry + AdapterLayout.QP_LINK);
        if ((link & Link.IDENTITY) != r.link || (Link.access(link) & AccessFlags.REMOTE_WRITE) == 0
                || t.resolve(rkey, remoteAddress, length, AccessFlags.REMOTE_WRITE) != Target.OK || !t.isMapped()) {
            Hazard.leave(hazard);
            return false;
        }
        Copy.bytes(from.address + offset, t.local(remoteAddress), length);
        counts.wrote(length);
        t.counts(qp.number()).wrote(rkey, length);
        Hazard.leave(hazard);
        if (signalAll || (flags & SendFlags.SIGNALED) != 0) {
            completions.add(wrId, WcOpcode.RDMA_WRITE, WcStatus.SUCCESS, 0, length, number + 1);
            qp.sendCompletionQueue().signal(qp, false);
        }
        return true;
    }

    /** True for a part of a region that may be read by address; what depends on the region alone is asked once. */
    private boolean isUsual(Region from, long offset, long length) {
        if (from != usual) {
            if (!from.isRaw() || from.table != keys || from.pd != pd) {
                return false;
            }
            usual = from;
        }
        return from.valid && length > 0 && offset >= 0 && offset <= from.length - length;
    }

    // ---- send

    private int send(Remote r, WorkRequest w, int kind) {
        if (sent >= credit && !refreshCredit(r)) {
            return pooled == null ? PooledSends.WAIT_FOR_RECEIVE : runPooled(r, w, kind, 0);
        }
        long total = w.total;
        int immediate = w.immediate;
        int flags = kind | (w.isSolicited() ? LaneLayout.IS_SOLICITED : 0);
        if (total > inline) {
            return sendLong(r, w, total, immediate, flags);
        }
        long payload = buffers.gather(w, total);
        if (payload < 0) {
            return WcStatus.LOC_PROT_ERR;
        }
        lane().putInline(sent++, payload, (int) total, immediate, WcOpcode.RECV, flags);
        if (!notify(r, (flags & LaneLayout.IS_SOLICITED) != 0)) {
            return GIVEN_UP;
        }
        expectAnswer(total);
        return WcStatus.SUCCESS;
    }

    /** A send that takes a key away from the peer, who does so when it polls; a wrong key is an error on both ends. */
    private int sendInvalidate(Remote r, WorkRequest w) {
        int key = w.immediate;
        if (target().isWindowOfPeer(key)) {
            return send(r, w, LaneLayout.HAS_INVALIDATE);
        }
        if (sent >= credit && !refreshCredit(r)) {
            return pooled == null ? PooledSends.WAIT_FOR_RECEIVE : runPooled(r, w, PooledSends.REFUSED, 0);
        }
        lane().put(sent++, 0, key, WcOpcode.RECV, WcStatus.REM_INV_REQ_ERR, 0);
        notify(r, true);
        return WcStatus.REM_ACCESS_ERR;
    }

    /** A message that does not travel inside the lane entry, or needs a look at the receive. */
    private int sendLong(Remote r, WorkRequest w, long total, int immediate, int flags) {
        int status = receiveCopy.copy(w, total, target(), r.wqe(sent), r.maxSge);
        int peerStatus = receiveCopy.peerStatus();
        if (status != WcStatus.SUCCESS && peerStatus == WcStatus.SUCCESS) {
            if (status == WcStatus.FATAL_ERR) {
                qp.fatal(new ProtocolException("the peer's receive ring makes no sense"));
            }
            return status;
        }
        lane().put(sent++, total, immediate, WcOpcode.RECV, peerStatus, flags);
        if (!notify(r, status != WcStatus.SUCCESS || (flags & LaneLayout.IS_SOLICITED) != 0)) {
            return status == WcStatus.SUCCESS ? GIVEN_UP : status;
        }
        expectAnswer(0);
        return status;
    }

    /** A request that takes a receive from the peer's shared queue. */
    private int runPooled(Remote r, WorkRequest w, int kind, long link) {
        PooledSends p = pooled;
        if (p == null) {
            throw new IllegalStateException("not attached");
        }
        LaneSends lanes = p instanceof LaneSends l ? l : null;
        if (lanes != null) {
            if (sent >= room && !refreshRoom(r)) {
                // as long as there is no receive either, it is that which is missing
                return unreliable || !p.isAvailable() ? PooledSends.WAIT_FOR_RECEIVE : WAIT_FOR_ROOM;
            }
            lanes.at(sent);
        }
        int status = w.opcode == Opcode.WRITE_IMM ? p.writeImmediate(w, link, target()) : p.send(w, kind);
        if (p.hasCommitted()) {
            boolean solicited = status != WcStatus.SUCCESS || w.isSolicited();
            if (lanes != null) {
                sent++;
                if (!notify(r, solicited) && status == WcStatus.SUCCESS) {
                    return GIVEN_UP;
                }
            } else {
                if (p.pool().signal(solicited)) {
                    counts.wokePeer();
                }
            }
        } else if (status == WcStatus.FATAL_ERR) {
            qp.fatal(new ProtocolException("the peer's shared receive queue makes no sense"));
        }
        return status;
    }

    private boolean refreshRoom(Remote r) {
        long count = Posted.count(RawMemory.getLongAcquire(r.entry + AdapterLayout.QP_POSTED));
        room = Math.min(count, sent + r.entries); // a peer that says more only ruins its own lane
        return room > sent;
    }

    private boolean refreshCredit(Remote r) {
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
     * fetched while this one travels. Who only sends has nothing to wait for, and is held up by that.
     */
    private void expectAnswer(long length) {
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
    private boolean notify(Remote r, boolean solicited) {
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

    private int writeImmediate(Remote r, WorkRequest w, long link) {
        if (sent >= credit && !refreshCredit(r)) {
            return pooled == null ? PooledSends.WAIT_FOR_RECEIVE : runPooled(r, w, 0, link);
        }
        int status = remoteAccess.write(w, link, target());
        if (status != WcStatus.SUCCESS) {
            return status;
        }
        boolean solicited = w.isSolicited();
        lane().put(sent++, w.total, w.immediate, WcOpcode.RECV_RDMA_WITH_IMM, WcStatus.SUCCESS,
                LaneLayout.HAS_IMMEDIATE | (solicited ? LaneLayout.IS_SOLICITED : 0));
        if (!notify(r, solicited)) {
            return GIVEN_UP;
        }
        expectAnswer(0);
        return WcStatus.SUCCESS;
    }

    /** True if the key names memory of the peer that is reached through the kernel, which has no atomics. */
    boolean isOnlyRegistered(int rkey) {
        Remote r = remote;
        if (r == null || xrc != null) {
            return false; // whose key it is shows when the request is carried out
        }
        long word = RawMemory.getLongAcquire(r.session.peer().base() + AdapterLayout.keyEntry(rkey));
        return KeyTable.isValid(word) && KeyTable.fits(word, rkey) && !KeyTable.isShared(word);
    }

    // ---- waiting and failing

    private @Nullable Remote attach() {
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
                            + (AdapterLayout.QP_HELD - AdapterLayout.QP_HAZARD), lane());
                }
                remote = r;
            }
            return r;
        } catch (ProtocolException e) {
            qp.fatal(e);
        } catch (VerbsException e) {
            // no memory for the lane: as if the peer did not answer, until the retries are used up
            obstacle = e;
        }
        return null;
    }

    private LaneWriter lane() {
        LaneWriter l = lane;
        if (l == null) {
            throw new IllegalStateException("not attached");
        }
        return l;
    }

    private Target target() {
        Target t = target;
        if (t == null) {
            throw new IllegalStateException("not attached");
        }
        return t;
    }

    private boolean await(WorkRequest w, long number, int status) {
        if (qp.state() == QueuePairState.ERR) {
            return flush(w, number);
        }
        if (status == PooledSends.WAIT_FOR_RECEIVE) {
            if (unreliable) {
                return lose(w, number);
            }
            Remote r = remote;
            boolean begins = !patience.waitsForReceive();
            if (r == null || patience.mayWaitForReceive(r)) {
                if (r != null && begins) {
                    counts.waitedForReceive();
                    target().counts(qp.number()).waited();
                }
                return false;
            }
            return failLocally(w, number, WcStatus.RNR_RETRY_EXC_ERR, "the peer posted no receive", 0);
        }
        if (status == WAIT_FOR_ROOM) {
            patience.waitForRoom();
            return false;
        }
        if (status == XrcTarget.WAIT_FOR_OWNER) {
            return !patience.mayWaitForOwner() && failLocally(w, number, WcStatus.RETRY_EXC_ERR,
                    "the owner of SRQ 0x" + Integer.toHexString(w.sharedReceiveQueue)
                            + " does not answer: is it stopped?", 0);
        }
        return notReady(w, number, status != GIVEN_UP);
    }

    private boolean notReady(WorkRequest w, long number, boolean memory) {
        if (qp.state() == QueuePairState.ERR) {
            return flush(w, number);
        }
        if (Opcode.isLocal(w.opcode)) {
            return finishLocally(w, number);
        }
        boolean mayWait = !(unreliable && (!memory || isPeerDead()))
                && (memory && missing() == 0 ? patience.mayWaitForMemory() : patience.mayWaitForPeer());
        return !mayWait && (unreliable ? lose(w, number) : refuse(w, number, memory));
    }

    /** Why memory that came could not be mapped here, an errno; 0 if it has not come yet. */
    private int missing() {
        Target t = target;
        PooledSends p = pooled;
        int errno = t == null ? 0 : t.missing();
        return errno == 0 && p != null ? p.receives().missing() : errno;
    }

    private boolean isPeerDead() {
        Remote r = remote;
        return r == null || r.session.isDead();
    }

    /** The message does not reach the peer, which nobody notices. */
    private boolean lose(WorkRequest w, long number) {
        giveBack();
        patience.forget();
        if (w.total > ShmLimits.MAX_MESSAGE || !buffers.check(w, 0)) {
            int status = w.total > ShmLimits.MAX_MESSAGE ? WcStatus.LOC_LEN_ERR : WcStatus.LOC_PROT_ERR;
            return stop(w, number, status, WcStatus.toString(status) + " for wrId " + w.wrId, 0);
        }
        counts.lost();
        if (signalAll || w.isSignaled()) {
            complete(w, number, WcStatus.SUCCESS, 0);
        }
        return true;
    }

    private boolean refuse(WorkRequest w, long number, boolean memory) {
        String reason = "the peer's queue pair does not answer: it is not connected to this one, or no more";
        int errno = 0;
        VerbsException e = obstacle;
        if (memory) {
            errno = missing();
            reason = errno == 0
                    ? "memory of the peer has not arrived here yet"
                    : "memory of the peer could not be mapped here, " + SendFailure.hint(errno);
        } else if (remote == null && e != null) {
            reason = String.valueOf(e.getMessage());
            errno = e.errno();
        }
        return failLocally(w, number, WcStatus.RETRY_EXC_ERR, reason, errno);
    }

    private boolean finishLocally(WorkRequest w, long number) {
        int status = executeLocally(w);
        if (status != WcStatus.SUCCESS) {
            String reason = "for wrId " + w.wrId;
            return unreliable ? stop(w, number, status, reason, 0) : failLocally(w, number, status, reason, 0);
        }
        counts.done(w.opcode, 0);
        if (signalAll || w.isSignaled()) {
            complete(w, number, WcStatus.SUCCESS, 0);
        }
        return true;
    }

    private boolean fail(Remote r, WorkRequest w, long number, int status) {
        Target t = target;
        int errno = t == null ? 0 : t.takeErrno();
        if (t != null && status == WcStatus.REM_ACCESS_ERR && !Opcode.isSend(w.opcode)) {
            t.counts(qp.number()).refused(w.rkey); // first: who sees the completion finds it counted
        }
        if (unreliable && !SendFailure.isLocal(status)) {
            return lose(w, number);
        }
        PooledSends p = pooled;
        if (errno == 0 && p != null) {
            errno = p.receives().takeErrno();
        }
        String reason = WcStatus.toString(status) + " for wrId " + w.wrId + (xrc == null || Opcode.isLocal(w.opcode)
                ? ""
                : " to SRQ 0x" + Integer.toHexString(w.sharedReceiveQueue)) + SendFailure.cause(w, status, errno);
        if (unreliable) {
            return stop(w, number, status, reason, errno);
        }
        qp.enterError(reason, -1); // first: who sees the completion finds the state that goes with it
        complete(w, number, status, errno);
        if (status == WcStatus.REM_ACCESS_ERR) {
            r.tell(AsyncEventType.QP_ACCESS_ERR, "the peer's request was refused: " + reason);
        } else if (status == WcStatus.REM_INV_REQ_ERR || status == WcStatus.REM_OP_ERR) {
            r.tell(AsyncEventType.QP_REQ_ERR, "the peer's request was refused: " + reason);
        }
        return true;
    }

    /** An error here, of a queue pair of type UC. */
    private boolean stop(WorkRequest w, long number, int status, String reason, int errno) {
        patience.forget();
        qp.sendFailed(reason);
        complete(w, number, status, errno);
        return true;
    }

    private boolean failLocally(WorkRequest w, long number, int status, String reason, int errno) {
        giveBack();
        qp.enterError(WcStatus.toString(status) + ": " + reason, -1);
        complete(w, number, status, errno);
        return true;
    }

    private boolean flush(WorkRequest w, long number) {
        giveBack();
        complete(w, number, qp.isUnanswered(number) ? WcStatus.RETRY_EXC_ERR : WcStatus.WR_FLUSH_ERR, 0);
        return true;
    }

    private void complete(WorkRequest w, long number, int status, int vendor) {
        if (status != WcStatus.SUCCESS) {
            counts.failed(w, status);
        }
        completions.add(w.wrId, Opcode.completion(w.opcode), status, vendor, w.total, number + 1);
        qp.sendCompletionQueue().signal(qp, status != WcStatus.SUCCESS);
    }

    /** In SQD a request that has begun is finished; those behind it wait for RTS. */
    private boolean finishesInSqd() {
        return qp.isDraining() && patience.isWaiting();
    }

    /** True if the oldest request was tried and waits for something. */
    boolean isWaiting() {
        return patience.isWaiting();
    }

    /** True if the oldest request waits for the peer to post a receive. */
    boolean waitsForReceive() {
        return patience.waitsForReceive();
    }

    /** True if nothing but the peer can end the wait. */
    boolean waitsForEver() {
        return patience.waitsForEver();
    }

    /** Somebody is to look for those who wait for receives, if they are in a shared queue. */
    void setPoolStarving() {
        PooledSends p = pooled;
        if (p != null) {
            p.pool().setStarving();
        }
    }

    /** A receive that is kept for the next try is not needed any more. */
    void giveBack() {
        PooledSends p = pooled;
        if (p != null) {
            p.giveBack();
        }
    }

    /** Gives up the lane, what reaches others than the peer, and what is counted for that one. */
    void leave() {
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
        room = 0;
        remote = null;
        target = null;
        lane = null;
        sent = 0;
        credit = 0;
        lastNotified = 0;
        buffers.reset();
        usual = null;
        obstacle = null;
        patience.forget();
    }
}
