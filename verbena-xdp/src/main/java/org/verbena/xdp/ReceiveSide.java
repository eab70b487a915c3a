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
import org.verbena.linux.Xsk;
import org.verbena.linux.XskRing;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;
import org.verbena.xdp.packet.Checksums;

/**
 * The receive side of a queue pair: chunks go to the FILL ring when they are posted, and come back in the RX ring with a
 * packet, or a part of one. Which request a chunk belongs to is in a table, for the kernel may give them back in another
 * order. All under the side's lock.
 */
final class ReceiveSide implements Source {
    private static final int SHIFT = Integer.numberOfTrailingZeros(XdpLimits.CHUNK);

    /** A completion that waits in a queue pair that has failed. */
    private record Waiting(long wrId, int status, int flags, int bytes) {}

    private final XdpQueuePair qp;
    private final XdpCompletionQueue cq;
    private final CounterEntry counters;
    private final int number;
    private final int capacity;
    private final boolean partial;
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
    private @Nullable QueueSocket socket;
    private boolean failed;
    private long posted;
    private long received;
    private boolean inPacket;
    private final Deque<Waiting> waiting = new ArrayDeque<>();
    private volatile int generation;
    /** For the test without the lock; null while there is no socket. */
    private volatile @Nullable XskRing ring;
    private volatile boolean hasWaiting;

    ReceiveSide(XdpQueuePair qp, XdpCompletionQueue cq, CounterEntry counters, int number, int capacity,
            boolean partial) {
        this.qp = qp;
        this.cq = cq;
        this.counters = counters;
        this.number = number;
        this.capacity = capacity;
        this.partial = partial;
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
            if (posted - received + n > capacity) {
                return Errno.ENOMEM;
            }
            QueueSocket s = socket;
            if (region == null && s == null) {
                use(regions[0]);
            }
            int refused = stage(ids, regions, offsets, n);
            if (refused != 0) {
                region = posted == 0 && s == null ? null : region;
                return refused;
            }
            if (s == null) {
                for (int i = 0; i < n; i++) {
                    early[earlyCount++] = (int) (offsets[i] >>> SHIFT);
                }
            } else {
                fill(s, offsets, n);
            }
            return 0;
        } finally {
            lock.unlock();
        }
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

    private static void fill(QueueSocket s, long[] offsets, int n) {
        XskRing fill = s.xsk.fillRing();
        if (fill.reserve(n)) { // always: it has an entry for each request
            for (int i = 0; i < n; i++) {
                fill.putAddress(i, offsets[i]);
            }
            fill.publish(n);
            if (fill.needsWakeUp()) {
                s.xsk.wakeReceive();
            }
        }
    }

    private void use(XdpMemoryRegion r) {
        Umem u = r.umem();
        int chunks = u == null ? 0 : u.regionChunks();
        region = r;
        memory = u == null ? MemorySegment.NULL : u.segment();
        wrIds = new long[chunks];
        sequence = new long[chunks];
        Arrays.fill(sequence, -1);
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

    /** The socket is there: what was posted goes to the kernel. */
    void start(QueueSocket s, @Nullable XdpMemoryRegion r) {
        lock.lock();
        try {
            if (region == null && r != null) {
                use(r);
            }
            socket = s;
            long[] offsets = new long[earlyCount];
            for (int i = 0; i < earlyCount; i++) {
                offsets[i] = (long) early[i] << SHIFT;
            }
            fill(s, offsets, earlyCount);
            earlyCount = 0;
            ring = s.xsk.receiveRing();
        } finally {
            lock.unlock();
        }
    }

    /** The queue pair has failed: what has arrived stays, and all else is flushed. The socket is closed afterwards. */
    void fail() {
        lock.lock();
        try {
            if (failed) {
                return;
            }
            QueueSocket s = socket;
            if (s != null) {
                CompletionBatch batch = new CompletionBatch();
                for (take(s, batch); batch.next(); batch.clear(), take(s, batch)) {
                    do {
                        waiting.add(new Waiting(batch.wrId(), batch.status(), batch.flags(), batch.bytes()));
                    } while (batch.next());
                }
            }
            int[] rest = IntStream.range(0, sequence.length).filter(c -> sequence[c] >= 0).boxed().sorted(Comparator
                    .comparingLong(c -> sequence[c])).mapToInt(c -> c).toArray();
            for (int chunk : rest) {
                waiting.add(new Waiting(wrIds[chunk], WcStatus.WR_FLUSH_ERR, 0, 0));
            }
            XdpCounted.add(counters, SamplePoint.QP_RESP_FLUSHED, rest.length);
            Arrays.fill(sequence, -1);
            received = posted;
            failed = true;
            socket = null;
            ring = null;
            hasWaiting = !waiting.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** As new: nothing is posted, and completions that were not polled are gone. */
    void reset() {
        lock.lock();
        try {
            int before = generation; // only changed under the lock
            generation = before + 1;
            socket = null;
            ring = null;
            region = null;
            memory = MemorySegment.NULL;
            wrIds = new long[0];
            sequence = new long[0];
            earlyCount = 0;
            posted = 0;
            received = 0;
            inPacket = false;
            failed = false;
            waiting.clear();
            hasWaiting = false;
        } finally {
            lock.unlock();
        }
    }

    // ---- polling

    @Override
    public boolean hasCompletions() {
        XskRing r = ring;
        return r != null && r.hasEntries() || hasWaiting;
    }

    @Override
    public void drain(CompletionBatch into) {
        lock.lock();
        try {
            QueueSocket s = socket;
            if (s != null) {
                take(s, into);
            } else {
                while (!waiting.isEmpty() && !into.isFull()) {
                    Waiting w = waiting.remove();
                    into.add(this, w.wrId, w.status, WcOpcode.RECV, number, w.flags, w.bytes);
                }
                hasWaiting = !waiting.isEmpty();
            }
        } finally {
            lock.unlock();
        }
    }

    private void take(QueueSocket s, CompletionBatch into) {
        XskRing rx = s.xsk.receiveRing();
        int there = rx.available();
        int n = Math.min(there, into.room());
        long bytes = 0;
        int packets = 0;
        int valid = 0;
        for (int i = 0; i < n; i++) {
            long address = rx.address(i);
            long word = rx.lengthAndOptions(i);
            int length = (int) word;
            int flags = (word >>> Integer.SIZE & Xsk.XDP_PKT_CONTD) != 0 ? WcFlags.CONTINUES : 0;
            int chunk = chunk(address, length);
            if (chunk < 0) {
                continue; // nothing that was posted
            }
            if (!inPacket) {
                flags |= check(rx, i, there);
                packets++;
            }
            inPacket = (flags & WcFlags.CONTINUES) != 0;
            long begin = ((long) chunk << SHIFT) + XdpLimits.RECEIVE_OFFSET;
            if (address != begin) { // a driver that put it elsewhere
                MemorySegment.copy(memory, address, memory, begin, Math.min(length, XdpLimits.CHUNK
                        - XdpLimits.RECEIVE_OFFSET));
            }
            sequence[chunk] = -1;
            into.add(this, wrIds[chunk], WcStatus.SUCCESS, WcOpcode.RECV, number, flags, length);
            valid++;
            bytes += length;
        }
        if (n > 0) {
            rx.release(n);
            received += valid;
            XdpCounted.add(counters, SamplePoint.QP_RX_RECEIVES, valid);
            XdpCounted.add(counters, SamplePoint.QP_RX_RECEIVE_BYTES, bytes);
            XdpCounted.add(counters, SamplePoint.QP_RX_PACKETS, packets);
        }
    }

    /** The posted chunk in which all these bytes are; -1 if there is none. */
    private int chunk(long address, int length) {
        long chunk = address >>> SHIFT;
        return length >= 0 && length <= XdpLimits.CHUNK - (address & XdpLimits.CHUNK - 1) && chunk < sequence.length
                && sequence[(int) chunk] >= 0
                        ? (int) chunk
                        : -1;
    }

    /** The flags of the packet that begins in entry {@code i}; all its entries are there. */
    private int check(XskRing rx, int i, int there) {
        int last = i;
        int total = 0;
        for (boolean more = true; more && last < there; last++) {
            long word = rx.lengthAndOptions(last);
            if (chunk(rx.address(last), (int) word) < 0) {
                return 0;
            }
            total += (int) word;
            more = (word >>> Integer.SIZE & Xsk.XDP_PKT_CONTD) != 0;
        }
        int result = checksums.begin(memory, rx.address(i), (int) rx.lengthAndOptions(i), total, partial);
        if (result < 0) {
            for (int j = i; j < last; j++) {
                checksums.add(memory, rx.address(j), (int) rx.lengthAndOptions(j));
            }
            result = checksums.end();
        }
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
        qp.watchReceives();
    }

    /** The descriptor is readable. */
    void readable() {
        cq.completed(false);
    }
}
