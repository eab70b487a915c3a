// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

import org.verbena.stack.header.Ipv4Header;
import org.verbena.stack.header.TcpHeader;
import org.verbena.stack.header.TcpOptions;
import org.verbena.stack.ip.Ip;
import org.verbena.stack.ip.Path;
import org.verbena.stack.wire.SendFrame;

/** What is sent of connections, and when (RFC 9293, 3.8.6). */
final class Output {
    /** Blocks of SACK beside timestamps. */
    private static final int BLOCKS_WITH_TIMESTAMPS = 3;

    private final TcpPorts ports;
    private final Ip ip;

    Output(TcpPorts ports, Ip ip) {
        this.ports = ports;
        this.ip = ip;
    }

    /** Sends what may be sent now: lost segments again, new ones, and an acknowledgment that did not go with them. */
    void flush(Connection c, long now) throws IOException {
        if (c.state.sends()) {
            if (c.ackNow && (c.receiver.hasGaps() || c.receiver.repeated)) {
                acknowledge(c, now); // no room for it beside data
            }
            if (sendLost(c, now)) {
                sendNew(c, Integer.MAX_VALUE, now);
            }
        }
        if (c.ackNow && c.state.isSynchronized()) {
            acknowledge(c, now);
        }
    }

    /** Sends again what is lost, as far as the congestion window goes; false if it does not go far enough. */
    private boolean sendLost(Connection c, long now) throws IOException {
        SentSegments q = c.sender.sent;
        int lost = q.lostBytes();
        for (int i = 0; i < q.size() && lost > 0; i++) {
            if (!q.is(i, SentSegments.LOST)) {
                continue;
            }
            if (q.is(i, SentSegments.IN_FLIGHT)) {
                lost -= q.length(i);
                continue;
            }
            if (q.length(i) > c.sender.segment) {
                q.split(i, q.start(i) + c.sender.segment);
            }
            int n = q.length(i);
            lost -= n;
            if (!c.recovery.maySendAgain(n)) {
                c.recovery.limited();
                return false;
            }
            if (!again(c, i, now)) {
                return false;
            }
        }
        return true;
    }

    /** Sends a range again, of a segment's length at most; false if no buffer is free. */
    boolean again(Connection c, int i, long now) throws IOException {
        Sender s = c.sender;
        SentSegments q = s.sent;
        int start = q.start(i);
        int end = q.end(i);
        boolean fin = s.finished && end - s.end > 0;
        int n = end - start - (fin ? 1 : 0);
        if (!data(c, start, n, (fin ? TcpHeader.FIN : 0) | (n > 0 && end - s.end >= 0 ? TcpHeader.PSH : 0), false,
                now)) {
            return false;
        }
        q.set(i, SentSegments.RETRANSMITTED | SentSegments.IN_FLIGHT);
        q.setTime(i, now);
        ports.tcpCounts.retransmitted++;
        c.recovery.sent(end - start, true, now);
        return true;
    }

    /** Sends up to so many segments that were not sent yet; true if at least one went. */
    boolean sendNew(Connection c, int most, long now) throws IOException {
        Sender s = c.sender;
        boolean any = false;
        for (int i = 0; i < most; i++) {
            int unsent = s.unsent();
            boolean fin = s.isFinDue();
            if (unsent == 0 && !fin) {
                break;
            }
            if (s.outstanding() == 0 && !any) {
                c.recovery.rested(now);
            }
            int usable = s.usable();
            int n = Math.min(unsent, usable > s.segment && most > 1 ? manySegments(c, unsent) : s.segment);
            if (n > usable) {
                n = Math.max(usable, 0);
            }
            boolean last = n == unsent;
            if (most == Integer.MAX_VALUE && !fitsNetwork(c, n)) {
                c.recovery.limited();
                break;
            }
            boolean withFin = fin && last && usable > n;
            if (!withFin && !isWorthSending(c, n, last)) {
                if (s.outstanding() == 0 && (n < unsent || fin)) {
                    c.recovery.persist(now);
                }
                break;
            }
            int flags = (withFin ? TcpHeader.FIN : 0) | (n > 0 && last ? TcpHeader.PSH : 0);
            int start = s.next;
            if (!data(c, start, n, flags, true, now)) {
                break;
            }
            int numbers = n + (withFin ? 1 : 0);
            s.next += numbers;
            s.sent.add(start, s.next, now);
            if (n % s.segment != 0) {
                s.smallEnd = s.next;
            }
            c.recovery.sent(numbers, false, now);
            any = true;
        }
        return any;
    }

    /** How much goes to the wire at once: as many full segments as it cuts and the congestion window lets go, or all if its last segment may go. */
    private int manySegments(Connection c, int unsent) {
        Sender s = c.sender;
        int most = ip.mostCut(c.path) - TcpHeader.BYTES - c.optionBytes();
        int room = c.recovery.window() - s.sent.inFlight();
        int n = Math.min(Math.min(unsent, s.usable()), Math.min(most, room));
        if (n <= s.segment || c.ecnReduced) { // a mark is for one segment
            return s.segment;
        }
        int rest = n % s.segment;
        return rest == 0 || n == unsent && isWorthSending(c, rest, true) ? n : n - rest;
    }

    private static boolean fitsNetwork(Connection c, int n) {
        int flight = c.sender.sent.inFlight();
        return flight == 0 || flight + n <= c.recovery.window();
    }

    /** RFC 9293, 3.8.6.2.1 and 3.7.4, with Minshall's change: a small segment waits only for another small one. */
    private static boolean isWorthSending(Connection c, int n, boolean last) {
        Sender s = c.sender;
        if (n == 0) {
            return false;
        }
        if (n >= s.segment) {
            return true;
        }
        if (!last) {
            return s.greatestWindow > 0 && n >= s.greatestWindow / 2;
        }
        if (c.corked) {
            return false;
        }
        return c.noDelay || !Sequence.isAfter(s.smallEnd, s.una) || s.finished;
    }

    /** Sends bytes of a connection; false if no buffer is free: then it is tried again. */
    private boolean data(Connection c, int sequence, int n, int flags, boolean fresh, long now) throws IOException {
        boolean many = n > c.sender.segment;
        SendFrame f = many ? ip.acquireLong() : ip.acquire();
        if (f == null) {
            ports.later(c);
            return false;
        }
        MemorySegment m = f.memory();
        long at = Ip.payload(f, c.path);
        int header = TcpHeader.BYTES + c.optionBytes();
        if (many) {
            f.cut(c.path.headers() + header, c.sender.segment);
        }
        if (n > 0) {
            c.sender.ring.get(sequence, m, at + header, n);
        }
        int all = flags | TcpHeader.ACK | ecnFlags(c, fresh);
        int urgent = c.sender.urgent - sequence;
        if (urgent > 0) {
            all |= TcpHeader.URG;
        }
        write(c, m, at, sequence, header, all, Math.clamp(urgent, 0, 0xffff), now);
        finish(f, c.path, header + n, fresh && c.ecn ? Ipv4Header.ECN_CAPABLE : 0, now);
        return true;
    }

    private static int ecnFlags(Connection c, boolean fresh) {
        int flags = c.ecnEcho ? TcpHeader.ECE : 0;
        if (fresh && c.ecnReduced) {
            c.ecnReduced = false;
            flags |= TcpHeader.CWR;
        }
        return flags;
    }

    /** Writes header and timestamps of a segment that acknowledges what has come. */
    private static void write(Connection c, MemorySegment m, long at, int sequence, int header, int flags, int urgent,
            long now) {
        Receiver r = c.receiver;
        int window = r.tell(c.sender.segment, r.scale);
        TcpHeader.write(m, at, c.port, c.remotePort, sequence, r.next, header, flags, window, urgent);
        if (c.timestamps) {
            TcpOptions.writeTimestamps(m, at + TcpHeader.BYTES, c.timestamp(now), c.recent);
        }
        c.acknowledged = r.next;
        c.ackNow = false;
        c.timers.acknowledgment(Timers.NEVER);
    }

    /** Acknowledges what has come. */
    void acknowledge(Connection c, long now) throws IOException {
        empty(c, c.sender.next, now);
    }

    /** Sends a segment without bytes. */
    private void empty(Connection c, int sequence, long now) throws IOException {
        SendFrame f = ip.acquire();
        if (f == null) {
            ports.later(c);
            return;
        }
        MemorySegment m = f.memory();
        long at = Ip.payload(f, c.path);
        Receiver r = c.receiver;
        int blocks = 0;
        if (c.sack) {
            int most = c.timestamps ? BLOCKS_WITH_TIMESTAMPS : TcpOptions.MOST_BLOCKS;
            blocks = Math.min(r.ranges() + (r.repeated ? 1 : 0), most);
        }
        int header = TcpHeader.BYTES + c.optionBytes();
        long o = at + header;
        header += TcpOptions.sackBytes(blocks);
        if (blocks > 0) {
            o = TcpOptions.writeSack(m, o, blocks);
            if (r.repeated) {
                o = TcpOptions.writeBlock(m, o, r.repeatedLeft, r.repeatedRight);
                blocks--;
            }
            for (int range = r.latestRange(-1); blocks > 0; range = r.latestRange(range)) {
                o = TcpOptions.writeBlock(m, o, r.left(range), r.right(range));
                blocks--;
            }
        }
        r.repeated = false;
        write(c, m, at, sequence, header, TcpHeader.ACK | (c.ecnEcho ? TcpHeader.ECE : 0), 0, now);
        finish(f, c.path, header, 0, now);
    }

    /** Sends an old number, which the peer has to answer (RFC 9293, 3.8.4). */
    void probe(Connection c, long now) throws IOException {
        empty(c, c.sender.una - 1, now);
    }

    /** Asks whether the window has opened, and sends what fits in it even if that is little. */
    void probeWindow(Connection c, long now) throws IOException {
        Sender s = c.sender;
        int n = Math.min(s.usable(), s.unsent());
        if (s.outstanding() == 0 && n > 0 && data(c, s.next, n, TcpHeader.PSH, false, now)) {
            s.sent.add(s.next, s.next + n, now);
            s.next += n;
            s.smallEnd = s.next;
        } else {
            probe(c, now);
        }
    }

    /** Ends a connection on the peer's side. */
    void reset(Connection c, long now) throws IOException {
        SendFrame f = ip.acquire();
        if (f != null) {
            // The peer takes a number within its window only; RFC 9293, 3.10.5.
            MemorySegment m = f.memory();
            long at = Ip.payload(f, c.path);
            int header = TcpHeader.BYTES + c.optionBytes();
            TcpHeader.write(m, at, c.port, c.remotePort, c.sender.next, c.receiver.next, header, TcpHeader.RST
                    | TcpHeader.ACK, 0, 0);
            if (c.timestamps) { // RFC 7323, 3.2: SHOULD
                TcpOptions.writeTimestamps(m, at + TcpHeader.BYTES, c.timestamp(now), c.recent);
            }
            ports.tcpCounts.resetsOut++;
            finish(f, c.path, header, 0, now);
        }
    }

    /** Answers a segment that nobody has a connection for (RFC 9293, 3.10.7.1). */
    void refuse(Segment s, long now) throws IOException {
        if (s.has(TcpHeader.RST) || ip.way(s.path.remoteHigh(), s.path.remoteLow()) != 0) {
            return;
        }
        SendFrame f = ip.acquire();
        if (f == null) {
            return;
        }
        boolean ack = s.has(TcpHeader.ACK);
        TcpHeader.write(f.memory(), Ip.payload(f, s.path), s.port, s.remotePort, ack ? s.acknowledgment : 0, ack
                ? 0
                : s.end(), TcpHeader.BYTES, ack ? TcpHeader.RST : TcpHeader.RST | TcpHeader.ACK, 0, 0);
        ports.tcpCounts.resetsOut++;
        finish(f, s.path, TcpHeader.BYTES, 0, now);
    }

    /** Sends a segment that is in its place but for its checksum. */
    private void finish(SendFrame f, Path p, int length, int ecn, long now) throws IOException {
        if (f.headers() == 0 && !p.isToSelf()) { // else the wire does it, or nobody looks at it
            TcpHeader.finish(f.memory(), Ip.payload(f, p), length, p.sum());
        }
        ports.tcpCounts.segmentsOut++;
        ip.sendWhole(f, Ipv4Header.TCP, p, ecn, 0, length, now);
    }

    /** Answers an old segment of a connection that is over. */
    void acknowledge(TimeWait t, long now) throws IOException {
        SendFrame f = ip.acquire();
        if (f == null) {
            return;
        }
        MemorySegment m = f.memory();
        long at = Ip.payload(f, t.path);
        int header = TcpHeader.BYTES + (t.timestamps ? TcpOptions.TIMESTAMPS_BYTES : 0);
        TcpHeader.write(m, at, t.port, t.remotePort, t.sent, t.next, header, TcpHeader.ACK, t.window, 0);
        if (t.timestamps) {
            TcpOptions.writeTimestamps(m, at + TcpHeader.BYTES, (int) (now / 1_000_000) + t.timestampOffset, t.recent);
        }
        finish(f, t.path, header, 0, now);
    }

    /** Sends SYN, or SYN and ACK. */
    void syn(Connection c, boolean answer, long now) throws IOException {
        syn(c.port, c.path, c.remotePort, c.sender.initial, answer ? c.receiver.next : 0, c.receiver.firstWindow(),
                (answer
                        ? TcpHeader.SYN | TcpHeader.ACK | (c.ecn ? TcpHeader.ECE : 0)
                        : TcpHeader.SYN | (c.ecn ? TcpHeader.ECE | TcpHeader.CWR : 0)),
                ports.tellSegment(c.settings, c.path), c.scaled ? c.settings.scale() : -1,
                c.sack, c.timestamps, c.timestamp(now), answer ? c.recent : 0, now);
        if (answer) {
            c.acknowledged = c.receiver.next;
        }
    }

    /** Sends a segment with SYN; {@code scale} is -1 if windows are not scaled. */
    void syn(int port, Path path, int remotePort, int sequence, int acknowledgment, int window, int flags,
            int maximumSegment, int scale, boolean sack, boolean timestamps, int timestamp, int echo, long now)
            throws IOException {
        @Nullable SendFrame f = ip.acquire();
        if (f == null) {
            return; // as if it were lost
        }
        MemorySegment m = f.memory();
        long at = Ip.payload(f, path);
        long o = TcpOptions.writeMaximumSegmentSize(m, at + TcpHeader.BYTES, maximumSegment);
        if (scale >= 0) {
            o = TcpOptions.writeWindowScale(m, o, scale);
        }
        if (sack) {
            o = TcpOptions.writeSackPermitted(m, o);
        }
        if (timestamps) {
            o = TcpOptions.writeTimestamps(m, o, timestamp, echo);
        }
        int header = (int) (o - at);
        TcpHeader.write(m, at, port, remotePort, sequence, acknowledgment, header, flags, window, 0);
        finish(f, path, header, 0, now);
    }
}
