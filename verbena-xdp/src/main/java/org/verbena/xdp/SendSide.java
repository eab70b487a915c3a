// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.Xsk;
import org.verbena.linux.XskMetadata;
import org.verbena.linux.XskRing;
import org.verbena.linux.spi.RawMemory;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.QueuePairPoints;
import org.verbena.xdp.packet.Checksums;

/**
 * The send side of a queue pair. A frame that lies in one chunk of the region that is the socket's UMEM, with room for
 * metadata before it, is sent from there; every other one is copied to chunks of the queue pair's own, as is one whose
 * checksum is to be computed, for that is written. All under the side's lock.
 */
final class SendSide implements Source {
    private static final int SHIFT = Integer.numberOfTrailingZeros(XdpLimits.CHUNK);
    private static final long RETRY_NANOS = 100_000;
    private static final VarHandle POLLED;

    static {
        try {
            POLLED = MethodHandles.lookup().findVarHandle(SendSide.class, "polled", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final XdpQueuePair qp;
    private final XdpCompletionQueue cq;
    private final CounterEntry counters;
    private final int number;
    private final int longest;
    private final SendRequests requests;
    private final SideLock lock = new SideLock();
    private final Checksums checksums = new Checksums();
    private final TransmitDescriptors descriptors;
    private @Nullable QueueSocket socket;
    private @Nullable SegmentedSends segmented;
    private @Nullable XdpMemoryRegion region;
    private MemorySegment memory = MemorySegment.NULL;
    private boolean paused;
    private boolean flushing;
    private @Nullable String failure;
    private long posted;
    private long submitted;
    private long done;
    private long polled;
    private int unpublished;
    /** The kernel has not taken all descriptors; it is called again at this time. */
    private boolean stalled;
    private long retryAt;
    private volatile int generation;
    private volatile @Nullable XskRing ring;

    SendSide(XdpQueuePair qp, XdpCompletionQueue cq, CounterEntry counters, int number, SendRequests requests,
            int depth, int mtu) {
        this.qp = qp;
        this.cq = cq;
        this.counters = counters;
        this.number = number;
        this.requests = requests;
        longest = XdpLimits.longestFrame(mtu);
        descriptors = new TransmitDescriptors(depth * XdpLimits.pieces(mtu));
    }

    /** A power of two, for so many entries. */
    static int ringSize(int entries) {
        return Integer.highestOneBit(Math.max(1, 2 * entries - 1));
    }

    /** Entries of the TX ring. */
    int descriptors() {
        return descriptors.capacity();
    }

    /** Chunks that it copies to. */
    int stagingChunks() {
        return descriptors.chunkCount();
    }

    SendRequests requests() {
        return requests;
    }

    // ---- by the thread that posts

    /** The number of the next request. */
    long posted() {
        return posted;
    }

    /** Requests whose entries are not free. */
    int outstanding() {
        return (int) (posted - (long) POLLED.getAcquire(this));
    }

    /** Looks what is done; whether less than so many are outstanding then. */
    boolean makeRoom(int less) {
        lock.lock();
        try {
            QueueSocket s = socket;
            if (s != null) {
                reap(s);
            }
        } finally {
            lock.unlock();
        }
        return outstanding() < less;
    }

    boolean hasFailed() {
        return failure != null;
    }

    String failure() {
        String f = failure;
        return f == null ? "" : f;
    }

    /** Posts the next requests; 0, or {@code EINVAL}. */
    int post(int n) {
        lock.lock();
        try {
            if (!qp.state().acceptsSends()) {
                return Errno.EINVAL;
            }
            posted += n;
            if (flushing) {
                flush();
                cq.completed(true);
            } else if (!paused) {
                submit();
            }
            return 0;
        } finally {
            lock.unlock();
        }
    }

    private void submit() {
        QueueSocket s = socket;
        if (s == null) {
            return;
        }
        while (submitted < posted && failure == null) {
            int slot = requests.slot(submitted);
            if (requests.segments[slot] == 0) {
                submit(s, slot);
            } else if (!submitSegmented(s, slot)) {
                break;
            }
            submitted++;
        }
        publish(s);
        if (failure != null) {
            flush();
        } else {
            advance();
        }
    }

    private void publish(QueueSocket s) {
        if (unpublished > 0) {
            s.xsk.transmitRing().publish(unpublished);
            unpublished = 0;
            kick(s);
        }
    }

    /** Sends one that is cut into segments; false if there is no room now. */
    private boolean submitSegmented(QueueSocket s, int slot) {
        publish(s); // what was posted before goes before
        SegmentedSends way = segmented;
        int header = requests.headerLengths[slot];
        long payload = 0;
        for (int i = 0; i < requests.sgeCounts[slot]; i++) {
            payload += requests.length(slot, i);
        }
        requests.lastDescriptors[slot] = descriptors.last();
        if (payload + header > XdpLimits.MAX_SEGMENTED || requests.segments[slot] + header > longest) {
            fail(slot, WcStatus.LOC_LEN_ERR, "a send of " + payload + " bytes in segments of " + requests.segments[slot]
                    + " with " + header + " bytes of headers: together it may have " + XdpLimits.MAX_SEGMENTED
                    + ", and a frame " + longest);
            return true;
        }
        if (way == null || !way.begin(requests.inlineMemory(), requests.headerAt(slot), header, (int) payload,
                requests.segments[slot])) {
            fail(slot, WcStatus.LOC_QP_OP_ERR,
                    "the headers of a send in segments are not those of TCP or UDP over IP, from Ethernet to the end");
            return true;
        }
        for (int i = 0; i < requests.sgeCounts[slot]; i++) {
            int length = requests.length(slot, i);
            XdpMemoryRegion r = qp.region(requests.key(slot, i));
            long offset = r == null ? -1 : r.offset(requests.address(slot, i), length);
            if (r == null || offset < 0 || !way.add(r.memory(), offset, length)) {
                fail(slot, WcStatus.LOC_PROT_ERR, "a buffer to send is not within a region of the protection domain");
                return true;
            }
        }
        int error = stalled ? SegmentedSends.LATER : way.send();
        if (error == SegmentedSends.LATER) {
            stalled = true;
            retryAt = System.nanoTime() + RETRY_NANOS;
            return false;
        }
        if (error != SegmentedSends.SENT) {
            fail(slot, WcStatus.GENERAL_ERR, "the kernel does not send it in segments: " + Errno.name(error));
            return true;
        }
        requests.lengths[slot] = (int) payload;
        requests.statuses[slot] = WcStatus.SUCCESS;
        XdpCounted.add(counters, SamplePoint.QP_TX_SENDS, 1);
        XdpCounted.add(counters, SamplePoint.QP_TX_PACKETS, Math.max(1, (payload + requests.segments[slot] - 1)
                / requests.segments[slot]));
        XdpCounted.add(counters, SamplePoint.QP_TX_SEND_BYTES, payload);
        return true;
    }

    private void submit(QueueSocket s, int slot) {
        int inline = requests.inlineLengths[slot];
        long total = Math.max(0, inline);
        for (int i = 0; i < requests.sgeCounts[slot]; i++) {
            total += requests.length(slot, i);
        }
        if (total < XdpLimits.SHORTEST_FRAME || total > longest) {
            fail(slot, WcStatus.LOC_LEN_ERR, "a frame to send has " + total + " bytes: it must have "
                    + XdpLimits.SHORTEST_FRAME + " (an Ethernet header) to " + longest
                    + " (the interface's MTU, when the device was opened, and " + XdpLimits.LINK_HEADERS + ")");
            return;
        }
        requests.lengths[slot] = (int) total;
        requests.statuses[slot] = WcStatus.SUCCESS;
        boolean sum = (requests.flags[slot] & SendFlags.IP_CSUM) != 0;
        if (inline >= 0 || sum || requests.sgeCounts[slot] != 1 || !sendInPlace(s, slot)) {
            copy(s, slot, (int) total, sum);
        }
        requests.lastDescriptors[slot] = descriptors.last();
        if (requests.statuses[slot] == WcStatus.SUCCESS) {
            XdpCounted.add(counters, SamplePoint.QP_TX_SENDS, 1);
            XdpCounted.add(counters, SamplePoint.QP_TX_PACKETS, 1);
            XdpCounted.add(counters, SamplePoint.QP_TX_SEND_BYTES, total);
        }
    }

    /** Sends a frame of one buffer from where it is, if that is possible. */
    private boolean sendInPlace(QueueSocket s, int slot) {
        int length = requests.length(slot, 0);
        XdpMemoryRegion r = qp.region(requests.key(slot, 0));
        if (r == null || r != region) {
            return false;
        }
        long offset = r.offset(requests.address(slot, 0), length);
        long inChunk = offset & XdpLimits.CHUNK - 1;
        if (offset < 0 || inChunk < XskMetadata.BYTES || inChunk + length > XdpLimits.CHUNK) {
            return false;
        }
        put(s, offset, length, 0, -1);
        return true;
    }

    private void put(QueueSocket s, long address, int length, int options, int chunk) {
        descriptors.add(address, chunk);
        if (s.xsk.transmitRing().reserve(unpublished + 1)) { // always: it has an entry for each descriptor
            s.xsk.transmitRing().putDescriptor(unpublished, address, length, options);
        }
        unpublished++;
    }

    /** Copies a frame to chunks of ours, and sends it from there. */
    private void copy(QueueSocket s, int slot, int total, boolean sum) {
        int pieces = (total + XdpLimits.STAGING_BYTES - 1) / XdpLimits.STAGING_BYTES;
        if (descriptors.freeCount() < pieces) { // there are as many as all requests may need
            reap(s);
        }
        if (!gather(slot)) {
            return;
        }
        int options = sum ? sum(s, total) : 0;
        int rest = total;
        for (int i = 0; i < pieces; i++) {
            int n = Math.min(rest, XdpLimits.STAGING_BYTES);
            rest -= n;
            int chunk = descriptors.take();
            put(s, staging(chunk), n, (rest > 0 ? Xsk.XDP_PKT_CONTD : 0) | (i == 0 ? options : 0), chunk);
        }
    }

    private static long staging(int chunk) {
        return ((long) chunk << SHIFT) + XdpLimits.STAGING_OFFSET;
    }

    /** Copies all buffers, one behind the other, to the chunks that are taken next. */
    private boolean gather(int slot) {
        int inline = requests.inlineLengths[slot];
        if (inline >= 0) {
            append(0, requests.inlineMemory(), requests.inlineAt(slot), inline);
            return true;
        }
        int filled = 0;
        for (int i = 0; i < requests.sgeCounts[slot]; i++) {
            int length = requests.length(slot, i);
            XdpMemoryRegion r = qp.region(requests.key(slot, i));
            long offset = r == null ? -1 : r.offset(requests.address(slot, i), length);
            if (r == null || offset < 0) {
                fail(slot, WcStatus.LOC_PROT_ERR, r == null
                        ? "no region of the protection domain has the key of a buffer to send"
                        : "a buffer to send is not within its region");
                return false;
            }
            if (!append(filled, r.memory(), offset, length)) {
                fail(slot, WcStatus.LOC_PROT_ERR, "the memory of a buffer to send is gone");
                return false;
            }
            filled += length;
        }
        return true;
    }

    private boolean append(int filled, MemorySegment from, long offset, int length) {
        int copied = 0;
        while (copied < length) {
            int at = filled + copied;
            int inPiece = at % XdpLimits.STAGING_BYTES;
            int n = Math.min(length - copied, XdpLimits.STAGING_BYTES - inPiece);
            long to = staging(descriptors.peek(at / XdpLimits.STAGING_BYTES)) + inPiece;
            try {
                RawMemory.copyOut(from, offset + copied, memory.address() + to, n);
            } catch (IllegalStateException | WrongThreadException | InternalError e) { // closed, or truncated
                return false;
            }
            copied += n;
        }
        return true;
    }

    /** Has the checksums computed, by the kernel if it can; the options of the first descriptor. */
    private int sum(QueueSocket s, int total) {
        long at = staging(descriptors.peek(0));
        if (!checksums.prepare(memory, at, Math.min(total, XdpLimits.STAGING_BYTES), total)) {
            return 0;
        }
        if (s.hasMetadata()) {
            XskMetadata.clear(memory, at);
            XskMetadata.requestChecksum(memory, at, checksums.start(), checksums.offset());
            return Xsk.XDP_TX_METADATA;
        }
        checksums.beginSum();
        for (int summed = 0; summed < total; summed += XdpLimits.STAGING_BYTES) {
            checksums.add(memory, staging(descriptors.peek(summed / XdpLimits.STAGING_BYTES)), Math.min(total - summed,
                    XdpLimits.STAGING_BYTES));
        }
        checksums.write();
        return 0;
    }

    /** The request has failed, and with it the queue pair. */
    private void fail(int slot, int status, String why) {
        requests.statuses[slot] = status;
        requests.lengths[slot] = 0;
        requests.lastDescriptors[slot] = descriptors.last();
        failure = why;
        XdpCounted.add(counters, QueuePairPoints.ofFailedRequest(status), 1);
    }

    /** All requests that were not submitted are flushed. */
    private void flush() {
        XdpCounted.add(counters, SamplePoint.QP_REQ_FLUSHED, posted - submitted);
        for (; submitted < posted; submitted++) {
            int slot = requests.slot(submitted);
            requests.statuses[slot] = WcStatus.WR_FLUSH_ERR;
            requests.lastDescriptors[slot] = descriptors.last();
        }
        advance();
    }

    // ---- the kernel

    /** Calls the kernel until it has taken all descriptors, or cannot now. */
    private void kick(QueueSocket s) {
        XskRing tx = s.xsk.transmitRing();
        stalled = false;
        for (int before = tx.pending(); before > 0;) {
            int error = s.xsk.kick();
            int after = tx.pending();
            if (error == Errno.ENXIO || error == Errno.ENODEV || error == Errno.EBADF) {
                failure = failure != null ? failure : "the interface is gone";
                return;
            }
            if (after == before) {
                stalled = after > 0;
                retryAt = System.nanoTime() + RETRY_NANOS;
                return;
            }
            before = after;
            reap(s); // or the COMPLETION ring may be full
        }
    }

    /** Takes back what the kernel has sent. */
    private void reap(QueueSocket s) {
        descriptors.reap(s.xsk.completionRing());
        advance();
    }

    private void advance() {
        while (done < submitted && descriptors.isDone(requests.lastDescriptors[requests.slot(done)])) {
            done++;
        }
        skipUnsignalled();
    }

    /** Frees the requests before the next completion. */
    private void skipUnsignalled() {
        long p = polled;
        while (p < done && !completes(requests.slot(p))) {
            p++;
        }
        POLLED.setRelease(this, p);
    }

    private boolean completes(int slot) {
        return (requests.flags[slot] & SendFlags.SIGNALED) != 0 || requests.statuses[slot] != WcStatus.SUCCESS;
    }

    // ---- polling

    @Override
    public boolean hasCompletions() {
        XskRing r = ring;
        return done != polled || r != null && r.hasEntries() || stalled && System.nanoTime() - retryAt >= 0;
    }

    @Override
    public void drain(CompletionBatch into) {
        boolean gone = false;
        lock.lock();
        try {
            QueueSocket s = socket;
            if (s != null) {
                if (stalled && System.nanoTime() - retryAt >= 0) {
                    kick(s);
                    if (!stalled && !paused) {
                        submit();
                    }
                    gone = failure != null && !flushing;
                }
                reap(s);
            }
            for (skipUnsignalled(); polled < done && !into.isFull(); skipUnsignalled()) {
                int slot = requests.slot(polled);
                into.add(this, requests.wrIds[slot], requests.statuses[slot], requests.segments[slot] == 0
                        ? WcOpcode.SEND
                        : WcOpcode.TSO, number, 0, requests.lengths[slot]);
                POLLED.setRelease(this, polled + 1);
            }
        } finally {
            lock.unlock();
        }
        if (gone) {
            qp.fail(failure());
        }
    }

    @Override
    public int generation() {
        return generation;
    }

    // ---- control

    /** The socket is there, with so many chunks for copies from {@code first} on. */
    void start(QueueSocket s, @Nullable SegmentedSends way, MemorySegment umem, int first,
            @Nullable XdpMemoryRegion r) {
        lock.lock();
        try {
            socket = s;
            segmented = way;
            memory = umem;
            region = r;
            descriptors.start(first);
            ring = s.xsk.completionRing();
        } finally {
            lock.unlock();
        }
    }

    /** State SQD: what is posted waits. */
    void pause(boolean on) {
        lock.lock();
        try {
            paused = on;
            if (!on && !flushing) {
                submit();
            }
        } finally {
            lock.unlock();
        }
    }

    /** The queue pair has failed: what the kernel has not sent is flushed. The socket is closed afterwards. */
    void fail() {
        lock.lock();
        try {
            if (flushing) {
                return;
            }
            flushing = true;
            QueueSocket s = socket;
            if (s != null) {
                reap(s);
            }
            for (long r = done; r < submitted; r++) {
                int slot = requests.slot(r);
                if (requests.statuses[slot] == WcStatus.SUCCESS) {
                    requests.statuses[slot] = WcStatus.WR_FLUSH_ERR;
                    XdpCounted.add(counters, SamplePoint.QP_REQ_FLUSHED, 1);
                }
            }
            descriptors.forget();
            socket = null;
            segmented = null;
            ring = null;
            stalled = false;
            flush();
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
            paused = false;
            flushing = false;
            failure = null;
            stalled = false;
            posted = 0;
            submitted = 0;
            done = 0;
            POLLED.setRelease(this, 0L);
            descriptors.reset();
            unpublished = 0;
        } finally {
            lock.unlock();
        }
    }

    // ---- events

    @Override
    public boolean isPending() {
        lock.lock();
        try {
            QueueSocket s = socket;
            if (s != null) {
                reap(s);
            }
            return posted != polled;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void watch() {
        // the notifier looks
    }
}
