// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.datagram;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.completion.SendCompletions;
import org.verbena.shm.control.Control;
import org.verbena.shm.counts.SendCounts;
import org.verbena.shm.layout.Copy;
import org.verbena.shm.layout.DatagramLayout;
import org.verbena.shm.layout.Hazard;
import org.verbena.shm.layout.LaneLayout;
import org.verbena.shm.memory.LocalBuffers;
import org.verbena.shm.memory.Region;
import org.verbena.shm.memory.WorkRequest;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.SendOpcode;

/**
 * Carries out the sends of a queue pair of type UD: puts each datagram into the ring to its destination, or into those to
 * all members of a group. A datagram that cannot be delivered is lost, and completes with success. Used by one
 * thread at a time, the one that executes the send queue.
 */
public final class DatagramExecutor {
    private final DatagramQueuePair qp;
    private final SendCompletions completions;
    private final boolean signalAll;
    private final boolean blockLoopback;
    private final long hazard;
    private final SendCounts counts;
    private final LocalBuffers buffers;
    private final Destinations destinations;
    private int sequence;
    /** The oldest request waits for a session. */
    private volatile boolean waiting;

    /**
     * Makes one.
     *
     * @param blockLoopback whether datagrams to a group are not delivered to the queue pair itself
     * @param hazard address of its word, see {@link Hazard}
     */
    public DatagramExecutor(DatagramQueuePair qp, Control control, SendCompletions completions, SendCounts counts,
            LocalBuffers buffers, boolean signalAll, boolean blockLoopback, long hazard) {
        this.qp = qp;
        this.completions = completions;
        this.buffers = buffers;
        this.signalAll = signalAll;
        this.blockLoopback = blockLoopback;
        this.hazard = hazard;
        this.counts = counts;
        destinations = new Destinations(control, hazard);
    }

    /**
     * Executes work request {@code w}, the queue pair's {@code number}th.
     *
     * @return false if it has to wait; it is then to be executed again
     */
    public boolean execute(WorkRequest w, long number) {
        QueuePairState s = qp.state();
        if (s != QueuePairState.RTS && !(s == QueuePairState.SQD && qp.isDraining() && waiting)) {
            return s != QueuePairState.SQD && done(w, number, WcStatus.WR_FLUSH_ERR);
        }
        if (w.total > DatagramLayout.MAX_MESSAGE) {
            return fail(w, number, WcStatus.LOC_LEN_ERR);
        }
        // no memory of a peer is accessed, but deregistration of a region of ours has to wait for this read
        Hazard.enter(hazard, ++sequence, Hazard.RECEIVES);
        int answer = buffers.check(w, 0) ? send(w) : -1;
        Hazard.leave(hazard);
        if (answer == Destination.WAIT) {
            if (!waiting) {
                waiting = true;
                qp.requestProgress();
            }
            return false;
        }
        waiting = false;
        if (answer < 0) {
            return fail(w, number, WcStatus.LOC_PROT_ERR);
        }
        if (answer == Destination.READY) {
            counts.sent(w.total);
        }
        w.destination = null;
        return !signalAll && !w.isSignaled() || done(w, number, WcStatus.SUCCESS);
    }

    /** Sends to one or all; returns as {@link Destination#prepare}, or -1 if a buffer cannot be read. */
    private int send(WorkRequest w) {
        ShmAddressHandle to = (ShmAddressHandle) w.destination;
        if (to == null) {
            return Destination.LOST; // refused when it was posted
        }
        int number = (int) w.remoteAddress;
        MulticastGroup group = to.group();
        if (group == null) {
            return put(destinations.get(to.instance, number), w, to);
        }
        if (number != QueuePair.MULTICAST) {
            return count();
        }
        int answer = Destination.READY;
        for (MulticastGroup.Member m : group.members()) {
            if (!blockLoopback || m.number() != qp.number() || m.instance() != qp.instance()) {
                int one = put(destinations.get(m.instance(), m.number()), w, to);
                // members have a session, as a rule; no wait for one that is just ending or has just begun
                if (one == Destination.WAIT) {
                    count();
                }
                answer = one < 0 ? one : answer;
            }
        }
        return answer;
    }

    private int put(Destination d, WorkRequest w, ShmAddressHandle to) {
        int state = d.prepare();
        if (state != Destination.READY) {
            return state == Destination.LOST ? count() : state;
        }
        long posted = d.posted();
        long total = w.total;
        if (posted == 0) {
            return count();
        }
        long record = d.begin(total);
        if (record == 0) {
            return d.full() == Destination.WAIT ? Destination.WAIT : count();
        }
        if (!copy(w, record + DatagramLayout.MESSAGE)) {
            return -1;
        }
        boolean solicited = w.isSolicited();
        int flags = (w.opcode == SendOpcode.SEND_IMM ? LaneLayout.HAS_IMMEDIATE : 0)
                | (solicited ? LaneLayout.IS_SOLICITED : 0);
        if (d.wantsTimestamps()) {
            RawMemory.putLong(record + DatagramLayout.TIMESTAMP, System.nanoTime());
            flags |= LaneLayout.HAS_TIMESTAMP;
        }
        RawMemory.putInt(record + DatagramLayout.LENGTH, (int) total);
        RawMemory.putInt(record + DatagramLayout.IMMEDIATE, w.immediate);
        RawMemory.putLong(record + DatagramLayout.POSTED, posted);
        // the top bit selects the queue pair's own key
        RawMemory.putInt(record + DatagramLayout.QKEY, w.rkey < 0 ? qp.qkey() : w.rkey);
        RawMemory.putInt(record + DatagramLayout.FLAGS, flags);
        RawMemory.putInt(record + DatagramLayout.SOURCE, qp.number());
        to.writeHeader(record + DatagramLayout.GRH, (int) total);
        if (d.commit(record, total, solicited)) {
            counts.wokePeer();
        }
        return Destination.READY;
    }

    private boolean copy(WorkRequest w, long to) {
        if (w.isInline()) {
            Copy.bytes(w.inlineBuffer, to, w.total);
            return true;
        }
        long at = to;
        for (int s = 0; s < w.sgeCount; s++) {
            long bytes = w.length(s);
            Region r = buffers.region(w.lkey(s), w.address(s), bytes, 0);
            if (r == null || !r.copyOut(w.address(s), at, bytes)) {
                return false;
            }
            at += bytes;
        }
        return true;
    }

    private int count() {
        counts.lost();
        return Destination.LOST;
    }

    private boolean fail(WorkRequest w, long number, int status) {
        qp.sendFailed(WcStatus.toString(status) + " for wrId " + w.wrId);
        return done(w, number, status);
    }

    private boolean done(WorkRequest w, long number, int status) {
        w.destination = null;
        waiting = false;
        if (status != WcStatus.SUCCESS) {
            counts.failed(w, status);
        }
        completions.add(w.wrId, WcOpcode.SEND, status, 0, w.total, number + 1);
        qp.sendCompleted(status != WcStatus.SUCCESS);
        return true;
    }

    /** True if the oldest request was tried and waits for a session. */
    public boolean isWaiting() {
        return waiting;
    }

    /** Nothing waits any more. */
    public void reset() {
        waiting = false;
        buffers.reset();
    }

    /** Releases the rings, when no thread sends any more. */
    public void close() {
        destinations.close();
    }
}
