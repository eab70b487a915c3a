// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import java.io.IOException;

import org.verbena.linux.Errno;
import org.verbena.stack.header.TcpHeader;
import org.verbena.stack.model.TcpState;

/** What a segment does to a connection whose ends know each other's numbers (RFC 9293, 3.10.7.4; RFC 5961; RFC 7323). */
final class SegmentInput {
    /** Timestamps that are older than 24 days may have wrapped (RFC 7323, 5.5). */
    private static final long TIMESTAMP_LIFE = 24L * 24 * 3600 * 1_000_000_000L;
    /** Challenge ACKs that a connection sends in so much time (RFC 5961, 7). */
    private static final int CHALLENGES = 10;
    private static final long CHALLENGE_TIME = 5_000_000_000L;

    private final TcpPorts ports;

    SegmentInput(TcpPorts ports) {
        this.ports = ports;
    }

    void received(Connection c, Segment s, long now) throws IOException {
        if (c.state == TcpState.SYN_SENT) {
            ports.handshake.synSent(c, s, now);
            return;
        }
        if (c.state == TcpState.SYN_RECEIVED && s.has(TcpHeader.SYN) && s.has(TcpHeader.ACK)
                && s.sequence + 1 == c.receiver.next) { // both ends have opened at the same time
            s.cutBegin(1);
            s.window >>>= c.sender.scale; // with SYN it is not scaled
            c.ackNow = true;
        }
        if (!isTimely(c, s, now) || !isAcceptable(c, s, now)) {
            return;
        }
        if (s.has(TcpHeader.RST)) {
            reset(c, s, now);
            return;
        }
        if (s.has(TcpHeader.SYN)) {
            challenge(c, now);
            return;
        }
        if (!s.has(TcpHeader.ACK)) {
            return;
        }
        if (c.state == TcpState.SYN_RECEIVED && !stands(c, s, now) || !acknowledge(c, s, now)) {
            return;
        }
        // Not before the acknowledgment was found good: a timestamp out of the blue would shut out the peer's.
        if (c.timestamps && !Sequence.isAfter(s.sequence, c.acknowledged)
                && (s.options.timestamp() - c.recent >= 0 || now - c.recentAt > TIMESTAMP_LIFE)) {
            c.recent = s.options.timestamp();
            c.recentAt = now;
        }
        c.timers.heard(now);
        text(c, s, now);
        if (c.state != TcpState.CLOSED) {
            ports.soon(c);
            c.timers.restIfEmpty(now);
            c.changed();
        }
    }

    /** PAWS (RFC 7323, 5.3). */
    private boolean isTimely(Connection c, Segment s, long now) throws IOException {
        if (!c.timestamps || s.has(TcpHeader.RST)) {
            return true;
        }
        if (!s.options.hasTimestamps()) {
            return s.has(TcpHeader.SYN); // RFC 7323, 3.2: dropped
        }
        if (s.options.timestamp() - c.recent >= 0 || now - c.recentAt > TIMESTAMP_LIFE) {
            return true;
        }
        ports.tcpCounts.old++;
        if (s.numbers() > 0) {
            noteRepetition(c, s);
            challenge(c, now);
        }
        return false;
    }

    private static void noteRepetition(Connection c, Segment s) {
        if (s.length > 0 && !Sequence.isAfter(s.sequence + s.length, c.receiver.next)) {
            c.receiver.repeat(s.sequence, s.sequence + s.length);
        }
    }

    /** Whether a segment has something within the window; its acknowledgment counts if the window is closed, too. */
    private boolean isAcceptable(Connection c, Segment s, long now) throws IOException {
        Receiver r = c.receiver;
        int n = s.numbers();
        int window = r.window();
        boolean ok = n == 0
                // As Linux has it: who has used all of the window is at its edge. Resets have to be inside.
                ? isWithin(s.sequence, r.next, s.has(TcpHeader.RST) && window > 0 ? window : window + 1)
                : window == 0
                        ? s.sequence == r.next
                        : Sequence.isAfter(s.end(), r.next) && Sequence.isBefore(s.sequence, r.edge);
        if (ok) {
            return true;
        }
        if (s.has(TcpHeader.RST)) {
            return false;
        }
        if (c.state == TcpState.SYN_RECEIVED && s.has(TcpHeader.SYN) && s.sequence + 1 == r.next) {
            c.synAgain = true;
            ports.output.syn(c, true, now); // the answer was lost
            return false;
        }
        if (s.has(TcpHeader.ACK) && !s.has(TcpHeader.SYN) && n > 0 && !Sequence.isAfter(s.end(), r.next)) {
            noteRepetition(c, s); // the acknowledgment of it was lost
            c.ackNow = true;
            ports.soon(c);
            return false;
        }
        challenge(c, now);
        return false;
    }

    private static boolean isWithin(int sequence, int first, int length) {
        return sequence - first >= 0 && sequence - first < length;
    }

    /** RFC 5961, 3.2: only the next number is believed. */
    private void reset(Connection c, Segment s, long now) throws IOException {
        if (s.sequence != c.receiver.next) {
            challenge(c, now);
            return;
        }
        ports.tcpCounts.resetsIn++;
        int error = switch (c.state) {
            case SYN_RECEIVED -> c.active ? Errno.ECONNREFUSED : 0;
            case CLOSING, LAST_ACK, TIME_WAIT -> c.sender.held() == 0 ? 0 : Errno.ECONNRESET;
            default -> Errno.ECONNRESET;
        };
        c.end(error, now);
    }

    /** Tells the peer where this end is, so that it can prove that it knows (RFC 5961, 7). */
    private void challenge(Connection c, long now) throws IOException {
        if (c.challenges > 0 && now - c.challengedAt >= CHALLENGE_TIME) {
            c.challenges = 0;
        }
        if (c.challenges == 0) {
            c.challengedAt = now;
        }
        if (c.challenges < CHALLENGES) {
            c.challenges++;
            ports.tcpCounts.challenges++;
            if (c.state == TcpState.SYN_RECEIVED) {
                ports.output.acknowledge(c, now);
            } else {
                c.ackNow = true;
                ports.soon(c);
            }
        }
    }

    /** The peer has answered this end's SYN; false if it has not. */
    private boolean stands(Connection c, Segment s, long now) throws IOException {
        if (s.acknowledgment != c.sender.next) {
            ports.output.refuse(s, now);
            return false;
        }
        Listener l = c.listener;
        if (l != null && l.isFull()) {
            ports.tcpCounts.backlogFull++;
            return false; // SYN's answer is sent again, and this comes again
        }
        c.sender.una = s.acknowledgment;
        c.sender.window = s.window << c.sender.scale;
        c.sender.greatestWindow = c.sender.window;
        ports.handshake.established(c, now);
        if (l != null) {
            l.half--;
            l.add(c);
        }
        if (c.sender.finished) {
            c.state = TcpState.FIN_WAIT_1;
        }
        return true;
    }

    /** Takes the acknowledgment and the window; false if it cannot be one of this connection. */
    private boolean acknowledge(Connection c, Segment s, long now) throws IOException {
        Sender d = c.sender;
        int ack = s.acknowledgment;
        if (Sequence.isAfter(ack, d.next) || Sequence.isBefore(ack, d.una - d.greatestWindow)) { // RFC 5961, 5.2
            challenge(c, now);
            return false;
        }
        if (c.ecn) {
            if (s.has(TcpHeader.CWR)) {
                c.ecnEcho = false;
            }
            c.ecnEcho |= s.congested;
        }
        if (Sequence.isBefore(ack, d.una)) {
            c.recovery.acknowledgeLate(s, now);
            return true;
        }
        int window = s.window << d.scale;
        c.recovery.acknowledge(s, window, now);
        c.recovery.heard();
        if (c.ecn && s.has(TcpHeader.ECE)) {
            c.recovery.congested(now);
        }
        if (Sequence.isAfter(s.sequence, d.windowSequence) || s.sequence == d.windowSequence && !Sequence.isBefore(ack,
                d.windowAcknowledgment)) {
            if (window > d.window) {
                c.recovery.opened();
            }
            d.window = window;
            d.greatestWindow = Math.max(d.greatestWindow, window);
            d.windowSequence = s.sequence;
            d.windowAcknowledgment = ack;
        }
        if (d.isAllAcknowledged()) {
            switch (c.state) {
                case FIN_WAIT_1 -> {
                    c.state = TcpState.FIN_WAIT_2;
                    if (c.released) {
                        c.timers.orphaned(now);
                    }
                }
                case CLOSING -> ports.timeWait(c, now);
                case LAST_ACK -> {
                    c.end(0, now);
                    return false;
                }
                default -> {}
            }
        }
        return true;
    }

    /** Takes the bytes and FIN. */
    void text(Connection c, Segment s, long now) throws IOException {
        Receiver r = c.receiver;
        if (s.numbers() == 0 || !c.state.receives()) {
            return;
        }
        boolean fin = s.has(TcpHeader.FIN);
        if (c.deaf && s.length > 0 && Sequence.isAfter(s.sequence + s.length, r.next)) {
            ports.output.refuse(s, now); // nobody reads it, and the peer should know (RFC 9293, 3.6.1)
            c.end(0, now);
            return;
        }
        int beyond = s.sequence + s.length - r.edge;
        if (beyond > 0) {
            s.cutEnd(Math.min(beyond, s.length));
            fin = false;
            c.ackNow = true;
        }
        if (s.length > 0) {
            take(c, s, now);
        }
        if (fin) {
            fin = r.finish(s.sequence + s.length);
            c.ackNow = true;
        } else if (r.finAhead && r.fin == r.next) {
            fin = r.finish(r.fin);
            c.ackNow = true;
        }
        if (fin) {
            switch (c.state) {
                case ESTABLISHED -> c.state = TcpState.CLOSE_WAIT;
                case FIN_WAIT_1 -> c.state = TcpState.CLOSING;
                default -> ports.timeWait(c, now);
            }
        }
    }

    private void take(Connection c, Segment s, long now) {
        Receiver r = c.receiver;
        boolean gaps = r.hasGaps();
        int n = r.take(s.sequence, s.memory, s.parts, s.data, s.length);
        if (n <= 0 || gaps || r.repeated) { // RFC 5681, 4.2: at once; RFC 2883, 4: what came twice is told with the next
            c.ackNow = true;
            ports.tcpCounts.outOfOrder += n == 0 ? 1 : 0;
            ports.tcpCounts.noMemory += n < 0 ? 1 : 0;
        }
        // No clamp: the path may have become shorter than what was heard before.
        c.heardSegment = Math.max(Math.min(s.length, ports.pathSegment(c.path)), c.heardSegment
                - (c.heardSegment >> 4));
        if (r.next - c.acknowledged >= 2 * Math.max(c.heardSegment, Handshake.DEFAULT_SEGMENT)) {
            c.ackNow = true;
        } else if (c.quickAcks > 0) {
            c.quickAcks--;
            c.ackNow = true;
        } else if (!c.ackNow) {
            c.timers.acknowledgment(now + c.settings.delayedAck());
        }
    }
}
