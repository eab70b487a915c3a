// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.SendOpcode;

/**
 * The requester of a reliable queue pair (IBTA volume 1, 9.7.2 to 9.7.5): sends what is posted, and retransmits what is
 * lost.
 *
 * <p>Sequence numbers are extended to 64 bits here; the PSN is the lower 24 bits:
 *
 * <pre>
 *   unacked           next               high
 *  ----|---------------|------------------|-------->
 *      |  in flight    | to retransmit   | not sent yet
 * </pre>
 *
 * <p>A READ is split into requests of {@link #READ_PACKETS} response packets each, so that the window limits responses
 * as well: a responder does not know our buffers.
 */
final class Requester {
    /** Response packets that one READ request asks for at most; requests begin at multiples of it in the message. */
    static final int READ_PACKETS = CongestionWindow.MIN;

    /** An ACK is requested with each last packet of a message, and after this many packets in between. */
    private static final int ACK_REQUEST_INTERVAL = 16;
    private static final int INFINITE_RNR_RETRY = 7;
    /**
     * The shortest time-out: a packet that waits for a thread to be scheduled is not lost. The shortest on Linux is a
     * tick.
     */
    private static final long MIN_TIMEOUT_NANOS = 1_000_000;
    /** 4.096 µs. */
    private static final long TIMEOUT_UNIT_NANOS = 4096;
    /** A time-out doubles so often at most, since it may take one to four times its interval (IBTA volume 1, 9.7.6.1.3). */
    private static final int MAX_DOUBLINGS = 2;

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
    /** Index of the entry that is sent next, and the packet within it. */
    private long current;
    private int packet;
    private long next;
    long high;
    long unacked;
    /** READ requests, atomics, flushes without a response. */
    private int outstanding;
    private int packetsSinceAckRequest;

    private int retriesLeft;
    private int rnrRetriesLeft;
    /** Consecutive time-outs without progress. */
    private int timeouts;
    /** What is in flight is retransmitted, and nothing was acknowledged since that began. */
    private boolean retransmitting;
    /** All retries are exhausted. */
    private boolean retriesExhausted;
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
        retriesExhausted = false;
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

    /** Resets the sequence; the ring's entries are complete, or will be flushed. */
    void clear() {
        started = ring.tail;
        current = ring.tail;
        packet = 0;
        next = high;
        unacked = high;
        outstanding = 0;
        retransmitting = false;
        ackDeadline = Timers.NEVER;
        rnrDeadline = Timers.NEVER;
        window.reset();
        retriesLeft = retryCount;
        rnrRetriesLeft = rnrRetry;
        timeouts = 0;
    }

    boolean isIdle() {
        return ring.head == started;
    }

    boolean hasExhaustedRetries() {
        return retriesExhausted;
    }

    // ---- sending

    /**
     * Sends what the window, the peer's limit of outstanding reads and the wire allow.
     *
     * @return false if the wire is the limit
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
            if (isBlocked(w)) {
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

    /**
     * Starts a request before its first packet, or executes one that needs no packet; false if it has to wait or has
     * failed.
     */
    private boolean start(SendWqe w) {
        if (qp.state == QueuePairState.SQD || (w.flags & SendFlags.FENCE) != 0 && outstanding > 0) {
            return false;
        }
        w.first = high;
        int status = Preparation.prepare(qp, w, qp.mtu);
        if (status == WcStatus.SUCCESS && w.expectsResponse && maxReadAtomic == 0) {
            status = WcStatus.LOC_QP_OP_ERR; // it would wait forever
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

    /** The request fails when the earlier ones are complete. */
    private void failLater(SendWqe w, int status) {
        w.failed = true;
        w.status = status;
        retire(unacked);
    }

    private boolean isBlocked(SendWqe w) {
        int n = 1;
        if (w.opcode == SendOpcode.READ) {
            n = endOfRead(w) - packet;
        }
        if (w.expectsResponse && next >= high && outstanding >= maxReadAtomic) {
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
        } else if (w.expectsResponse) {
            length = writer.single(a, w, qp.destination);
        } else {
            boolean requestAck = end == w.packets || ++packetsSinceAckRequest >= ACK_REQUEST_INTERVAL
                    || next + 1 - unacked >= window.size();
            if (requestAck) {
                packetsSinceAckRequest = 0;
            }
            length = writer.message(a, w, packet, qp.mtu, qp.destination, requestAck);
        }
        if (length < 0) { // the memory was deregistered since the request was started
            failStarted(w);
            return false;
        }
        qp.sendToPeer(length);
        int n = end - packet;
        if (next < high) {
            owner.count(SamplePoint.QP_RETRANSMITS, 1);
        } else {
            high += n;
            if (w.expectsResponse) {
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

    /** The rest of the request is never sent; it fails when the earlier ones are complete. */
    private void failStarted(SendWqe w) {
        w.failed = true;
        w.status = WcStatus.LOC_PROT_ERR;
        retire(unacked);
    }

    /** Continues at a sequence number that was sent before. */
    private void moveTo(long sequence) {
        next = sequence;
        packet = 0;
        for (current = ring.head; current < started; current++) {
            SendWqe w = ring.at(current);
            if (w.packets > 0 && sequence < w.first + w.packets) {
                packet = (int) (sequence - w.first);
                return;
            }
        }
    }

    // ---- responses

    /** The oldest request if it expects a response of its own; else null. */
    @Nullable
    SendWqe oldestExpectingResponse() {
        if (ring.head >= started) {
            return null;
        }
        SendWqe w = ring.at(ring.head);
        return w.expectsResponse && !w.failed ? w : null;
    }

    /**
     * All packets before a sequence number have arrived at the peer.
     *
     * @return false if a response before it is missing: an implied NAK (9.7.5.1.1)
     */
    boolean acknowledged(long sequence) {
        long before = unacked;
        boolean complete = retire(sequence);
        if (unacked > before) {
            progressed(unacked - before);
        }
        return complete;
    }

    private boolean retire(long sequence) {
        while (ring.head < ring.tail) {
            SendWqe w = ring.at(ring.head);
            long end = w.first + w.packets;
            if (w.failed) {
                qp.failOldest(w.status, "a request names memory that it may not use, or cannot be executed");
                return true;
            }
            if (ring.head == started) {
                break;
            }
            if (w.expectsResponse && w.received < w.packets) {
                unacked = Math.max(unacked, w.first + w.received);
                return sequence <= unacked;
            }
            if (end > sequence && w.packets > 0) {
                unacked = Math.max(unacked, sequence);
                return true;
            }
            unacked = Math.max(unacked, end);
            qp.complete(w, WcStatus.SUCCESS);
        }
        unacked = Math.max(unacked, Math.min(sequence, high));
        qp.checkDrained();
        return true;
    }

    /** Responses to the oldest request have arrived: {@code responses} of them by now. */
    void received(SendWqe w, int responses) {
        boolean wholeRequest = responses == w.packets || responses % READ_PACKETS == 0;
        w.received = responses;
        if (wholeRequest) {
            outstanding--;
        }
        acknowledged(w.first + responses);
    }

    private void progressed(long packets) {
        retriesLeft = retryCount;
        rnrRetriesLeft = rnrRetry;
        timeouts = 0;
        retransmitting = false;
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
                : wire.nanoTime() + timeoutInterval();
        qp.transport.timers().set(qp, deadline());
    }

    /**
     * The first retransmission comes soon, since a packet may be lost. A peer that does not respond to it either may be
     * suspended or overloaded: more packets would only add to that.
     */
    private long timeoutInterval() {
        return timeoutNanos << Math.clamp(timeouts - 1, 0, MAX_DOUBLINGS);
    }

    // ---- retransmission

    long deadline() {
        // a peer that waits for a receive to be posted is not silent (9.7.5.2.8)
        return rnrDeadline == Timers.NEVER ? ackDeadline : rnrDeadline;
    }

    void expired(long now) {
        if (rnrDeadline <= now) {
            rnrDeadline = Timers.NEVER;
            moveTo(unacked);
            restartTimer();
        } else if (rnrDeadline == Timers.NEVER && ackDeadline <= now) {
            owner.count(SamplePoint.QP_TX_PEER_WAITS, 1);
            timeouts++;
            retry();
        }
    }

    /** A response shows that a packet was lost; a retransmission that is under way includes it. */
    void packetLost() {
        if (!retransmitting && rnrDeadline == Timers.NEVER) {
            retry();
        }
    }

    private void retry() {
        if (retriesLeft == 0) {
            retriesExhausted = true;
            qp.failOldest(WcStatus.RETRY_EXC_ERR, "the peer did not respond to any retransmission");
            return;
        }
        retriesLeft--;
        retransmitting = true;
        window.shrink();
        moveTo(unacked);
        restartTimer();
    }

    /** RNR NAK: the peer has no receive posted for the oldest request. */
    void receiverNotReady(long nanos) {
        if (rnrDeadline != Timers.NEVER) {
            return; // a duplicate NAK
        }
        owner.count(SamplePoint.QP_TX_RNR_WAITS, 1);
        if (rnrRetry != INFINITE_RNR_RETRY) {
            if (rnrRetriesLeft == 0) {
                qp.failOldest(WcStatus.RNR_RETRY_EXC_ERR, "the peer had no receive posted for any retry");
                return;
            }
            rnrRetriesLeft--;
        }
        rnrDeadline = wire.nanoTime() + nanos;
        retransmitting = false;
        moveTo(unacked);
        qp.transport.timers().set(qp, rnrDeadline);
    }
}
