// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.completion.CompletionCursor;
import org.verbena.shm.counts.ReceiveCounts;
import org.verbena.shm.datagram.DatagramReceiver;
import org.verbena.shm.datagram.DatagramSink;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.Copy;
import org.verbena.shm.layout.LaneLayout;
import org.verbena.shm.layout.Posted;
import org.verbena.shm.layout.ProtocolException;
import org.verbena.shm.layout.ShmLimits;
import org.verbena.shm.layout.Wqe;
import org.verbena.shm.memory.Delivery;
import org.verbena.shm.memory.KeyTable;
import org.verbena.shm.memory.PostedReceive;
import org.verbena.shm.memory.Region;
import org.verbena.shm.memory.WindowWork;
import org.verbena.shm.ring.LaneReader;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.ReceiveQueue;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.KeepAlive;

/**
 * The receive side: posts into the ring that the peer reads, and turns entries that the peer committed into the lane into
 * completions. One thread posts, one polls. Only this process writes the ring, so the poller reads posted receives from it
 * too.
 */
final class ShmReceiveQueue extends ReceiveSide implements DatagramSink {
    private static final VarHandle COMPLETED;

    static {
        try {
            COMPLETED = MethodHandles.lookup().findVarHandle(ShmReceiveQueue.class, "completed", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final QueuePairBase qp;
    private final ReceiveCounts counts;
    private final KeyTable keys;
    private final int pd;
    private final int depth;
    private final int mask;
    private final int maxSge;
    private final long ring;
    private final long stride;
    private final long postedAddress;

    private final PostedReceive[] receives;
    /** The poster's, and the poller's. */
    private final Delivery posting;
    private final Delivery delivery;

    /** Receives posted; written by the poster only. */
    private long posted;
    /** Receives completed; written by the poller only. */
    private long completed;
    /** Receives posted, as the poller last read it; read again when used up. */
    private long known;
    private long shortest = 255;
    private long shortestUntil;
    /** The last message lay in the second line of its entry; as a rule the next one does too, and that line is prefetched. */
    private boolean secondLines;
    /** The prefetched value: the compiler drops a read whose value is not used. */
    @SuppressWarnings("unused") private long secondLine;

    private boolean open;
    private int error;
    private long staged;
    /** Entries up to this one are free; read again when used up. */
    private long room;
    /** Address, number of elements and total length of the entry that is being staged. */
    private long current;
    private int sgeCount;
    private long total;

    private volatile @Nullable LaneReader lane;
    /** Address of the peer's directory entry; 0 until connected. */
    private volatile long peerEntry;

    ShmReceiveQueue(QueuePairBase qp, KeyTable keys, int pd, int depth, int entries, int maxSge, long ring,
            long postedAddress, long scratch) {
        this.qp = qp;
        this.counts = qp.receiveCounts();
        this.keys = keys;
        this.pd = pd;
        this.depth = depth;
        this.mask = entries - 1;
        this.maxSge = maxSge;
        this.ring = ring;
        this.stride = AdapterLayout.wqeStride(maxSge);
        this.postedAddress = postedAddress;
        posting = new Delivery(keys, pd, scratch);
        delivery = new Delivery(keys, pd, scratch);
        receives = new PostedReceive[entries];
        for (int i = 0; i < entries; i++) {
            receives[i] = new PostedReceive();
        }
    }

    @Override
    public ReceiveQueue start() {
        open = true;
        error = 0;
        staged = posted;
        return this;
    }

    @Override
    public ReceiveQueue receive(long wrId) {
        long k = staged;
        if (k > posted) {
            finish();
        }
        if (error == 0 && open && (k < room || hasRoom(k))) {
            int i = (int) k & mask;
            receives[i].set(wrId, null, 0, 0);
            current = ring + i * stride;
            sgeCount = 0;
            total = 0;
            staged = k + 1;
        } else if (!open) {
            error = Errno.EINVAL;
        }
        return this;
    }

    private boolean hasRoom(long k) {
        room = (long) COMPLETED.getAcquire(this) + depth;
        if (k >= room) {
            error = Errno.ENOMEM;
        }
        return k < room;
    }

    @Override
    public ReceiveQueue sge(int lkey, long address, long length) {
        int n = sgeCount;
        if (error != 0) {
            return this;
        }
        if (!open || staged == posted || n == maxSge || !Wqe.isLength(length)) {
            error = Errno.EINVAL;
            return this;
        }
        Wqe.putElement(current, n, lkey, address, length);
        sgeCount = n + 1;
        total += length;
        return this;
    }

    @Override
    public int post(long wrId, MemoryRegion region, long offset, long length) {
        long k = posted;
        if (!(region instanceof ShmMemoryRegion m) || k >= room && !hasRoom(k) || maxSge == 0 || qp
                .state() == QueuePairState.RESET
                || qp.state() == QueuePairState.ERR) {
            return super.post(wrId, region, offset, length);
        }
        Region r = m.region();
        if (!r.isRaw() || !r.valid || r.table != keys || r.pd != pd || (r.access & AccessFlags.LOCAL_WRITE) == 0
                || length < 0
                || offset < 0
                || length > ShmLimits.MAX_MESSAGE || offset > r.length - length) {
            return super.post(wrId, region, offset, length);
        }
        int i = (int) k & mask;
        receives[i].set(wrId, r, r.address + offset, length);
        long e = ring + i * stride;
        RawMemory.putLong(e, 0, 1);
        RawMemory.putLong(e, AdapterLayout.WQE_LENGTH, length);
        RawMemory.putLong(e, AdapterLayout.WQE_HEADER, r.iova + offset);
        RawMemory.putLong(e, AdapterLayout.WQE_HEADER + 8, r.key & 0xffffffffL | length << 32);
        open = false;
        staged = k + 1;
        total = length;
        noteLength();
        publish();
        return 0;
    }

    @Override
    public int complete() {
        if (!open) {
            return Errno.EINVAL;
        }
        open = false;
        if (error != 0) {
            return error;
        }
        QueuePairState s = qp.state();
        if (s == QueuePairState.RESET || qp.isClosed()) {
            return Errno.EINVAL;
        }
        if (staged != posted) {
            finish();
            publish();
        }
        return 0;
    }

    /** Publishes the staged receives to the peer. */
    private void publish() {
        posted = staged;
        RawMemory.putLongRelease(postedAddress, Posted.of(posted, shortest));
        long peer = peerEntry;
        if (peer != 0) {
            // the peer sets its word, passes a full barrier, then reads the count of receives again
            VarHandle.fullFence();
            if (RawMemory.getLongOpaque(peer + AdapterLayout.QP_STARVING) != 0) {
                qp.peer().wakeStarving();
            }
        }
        if (qp.state() == QueuePairState.ERR) {
            qp.wakePollers(); // it is flushed
        }
        KeepAlive.until(qp);
    }

    /** Completes the entry that was staged last. */
    private void finish() {
        if (error != 0) {
            return;
        }
        RawMemory.putLong(current, sgeCount);
        RawMemory.putLong(current + 8, total);
        for (int i = 0; i < sgeCount; i++) {
            long address = Wqe.address(current, i);
            long keyAndLength = Wqe.keyAndLength(current, i);
            Region r = posting.region((int) keyAndLength, address, keyAndLength >>> 32);
            if (r == null) {
                // the peer has to read this receive, so that it reports the error too
                total = 0;
            } else if (sgeCount == 1 && r.isRaw()) {
                receives[(int) (staged - 1) & mask].setBuffer(r, r.local(address), keyAndLength >>> 32);
            }
        }
        noteLength();
    }

    private void noteLength() {
        if (total <= shortest) {
            shortest = total;
            shortestUntil = staged;
        } else if ((long) COMPLETED.getAcquire(this) >= shortestUntil) {
            findShortest();
        }
    }

    /** The shortest receive has been used: finds the next one among those outstanding. */
    private void findShortest() {
        shortest = 255;
        for (long k = (long) COMPLETED.getAcquire(this); k < staged; k++) {
            long t = RawMemory.getLong(ring + ((int) k & mask) * stride + 8);
            if (t <= shortest) {
                shortest = t;
                shortestUntil = k + 1;
            }
        }
        shortestUntil = Math.max(shortestUntil, staged);
    }

    @Override
    void connect(long peerDirectoryEntry) {
        peerEntry = peerDirectoryEntry;
    }

    @Override
    void reset() {
        peerEntry = 0;
        lane = null;
        posted = 0;
        completed = 0;
        known = 0;
        shortest = 255;
        shortestUntil = 0;
        room = 0;
        posting.reset();
        delivery.reset();
        for (PostedReceive p : receives) {
            p.set(0, null, 0, 0);
        }
        open = false;
        RawMemory.putLongRelease(postedAddress, Posted.of(0, 255));
    }

    @Override
    long completions() {
        return (long) COMPLETED.getAcquire(this);
    }

    /** In state ERR all that are posted, for they are flushed. */
    @Override
    long completionsWaiting() {
        long done = completions();
        long outstanding = Math.max(0, Posted.count(RawMemory.getLongAcquire(postedAddress)) - done);
        if (qp.state() == QueuePairState.ERR) {
            return outstanding;
        }
        DatagramReceiver d = qp.datagramReceiver();
        if (d != null) {
            return d.waiting((int) Math.min(outstanding, depth));
        }
        LaneReader l = lane;
        if (l == null && peerEntry != 0) {
            l = qp.peer().peekLane(mask + 1);
        }
        return l == null ? 0 : l.waiting(done, mask + 1);
    }

    @Override
    boolean poll(CompletionCursor cq) {
        LaneReader l = lane;
        if (l != null) {
            if (takeNext(cq, l)) {
                return true;
            }
        } else if (peerEntry != 0 && attach() != null) {
            return poll(cq);
        } else {
            DatagramReceiver d = qp.datagramReceiver();
            if (d != null && d.poll(this)) {
                return true;
            }
        }
        return qp.state() == QueuePairState.ERR && flush(cq);
    }

    private @Nullable LaneReader attach() {
        try {
            LaneReader l = qp.peer().findLane(mask + 1);
            lane = l;
            return l;
        } catch (ProtocolException e) {
            qp.fatal(e);
            return null;
        }
    }

    /** Completes the oldest receive if the peer has committed its entry. */
    private boolean takeNext(CompletionCursor cq, LaneReader l) {
        long k = completed;
        long entry = l.entry(k);
        if (secondLines) {
            secondLine = LaneReader.secondLine(entry);
        }
        long commit = LaneReader.commit(entry);
        return LaneLayout.isOf(commit, k) && take(cq, entry, commit, k);
    }

    /** Completes receive {@code k} with its lane entry; false if the peer had no right to it. */
    private boolean take(CompletionCursor cq, long entry, long commit, long k) {
        if (k >= known && !isPosted(k)) {
            qp.fatal(new ProtocolException("the peer completed a receive that was not posted"));
            return false;
        }
        // only now: the poster writes it before it posts
        PostedReceive p = receives[(int) k & mask];
        Region r = p.region;
        int length = LaneLayout.inlineLength(commit);
        if (LaneLayout.isPlainInline(commit) && r != null && r.valid && length <= LaneLayout.INLINE
                && length <= p.length) {
            // the common message; takeOther would do the same, more slowly
            secondLines = length > LaneLayout.FIRST_LINE;
            Copy.small(LaneReader.payload(entry, commit), p.address, length);
            cq.set(qp.number(), qp.peerNumber(), p.wrId, commit, length);
            counts.received(length);
            qp.answers = true;
            COMPLETED.setRelease(this, k + 1);
            return true;
        }
        return takeOther(cq, entry, commit, k);
    }

    private boolean takeOther(CompletionCursor cq, long entry, long commit, long k) {
        int i = (int) k & mask;
        long length = LaneReader.length(entry, commit);
        int flags = LaneLayout.flags(commit);
        if ((flags & ~LaneLayout.KNOWN_FLAGS) != 0) {
            qp.fatal(new ProtocolException("the peer completed a receive with unknown flags"));
            return false;
        }
        int status = delivery.complete(entry, commit, length, ring + i * stride, receives[i]);
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
        cq.set(qp.number(), qp.peerNumber(), receives[i].wrId, LaneLayout.commit(k, Delivery.opcode(commit), status,
                flags), length);
        cq.setMore(LaneReader.immediate(entry), LaneReader.timestamp(entry, commit), 0);
        counts.completed(cq);
        qp.answers = true;
        COMPLETED.setRelease(this, k + 1);
        return true;
    }

    private boolean isPosted(long k) {
        known = Posted.count(RawMemory.getLongAcquire(postedAddress));
        return k < known;
    }

    @Override
    public boolean takeDatagram(long data, int length, int immediate, int flags, long timestamp, long limit,
            int source) {
        long k = completed;
        if (k >= limit || k >= known && !isPosted(k)) {
            return false;
        }
        int i = (int) k & mask;
        long wqe = ring + i * stride;
        if (length > room(wqe)) {
            return false;
        }
        int status = delivery.scatterDatagram(data, wqe + AdapterLayout.WQE_HEADER, length);
        if (status != WcStatus.SUCCESS) {
            qp.receiveFailed(status);
        }
        CompletionCursor cq = qp.receiveCursor();
        int shown = cq.hasTimestamps() ? flags : flags & ~LaneLayout.HAS_TIMESTAMP;
        cq.set(qp.number(), qp.peerNumber(), receives[i].wrId, LaneLayout.commit(k, WcOpcode.RECV, status, shown),
                length);
        cq.setSource(source);
        cq.setMore(immediate, timestamp, 0);
        counts.completed(cq);
        COMPLETED.setRelease(this, k + 1);
        return true;
    }

    /** Bytes of all elements of a receive, allowed or not. */
    private static long room(long wqe) {
        long sum = 0;
        long a = wqe + AdapterLayout.WQE_HEADER;
        for (int n = RawMemory.getInt(wqe); n > 0; n--, a += AdapterLayout.WQE_SGE) {
            sum += RawMemory.getInt(a + 12) & 0xffffffffL;
        }
        return sum;
    }

    /** In state ERR: outstanding receives are flushed, once the peer has left this queue pair. */
    private boolean flush(CompletionCursor cq) {
        if (!isPosted(completed) || !qp.peerHasLeft()) {
            return false;
        }
        // only now: nothing is committed any more, and a lane may have appeared since the first check
        LaneReader l = lane;
        if (l == null && peerEntry != 0) {
            l = attach();
        }
        if (l != null && takeNext(cq, l)) {
            return true;
        }
        cq.set(qp.number(), qp.peerNumber(), receives[(int) completed & mask].wrId,
                LaneLayout.commit(completed, WcOpcode.RECV, WcStatus.WR_FLUSH_ERR, 0), 0);
        cq.setMore(0, 0, 0);
        counts.completed(cq);
        COMPLETED.setRelease(this, completed + 1);
        return true;
    }
}
