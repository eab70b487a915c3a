// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import java.io.IOException;

import org.verbena.stack.header.TcpHeader;
import org.verbena.stack.header.TcpOptions;
import org.verbena.stack.model.TcpSettings;
import org.verbena.stack.model.TcpState;

/**
 * Answers to SYN that need no memory, for the time of a flood (RFC 4987, 3.6): the first sequence number tells when it was made and the segment size, and a hash
 * proves that it was made here. Scale and SACK are in the timestamp, so a peer without timestamps has neither.
 */
final class SynCookies {
    private static final int[] SEGMENTS = {48, 512, 536, 1024, 1220, 1380, 1440, 1460};
    private static final int MINUTE_BITS = 36;
    /** A cookie is good for this one of its time and the one after. */
    private static final int LIFE = 2;
    private static final int HASH = 0xff_ffff;
    private static final int NO_SCALE = 15;
    private static final int SACK = 16;
    private static final int STAMP_BITS = 0x1f;

    private final TcpPorts ports;
    private final KeyedHash hash;

    SynCookies(TcpPorts ports, KeyedHash hash) {
        this.ports = ports;
        this.hash = hash;
    }

    private int cookie(Segment s, int first, int minute, int size) {
        int h = (int) hash.of(s.path, s.remotePort, s.port, (long) first << 32 | minute << 3 | size) & HASH;
        return minute << 27 | size << 24 | h;
    }

    /** Answers a SYN. */
    void answer(Listener l, Segment s, long now) throws IOException {
        TcpSettings t = l.settings;
        TcpOptions o = s.options;
        int size = SEGMENTS.length - 1;
        int told = o.maximumSegmentSize() == 0 ? Handshake.DEFAULT_SEGMENT : o.maximumSegmentSize();
        while (size > 0 && SEGMENTS[size] > told) {
            size--;
        }
        boolean stamps = t.timestamps() && o.hasTimestamps();
        int scale = stamps && t.windowScale() ? o.windowScale() : -1;
        boolean sack = stamps && t.sack() && o.isSackPermitted();
        int clock = (int) (now / 1_000_000) + ports.timestampOffset(s.path, s.remotePort, s.port);
        int stamp = clock & ~STAMP_BITS | (scale < 0 ? NO_SCALE : scale) | (sack ? SACK : 0);
        stamp -= stamp - clock > 0 ? STAMP_BITS + 1 : 0; // segments that follow must not be older
        ports.tcpCounts.cookiesOut++;
        l.cookieAt = now;
        l.hasCookies = true;
        ports.output.syn(s.port, s.path, s.remotePort, cookie(s, s.sequence, minute(now), size), s.sequence + 1, Math
                .min(t.receiveBuffer(), 0xffff), TcpHeader.SYN | TcpHeader.ACK, ports.tellSegment(t, s.path),
                scale < 0 ? -1 : t.scale(), sack, stamps, stamp, o.timestamp(), now);
    }

    private static int minute(long now) {
        return (int) (now >> MINUTE_BITS) & 0x1f;
    }

    /** Takes a segment for which there is no connection: if it answers a cookie, there is one now. */
    void check(Listener l, Segment s, long now) throws IOException {
        int cookie = s.acknowledgment - 1;
        int first = s.sequence - 1;
        int size = cookie >>> 24 & 7;
        int age = minute(now) - (cookie >>> 27) & 0x1f;
        boolean recent = l.hasCookies && now - l.cookieAt < (long) LIFE << MINUTE_BITS;
        if (s.has(TcpHeader.SYN) || !recent || age >= LIFE || cookie(s, first, cookie >>> 27, size) != cookie) {
            ports.output.refuse(s, now);
            return;
        }
        if (l.isFull()) {
            ports.tcpCounts.backlogFull++;
            return;
        }
        boolean stamps = s.options.hasTimestamps();
        int echo = s.options.echo();
        int scale = stamps && (echo & NO_SCALE) != NO_SCALE ? echo & NO_SCALE : -1;
        Connection c = ports.accept(l.settings, s.path, s.remotePort, s.port);
        c.listener = l;
        l.half++;
        c.state = TcpState.SYN_RECEIVED;
        c.sender.begin(cookie);
        c.receiver.begin(first);
        ports.handshake.agree(c, SEGMENTS[size], scale, stamps && (echo & SACK) != 0, stamps);
        c.recent = s.options.timestamp();
        c.recentAt = now;
        c.sender.windowSequence = first;
        c.sender.windowAcknowledgment = cookie;
        c.acknowledged = s.sequence;
        c.heardAt = Timers.NEVER; // when SYN was answered is not known
        ports.tcpCounts.cookiesIn++;
        ports.input.received(c, s, now);
    }
}
