// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.spi.RawFile;
import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.completion.SendCompletions;
import org.verbena.shm.control.RemoteQueuePair;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.Copy;
import org.verbena.shm.layout.Hazard;
import org.verbena.shm.layout.LaneLayout;
import org.verbena.shm.layout.Link;
import org.verbena.shm.layout.ProtocolException;
import org.verbena.shm.layout.ShmLimits;
import org.verbena.shm.memory.KeyTable;
import org.verbena.shm.memory.LocalBuffers;
import org.verbena.shm.memory.Region;
import org.verbena.shm.memory.RemoteSync;
import org.verbena.shm.memory.Target;
import org.verbena.shm.memory.WindowWork;
import org.verbena.shm.memory.WorkRequest;
import org.verbena.shm.pool.LaneSends;
import org.verbena.shm.pool.PooledSends;
import org.verbena.shm.xrc.XrcDirectory;
import org.verbena.shm.xrc.XrcTarget;
import org.verbena.shm.xrc.XrcTargets;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.DirectWrite;
import org.verbena.verbs.spi.PublishedObjects;
import org.verbena.verbs.spi.SendOpcode;

/**
 * Carries out send work requests: the initiator's side of the transport. Used by one thread at a time, see
 * {@link ShmSendQueue}.
 *
 * <p>Every request runs inside a {@link Hazard}: enter, read the peer's link and keys, copy, commit, leave.
 */
final class SendExecutor extends LaneProducer {
    /** A result of an operation, as {@link PooledSends#WAIT_FOR_RECEIVE}: the lane is full of entries that the peer has not polled; only with {@link PooledSends}. */
    static final int WAIT_FOR_ROOM = -3;

    /** The peer gave this end up before it could see the committed entry. */
    static final int GIVEN_UP = -5;

    private final SendCompletions completions;
    private final KeyTable keys;
    private final int pd;
    private final boolean signalAll;
    /** Of type UC: a message that the peer does not accept is lost silently. */
    private final boolean unreliable;
    private final RetryTimer retryTimer;
    private final SendFailures failures;
    private int sequence;
    private @Nullable Region fastPathRegion;

    SendExecutor(QueuePairBase qp, SendCompletions completions, KeyTable keys, int pd, boolean signalAll,
            XrcDirectory directory, LocalBuffers buffers, long hazard) {
        super(qp, directory, buffers, hazard);
        this.completions = completions;
        this.keys = keys;
        this.pd = pd;
        this.signalAll = signalAll;
        this.unreliable = qp.type() == QueuePairType.UC;
        this.retryTimer = new RetryTimer(qp);
        this.failures = new SendFailures(qp, this, completions, retryTimer, keys, signalAll);
    }

    /**
     * Executes work request {@code w}, the queue pair's {@code number}th.
     *
     * @return false if it has to wait; it is then to be executed again
     */
    boolean execute(WorkRequest w, long number) {
        QueuePairState s = qp.state();
        if (s != QueuePairState.RTS && !(s == QueuePairState.SQD && finishesInSqd())) {
            return s != QueuePairState.SQD && failures.flush(w, number);
        }
        RemoteQueuePair r = remote;
        if (r == null) {
            r = attach();
            if (r == null) {
                return failures.notReady(w, number, false);
            }
        }
        int op = w.opcode;
        Hazard.enter(hazard, ++sequence,
                SendOpcode.isSend(op) ? Hazard.RECEIVES : Hazard.region(w.rkey));
        long link = RawMemory.getLongAcquire(r.entry + AdapterLayout.QP_LINK);
        if ((link & Link.IDENTITY) != r.link) {
            Hazard.leave(hazard);
            return failures.notReady(w, number, false);
        }
        int status = run(r, w, op, link);
        if (status == WcStatus.SUCCESS) {
            count(w, op);
        }
        Hazard.leave(hazard);
        if (status == WcStatus.SUCCESS) {
            retryTimer.forget();
            if (signalAll || w.isSignaled()) {
                complete(w.wrId, SendOpcode.completion(op), w.total, number);
            }
            return true;
        }
        return status < 0 ? failures.await(w, number, status) : failures.fail(r, w, number, status);
    }

    /** Of a request that has succeeded. */
    private void complete(long wrId, int opcode, long length, long number) {
        completions.add(wrId, opcode, WcStatus.SUCCESS, 0, length, number + 1);
        qp.sendCompleted(false);
    }

    /** Before the hazard is left: a thread that sees it cleared finds the numbers. */
    private void count(WorkRequest w, int op) {
        if (PublishedObjects.COUNTING) {
            counts.done(op, w.total);
            if (SendOpcode.isOneSided(op)) {
                target().counts(qp.number()).done(w, op);
            }
        }
    }

    private int run(RemoteQueuePair r, WorkRequest w, int op, long link) {
        if (w.total > ShmLimits.MAX_MESSAGE) {
            return WcStatus.LOC_LEN_ERR;
        }
        if (xrc != null && !SendOpcode.isLocal(op)) {
            int status = selectTarget(xrc, r, w);
            if (status != Target.OK) {
                return status;
            }
        }
        return switch (op) {
            case SendOpcode.SEND -> send(r, w, 0);
            case SendOpcode.SEND_IMM -> send(r, w, LaneLayout.HAS_IMMEDIATE);
            case SendOpcode.WRITE -> remoteAccess.write(w, link, target());
            case SendOpcode.WRITE_IMM -> writeImmediate(r, w, link);
            case SendOpcode.READ -> remoteAccess.read(w, link, target());
            case SendOpcode.CMP_SWP, SendOpcode.FETCH_ADD -> remoteAccess.atomic(w, op, link, target());
            case SendOpcode.SEND_INV -> sendInvalidate(r, w);
            case SendOpcode.FLUSH -> RemoteSync.flush(w, link, target());
            case SendOpcode.ATOMIC_WRITE -> RemoteSync.atomicWrite(w, link, target());
            default -> executeLocally(w);
        };
    }

    /** Selects the shared receive queue that the request names as the target; returns as {@link XrcTarget#prepare}. */
    private int selectTarget(XrcTargets all, RemoteQueuePair r, WorkRequest w) {
        XrcTarget x = all.get(w.sharedReceiveQueue);
        int status = x.prepare(r);
        if (status == Target.OK) {
            target = x.memory();
            pooled = x.sends();
        }
        return status;
    }

    /** Requests that need no peer, and wait for the threads inside. */
    private int executeLocally(WorkRequest w) {
        Hazard.leave(hazard);
        return WindowWork.execute(w, qp, keys);
    }

    // ---- the fast path for requests of one buffer

    /**
     * Executes a send that travels inside the lane entry.
     *
     * @return false unless the request takes the fast path: nothing was done then, and the slow path finds the cause
     */
    boolean sendNow(Region from, long offset, long length, int flags, long wrId, long number) {
        RemoteQueuePair r = remote;
        // while there is credit there is a lane
        if (r == null || sent >= credit || length > inline || !isFastPathRange(from, offset, length)) {
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
        fetchNextEntry(length);
        counts.sent(length);
        if (sent >= credit) {
            refreshCredit(r); // now, while the message travels
        }
        Hazard.leave(hazard);
        if (signalAll || (flags & SendFlags.SIGNALED) != 0) {
            complete(wrId, WcOpcode.SEND, length, number);
        }
        return true;
    }

    /** Executes a write; as {@link #sendNow}. */
    boolean writeNow(Region from, long offset, long length, int rkey, long remoteAddress, int flags, long wrId,
            long number) {
        if (!isFastPathRange(from, offset, length) || length > ShmLimits.MAX_MESSAGE) {
            return false;
        }
        Target t = enterToWrite(rkey, remoteAddress, length);
        if (t == null) {
            return false;
        }
        Copy.bytes(from.address + offset, t.local(remoteAddress), length);
        counts.wrote(length);
        t.counts(qp.number()).wrote(rkey, length);
        Hazard.leave(hazard);
        if (signalAll || (flags & SendFlags.SIGNALED) != 0) {
            complete(wrId, WcOpcode.RDMA_WRITE, length, number);
        }
        return true;
    }

    /** Copies from a buffer to the peer's memory; false unless the fast path could: then there is nothing of it, or a part. */
    boolean writeNow(ByteBuffer from, int position, int length, int rkey, long remoteAddress) {
        Target t = enterToWrite(rkey, remoteAddress, length);
        if (t == null) {
            return false;
        }
        try { // the buffer may be of a file that is shorter by now
            if (!t.write(from, position, length, remoteAddress)) {
                return false;
            }
            counts.wrote(length);
            t.counts(qp.number()).wrote(rkey, length);
        } finally {
            Hazard.leave(hazard);
        }
        return true;
    }

    /** Stores an aligned word in the peer's memory, as {@link #writeNow(ByteBuffer, int, int, int, long)}. */
    boolean writeWordNow(long value, int rkey, long remoteAddress) {
        Target t = enterToWrite(rkey, remoteAddress, Long.BYTES);
        if (t == null) {
            return false;
        }
        RawMemory.putLongRelease(t.local(remoteAddress), value);
        counts.wrote(Long.BYTES);
        t.counts(qp.number()).wrote(rkey, Long.BYTES);
        Hazard.leave(hazard);
        return true;
    }

    /** Reads from a file to the peer's memory; returns as {@link DirectWrite#readFileNow}. */
    int readFileNow(int fd, long position, int length, int rkey, long remoteAddress) {
        Target t = enterToWrite(rkey, remoteAddress, length);
        if (t == null) {
            return -Errno.EOPNOTSUPP;
        }
        int n = (int) RawFile.readCached(fd, position, t.local(remoteAddress), length);
        if (n > 0) {
            counts.wrote(n);
            t.counts(qp.number()).wrote(rkey, n);
        }
        Hazard.leave(hazard);
        return n;
    }

    /** Enters the hazard, with a range of the peer's memory that is mapped and may be written; null, outside, if there is none. */
    private @Nullable Target enterToWrite(int rkey, long remoteAddress, long length) {
        RemoteQueuePair r = remote;
        Target t = target;
        if (r == null || t == null) {
            return null;
        }
        Hazard.enter(hazard, ++sequence, Hazard.region(rkey));
        long link = RawMemory.getLongAcquire(r.entry + AdapterLayout.QP_LINK);
        if ((link & Link.IDENTITY) != r.link || (Link.access(link) & AccessFlags.REMOTE_WRITE) == 0
                || t.resolve(rkey, remoteAddress, length, AccessFlags.REMOTE_WRITE) != Target.OK || !t.isMapped()) {
            Hazard.leave(hazard);
            return null;
        }
        return t;
    }

    /** True for a part of a region that may be read by address; conditions on the region alone are checked once. */
    private boolean isFastPathRange(Region from, long offset, long length) {
        if (from != fastPathRegion) {
            if (!from.isRaw() || from.table != keys || from.pd != pd) {
                return false;
            }
            fastPathRegion = from;
        }
        return from.valid && length > 0 && offset >= 0 && offset <= from.length - length;
    }

    // ---- send

    private int send(RemoteQueuePair r, WorkRequest w, int kind) {
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
        fetchNextEntry(total);
        return WcStatus.SUCCESS;
    }

    /** A send that invalidates a key of the peer, which invalidates it when it polls; a wrong key is an error on both ends. */
    private int sendInvalidate(RemoteQueuePair r, WorkRequest w) {
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

    /** A message that does not travel inside the lane entry, or requires the receive to be read. */
    private int sendLong(RemoteQueuePair r, WorkRequest w, long total, int immediate, int flags) {
        int status = receiveCopy.copy(w, total, target(), r.wqe(sent), r.maxSge);
        int peerStatus = receiveCopy.peerStatus();
        if (status != WcStatus.SUCCESS && peerStatus == WcStatus.SUCCESS) {
            if (status == WcStatus.FATAL_ERR) {
                qp.fatal(new ProtocolException("the peer's receive ring is invalid"));
            }
            return status;
        }
        lane().put(sent++, total, immediate, WcOpcode.RECV, peerStatus, flags);
        if (!notify(r, status != WcStatus.SUCCESS || (flags & LaneLayout.IS_SOLICITED) != 0)) {
            return status == WcStatus.SUCCESS ? GIVEN_UP : status;
        }
        fetchNextEntry(0);
        return status;
    }

    /** A request that takes a receive from the peer's shared queue. */
    private int runPooled(RemoteQueuePair r, WorkRequest w, int kind, long link) {
        PooledSends p = pooled;
        if (p == null) {
            throw new IllegalStateException("not attached");
        }
        LaneSends lanes = p instanceof LaneSends l ? l : null;
        if (lanes != null) {
            if (!lanes.hasRoom(sent)) {
                // as long as there is no receive either, the receive is what is missing
                return unreliable || !p.isAvailable() ? PooledSends.WAIT_FOR_RECEIVE : WAIT_FOR_ROOM;
            }
            lanes.at(sent);
        }
        int status = w.opcode == SendOpcode.WRITE_IMM ? p.writeImmediate(w, link, target()) : p.send(w, kind);
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
            qp.fatal(new ProtocolException("the peer's shared receive queue is invalid"));
        }
        return status;
    }

    private int writeImmediate(RemoteQueuePair r, WorkRequest w, long link) {
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
        fetchNextEntry(0);
        return WcStatus.SUCCESS;
    }

    /** True if the key names memory of the peer that is accessed through the kernel, which has no atomics. */
    boolean isOnlyRegistered(int rkey) {
        RemoteQueuePair r = remote;
        if (r == null || xrc != null) {
            return false; // the owner of the key is known only when the request is executed
        }
        long word = RawMemory.getLongAcquire(r.session.mapping().base() + AdapterLayout.keyEntry(rkey));
        return KeyTable.isValid(word) && KeyTable.fits(word, rkey) && !KeyTable.isShared(word);
    }

    // ---- waiting

    /** In SQD a request that has begun is finished; those behind it wait for RTS. */
    private boolean finishesInSqd() {
        return qp.isDraining() && retryTimer.isWaiting();
    }

    /** True if the oldest request was tried and waits. */
    boolean isWaiting() {
        return retryTimer.isWaiting();
    }

    /** True if the oldest request waits for the peer to post a receive. */
    boolean waitsForReceive() {
        return retryTimer.waitsForReceive();
    }

    /** True if only the peer can end the wait. */
    boolean waitsIndefinitely() {
        return retryTimer.waitsIndefinitely();
    }

    @Override
    void reset() {
        super.reset();
        fastPathRegion = null;
        retryTimer.forget();
    }
}
