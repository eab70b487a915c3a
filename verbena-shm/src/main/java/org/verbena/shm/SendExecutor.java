package org.verbena.shm;

import java.lang.invoke.VarHandle;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;
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
    /** Messages up to this length travel inside the lane entry. */
    private int inline;
    private long lastNotified;
    private @Nullable Region lastRegion;
    private @Nullable Region usual;

    /** Why this end could not be attached to the other when it was tried last. */
    private @Nullable VerbsException obstacle;
    private int vendorError;
    private int peerStatus;

    SendExecutor(ShmQueuePair qp, SendCompletions completions, KeyTable keys, int pd, boolean signalAll,
            long hazard, long scratch) {
        this.qp = qp;
        this.completions = completions;
        this.keys = keys;
        this.pd = pd;
        this.signalAll = signalAll;
        this.hazard = hazard;
        this.scratch = scratch;
        this.patience = new Patience(qp);
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
                op == Opcode.SEND || op == Opcode.SEND_IMM ? Hazard.RECEIVES : Hazard.region(w.rkey));
        long link = RawMemory.getLongAcquire(r.entry + AdapterLayout.QP_LINK);
        if ((link & Link.IDENTITY) != r.link) {
            Hazard.leave(hazard);
            return notReady(w, number, false);
        }
        int status = run(r, w, op, link);
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

    private int run(Remote r, WorkRequest w, int op, long link) {
        if (w.total > ShmDevice.MAX_MESSAGE) {
            return WcStatus.LOC_LEN_ERR;
        }
        return switch (op) {
            case Opcode.SEND, Opcode.SEND_IMM -> send(r, w, op);
            case Opcode.WRITE -> write(w, link);
            case Opcode.WRITE_IMM -> writeImmediate(r, w, link);
            case Opcode.READ -> read(w, link);
            default -> atomic(w, op, link);
        };
    }

    // ---- the short way for requests of one buffer

    /**
     * Executes a send that travels inside the lane entry.
     *
     * @return false if anything is not as usual: nothing was done then, and the long way finds out why
     */
    boolean sendNow(Region from, long offset, long length, int flags, long wrId, long number) {
        Remote r = remote;
        LaneWriter l = lane;
        if (r == null || l == null || !isUsual(from, offset, length)) {
            return false;
        }
        Hazard.enter(hazard, ++sequence, Hazard.RECEIVES);
        if ((RawMemory.getLongAcquire(r.entry + AdapterLayout.QP_LINK) & Link.IDENTITY) != r.link
                || sent >= credit && !refreshCredit(r) || length > inline) {
            Hazard.leave(hazard);
            return false;
        }
        boolean solicited = (flags & SendFlags.SOLICITED) != 0;
        l.putInline(sent++, from.address + offset, (int) length, 0, WcOpcode.RECV, solicited
                ? LaneLayout.IS_SOLICITED
                : 0);
        notify(r, solicited);
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
        if (r == null || t == null || !isUsual(from, offset, length) || length > ShmDevice.MAX_MESSAGE) {
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

    private int send(Remote r, WorkRequest w, int op) {
        if (sent >= credit && !refreshCredit(r)) {
            return WAIT_FOR_RECEIVE;
        }
        long total = w.total;
        int immediate = w.immediate;
        int flags = (op == Opcode.SEND_IMM ? LaneLayout.HAS_IMMEDIATE : 0)
                | (w.isSolicited() ? LaneLayout.IS_SOLICITED : 0);
        if (total > inline) {
            return sendLong(r, w, total, immediate, flags);
        }
        long payload = gather(w, total);
        if (payload < 0) {
            return WcStatus.LOC_PROT_ERR;
        }
        lane().putInline(sent++, payload, (int) total, immediate, WcOpcode.RECV, flags);
        notify(r, (flags & LaneLayout.IS_SOLICITED) != 0);
        return WcStatus.SUCCESS;
    }

    /** A message that does not travel inside the lane entry, or needs a look at the receive. */
    private int sendLong(Remote r, WorkRequest w, long total, int immediate, int flags) {
        peerStatus = WcStatus.SUCCESS;
        int status = sendToReceive(r, w, total);
        if (status != WcStatus.SUCCESS && peerStatus == WcStatus.SUCCESS) {
            return status;
        }
        lane().put(sent++, total, immediate, WcOpcode.RECV, peerStatus, flags);
        notify(r, status != WcStatus.SUCCESS || (flags & LaneLayout.IS_SOLICITED) != 0);
        return status;
    }

    /** Where the message's bytes lie in one piece, or -1 if a buffer is not allowed. */
    private long gather(WorkRequest w, long total) {
        if (w.isInline()) {
            return w.inlineBuffer;
        }
        int n = w.sgeCount;
        if (n == 1) {
            Region r = region(w.lkey(0), w.address(0), total, 0);
            if (r != null && r.isRaw()) {
                return w.address(0);
            }
        }
        long done = 0;
        for (int s = 0; s < n; s++) {
            long bytes = w.length(s);
            Region r = region(w.lkey(s), w.address(s), bytes, 0);
            if (r == null || !r.copyOut(w.address(s), scratch + done, bytes)) {
                return -1;
            }
            done += bytes;
        }
        return scratch;
    }

    /** Copies a message into the peer's oldest receive; sets {@link #peerStatus} if the peer gets an error of it. */
    private int sendToReceive(Remote r, WorkRequest w, long total) {
        long wqe = r.wqe(sent);
        int pieces = RawMemory.getInt(wqe);
        if (pieces < 0 || pieces > r.maxSge) {
            return protocolError();
        }
        if (!checkLocal(w, 0)) {
            return WcStatus.LOC_PROT_ERR;
        }
        Target t = target();
        int source = 0;
        long sourceDone = 0;
        long left = total;
        boolean inline = w.isInline();
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
                    status = t.writeRaw(w.inlineBuffer + (total - left), to, bytes);
                } else {
                    long rest = w.length(source) - sourceDone;
                    bytes = Math.min(rest, room);
                    long from = w.address(source) + sourceDone;
                    Region local = region(w.lkey(source), from, bytes, 0);
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
        inline = Math.min(Posted.shortest(word), LaneLayout.INLINE);
        return count > sent;
    }

    /** Tells the peer of what was just committed, if its completion queue wants to be told. */
    private void notify(Remote r, boolean solicited) {
        // no instruction on x86: the peer arms, issues a membarrier, then looks into the lane
        VarHandle.releaseFence();
        long word = RawMemory.getLongOpaque(r.armWord);
        if (!ArmWord.isQuiet(word)) {
            react(r, word, solicited);
        }
    }

    private void react(Remote r, long word, boolean solicited) {
        if ((word & ArmWord.MANY) != 0) {
            ReadySet.raise(r.hint);
        }
        if (ArmWord.isArmed(word, solicited) && word != lastNotified) {
            lastNotified = word;
            qp.notifyPeer(r, word);
        }
    }

    // ---- write, read, atomics

    private int write(WorkRequest w, long link) {
        long total = w.total;
        Target t = target();
        if (total > 0) {
            if ((Link.access(link) & AccessFlags.REMOTE_WRITE) == 0) {
                return WcStatus.REM_INV_REQ_ERR;
            }
            int status = t.resolve(w.rkey, w.remoteAddress, total, AccessFlags.REMOTE_WRITE);
            if (status != Target.OK) {
                return checkLocal(w, 0) ? status : WcStatus.LOC_PROT_ERR;
            }
        }
        long to = w.remoteAddress;
        if (w.isInline()) {
            return total == 0 ? WcStatus.SUCCESS : done(t, t.writeRaw(w.inlineBuffer, to, total));
        }
        int n = w.sgeCount;
        if (n > 1 && !checkLocal(w, 0)) {
            return WcStatus.LOC_PROT_ERR;
        }
        for (int s = 0; s < n; s++) {
            long bytes = w.length(s);
            Region r = region(w.lkey(s), w.address(s), bytes, 0);
            if (r == null) {
                return WcStatus.LOC_PROT_ERR;
            }
            VarHandle.releaseFence(); // the last byte is to be seen last
            int status = bytes == 0 ? Target.OK : t.write(r, w.address(s), to, bytes);
            if (status != Target.OK) {
                return done(t, status);
            }
            to += bytes;
        }
        return WcStatus.SUCCESS;
    }

    private int writeImmediate(Remote r, WorkRequest w, long link) {
        if (sent >= credit && !refreshCredit(r)) {
            return WAIT_FOR_RECEIVE;
        }
        int status = write(w, link);
        if (status != WcStatus.SUCCESS) {
            return status;
        }
        boolean solicited = w.isSolicited();
        lane().put(sent++, w.total, w.immediate, WcOpcode.RECV_RDMA_WITH_IMM, WcStatus.SUCCESS,
                LaneLayout.HAS_IMMEDIATE | (solicited ? LaneLayout.IS_SOLICITED : 0));
        notify(r, solicited);
        return WcStatus.SUCCESS;
    }

    private int read(WorkRequest w, long link) {
        long total = w.total;
        Target t = target();
        if (total > 0) {
            if ((Link.access(link) & AccessFlags.REMOTE_READ) == 0) {
                return WcStatus.REM_INV_REQ_ERR;
            }
            int status = t.resolve(w.rkey, w.remoteAddress, total, AccessFlags.REMOTE_READ);
            if (status != Target.OK) {
                return checkLocal(w, AccessFlags.LOCAL_WRITE) ? status : WcStatus.LOC_PROT_ERR;
            }
        }
        if (!checkLocal(w, AccessFlags.LOCAL_WRITE)) {
            return WcStatus.LOC_PROT_ERR;
        }
        long from = w.remoteAddress;
        for (int s = 0; s < w.sgeCount; s++) {
            long bytes = w.length(s);
            Region r = region(w.lkey(s), w.address(s), bytes, AccessFlags.LOCAL_WRITE);
            int status = r == null
                    ? WcStatus.LOC_PROT_ERR
                    : bytes == 0 ? Target.OK : t.read(r, w.address(s), from, bytes);
            if (status != Target.OK) {
                return done(t, status);
            }
            from += bytes;
        }
        return WcStatus.SUCCESS;
    }

    private int atomic(WorkRequest w, int op, long link) {
        long at = w.remoteAddress;
        if ((at & 7) != 0 || (Link.access(link) & AccessFlags.REMOTE_ATOMIC) == 0) {
            return WcStatus.REM_INV_REQ_ERR;
        }
        if (w.total != 8 || !checkLocal(w, AccessFlags.LOCAL_WRITE)) {
            return w.total != 8 ? WcStatus.LOC_LEN_ERR : WcStatus.LOC_PROT_ERR;
        }
        Target t = target();
        int status = t.resolve(w.rkey, at, 8, AccessFlags.REMOTE_ATOMIC);
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
        long old = op == Opcode.CMP_SWP
                ? RawMemory.compareAndExchangeLong(a, w.compare, w.swap)
                : RawMemory.getAndAddLong(a, w.compare);
        RawMemory.putLong(scratch, old);
        long done = 0;
        for (int k = 0; k < w.sgeCount; k++) {
            long bytes = w.length(k);
            Region r = region(w.lkey(k), w.address(k), bytes, AccessFlags.LOCAL_WRITE);
            if (r == null || !r.copyIn(scratch + done, w.address(k), bytes)) {
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

    private boolean checkLocal(WorkRequest w, int access) {
        for (int s = 0; s < w.sgeCount; s++) {
            if (region(w.lkey(s), w.address(s), w.length(s), access) == null) {
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
                qp.reachBell(r);
                lane = qp.makeLane(r);
                target = new Target(r.session, r.pd);
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
        if (status == WAIT_FOR_RECEIVE) {
            Remote r = remote;
            if (r == null || patience.mayWaitForReceive(r)) {
                return false;
            }
            return failLocally(w, number, WcStatus.RNR_RETRY_EXC_ERR, "the peer posted no receive", 0);
        }
        return notReady(w, number, true);
    }

    private boolean notReady(WorkRequest w, long number, boolean memory) {
        if (qp.state() == QueuePairState.ERR) {
            return flush(w, number);
        }
        if (patience.mayWaitForPeer()) {
            return false;
        }
        String reason = "the peer's queue pair does not answer: it is not connected to this one, or no more";
        int errno = 0;
        VerbsException e = obstacle;
        if (memory) {
            errno = target().missing();
            reason = errno == 0
                    ? "memory of the peer has not arrived here yet"
                    : "memory of the peer could not be mapped here, " + hint(errno);
        } else if (remote == null && e != null) {
            reason = String.valueOf(e.getMessage());
            errno = e.errno();
        }
        return failLocally(w, number, WcStatus.RETRY_EXC_ERR, reason, errno);
    }

    private int protocolError() {
        qp.fatal(new ProtocolException("the peer's receive ring makes no sense"));
        return WcStatus.FATAL_ERR;
    }

    private boolean fail(Remote r, WorkRequest w, long number, int status) {
        String reason = WcStatus.toString(status) + " for wrId " + w.wrId
                + (vendorError == 0 ? "" : ", " + hint(vendorError));
        qp.enterError(reason, -1); // first: who sees the completion finds the state that goes with it
        complete(w, number, status, vendorError);
        vendorError = 0;
        if (status == WcStatus.REM_ACCESS_ERR) {
            qp.tellPeer(r, AsyncEventType.QP_ACCESS_ERR, "the peer's request was refused: " + reason);
        } else if (status == WcStatus.REM_INV_REQ_ERR || status == WcStatus.REM_OP_ERR) {
            qp.tellPeer(r, AsyncEventType.QP_REQ_ERR, "the peer's request was refused: " + reason);
        }
        return true;
    }

    private static String hint(int errno) {
        return Errno.describe(errno) + switch (errno) {
            case Errno.EPERM ->
                ": this process may not reach the peer's registered memory (ptrace rights, see docs/shm.md); "
                        + "memory from ProtectionDomain.allocate needs none";
            case Errno.EMFILE -> ": this process is out of descriptors (ulimit -n)";
            case Errno.ENOMEM -> ": too many mappings or too little address space (vm.max_map_count, ulimit -v)";
            default -> "";
        };
    }

    private boolean failLocally(WorkRequest w, long number, int status, String reason, int errno) {
        qp.enterError(WcStatus.toString(status) + ": " + reason, -1);
        complete(w, number, status, errno);
        return true;
    }

    private boolean flush(WorkRequest w, long number) {
        boolean first = qp.takeUnanswered();
        complete(w, number, first ? WcStatus.RETRY_EXC_ERR : WcStatus.WR_FLUSH_ERR, 0);
        return true;
    }

    private void complete(WorkRequest w, long number, int status, int vendor) {
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

    /** Forgets the connection. */
    void reset() {
        remote = null;
        target = null;
        lane = null;
        sent = 0;
        credit = 0;
        lastNotified = 0;
        lastRegion = null;
        usual = null;
        obstacle = null;
        vendorError = 0;
        patience.forget();
    }
}
