// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.WcStatus;

/**
 * The requester of a reliable queue pair (IBTA volume 1, 9.7.2 to 9.7.5): sends what is posted, and again what is lost.
 *
 * <p>Places in the sequence are 64-bit numbers here, of which the PSN is the lower 24 bits:
 *
 * <pre>
 *   unacked           next               high
 *  ----|---------------|------------------|-------->
 *      |  on its way   | to be sent again | not sent yet
 * </pre>
 *
 * <p>A READ is cut into requests of {@link #READ_PACKETS} answers each, so that the window holds for answers as well: a
 * responder knows nothing of our buffers.
 */
final class Requester {
    /** Answers that one READ request asks for at most; requests begin at multiples of it in the message. */
    static final int READ_PACKETS = CongestionWindow.MIN;

    /** An ACK is asked for with each last packet, and this often in between. */
    private static final int ACKNOWLEDGE_EVERY = 16;
    private static final int FOR_EVER = 7;
    /** The shortest time-out: a packet that waits for a thread to run is not lost. Linux cannot do less than a tick. */
    private static final long MIN_TIMEOUT_NANOS = 1_000_000;
    /** 4.096 µs. */
    private static final long TIMEOUT_UNIT_NANOS = 4096;

    private final ReliableQueuePair qp;
    private final QueuePairOwner owner;
    private final SendRing ring;
    private final Wire wire;
    private final RequestWriter writer;
    final CongestionWindow window = new CongestionWindow();

    private long timeoutNanos = Timers.NEVER;
    private int retryCount;
    private int rnrRetry;
    private int maxReadAtomic;

    /** Index of the first entry that was never sent. */
    private long started;
    /** Index of the entry that is sent next, and its packet. */
    private long current;
    private int packet;
    private long next;
    long high;
    long unacked;
    /** READ requests, atomics, flushes that have no answer yet. */
    private int outstanding;
    private int unasked;

    private int retriesLeft;
    private int rnrRetriesLeft;
    /** What is on its way is a repetition, and nothing has come back since it began. */
    private boolean retrying;
    /** All repetitions were in vain. */
    private boolean gaveUp;
    private long ackDeadline = Timers.NEVER;
    private long rnrDeadline = Timers.NEVER;

    Requester(ReliableQueuePair qp, int transport) {
        this.qp = qp;
        owner = qp.owner;
        ring = qp.sends;
        wire = qp.wire;
        writer = new RequestWriter(qp, transport);
    }

    // ---- attributes

    void begin(int psn) {
        clear();
        gaveUp = false;
        unacked = psn;
        next = psn;
        high = psn;
    }

    /** Of {@link org.verbena.verbs.QueuePairAttributes#timeout()}. */
    void setTimeout(int code) {
        timeoutNanos = code == 0 ? Timers.NEVER : Math.max(MIN_TIMEOUT_NANOS, TIMEOUT_UNIT_NANOS << code);
    }

    void setRetryCount(int n) {
        retryCount = n;
        retriesLeft = n;
    }

    void setRnrRetry(int n) {
        rnrRetry = n;
        rnrRetriesLeft = n;
    }

    void setMaxReadAtomic(int n) {
        maxReadAtomic = n;
    }

    /** Forgets what is on its way; the ring's entries are complete, or will be flushed. */
    void clear() {
        started = ring.tail;
        current = ring.tail;
        packet = 0;
        next = high;
        unacked = high;
        outstanding = 0;
        retrying = false;
        ackDeadline = Timers.NEVER;
        rnrDeadline = Timers.NEVER;
        window.reset();
        retriesLeft = retryCount;
        rnrRetriesLeft = rnrRetry;
    }

    boolean isIdle() {
        return ring.head == started;
    }

    boolean hasGivenUp() {
        return gaveUp;
    }

    // ---- sending

    /**
     * Sends what the window, the peer's depth of reads and the wire allow.
     *
     * @return false if it is the wire that does not
     */
    boolean send() {
        while (current < ring.tail && rnrDeadline == Timers.NEVER && sendsNow()) {
            SendWqe w = ring.at(current);
            if (w.failed || current == started && !start(w)) {
                return true;
            }
            if (w.packets == 0) {
                current++;
                continue;
            }
            if (isHeldBack(w)) {
                return true;
            }
            long a = wire.next();
            if (a == 0) {
                return false;
            }
            if (!sendPacket(w, a)) {
                return true;
            }
        }
        return true;
    }

    private boolean sendsNow() {
        return qp.state == QueuePairState.RTS || qp.state == QueuePairState.SQD;
    }

    /** The first packet of a request, or all of one that needs none; false if it has to wait or has failed. */
    private boolean start(SendWqe w) {
        if (qp.state == QueuePairState.SQD || (w.flags & SendFlags.FENCE) != 0 && outstanding > 0) {
            return false;
        }
        w.first = high;
        int status = Preparation.prepare(qp, w, qp.mtu);
        if (status == WcStatus.SUCCESS && w.answered && maxReadAtomic == 0) {
            status = WcStatus.LOC_QP_OP_ERR; // it would wait for ever
        }
        if (status != WcStatus.SUCCESS) {
            failLater(w, status);
            return false;
        }
        started++;
        if (w.packets == 0) {
            retire(unacked);
        }
        return sendsNow();
    }

    /** The request fails when those before it are done. */
    private void failLater(SendWqe w, int status) {
        w.failed = true;
        w.status = status;
        retire(unacked);
    }

    private boolean isHeldBack(SendWqe w) {
        int n = 1;
        if (w.opcode == SendOpcode.READ) {
            n = endOfRead(w) - packet;
        }
        if (w.answered && next >= high && outstanding >= maxReadAtomic) {
            return true;
        }
        return next != unacked && next + n - unacked > window.size();
    }

    private int endOfRead(SendWqe w) {
        return Math.min(w.packets, (packet / READ_PACKETS + 1) * READ_PACKETS);
    }

    private boolean sendPacket(SendWqe w, long a) {
        int end = packet + 1;
        int length;
        if (w.opcode == SendOpcode.READ) {
            end = endOfRead(w);
            length = writer.read(a, w, packet, end, qp.mtu, qp.destination);
        } else if (w.answered) {
            length = writer.single(a, w, qp.destination);
        } else {
            boolean ask = end == w.packets || ++unasked >= ACKNOWLEDGE_EVERY
                    || next + 1 - unacked >= window.size();
            if (ask) {
                unasked = 0;
            }
            length = writer.message(a, w, packet, qp.mtu, qp.destination, ask);
        }
        if (length < 0) { // the memory has been taken away since the request was started
            failStarted(w);
            return false;
        }
        qp.sendToPeer(length);
        int n = end - packet;
        if (next < high) {
            owner.count(SamplePoint.QP_RETRANSMITS, 1);
        } else {
            high += n;
            if (w.answered) {
                outstanding++;
            }
        }
        next += n;
        packet = end;
        if (packet == w.packets) {
            packet = 0;
            current++;
        }
        if (ackDeadline == Timers.NEVER) {
            restartTimer();
        }
        return true;
    }

    /** The rest of the request never leaves; it fails when those before it are done. */
    private void failStarted(SendWqe w) {
        w.failed = true;
        w.status = WcStatus.LOC_PROT_ERR;
        retire(unacked);
    }

    /** Continues at a place that was sent before. */
    private void moveTo(long place) {
        next = place;
        packet = 0;
        for (current = ring.head; current < started; current++) {
            SendWqe w = ring.at(current);
            if (w.packets > 0 && place < w.first + w.packets) {
                packet = (int) (place - w.first);
                return;
            }
        }
    }

    // ---- what came back

    /** The oldest request if it waits for an answer of its own; else null. */
    @Nullable
    SendWqe oldestAnswered() {
        if (ring.head >= started) {
            return null;
        }
        SendWqe w = ring.at(ring.head);
        return w.answered && !w.failed ? w : null;
    }

    /**
     * All before a place has arrived at the peer.
     *
     * @return false if an answer before it is missing: an implied NAK (9.7.5.1.1)
     */
    boolean acknowledged(long place) {
        long before = unacked;
        boolean complete = retire(place);
        if (unacked > before) {
            progressed(unacked - before);
        }
        return complete;
    }

    private boolean retire(long place) {
        while (ring.head < ring.tail) {
            SendWqe w = ring.at(ring.head);
            long end = w.first + w.packets;
            if (w.failed) {
                qp.failOldest(w.status, "a request names memory that it may not use, or cannot be carried out");
                return true;
            }
            if (ring.head == started) {
                break;
            }
            if (w.answered && w.received < w.packets) {
                unacked = Math.max(unacked, w.first + w.received);
                return place <= unacked;
            }
            if (end > place && w.packets > 0) {
                unacked = Math.max(unacked, place);
                return true;
            }
            unacked = Math.max(unacked, end);
            qp.complete(w, WcStatus.SUCCESS);
        }
        unacked = Math.max(unacked, Math.min(place, high));
        qp.checkDrained();
        return true;
    }

    /** Answers of the oldest request have come: how many there are now. */
    void received(SendWqe w, int answers) {
        boolean wholeRequest = answers == w.packets || answers % READ_PACKETS == 0;
        w.received = answers;
        if (wholeRequest) {
            outstanding--;
        }
        acknowledged(w.first + answers);
    }

    private void progressed(long packets) {
        retriesLeft = retryCount;
        rnrRetriesLeft = rnrRetry;
        retrying = false;
        rnrDeadline = Timers.NEVER;
        window.acknowledged(packets);
        if (next < unacked) {
            moveTo(unacked);
        }
        restartTimer();
    }

    private void restartTimer() {
        ackDeadline = unacked == high || timeoutNanos == Timers.NEVER
                ? Timers.NEVER
                : wire.nanoTime() + timeoutNanos;
        qp.transport.timers().set(qp, deadline());
    }

    // ---- repetition

    long deadline() {
        // waiting for a receive at the peer is no silence of the peer's (9.7.5.2.8)
        return rnrDeadline == Timers.NEVER ? ackDeadline : rnrDeadline;
    }

    void expired(long now) {
        if (rnrDeadline <= now) {
            rnrDeadline = Timers.NEVER;
            moveTo(unacked);
            restartTimer();
        } else if (rnrDeadline == Timers.NEVER && ackDeadline <= now) {
            owner.count(SamplePoint.QP_TX_PEER_WAITS, 1);
            retry();
        }
    }

    /** Something is lost, as an answer shows; a repetition that is under way brings it. */
    void lost() {
        if (!retrying && rnrDeadline == Timers.NEVER) {
            retry();
        }
    }

    private void retry() {
        if (retriesLeft == 0) {
            gaveUp = true;
            qp.failOldest(WcStatus.RETRY_EXC_ERR, "the peer did not answer, though the request was repeated");
            return;
        }
        retriesLeft--;
        retrying = true;
        window.shrink();
        moveTo(unacked);
        restartTimer();
    }

    /** The peer has no receive for the oldest request. */
    void notReady(long nanos) {
        if (rnrDeadline != Timers.NEVER) {
            return; // the same said twice
        }
        owner.count(SamplePoint.QP_TX_RNR_WAITS, 1);
        if (rnrRetry != FOR_EVER) {
            if (rnrRetriesLeft == 0) {
                qp.failOldest(WcStatus.RNR_RETRY_EXC_ERR, "the peer had no receive, though the request was repeated");
                return;
            }
            rnrRetriesLeft--;
        }
        rnrDeadline = wire.nanoTime() + nanos;
        retrying = false;
        moveTo(unacked);
        qp.transport.timers().set(qp, rnrDeadline);
    }
}
