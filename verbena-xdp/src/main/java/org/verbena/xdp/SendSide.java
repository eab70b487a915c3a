// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.QueuePairPoints;

/**
 * The send side of a queue pair: which requests there are, and how far each one is. A {@link FrameSender} sends the
 * frames. All under the side's lock.
 */
final class SendSide implements Source {
    private static final long FIRST_RETRY_NANOS = 100_000;
    /** While an interface is down nothing changes for long. */
    private static final long LAST_RETRY_NANOS = 20_000_000;
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
    /** Null without a wire. */
    private volatile @Nullable FrameSender sender;
    private boolean paused;
    private boolean flushing;
    private @Nullable String failure;
    private long posted;
    private long submitted;
    private long done;
    private long polled;
    /** The kernel has not taken all descriptors, and is called again at a time: read without the lock by the thread that sends it again. */
    private volatile boolean stalled;
    private volatile long retryAt;
    private long retryNanos = FIRST_RETRY_NANOS;
    private volatile int generation;

    SendSide(XdpQueuePair qp, XdpCompletionQueue cq, CounterEntry counters, int number, SendRequests requests,
            int mtu) {
        this.qp = qp;
        this.cq = cq;
        this.counters = counters;
        this.number = number;
        this.requests = requests;
        longest = XdpLimits.longestFrame(mtu);
    }

    /** The size of a ring for a number of entries: a power of two. */
    static int ringSize(int entries) {
        return Integer.highestOneBit(Math.max(1, 2 * entries - 1));
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

    /** Reaps completed sends; answers whether fewer requests than that are outstanding then. */
    boolean makeRoom(int less) {
        lock.lock();
        try {
            FrameSender s = sender;
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
                flushRequests();
                cq.completed(true);
            } else if (!paused) {
                submit();
            }
        } finally {
            lock.unlock();
        }
        cq.sent();
        return 0;
    }

    private void submit() {
        FrameSender s = sender;
        if (s == null) {
            return;
        }
        boolean later = false;
        while (submitted < posted && failure == null) {
            int slot = requests.slot(submitted);
            if (!(requests.segments[slot] == 0 ? submit(s, slot) : submitSegmented(s, slot))) {
                later = true;
                break;
            }
            submitted++;
        }
        flush(s);
        if (later) {
            stall();
        }
        if (failure != null) {
            flushRequests();
        } else {
            advance();
        }
    }

    private void stall() {
        retryAt = System.nanoTime() + retryNanos;
        retryNanos = Math.min(2 * retryNanos, LAST_RETRY_NANOS);
        stalled = true;
        qp.xdpContext().notifier().stalled();
    }

    /** Sends again what the kernel has not taken, if it is time; when it is to be called again, at the latest. */
    long retry() {
        if (!stalled) {
            return Long.MAX_VALUE;
        }
        boolean gone;
        lock.lock();
        try {
            FrameSender s = sender;
            gone = s != null && retryNow(s);
        } finally {
            lock.unlock();
        }
        if (gone) {
            qp.fail(failure());
        }
        return stalled ? retryAt : Long.MAX_VALUE;
    }

    /** Under the lock; whether the interface is gone. */
    private boolean retryNow(FrameSender s) {
        if (!stalled || System.nanoTime() - retryAt < 0) {
            return false;
        }
        flush(s);
        if (!stalled && !paused) {
            submit();
        }
        return failure != null && !flushing;
    }

    /** Has the kernel send what was taken. */
    private void flush(FrameSender s) {
        if (stalled) { // no store that orders in each post
            stalled = false;
        }
        int error = s.flush();
        if (error == FrameSender.LATER) {
            stall();
            return;
        }
        retryNanos = FIRST_RETRY_NANOS;
        if (error != 0 && failure == null) {
            failure = ReceiveSide.GONE;
        }
    }

    /** Sends one that is cut into segments; false if there is no room now. */
    private boolean submitSegmented(FrameSender s, int slot) {
        flush(s); // what was posted before goes before
        if (stalled) {
            return false;
        }
        SegmentedSends way = s.segments();
        int header = requests.headerLengths[slot];
        long payload = 0;
        for (int i = 0; i < requests.sgeCounts[slot]; i++) {
            payload += requests.length(slot, i);
        }
        requests.lastDescriptors[slot] = s.last();
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
        int error = way.send();
        if (error == FrameSender.LATER) {
            return false;
        }
        if (error != 0) {
            fail(slot, WcStatus.GENERAL_ERR, SegmentedSends.isGone(error)
                    ? ReceiveSide.GONE
                    : "the kernel does not send it in segments: " + Errno.name(error));
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

    private boolean submit(FrameSender s, int slot) {
        int inline = requests.inlineLengths[slot];
        long total = Math.max(0, inline);
        for (int i = 0; i < requests.sgeCounts[slot]; i++) {
            total += requests.length(slot, i);
        }
        if (total < XdpLimits.SHORTEST_FRAME || total > longest) {
            fail(slot, WcStatus.LOC_LEN_ERR, "a frame to send has " + total + " bytes: it must have "
                    + XdpLimits.SHORTEST_FRAME + " (an Ethernet header) to " + longest
                    + " (the interface's MTU, when the device was opened, and " + XdpLimits.LINK_HEADERS + ")");
            return true;
        }
        requests.lengths[slot] = (int) total;
        requests.statuses[slot] = WcStatus.SUCCESS;
        if (!s.send(slot, (int) total, (requests.flags[slot] & SendFlags.IP_CSUM) != 0)) {
            return false;
        }
        requests.lastDescriptors[slot] = s.last();
        if (requests.statuses[slot] == WcStatus.SUCCESS) {
            XdpCounted.add(counters, SamplePoint.QP_TX_SENDS, 1);
            XdpCounted.add(counters, SamplePoint.QP_TX_PACKETS, 1);
            XdpCounted.add(counters, SamplePoint.QP_TX_SEND_BYTES, total);
        }
        return true;
    }

    /** The region of a buffer of a request; null if the buffer is in none, and then the request has failed. */
    @Nullable
    XdpMemoryRegion region(int slot, int i) {
        XdpMemoryRegion r = qp.region(requests.key(slot, i));
        if (r == null || r.offset(requests.address(slot, i), requests.length(slot, i)) < 0) {
            fail(slot, WcStatus.LOC_PROT_ERR, r == null
                    ? "no region of the protection domain has the key of a buffer to send"
                    : "a buffer to send is not within its region");
            return null;
        }
        return r;
    }

    /** The memory of a buffer of a request was freed. */
    void failFreed(int slot) {
        fail(slot, WcStatus.LOC_PROT_ERR, "the memory of a buffer to send is gone");
    }

    /** The request has failed, and with it the queue pair. */
    void fail(int slot, int status, String why) {
        FrameSender s = sender;
        requests.statuses[slot] = status;
        requests.lengths[slot] = 0;
        requests.lastDescriptors[slot] = s == null ? -1 : s.last();
        failure = why;
        XdpCounted.add(counters, QueuePairPoints.ofFailedRequest(status), 1);
    }

    /** All requests that were not submitted are flushed. */
    private void flushRequests() {
        FrameSender s = sender;
        XdpCounted.add(counters, SamplePoint.QP_REQ_FLUSHED, posted - submitted);
        for (; submitted < posted; submitted++) {
            int slot = requests.slot(submitted);
            requests.statuses[slot] = WcStatus.WR_FLUSH_ERR;
            requests.lastDescriptors[slot] = s == null ? -1 : s.last();
        }
        advance();
    }

    /** Looks what the kernel has sent. */
    private void reap(FrameSender s) {
        s.reap();
        advance();
    }

    private void advance() {
        FrameSender s = sender;
        while (done < submitted && (s == null || s.isDone(requests.lastDescriptors[requests.slot(done)]))) {
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
        FrameSender s = sender;
        return done != polled || s != null && s.hasDone() || stalled && System.nanoTime() - retryAt >= 0;
    }

    @Override
    public void drain(CompletionBatch into) {
        boolean gone = false;
        lock.lock();
        try {
            FrameSender s = sender;
            if (s != null) {
                gone = retryNow(s);
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

    /** The wire is there. */
    void start(FrameSender way) {
        lock.lock();
        try {
            sender = way;
        } finally {
            lock.unlock();
        }
        qp.xdpContext().notifier().add(this);
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
        cq.sent();
    }

    /** The queue pair has failed: what the kernel has not sent is flushed. The socket is closed afterwards. */
    void fail() {
        lock.lock();
        try {
            if (flushing) {
                return;
            }
            flushing = true;
            FrameSender s = sender;
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
            sender = null;
            stalled = false;
            flushRequests();
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
            sender = null;
            paused = false;
            flushing = false;
            failure = null;
            stalled = false;
            posted = 0;
            submitted = 0;
            done = 0;
            POLLED.setRelease(this, 0L);
        } finally {
            lock.unlock();
        }
    }

    // ---- events

    @Override
    public boolean isPending() {
        lock.lock();
        try {
            FrameSender s = sender;
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
