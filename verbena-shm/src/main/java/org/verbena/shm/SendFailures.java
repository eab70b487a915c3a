// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import org.verbena.linux.Errno;
import org.verbena.shm.completion.SendCompletions;
import org.verbena.shm.control.RemoteQueuePair;
import org.verbena.shm.counts.SendCounts;
import org.verbena.shm.layout.ShmLimits;
import org.verbena.shm.memory.KeyTable;
import org.verbena.shm.memory.Target;
import org.verbena.shm.memory.WindowWork;
import org.verbena.shm.memory.WorkRequest;
import org.verbena.shm.pool.PooledSends;
import org.verbena.shm.xrc.XrcTarget;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.SendOpcode;

/**
 * The outcome of a request that {@link SendExecutor} could not carry out: it waits and is tried again, is lost (type UC),
 * fails, or is flushed. Used by the thread that executes, outside of the {@link org.verbena.shm.layout.Hazard}; each result is as that
 * of {@link SendExecutor#execute}.
 */
final class SendFailures {
    private final QueuePairBase qp;
    private final LaneProducer lane;
    private final SendCompletions completions;
    private final RetryTimer retryTimer;
    private final KeyTable keys;
    private final SendCounts counts;
    private final boolean signalAll;
    /** Of type UC: a message that the peer does not accept is lost silently. */
    private final boolean unreliable;
    private final boolean isXrc;

    SendFailures(QueuePairBase qp, LaneProducer lane, SendCompletions completions, RetryTimer retryTimer,
            KeyTable keys, boolean signalAll) {
        this.qp = qp;
        this.lane = lane;
        this.completions = completions;
        this.retryTimer = retryTimer;
        this.keys = keys;
        this.signalAll = signalAll;
        this.counts = qp.sendCounts();
        this.unreliable = qp.type() == QueuePairType.UC;
        this.isXrc = qp.type() == QueuePairType.XRC_SEND;
    }

    /** Of a request that was tried, with a negative result: tried again later, or given up. */
    boolean await(WorkRequest w, long number, int status) {
        if (qp.state() == QueuePairState.ERR) {
            return flush(w, number);
        }
        if (status == PooledSends.WAIT_FOR_RECEIVE) {
            if (unreliable) {
                return lose(w, number);
            }
            RemoteQueuePair r = lane.remote;
            boolean begins = !retryTimer.waitsForReceive();
            if (r == null || retryTimer.mayWaitForReceive(r)) {
                if (r != null && begins) {
                    counts.waitedForReceive();
                    Target t = lane.target;
                    if (t != null) {
                        t.counts(qp.number()).waited();
                    }
                }
                return false;
            }
            return failLocally(w, number, WcStatus.RNR_RETRY_EXC_ERR, "the peer posted no receive", 0);
        }
        if (status == SendExecutor.WAIT_FOR_ROOM) {
            retryTimer.waitForRoom();
            return false;
        }
        if (status == XrcTarget.WAIT_FOR_OWNER) {
            return !retryTimer.mayWaitForOwner() && failLocally(w, number, WcStatus.RETRY_EXC_ERR,
                    "the owner of SRQ 0x" + Integer.toHexString(w.sharedReceiveQueue)
                            + " does not answer: is it stopped?", 0);
        }
        return notReady(w, number, status != SendExecutor.GIVEN_UP);
    }

    /** There is no peer, or its {@code memory} has not arrived here. */
    boolean notReady(WorkRequest w, long number, boolean memory) {
        if (qp.state() == QueuePairState.ERR) {
            return flush(w, number);
        }
        if (SendOpcode.isLocal(w.opcode)) {
            return finishLocally(w, number);
        }
        boolean mayWait = !(unreliable && (!memory || isPeerDead()))
                && (memory && mayStillArrive() ? retryTimer.mayWaitForMemory() : retryTimer.mayWaitForPeer());
        return !mayWait && (unreliable ? lose(w, number) : refuse(w, number, memory));
    }

    /** The errno for which arrived memory could not be mapped here; 0 if it has not arrived. */
    private int missing() {
        Target t = lane.target;
        PooledSends p = lane.pooled;
        int errno = t == null ? 0 : t.missing();
        return errno == 0 && p != null ? p.receives().missing() : errno;
    }

    /**
     * Whether memory is on its way, or found no descriptor: another thread may have taken the spare one for a moment, and the memory
     * is requested again.
     */
    private boolean mayStillArrive() {
        int errno = missing();
        return errno == 0 || errno == Errno.EMFILE;
    }

    private boolean isPeerDead() {
        RemoteQueuePair r = lane.remote;
        return r == null || r.session.isDead();
    }

    /** The message does not reach the peer, and no error is reported. */
    private boolean lose(WorkRequest w, long number) {
        lane.giveBack();
        retryTimer.forget();
        if (w.total > ShmLimits.MAX_MESSAGE || !lane.buffers.check(w, 0)) {
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
        VerbsException e = lane.attachFailure();
        if (memory) {
            errno = missing();
            reason = errno == 0
                    ? "memory of the peer has not arrived here yet"
                    : "memory of the peer could not be mapped here, " + FailureReason.hint(errno);
        } else if (lane.remote == null && e != null) {
            reason = String.valueOf(e.getMessage());
            errno = e.errno();
        }
        return failLocally(w, number, WcStatus.RETRY_EXC_ERR, reason, errno);
    }

    private boolean finishLocally(WorkRequest w, long number) {
        int status = WindowWork.execute(w, qp, keys);
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

    /** With an error of the request itself. */
    boolean fail(RemoteQueuePair r, WorkRequest w, long number, int status) {
        Target t = lane.target;
        int errno = t == null ? 0 : t.takeErrno();
        if (t != null && status == WcStatus.REM_ACCESS_ERR && !SendOpcode.isSend(w.opcode)) {
            t.counts(qp.number()).refused(w.rkey); // first: a thread that sees the completion finds it counted
        }
        if (unreliable && !FailureReason.isLocal(status)) {
            return lose(w, number);
        }
        PooledSends p = lane.pooled;
        if (errno == 0 && p != null) {
            errno = p.receives().takeErrno();
        }
        String reason = WcStatus.toString(status) + " for wrId " + w.wrId + (!isXrc || SendOpcode.isLocal(w.opcode)
                ? ""
                : " to SRQ 0x" + Integer.toHexString(w.sharedReceiveQueue)) + FailureReason.cause(w, status, errno);
        if (unreliable) {
            return stop(w, number, status, reason, errno);
        }
        qp.enterError(reason, -1); // first: a thread that sees the completion finds the state that goes with it
        complete(w, number, status, errno);
        if (status == WcStatus.REM_ACCESS_ERR) {
            r.reportError(AsyncEventType.QP_ACCESS_ERR, "the peer's request was refused: " + reason);
        } else if (status == WcStatus.REM_INV_REQ_ERR || status == WcStatus.REM_OP_ERR) {
            r.reportError(AsyncEventType.QP_REQ_ERR, "the peer's request was refused: " + reason);
        }
        return true;
    }

    /** An error here, of a queue pair of type UC. */
    private boolean stop(WorkRequest w, long number, int status, String reason, int errno) {
        retryTimer.forget();
        qp.sendFailed(reason);
        complete(w, number, status, errno);
        return true;
    }

    private boolean failLocally(WorkRequest w, long number, int status, String reason, int errno) {
        lane.giveBack();
        qp.enterError(WcStatus.toString(status) + ": " + reason, -1);
        complete(w, number, status, errno);
        return true;
    }

    /** The queue pair has failed. */
    boolean flush(WorkRequest w, long number) {
        lane.giveBack();
        complete(w, number, qp.isUnanswered(number) ? WcStatus.RETRY_EXC_ERR : WcStatus.WR_FLUSH_ERR, 0);
        return true;
    }

    private void complete(WorkRequest w, long number, int status, int vendor) {
        if (status != WcStatus.SUCCESS) {
            counts.failed(w, status);
        }
        completions.add(w.wrId, SendOpcode.completion(w.opcode), status, vendor, w.total, number + 1);
        qp.sendCompleted(status != WcStatus.SUCCESS);
    }
}
