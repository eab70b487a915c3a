package org.verbena.shm;

import java.lang.invoke.VarHandle;

import org.jspecify.annotations.Nullable;
import org.verbena.linux.Errno;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/**
 * Carries out send work requests: the initiator's side of the transport. Used by one thread at a time, see
 * {@link ShmSendQueue}.
 *
 * <p>Every request runs inside a {@link Hazard}: enter, read the peer's link and keys, copy, commit, leave.
 */
final class SendExecutor {
    /** Internal answers of an operation beside {@link WcStatus} values. */
    private static final int WAIT_FOR_MEMORY = Target.WAIT;
    private static final int WAIT_FOR_RECEIVE = -2;

    private final ShmQueuePair qp;
    private final WorkQueue work;
    private final SendCompletions completions;
    private final KeyTable keys;
    private final int pd;
    private final boolean signalAll;
    private final long hazard;
    private final long scratch;
    private final Patience patience;

    private @Nullable Remote remote;
    private @Nullable Target target;
    private @Nullable LaneWriter lane;
    private int sequence;
    /** Lane entries committed so far. */
    private long sent;
    private long credit;
    private int shortest;
    private long lastNotified;
    private @Nullable Region lastRegion;

    private int vendorError;
    private int peerStatus;

    SendExecutor(ShmQueuePair qp, WorkQueue work, SendCompletions completions, KeyTable keys, int pd, boolean signalAll,
            long hazard, long scratch) {
        this.qp = qp;
        this.work = work;
        this.completions = completions;
        this.keys = keys;
        this.pd = pd;
        this.signalAll = signalAll;
        this.hazard = hazard;
        this.scratch = scratch;
        this.patience = new Patience(qp);
    }

    /**
     * Executes work request {@code number} in slot {@code i}.
     *
     * @return false if it has to wait; it is then to be executed again
     */
    boolean execute(int i, long number) {
        QueuePairState s = qp.state();
        if (s != QueuePairState.RTS) {
            return s != QueuePairState.SQD && flush(i, number);
        }
        Remote r = remote;
        if (r == null) {
            r = attach();
            if (r == null) {
                return notReady(i, number);
            }
        }
        int op = work.opcodes[i];
        Hazard.enter(hazard, ++sequence,
                op == Opcode.SEND || op == Opcode.SEND_IMM ? Hazard.RECEIVES : Hazard.region(work.rkeys[i]));
        long link = RawMemory.getLongAcquire(r.entry + AdapterLayout.QP_LINK);
        if ((link & Link.IDENTITY) != r.link) {
            Hazard.leave(hazard);
            return notReady(i, number);
        }
        int status = run(r, i, op, link);
        Hazard.leave(hazard);
        if (status == WcStatus.SUCCESS) {
            patience.forget();
            if (signalAll || (work.flags[i] & SendFlags.SIGNALED) != 0) {
                complete(i, number, WcStatus.SUCCESS, 0);
            }
            return true;
        }
        return status < 0 ? await(i, number, status) : fail(r, i, number, status);
    }

    private int run(Remote r, int i, int op, long link) {
        if (work.totals[i] > ShmDevice.MAX_MESSAGE) {
            return WcStatus.LOC_LEN_ERR;
        }
        return switch (op) {
            case Opcode.SEND, Opcode.SEND_IMM -> send(r, i, op);
            case Opcode.WRITE -> write(i, link);
            case Opcode.WRITE_IMM -> writeImmediate(r, i, link);
            case Opcode.READ -> read(i, link);
            default -> atomic(i, op, link);
        };
    }

    // ---- send

    private int send(Remote r, int i, int op) {
        if (sent >= credit && !refreshCredit(r)) {
            return WAIT_FOR_RECEIVE;
        }
        long total = work.totals[i];
        int immediate = work.immediates[i];
        int flags = (op == Opcode.SEND_IMM ? LaneLayout.HAS_IMMEDIATE : 0)
                | ((work.flags[i] & SendFlags.SOLICITED) != 0 ? LaneLayout.IS_SOLICITED : 0);
        if (total <= LaneLayout.INLINE && total <= shortest) {
            long payload = gather(i, total);
            if (payload < 0) {
                return WcStatus.LOC_PROT_ERR;
            }
            lane().putInline(sent++, payload, (int) total, immediate, WcOpcode.RECV, flags);
        } else {
            peerStatus = WcStatus.SUCCESS;
            int status = sendToReceive(r, i, total);
            if (status != WcStatus.SUCCESS && peerStatus == WcStatus.SUCCESS) {
                return status;
            }
            lane().put(sent++, total, immediate, WcOpcode.RECV, peerStatus, flags);
            if (status != WcStatus.SUCCESS) {
                notify(r, true);
                return status;
            }
        }
        notify(r, (flags & LaneLayout.IS_SOLICITED) != 0);
        return WcStatus.SUCCESS;
    }

    /** Where the message's bytes lie in one piece, or -1 if a buffer is not allowed. */
    private long gather(int i, long total) {
        if ((work.flags[i] & SendFlags.INLINE) != 0) {
            return work.inlineBuffer(i);
        }
        int n = work.sgeCounts[i];
        int at = i * work.maxSge;
        if (n == 1) {
            Region r = region(work.sgeKeys[at], work.sgeAddresses[at], total, 0);
            if (r != null && r.isRaw()) {
                return work.sgeAddresses[at];
            }
        }
        long done = 0;
        for (int s = 0; s < n; s++) {
            long bytes = work.sgeLengths[at + s];
            Region r = region(work.sgeKeys[at + s], work.sgeAddresses[at + s], bytes, 0);
            if (r == null || !r.copyOut(work.sgeAddresses[at + s], scratch + done, bytes)) {
                return -1;
            }
            done += bytes;
        }
        return scratch;
    }

    /** Copies a message into the peer's oldest receive; sets {@link #peerStatus} if the peer gets an error of it. */
    private int sendToReceive(Remote r, int i, long total) {
        long wqe = r.wqe(sent);
        int pieces = RawMemory.getInt(wqe);
        if (pieces < 0 || pieces > r.maxSge) {
            return protocolError();
        }
        Target t = target();
        int source = 0;
        long sourceDone = 0;
        long left = total;
        boolean inline = (work.flags[i] & SendFlags.INLINE) != 0;
        for (int p = 0; p < pieces && left > 0; p++) {
            long a = wqe + AdapterLayout.WQE_HEADER + AdapterLayout.WQE_SGE * p;
            long to = RawMemory.getLong(a);
            int key = RawMemory.getInt(a + 8);
            long room = Math.min(RawMemory.getInt(a + 12) & 0xffffffffL, left);
            int status = room == 0 ? Target.OK : t.resolve(key, to, room, AccessFlags.LOCAL_WRITE);
            if (status == Target.WAIT) {
                return WAIT_FOR_MEMORY;
            }
            if (status != Target.OK) {
                peerStatus = WcStatus.LOC_PROT_ERR;
                return WcStatus.REM_OP_ERR;
            }
            while (room > 0) {
                long bytes;
                if (inline) {
                    bytes = room;
                    status = t.writeRaw(work.inlineBuffer(i) + (total - left), to, bytes);
                } else {
                    int at = i * work.maxSge + source;
                    long rest = work.sgeLengths[at] - sourceDone;
                    bytes = Math.min(rest, room);
                    long from = work.sgeAddresses[at] + sourceDone;
                    Region local = region(work.sgeKeys[at], from, bytes, 0);
                    status = local == null ? WcStatus.LOC_PROT_ERR : t.write(local, from, to, bytes);
                    sourceDone += bytes;
                    if (bytes == rest) {
                        source++;
                        sourceDone = 0;
                    }
                }
                if (status != Target.OK) {
                    vendorError = t.errno();
                    return status;
                }
                to += bytes;
                room -= bytes;
                left -= bytes;
            }
        }
        if (left > 0) {
            peerStatus = WcStatus.LOC_LEN_ERR;
            return WcStatus.REM_INV_REQ_ERR;
        }
        return WcStatus.SUCCESS;
    }

    private boolean refreshCredit(Remote r) {
        long word = RawMemory.getLongAcquire(r.entry + AdapterLayout.QP_POSTED);
        long count = Posted.count(word);
        if (count - sent > r.entries) {
            qp.fatal(new ProtocolException("the peer posted more receives than its queue holds"));
            return false;
        }
        credit = count;
        shortest = Posted.shortest(word);
        return count > sent;
    }

    /** Wakes the peer if its completion queue is armed for what was just committed. */
    private void notify(Remote r, boolean solicited) {
        // no instruction on x86: the peer arms, issues a membarrier, then looks into the lane
        VarHandle.releaseFence();
        long word = RawMemory.getLongOpaque(r.armWord);
        if (ShmCompletionQueue.isArmed(word, solicited) && word != lastNotified) {
            lastNotified = word;
            qp.notifyPeer(r, word);
        }
    }

    // ---- write, read, atomics

    private int write(int i, long link) {
        long total = work.totals[i];
        Target t = target();
        if (total > 0) {
            if ((Link.access(link) & AccessFlags.REMOTE_WRITE) == 0) {
                return WcStatus.REM_INV_REQ_ERR;
            }
            int status = t.resolve(work.rkeys[i], work.remoteAddresses[i], total, AccessFlags.REMOTE_WRITE);
            if (status != Target.OK) {
                return checkLocal(i, 0) ? status : WcStatus.LOC_PROT_ERR;
            }
        }
        long to = work.remoteAddresses[i];
        if ((work.flags[i] & SendFlags.INLINE) != 0) {
            return total == 0 ? WcStatus.SUCCESS : done(t, t.writeRaw(work.inlineBuffer(i), to, total));
        }
        int n = work.sgeCounts[i];
        int at = i * work.maxSge;
        for (int s = 0; s < n; s++) {
            long bytes = work.sgeLengths[at + s];
            Region r = region(work.sgeKeys[at + s], work.sgeAddresses[at + s], bytes, 0);
            if (r == null) {
                return WcStatus.LOC_PROT_ERR;
            }
            int status = bytes == 0 ? Target.OK : t.write(r, work.sgeAddresses[at + s], to, bytes);
            if (status != Target.OK) {
                return done(t, status);
            }
            to += bytes;
        }
        return WcStatus.SUCCESS;
    }

    private int writeImmediate(Remote r, int i, long link) {
        if (sent >= credit && !refreshCredit(r)) {
            return WAIT_FOR_RECEIVE;
        }
        int status = write(i, link);
        if (status != WcStatus.SUCCESS) {
            return status;
        }
        boolean solicited = (work.flags[i] & SendFlags.SOLICITED) != 0;
        lane().put(sent++, work.totals[i], work.immediates[i], WcOpcode.RECV_RDMA_WITH_IMM, WcStatus.SUCCESS,
                LaneLayout.HAS_IMMEDIATE | (solicited ? LaneLayout.IS_SOLICITED : 0));
        notify(r, solicited);
        return WcStatus.SUCCESS;
    }

    private int read(int i, long link) {
        long total = work.totals[i];
        Target t = target();
        if (total > 0) {
            if ((Link.access(link) & AccessFlags.REMOTE_READ) == 0) {
                return WcStatus.REM_INV_REQ_ERR;
            }
            int status = t.resolve(work.rkeys[i], work.remoteAddresses[i], total, AccessFlags.REMOTE_READ);
            if (status != Target.OK) {
                return checkLocal(i, AccessFlags.LOCAL_WRITE) ? status : WcStatus.LOC_PROT_ERR;
            }
        }
        if (!checkLocal(i, AccessFlags.LOCAL_WRITE)) {
            return WcStatus.LOC_PROT_ERR;
        }
        long from = work.remoteAddresses[i];
        int at = i * work.maxSge;
        for (int s = 0; s < work.sgeCounts[i]; s++) {
            long bytes = work.sgeLengths[at + s];
            Region r = region(work.sgeKeys[at + s], work.sgeAddresses[at + s], bytes, AccessFlags.LOCAL_WRITE);
            int status = r == null ? WcStatus.LOC_PROT_ERR
                    : bytes == 0 ? Target.OK : t.read(r, work.sgeAddresses[at + s], from, bytes);
            if (status != Target.OK) {
                return done(t, status);
            }
            from += bytes;
        }
        return WcStatus.SUCCESS;
    }

    private int atomic(int i, int op, long link) {
        long at = work.remoteAddresses[i];
        if ((at & 7) != 0 || (Link.access(link) & AccessFlags.REMOTE_ATOMIC) == 0) {
            return WcStatus.REM_INV_REQ_ERR;
        }
        if (work.totals[i] != 8 || !checkLocal(i, AccessFlags.LOCAL_WRITE)) {
            return work.totals[i] != 8 ? WcStatus.LOC_LEN_ERR : WcStatus.LOC_PROT_ERR;
        }
        Target t = target();
        int status = t.resolve(work.rkeys[i], at, 8, AccessFlags.REMOTE_ATOMIC);
        if (status != Target.OK) {
            return status;
        }
        if (!t.isMapped()) {
            vendorError = Errno.EOPNOTSUPP;
            return WcStatus.REM_OP_ERR;
        }
        long a = t.local(at);
        if ((a & 7) != 0) {
            return WcStatus.REM_INV_REQ_ERR;
        }
        long old = op == Opcode.CMP_SWP ? RawMemory.compareAndExchangeLong(a, work.compares[i], work.swaps[i])
                : RawMemory.getAndAddLong(a, work.compares[i]);
        RawMemory.putLong(scratch, old);
        int s = i * work.maxSge;
        long done = 0;
        for (int k = 0; k < work.sgeCounts[i]; k++) {
            long bytes = work.sgeLengths[s + k];
            Region r = region(work.sgeKeys[s + k], work.sgeAddresses[s + k], bytes, AccessFlags.LOCAL_WRITE);
            if (r == null || !r.copyIn(scratch + done, work.sgeAddresses[s + k], bytes)) {
                return WcStatus.LOC_PROT_ERR;
            }
            done += bytes;
        }
        return WcStatus.SUCCESS;
    }

    private int done(Target t, int status) {
        if (status != Target.OK) {
            vendorError = t.errno();
        }
        return status;
    }

    private boolean checkLocal(int i, int access) {
        int at = i * work.maxSge;
        for (int s = 0; s < work.sgeCounts[i]; s++) {
            if (region(work.sgeKeys[at + s], work.sgeAddresses[at + s], work.sgeLengths[at + s], access) == null) {
                return false;
            }
        }
        return true;
    }

    private @Nullable Region region(int lkey, long at, long bytes, int access) {
        Region r = lastRegion;
        if (r != null && r.key == lkey && r.valid && (r.access & access) == access && r.covers(at, bytes)) {
            return r;
        }
        r = keys.find(lkey, pd, at, bytes, access);
        lastRegion = r;
        return r;
    }

    /** Adds a buffer to a slot's inline data; answers 0 or an errno. */
    int takeInline(int i, int lkey, long address, long length) {
        long total = work.totals[i];
        if (length < 0 || length > work.maxInline - total) {
            return Errno.EINVAL;
        }
        Region r = keys.find(lkey, pd, address, length, 0);
        if (r == null || !r.copyOut(address, work.inlineBuffer(i) + total, length)) {
            return Errno.EINVAL;
        }
        work.totals[i] = total + length;
        return 0;
    }

    /** True if the key names memory of the peer that is reached through the kernel, which has no atomics. */
    boolean isOnlyRegistered(int rkey) {
        Remote r = remote;
        if (r == null) {
            return false;
        }
        long word = RawMemory.getLongAcquire(r.session.peerBase() + AdapterLayout.keyEntry(rkey));
        return KeyTable.isValid(word) && KeyTable.fits(word, rkey) && !KeyTable.isShared(word);
    }

    // ---- waiting and failing

    private @Nullable Remote attach() {
        try {
            Remote r = qp.findRemote();
            if (r != null) {
                lane = qp.makeLane(r);
                target = new Target(r.session, r.pd);
                remote = r;
            }
            return r;
        } catch (ProtocolException e) {
            qp.fatal(e);
        } catch (org.verbena.verbs.VerbsException e) {
            // no memory for the lane: as if the peer did not answer, until the retries are used up
            qp.explain(e.getMessage());
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

    private boolean await(int i, long number, int status) {
        if (qp.state() == QueuePairState.ERR) {
            return flush(i, number);
        }
        if (status == WAIT_FOR_RECEIVE) {
            Remote r = remote;
            if (r == null || patience.mayWaitForReceive(r)) {
                return false;
            }
            return failLocally(i, number, WcStatus.RNR_RETRY_EXC_ERR, "the peer posted no receive");
        }
        return notReady(i, number);
    }

    private boolean notReady(int i, long number) {
        if (qp.state() == QueuePairState.ERR) {
            return flush(i, number);
        }
        if (patience.mayWaitForPeer()) {
            return false;
        }
        return failLocally(i, number, WcStatus.RETRY_EXC_ERR,
                "the peer's queue pair does not answer: it is not connected to this one, or no more");
    }

    private int protocolError() {
        qp.fatal(new ProtocolException("the peer's receive ring makes no sense"));
        return WcStatus.FATAL_ERR;
    }

    private boolean fail(Remote r, int i, long number, int status) {
        String reason = WcStatus.toString(status) + " for wrId " + work.wrIds[i]
                + (vendorError == 0 ? "" : ", " + hint(vendorError));
        complete(i, number, status, vendorError);
        vendorError = 0;
        qp.enterError(reason, -1);
        if (status == WcStatus.REM_ACCESS_ERR) {
            qp.tellPeer(r.session, AsyncEventType.QP_ACCESS_ERR, "the peer's request was refused: " + reason);
        } else if (status == WcStatus.REM_INV_REQ_ERR || status == WcStatus.REM_OP_ERR) {
            qp.tellPeer(r.session, AsyncEventType.QP_REQ_ERR, "the peer's request was refused: " + reason);
        }
        return true;
    }

    private static String hint(int errno) {
        return Errno.describe(errno) + (errno == Errno.EPERM
                ? ": this process may not reach the peer's registered memory (ptrace rights, see docs/shm.md); "
                        + "memory from ProtectionDomain.allocate needs none"
                : "");
    }

    private boolean failLocally(int i, long number, int status, String reason) {
        complete(i, number, status, 0);
        qp.enterError(WcStatus.toString(status) + ": " + reason, -1);
        return true;
    }

    private boolean flush(int i, long number) {
        boolean first = qp.takeUnanswered();
        complete(i, number, first ? WcStatus.RETRY_EXC_ERR : WcStatus.WR_FLUSH_ERR, 0);
        return true;
    }

    private void complete(int i, long number, int status, int vendor) {
        completions.add(work.wrIds[i], Opcode.completion(work.opcodes[i]), status, vendor, work.totals[i], number + 1);
        qp.sendCompletionQueue().signal(status != WcStatus.SUCCESS);
    }

    /** True if the oldest request waits for the peer to post a receive. */
    boolean waitsForReceive() {
        return patience.waitsForReceive();
    }

    /** True if nothing but the peer can end the wait. */
    boolean waitsForEver() {
        return patience.waitsForEver();
    }

    /** Forgets the connection. */
    void reset() {
        remote = null;
        target = null;
        lane = null;
        sent = 0;
        credit = 0;
        lastNotified = 0;
        lastRegion = null;
        vendorError = 0;
        patience.forget();
    }
}
