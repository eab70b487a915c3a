package org.verbena.shm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;

import org.jspecify.annotations.Nullable;
import org.verbena.linux.Errno;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.ReceiveQueue;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/**
 * The receive side: posts into the ring that the peer reads, and turns what the peer committed into the lane into
 * completions. One thread posts, one polls. Receives stay in arrays of this process as well, because nothing is decided
 * by memory that a peer could have meant something else by.
 */
final class ShmReceiveQueue extends ReceiveQueue {
    private static final VarHandle COMPLETED;

    static {
        try {
            COMPLETED = MethodHandles.lookup().findVarHandle(ShmReceiveQueue.class, "completed", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final ShmQueuePair qp;
    private final KeyTable keys;
    private final int pd;
    private final int depth;
    private final int mask;
    private final int maxSge;
    private final long ring;
    private final long stride;
    private final long postedAddress;

    private final long[] wrIds;
    private final int[] sgeCounts;
    private final long[] totals;
    private final long[] addresses;
    private final int[] lengths;
    private final int[] lkeys;

    /** Receives posted; written by the poster only. */
    private long posted;
    /** Receives completed; written by the poller only. */
    private long completed;
    private long shortest = 255;
    private long shortestUntil;

    private boolean open;
    private int error;
    private long staged;

    private volatile @Nullable LaneReader lane;
    /** Address of the peer's directory entry; 0 until connected. */
    private volatile long peerEntry;

    ShmReceiveQueue(ShmQueuePair qp, KeyTable keys, int pd, int depth, int entries, int maxSge, long ring,
            long postedAddress) {
        this.qp = qp;
        this.keys = keys;
        this.pd = pd;
        this.depth = depth;
        this.mask = entries - 1;
        this.maxSge = maxSge;
        this.ring = ring;
        this.stride = AdapterLayout.wqeStride(maxSge);
        this.postedAddress = postedAddress;
        wrIds = new long[entries];
        sgeCounts = new int[entries];
        totals = new long[entries];
        addresses = new long[entries * maxSge];
        lengths = new int[entries * maxSge];
        lkeys = new int[entries * maxSge];
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
        if (!open) {
            error = Errno.EINVAL;
        } else if (staged - (long) COMPLETED.getAcquire(this) >= depth) {
            error = error == 0 ? Errno.ENOMEM : error;
        }
        if (error == 0) {
            int i = (int) staged & mask;
            wrIds[i] = wrId;
            sgeCounts[i] = 0;
            totals[i] = 0;
            staged++;
        }
        return this;
    }

    @Override
    public ReceiveQueue sge(int lkey, long address, long length) {
        if (error != 0) {
            return this;
        }
        if (!open || staged == posted) {
            error = Errno.EINVAL;
            return this;
        }
        int i = (int) (staged - 1) & mask;
        int n = sgeCounts[i];
        if (n == maxSge || length < 0 || length > ShmDevice.MAX_MESSAGE) {
            error = Errno.EINVAL;
            return this;
        }
        int at = i * maxSge + n;
        addresses[at] = address;
        lengths[at] = (int) length;
        lkeys[at] = lkey;
        sgeCounts[i] = n + 1;
        totals[i] += length;
        return this;
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
        if (qp.isClosed() || qp.state() == QueuePairState.RESET) {
            return Errno.EINVAL;
        }
        for (long k = posted; k < staged; k++) {
            publish(k);
        }
        if (staged != posted) {
            posted = staged;
            RawMemory.putLongRelease(postedAddress, Posted.of(posted, shortest));
            long peer = peerEntry;
            if (peer != 0) {
                // the peer sets its word, then issues a membarrier, then looks for receives again
                VarHandle.releaseFence();
                if (RawMemory.getLongOpaque(peer + AdapterLayout.QP_STARVING) != 0) {
                    qp.wakeStarvingPeer();
                }
            }
            if (qp.state() == QueuePairState.ERR) {
                qp.receiveCompletionQueue().signal(true);
            }
        }
        Reference.reachabilityFence(qp);
        return 0;
    }

    private void publish(long index) {
        int i = (int) index & mask;
        long e = ring + i * stride;
        int n = sgeCounts[i];
        long total = totals[i];
        RawMemory.putInt(e, n);
        RawMemory.putLong(e + 8, total);
        for (int s = 0; s < n; s++) {
            long a = e + AdapterLayout.WQE_HEADER + AdapterLayout.WQE_SGE * s;
            RawMemory.putLong(a, addresses[i * maxSge + s]);
            RawMemory.putInt(a + 8, lkeys[i * maxSge + s]);
            RawMemory.putInt(a + 12, lengths[i * maxSge + s]);
        }
        if (total <= shortest) {
            shortest = total;
            shortestUntil = index + 1;
        } else if ((long) COMPLETED.getAcquire(this) >= shortestUntil) {
            findShortest(index);
        }
    }

    /** The shortest receive has been used: finds the next one among those outstanding up to {@code last}. */
    private void findShortest(long last) {
        shortest = 255;
        for (long k = (long) COMPLETED.getAcquire(this); k <= last; k++) {
            long total = totals[(int) k & mask];
            if (total <= shortest) {
                shortest = total;
                shortestUntil = k + 1;
            }
        }
    }

    /** Starts to look for the peer's lane. */
    void connect(long peerDirectoryEntry) {
        peerEntry = peerDirectoryEntry;
    }

    /** Forgets everything; nobody posts or polls meanwhile. */
    void reset() {
        peerEntry = 0;
        lane = null;
        posted = 0;
        completed = 0;
        shortest = 255;
        shortestUntil = 0;
        open = false;
        RawMemory.putLongRelease(postedAddress, Posted.of(0, 255));
    }

    /** Moves the oldest completion into the cursor of {@code cq}; answers false if there is none. */
    boolean poll(ShmCompletionQueue cq) {
        LaneReader l = lane;
        if (l == null && peerEntry != 0) {
            l = attach();
        }
        if (l != null && l.read(completed) && take(cq, l)) {
            return true;
        }
        return qp.state() == QueuePairState.ERR && flush(cq, l);
    }

    private @Nullable LaneReader attach() {
        try {
            LaneReader l = qp.findLane(mask + 1);
            lane = l;
            return l;
        } catch (ProtocolException e) {
            qp.fatal(e);
            return null;
        }
    }

    /** True if a completion waits; for arming, not for the data path. */
    boolean hasCompletion() {
        LaneReader l = lane;
        if (l == null && peerEntry != 0) {
            l = attach();
        }
        return l != null && l.read(completed)
                || qp.state() == QueuePairState.ERR && completed < Posted.count(RawMemory.getLongAcquire(postedAddress)) && qp.peerHasLeft();
    }

    /** Completes a receive with the lane's current entry; answers false if the peer had no right to it. */
    private boolean take(ShmCompletionQueue cq, LaneReader l) {
        int i = (int) completed & mask;
        int status = l.status();
        int flags = l.flags();
        int opcode = l.opcode() == WcOpcode.RECV_RDMA_WITH_IMM ? WcOpcode.RECV_RDMA_WITH_IMM : WcOpcode.RECV;
        long length = l.length();
        if (completed >= Posted.count(RawMemory.getLongAcquire(postedAddress)) || (flags & ~LaneLayout.KNOWN_FLAGS) != 0) {
            qp.fatal(new ProtocolException("the peer completed a receive that was not posted"));
            return false;
        }
        if (status == WcStatus.SUCCESS && opcode == WcOpcode.RECV) {
            if (length > totals[i]) {
                status = WcStatus.LOC_LEN_ERR;
            } else if ((flags & LaneLayout.IS_INLINE) != 0) {
                status = length > LaneLayout.INLINE ? WcStatus.LOC_LEN_ERR : scatter(l, i, (int) length);
            }
        }
        if (status != WcStatus.SUCCESS) {
            qp.receiveFailed(status);
        }
        cq.set(wrIds[i], status, opcode, 0, length, l.immediate(),
                (flags & LaneLayout.HAS_IMMEDIATE) != 0 ? WcFlags.WITH_IMM : 0, qp.number(), qp.peerNumber(),
                (flags & LaneLayout.HAS_TIMESTAMP) != 0 ? l.timestamp() : 0);
        COMPLETED.setRelease(this, completed + 1);
        return true;
    }

    private int scatter(LaneReader l, int i, int length) {
        int done = 0;
        for (int s = 0; done < length; s++) {
            int at = i * maxSge + s;
            int n = (int) Math.min(length - done, lengths[at] & 0xffffffffL);
            Region r = keys.find(lkeys[at], pd, addresses[at], n, AccessFlags.LOCAL_WRITE);
            if (r == null) {
                return WcStatus.LOC_PROT_ERR;
            }
            if (r.isRaw()) {
                l.payload(done, addresses[at], n);
                Reference.reachabilityFence(r);
            } else {
                long scratch = qp.receiveScratch();
                l.payload(done, scratch, n);
                if (!r.copyIn(scratch, addresses[at], n)) {
                    return WcStatus.LOC_PROT_ERR;
                }
            }
            done += n;
        }
        return WcStatus.SUCCESS;
    }

    /** In state ERR: what is posted and not completed is flushed, once the peer has left this queue pair. */
    private boolean flush(ShmCompletionQueue cq, @Nullable LaneReader l) {
        if (completed >= Posted.count(RawMemory.getLongAcquire(postedAddress)) || !qp.peerHasLeft()) {
            return false;
        }
        if (l != null && l.read(completed) && take(cq, l)) {
            return true;
        }
        cq.set(wrIds[(int) completed & mask], WcStatus.WR_FLUSH_ERR, WcOpcode.RECV, 0, 0, 0, 0, qp.number(),
                qp.peerNumber(), 0);
        COMPLETED.setRelease(this, completed + 1);
        return true;
    }
}
