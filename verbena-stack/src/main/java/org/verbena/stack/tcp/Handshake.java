// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import java.io.IOException;

import org.verbena.linux.Errno;
import org.verbena.stack.header.TcpHeader;
import org.verbena.stack.header.TcpOptions;
import org.verbena.stack.model.TcpState;

/** How connections begin (RFC 9293, 3.5): SYN, its answers, and what both ends agree on. */
final class Handshake {
    /** A SYN is sent so often again, as Linux has it ({@code tcp_syn_retries}): two minutes. */
    static final int MOST_RETRIES = 6;
    /** What a peer takes that does not say it (RFC 9293, 3.7.1). */
    static final int DEFAULT_SEGMENT = 536;
    /** A peer that tells less is not believed: a header would go with each few bytes. */
    private static final int LEAST_SEGMENT = 48;

    private final TcpPorts ports;

    Handshake(TcpPorts ports) {
        this.ports = ports;
    }

    /** Opens a connection from this end. */
    void open(Connection c, int initial, long now) throws IOException {
        c.active = true;
        c.state = TcpState.SYN_SENT;
        c.ecn = c.settings.ecn();
        c.sender.begin(initial);
        c.heardAt = now; // when SYN was sent
        c.timers.retransmission(now + c.recovery.timeout());
        ports.output.syn(c, false, now);
    }

    /** Sends SYN or its answer again, since nothing has come. */
    void again(Connection c, long now) throws IOException {
        c.synAgain = true;
        if (c.ecn && c.state == TcpState.SYN_SENT && c.recovery.hasTriedOften()) {
            c.ecn = false; // who does not know it may have dropped it (RFC 3168, 6.1.1.1)
        }
        ports.tcpCounts.retransmitted++;
        ports.output.syn(c, c.state == TcpState.SYN_RECEIVED, now);
    }

    /** A SYN has come for a listener. */
    void listen(Listener l, Segment s, int initial, long now) throws IOException {
        if (l.isFull()) {
            ports.tcpCounts.backlogFull++;
            return;
        }
        Connection c = ports.accept(l.settings, s.path, s.remotePort, s.port);
        c.listener = l;
        l.half++;
        c.state = TcpState.SYN_RECEIVED;
        c.sender.begin(initial);
        c.receiver.begin(s.sequence);
        agree(c, s, now);
        c.ecn = s.has(TcpHeader.ECE) && s.has(TcpHeader.CWR);
        c.heardAt = now;
        c.timers.retransmission(now + c.recovery.timeout());
        ports.output.syn(c, true, now);
    }

    /** Takes what the peer's SYN says. */
    void agree(Connection c, Segment s, long now) {
        TcpOptions o = s.options;
        agree(c, o.maximumSegmentSize(), o.windowScale(), o.isSackPermitted(), o.hasTimestamps());
        if (c.timestamps) {
            c.recent = o.timestamp();
            c.recentAt = now;
        }
        c.sender.window = s.window; // SYN's is not scaled
        c.sender.greatestWindow = s.window;
        c.sender.windowSequence = s.sequence;
        c.sender.windowAcknowledgment = s.acknowledgment;
    }

    void agree(Connection c, int maximumSegment, int scale, boolean sack, boolean timestamps) {
        c.timestamps &= timestamps;
        c.sack &= sack;
        c.scaled &= scale >= 0;
        c.sender.scale = c.scaled ? scale : 0;
        c.receiver.scale = c.scaled ? c.settings.scale() : 0;
        int most = c.settings.maximumSegment();
        int told = Math.max(maximumSegment == 0 ? DEFAULT_SEGMENT : maximumSegment, LEAST_SEGMENT);
        c.peerSegment = most > 0 ? Math.min(told, most) : told;
        c.pathSegment = ports.pathSegment(c.path);
        c.resize();
    }

    /** A segment has come for a connection that has sent SYN (RFC 9293, 3.10.7.3). */
    void synSent(Connection c, Segment s, long now) throws IOException {
        Sender d = c.sender;
        boolean ack = s.has(TcpHeader.ACK);
        if (ack && s.acknowledgment != d.next) {
            ports.output.refuse(s, now);
            return;
        }
        if (s.has(TcpHeader.RST)) {
            if (ack) {
                ports.tcpCounts.resetsIn++;
                c.end(Errno.ECONNREFUSED, now);
            }
            return;
        }
        if (!s.has(TcpHeader.SYN)) {
            return;
        }
        c.receiver.begin(s.sequence);
        agree(c, s, now);
        if (!ack) { // the peer has opened at the same time
            c.ecn = s.has(TcpHeader.ECE) && s.has(TcpHeader.CWR);
            c.state = TcpState.SYN_RECEIVED;
            ports.output.syn(c, true, now);
            return;
        }
        c.ecn &= s.has(TcpHeader.ECE) && !s.has(TcpHeader.CWR);
        d.una = s.acknowledgment;
        established(c, now);
        c.ackNow = true;
        s.cutBegin(1);
        if (s.numbers() > 0) {
            ports.input.text(c, s, now);
        }
        ports.soon(c);
        c.changed();
    }

    /** Both ends know each other's numbers. */
    void established(Connection c, long now) {
        Sender d = c.sender;
        c.state = TcpState.ESTABLISHED;
        c.timers.retransmission(Timers.NEVER);
        c.recovery.begin(c.synAgain, c.heardAt, now);
        d.smallEnd = d.una;
        d.urgent = d.una;
        c.timers.heard(now);
        if (c.active) {
            ports.tcpCounts.opened++;
        }
    }
}
