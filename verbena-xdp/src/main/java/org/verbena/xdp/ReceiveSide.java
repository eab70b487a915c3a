// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;
import org.verbena.xdp.packet.Checksums;

/**
 * The receive side of a queue pair, or a work queue: chunks go to the {@link FrameReceiver} when they are posted, and come back with a
 * frame, or a part of one. Which request a chunk belongs to is in a table, for they may come back in another order. All
 * under the side's lock.
 */
final class ReceiveSide implements Source {
    static final String GONE = "the interface is gone";
    private static final int SHIFT = Integer.numberOfTrailingZeros(XdpLimits.CHUNK);
    /** Batches that are taken at once, if frames come as fast as they are taken. */
    private static final int MAX_ROUNDS = 1 << 12;

    /** A completion that waits: in a queue pair that has failed, or of a frame that came before flows changed. */
    private record Waiting(long wrId, int status, int flags, int bytes) {}

    private final Receiving owner;
    private final XdpCompletionQueue cq;
    /** Of a queue pair, or a work queue, whose points have the same cells. */
    private final CounterEntry counters;
    private final int number;
    private final int capacity;
    private final boolean partial;
    private final boolean holds;
    private final SideLock lock = new SideLock();
    private final Checksums checksums = new Checksums();
    /** Chunks that were posted before there is a socket. */
    private final int[] early;
    private int earlyCount;
    /** What is received into: the region of the first receive, or the domain's first when the socket was opened. */
    private @Nullable XdpMemoryRegion region;
    private MemorySegment memory = MemorySegment.NULL;
    /** By chunk: the request, and its number among all, or -1 for a chunk that is not posted. */
    private long[] wrIds = {};
    private long[] sequence = {};
    /** Null without a wire. */
    private volatile @Nullable FrameReceiver receiver;
    private boolean failed;
    private long posted;
    private long received;
    /** What was taken to see whether it belongs to a flow, and then what waits for other reasons. */
    private final CompletionBatch found = new CompletionBatch();
    private final Deque<Waiting> waiting = new ArrayDeque<>();
    private volatile int generation;
    private volatile boolean hasWaiting;
    private int checked;

    /**
     * Nothing is posted.
     *
     * @param holds whether the region is that of the first receive, which it holds itself, at any time
     */
    ReceiveSide(Receiving owner, XdpCompletionQueue cq, CounterEntry counters, int number, int capacity,
            boolean partial, boolean holds) {
        this.owner = owner;
        this.cq = cq;
        this.counters = counters;
        this.number = number;
        this.capacity = capacity;
        this.partial = partial;
        this.holds = holds;
        early = new int[capacity];
    }

    // ---- posting

    /**
     * Posts receives.
     *
     * @param regions of each
     * @param offsets of each in its region
     * @return 0, {@code EINVAL} or {@code ENOMEM}: nothing was posted then
     */
    int post(long[] ids, XdpMemoryRegion[] regions, long[] offsets, int n) {
        lock.lock();
        try {
            if (failed) {
                for (int i = 0; i < n; i++) {
                    waiting.add(new Waiting(ids[i], WcStatus.WR_FLUSH_ERR, 0, 0));
                }
                hasWaiting = true;
                XdpCounted.add(counters, SamplePoint.QP_RESP_FLUSHED, n);
                return 0;
            }
            if (owner.refusesReceives()) { // since it was looked at without the lock
                return Errno.EINVAL;
            }
            if (posted - received + n > capacity) {
                return Errno.ENOMEM;
            }
            FrameReceiver r = receiver;
            boolean first = region == null && (r == null || holds);
            if (first && !use(regions[0])) {
                return Errno.EINVAL;
            }
            int refused = stage(ids, regions, offsets, n);
            if (refused != 0) {
                if (first) {
                    letGo();
                }
                return refused;
            }
            if (r == null) {
                for (int i = 0; i < n; i++) {
                    early[earlyCount++] = (int) (offsets[i] >>> SHIFT);
                }
                return 0;
            }
            boolean idle = r.isUnfiltered() && !r.hasFrames();
            r.post(offsets, n);
            if (!idle) {
                return 0;
            }
        } finally {
            lock.unlock();
        }
        if (cq.isArmed()) { // nobody waited for frames that could not be received
            owner.watchReceives();
        }
        return 0;
    }

    /** Enters requests into the table; all or none. */
    private int stage(long[] ids, XdpMemoryRegion[] regions, long[] offsets, int n) {
        for (int i = 0; i < n; i++) {
            int chunk = (int) (offsets[i] >>> SHIFT);
            if (regions[i] != region || chunk >= sequence.length || sequence[chunk] >= 0) {
                for (int j = 0; j < i; j++) {
                    sequence[(int) (offsets[j] >>> SHIFT)] = -1;
                }
                return Errno.EINVAL;
            }
            wrIds[chunk] = ids[i];
            sequence[chunk] = posted + i;
        }
        posted += n;
        return 0;
    }

    /** Receives into a region from now on; false if it is closed. */
    private boolean use(XdpMemoryRegion r) {
        Umem u = r.umem();
        if (holds && (u == null || !u.enter())) {
            return false;
        }
        int chunks = u == null ? 0 : u.regionChunks();
        region = r;
        memory = u == null ? MemorySegment.NULL : u.segment();
        wrIds = new long[chunks];
        sequence = new long[chunks];
        Arrays.fill(sequence, -1);
        return true;
    }

    /** Receives into no region. */
    private void letGo() {
        Umem u = region == null ? null : region.umem();
        if (holds && u != null) {
            u.leave();
        }
        region = null;
        memory = MemorySegment.NULL;
        wrIds = new long[0];
        sequence = new long[0];
    }

    // ---- control

    /** The region of the receives that were posted; null if there are none. */
    @Nullable
    XdpMemoryRegion region() {
        lock.lock();
        try {
            return region;
        } finally {
            lock.unlock();
        }
    }

    /** The wire is there: what was posted goes to the kernel. */
    void start(FrameReceiver way, @Nullable XdpMemoryRegion r) {
        lock.lock();
        try {
            if (region == null && r != null) {
                use(r);
            }
            long[] offsets = new long[earlyCount];
            for (int i = 0; i < earlyCount; i++) {
                offsets[i] = (long) early[i] << SHIFT;
            }
            way.post(offsets, earlyCount);
            earlyCount = 0;
            receiver = way;
        } finally {
            lock.unlock();
        }
    }

    /** There is no wire any more: what has arrived waits, and what is posted stays so. The wire is closed afterwards. */
    void detach() {
        lock.lock();
        try {
            if (receiver != null) {
                keepArrived();
                receiver = null;
                for (int chunk : posted()) {
                    early[earlyCount++] = chunk;
                }
            }
        } finally {
            lock.unlock();
        }
        tellWaiting();
    }

    /** What was taken before the engine has seen it makes its descriptor readable no more. */
    private void tellWaiting() {
        if (hasWaiting) {
            cq.completed(false);
        }
    }

    /** The chunks that are posted, in that order. */
    private int[] posted() {
        return IntStream.range(0, sequence.length).filter(c -> sequence[c] >= 0).boxed().sorted(Comparator
                .comparingLong(c -> sequence[c])).mapToInt(c -> c).toArray();
    }

    /** The queue pair has failed: what has arrived stays, and all else is flushed. The socket is closed afterwards. */
    void fail() {
        lock.lock();
        try {
            if (failed) {
                return;
            }
            keepArrived();
            int[] rest = posted();
            for (int chunk : rest) {
                waiting.add(new Waiting(wrIds[chunk], WcStatus.WR_FLUSH_ERR, 0, 0));
            }
            XdpCounted.add(counters, SamplePoint.QP_RESP_FLUSHED, rest.length);
            Arrays.fill(sequence, -1);
            received = posted;
            failed = true;
            receiver = null;
            earlyCount = 0;
            if (holds) {
                letGo();
            }
            hasWaiting |= !waiting.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** What has arrived so far is taken, and waits. */
    private void keepArrived() {
        FrameReceiver r = receiver;
        if (r != null) {
            CompletionBatch batch = new CompletionBatch();
            for (int rounds = 0; rounds < MAX_ROUNDS; rounds++) {
                int result = r.take(batch);
                if (batch.size() == 0 && result != FrameReceiver.MORE) {
                    break;
                }
                while (batch.next()) {
                    waiting.add(new Waiting(batch.wrId(), batch.status(), batch.flags(), batch.bytes()));
                }
                batch.clear();
            }
            hasWaiting |= !waiting.isEmpty();
        }
    }

    /** Changes flows that {@link FrameReceiver#take} looks at: what came before is treated as before. */
    void changeFlows(Runnable change) {
        lock.lock();
        try {
            keepArrived();
            change.run();
        } finally {
            lock.unlock();
        }
        tellWaiting();
    }

    /** As new: nothing is posted, and completions that were not polled are gone. */
    void reset() {
        lock.lock();
        try {
            int before = generation; // only changed under the lock
            generation = before + 1;
            receiver = null;
            letGo();
            earlyCount = 0;
            posted = 0;
            received = 0;
            failed = false;
            found.clear();
            waiting.clear();
            hasWaiting = false;
        } finally {
            lock.unlock();
        }
    }

    // ---- polling

    @Override
    public boolean hasCompletions() {
        FrameReceiver r = receiver;
        return r != null && r.hasFrames() || hasWaiting;
    }

    @Override
    public void drain(CompletionBatch into) {
        int gone = 0;
        lock.lock();
        try {
            if (hasWaiting) {
                drainWaiting(into);
            }
            FrameReceiver r = receiver;
            if (r != null && !hasWaiting) {
                gone = r.take(into);
            }
        } finally {
            lock.unlock();
        }
        if (gone > 0) {
            owner.fail(GONE);
        }
    }

    private void drainWaiting(CompletionBatch into) {
        while (!into.isFull()) {
            if (found.next()) {
                into.add(this, found.wrId(), found.status(), WcOpcode.RECV, number, found.flags(), found.bytes());
            } else if (!waiting.isEmpty()) {
                Waiting w = waiting.remove();
                into.add(this, w.wrId, w.status, WcOpcode.RECV, number, w.flags, w.bytes);
            } else {
                found.clear();
                hasWaiting = false;
                return;
            }
        }
    }

    // ---- for the receiver

    /** Where the frame, or the part of one, begins in a chunk. */
    static long frameAt(int chunk) {
        return ((long) chunk << SHIFT) + XdpLimits.RECEIVE_OFFSET;
    }

    /** What is received into. */
    MemorySegment memory() {
        return memory;
    }

    /** The posted chunk in which all these bytes are; -1 if there is none. */
    int chunk(long address, int length) {
        long chunk = address >>> SHIFT;
        return length >= 0 && length <= XdpLimits.CHUNK - (address & XdpLimits.CHUNK - 1) && chunk < sequence.length
                && sequence[(int) chunk] >= 0
                        ? (int) chunk
                        : -1;
    }

    /** The request of a posted chunk is done. */
    void complete(CompletionBatch into, int chunk, int flags, int length) {
        sequence[chunk] = -1;
        into.add(this, wrIds[chunk], WcStatus.SUCCESS, WcOpcode.RECV, number, flags, length);
    }

    /** Counts completed receives, and the packets in them. */
    void count(int requests, long bytes, int packets) {
        received += requests;
        XdpCounted.add(counters, SamplePoint.QP_RX_RECEIVES, requests);
        XdpCounted.add(counters, SamplePoint.QP_RX_RECEIVE_BYTES, bytes);
        XdpCounted.add(counters, SamplePoint.QP_RX_PACKETS, packets);
    }

    /** Whether packets may have the sum of their pseudo-header alone, and nothing else tells which. */
    boolean isPartial() {
        return partial;
    }

    /** Begins to check the checksums of a frame; whether all its pieces have to be {@linkplain #addToCheck added}. */
    boolean beginCheck(long at, int available, int total, boolean mayBePartial) {
        checked = checksums.begin(memory, at, available, total, mayBePartial);
        return checked < 0;
    }

    void addToCheck(long at, int length) {
        checksums.add(memory, at, length);
    }

    /** The flags of the frame. */
    int endCheck() {
        int result = checked < 0 ? checksums.end() : checked;
        return result == Checksums.RIGHT ? WcFlags.IP_CSUM_OK : result == Checksums.PARTIAL ? WcFlags.CSUM_PARTIAL : 0;
    }

    @Override
    public int generation() {
        return generation;
    }

    // ---- events

    @Override
    public boolean isPending() {
        return hasWaiting; // packets make the descriptor readable
    }

    @Override
    public void watch() {
        FrameReceiver r = receiver;
        if (r == null || !r.isUnfiltered() || r.hasFrames()) { // else it would be readable in vain
            owner.watchReceives();
        }
    }

    /** The descriptor is readable. */
    void readable() {
        if (hasArrived()) {
            cq.completed(false);
        } else if (cq.isArmed()) {
            watch();
        }
    }

    /** Whether that is for a completion. */
    private boolean hasArrived() {
        int gone = 0;
        lock.lock();
        try {
            FrameReceiver r = receiver;
            if (r == null || !r.isUnfiltered() || hasWaiting) {
                return true;
            }
            gone = r.take(found);
            hasWaiting = found.size() > 0;
            if (gone <= 0) {
                return hasWaiting;
            }
        } finally {
            lock.unlock();
        }
        owner.fail(GONE);
        return true;
    }
}
