// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import java.io.IOException;

import org.verbena.stack.header.TcpOptions;
import org.verbena.stack.model.TcpState;

/**
 * What becomes of segments that were sent: acknowledgments, selective or not (RFC 6675, RFC 6582), losses by time (RACK-TLP, RFC 8985) or by the
 * retransmission timer (RFC 6298), and how much may be sent while losses are made good (RFC 9937).
 */
final class Recovery {
    /** What is due when the timer runs out. */
    private enum Kind {
        TIMEOUT, PROBE, REORDERING, PERSIST
    }

    /** What is being recovered from. */
    enum Phase {
        OPEN, FAST, TIMEOUT
    }

    /** RFC 5681, 3.2. */
    private static final int DUPLICATES = 3;
    private static final int MOST_BACKOFF = 16;
    /** A probe is not sent earlier, and if less is on its way than is acknowledged at once not before a delayed acknowledgment. */
    private static final long LEAST_PROBE = 2_000_000;
    private static final long DELAYED_ACK = 200_000_000;
    /** After so many timeouts full segments are thought to be too long for the path (RFC 4821), and this is tried. */
    private static final int BLACK_HOLE = 3;
    private static final int SAFE_SEGMENT = 1220 - 40;

    final RoundTrip roundTrip = new RoundTrip();
    final CongestionControl congestion;
    long retransmitted;
    long lost;
    Phase phase = Phase.OPEN;

    private final Connection c;
    private final Sender sender;
    private final SentSegments sent;
    private final Patience patience;
    private Kind kind = Kind.TIMEOUT;
    /** SND.NXT when the recovery began. */
    int point;
    private int backoff;
    /** Without SACK. */
    private int duplicates;
    /** A segment is to be sent again however much is on its way. */
    private boolean urgent;
    private long lastSend = Timers.NEVER;
    private final WindowUse use = new WindowUse();

    private final RateReduction reduction = new RateReduction();

    private final WindowBefore before = new WindowBefore();
    /** What {@link Connection#pathSegment} was before a black hole was suspected; 0 if none is. */
    private int pathBefore;

    private final Rack rack = new Rack(roundTrip);
    private boolean probing;
    private boolean probedWithOld;
    private int probeEnd;

    /** Of the acknowledgment that is looked at: bytes that it tells have arrived, and the losses that were known before. */
    private int arrived;
    private long lostBefore;
    private boolean sampled;
    private long sampleTime;
    /** Something that was sent more than once was acknowledged, and was sent last then. */
    private boolean ambiguous;
    private long lastSent;

    Recovery(Connection c, CongestionControl congestion) {
        this.c = c;
        this.congestion = congestion;
        sender = c.sender;
        sent = c.sender.sent;
        patience = new Patience(c);
    }

    /** The connection stands; {@code synTime} is when SYN was sent, if that is known. */
    void begin(boolean synWasLost, long synTime, long now) {
        if (synWasLost) {
            roundTrip.synWasLost();
        } else if (synTime != Timers.NEVER) {
            roundTrip.add(now - synTime, now);
        }
        congestion.begin(sender.segment, synWasLost);
        use.begin(sender.una);
        rack.begin(sender.una);
        point = sender.una;
        backoff = 0;
        patience.restart();
    }

    /** How long until the oldest segment is sent again. */
    long timeout() {
        return Math.min(roundTrip.timeout() << Math.min(backoff, MOST_BACKOFF), RoundTrip.MOST_TIMEOUT);
    }

    /** Takes an acknowledgment, of what was sent and not acknowledged or of what was already. */
    void acknowledge(Segment s, int window, long now) throws IOException {
        int una = sender.una;
        int ack = s.acknowledgment;
        boolean progress = ack != una;
        sampled = false;
        lostBefore = lost;
        int bytes = takeAcknowledged(ack, now);
        boolean repeated = false;
        int overtaken = c.sack || phase != Phase.OPEN ? 0 : (int) Math.min((long) duplicates * sender.segment, bytes);
        rack.acknowledged(una);
        if (c.sack) {
            int n = takeBlocks(s, now);
            bytes += n;
            repeated = s.tellsOfRepetition();
        }
        sender.una = ack;
        sender.urgent = Sequence.max(sender.urgent, ack);
        sender.smallEnd = Sequence.max(sender.smallEnd, ack);
        use.acknowledged(una); // numbers that are kept must not come to be ahead, where they wrap
        if (phase == Phase.OPEN) {
            point = Sequence.max(point, una);
        }
        if (progress || bytes > 0) {
            sample(s, now);
        }
        if (progress) {
            backoff = 0;
            patience.restart();
            c.softError(0);
            undo(s);
        }
        probed(s, una, repeated, now);
        arrived = bytes;
        if (c.sack) {
            if (repeated) {
                rack.repeated(ack, sender.next);
            }
            if (sent.sackedBytes() > 0 || sent.lostBytes() > 0 || phase != Phase.OPEN) {
                detect(now);
            }
        } else {
            countDuplicates(s, progress, window, ack - una, now);
        }
        arrived = 0;
        adapt(bytes - overtaken, progress, una, now);
        if (progress || bytes > 0) {
            arm(now);
        }
    }

    /** Takes the blocks of an acknowledgment that another has overtaken: what they tell of has arrived. */
    void acknowledgeLate(Segment s, long now) {
        lostBefore = lost;
        int bytes = c.sack ? takeBlocks(s, now) : 0;
        if (bytes > 0) {
            detect(bytes, now);
            arm(now);
        }
    }

    /** As {@link #detect(long)}, without an acknowledgment that is new: the window is not what it was before. */
    private void detect(int bytes, long now) {
        Phase phaseBefore = phase;
        arrived = bytes;
        detect(now);
        arrived = 0;
        if (bytes > 0 || phase != phaseBefore) {
            adapt(bytes, false, sender.una, now);
        }
    }

    private int takeAcknowledged(int ack, long now) {
        int bytes = 0;
        boolean again = false;
        while (sent.size() > 0 && !Sequence.isAfter(sent.end(0), ack)) {
            if (sent.is(0, SentSegments.RETRANSMITTED)) {
                lastSent = again && lastSent - sent.time(0) > 0 ? lastSent : sent.time(0);
                again = true;
            }
            if (!sent.is(0, SentSegments.SACKED)) {
                bytes += sent.length(0);
                delivered(0, now);
            }
            sent.removeFirst();
        }
        if (sent.size() > 0 && Sequence.isBefore(sent.start(0), ack)) {
            if (!sent.is(0, SentSegments.SACKED)) {
                bytes += ack - sent.start(0);
                delivered(0, now);
            }
            sent.shortenFirst(ack);
        }
        sampled &= !again; // those behind a gap had to wait for it
        ambiguous = again;
        return bytes;
    }

    private int takeBlocks(Segment s, long now) {
        int bytes = 0;
        int una = sender.una; // all is relative to it: a peer may name any numbers
        TcpOptions o = s.options;
        for (int b = 0; b < o.blocks(); b++) {
            int from = Math.max(o.left(b) - una, Math.max(s.acknowledgment - una, 0));
            int to = o.right(b) - una;
            if (from >= to || to > sender.next - una || sent.size() == 0) {
                continue; // old, or nonsense
            }
            int left = una + from;
            int right = una + to;
            int i = sent.find(left);
            if (Sequence.isBefore(sent.start(i), left)) {
                i += sent.is(i, SentSegments.SACKED) || sent.split(i, left, sender.segment) ? 1 : sent.size();
            }
            for (; i < sent.size() && Sequence.isBefore(sent.start(i), right); i++) {
                if (sent.is(i, SentSegments.SACKED) || Sequence.isAfter(sent.end(i), right) && !sent.split(i, right,
                        sender.segment)) {
                    continue;
                }
                bytes += sent.length(i);
                delivered(i, now);
                sent.clear(i, SentSegments.LOST | SentSegments.IN_FLIGHT);
                sent.set(i, SentSegments.SACKED);
            }
        }
        return bytes;
    }

    /** A segment is known to have arrived. */
    private void delivered(int i, long now) {
        long time = sent.time(i);
        boolean again = sent.is(i, SentSegments.RETRANSMITTED);
        if (!again && (!sampled || time - sampleTime > 0)) {
            sampled = true;
            sampleTime = time;
        }
        rack.delivered(time, sent.end(i), again, now);
    }

    private void sample(Segment s, long now) {
        if (sampled) {
            roundTrip.add(now - sampleTime, now);
        } else if (ambiguous && c.timestamps && s.options.echo() - c.timestamp(lastSent) >= 0) {
            roundTrip.add(now - lastSent, now); // it is the last that has arrived, not one whose acknowledgment was lost
        }
    }

    /** Goes back, if the first segment of those that were sent again answers one that was sent before (Eifel, RFC 3522). */
    private void undo(Segment s) {
        if (c.timestamps && before.isSpurious(s.options.echo()) && phase != Phase.OPEN) {
            before.restore(congestion);
            phase = Phase.OPEN;
            if (pathBefore > 0) {
                c.pathSegment = pathBefore;
                c.resize();
                congestion.resize(sender.segment);
            }
            for (int i = 0; i < sent.size(); i++) {
                if (sent.is(i, SentSegments.LOST)) {
                    sent.clear(i, SentSegments.LOST);
                    sent.set(i, SentSegments.IN_FLIGHT);
                }
            }
        }
    }

    /** What has become of a tail loss probe (RFC 8985, 7.4). */
    private void probed(Segment s, int una, boolean repeated, long now) {
        int ack = s.acknowledgment;
        if (!probing || Sequence.isBefore(ack, probeEnd)) {
            return;
        }
        if (!probedWithOld || repeated) {
            probing = false;
        } else if (Sequence.isAfter(ack, probeEnd)) {
            probing = false; // the probe has made good a loss that nobody else has seen
            if (phase == Phase.OPEN) {
                congestion.lost(sender.next - una, now);
                congestion.window = congestion.threshold;
            }
        } else if (ack == una && s.options.blocks() == 0 && s.length == 0) {
            probing = false;
        }
    }

    /** Looks what is lost, since something that was sent later has arrived (RFC 8985, 6.2, step 5). */
    private void detect(long now) {
        long window = rack.window(phase != Phase.OPEN || sent.sackedBytes() >= DUPLICATES * sender.segment);
        long wait = 0;
        boolean any = false;
        for (int i = 0; i < sent.size(); i++) {
            if (!sent.is(i, SentSegments.IN_FLIGHT) || !rack.isOvertaken(sent.time(i), sent.end(i))) {
                continue;
            }
            long left = rack.left(sent.time(i), window, now);
            if (left <= 0) {
                markLost(i);
                any = true;
            } else {
                wait = Math.max(wait, left);
            }
        }
        if (any && phase == Phase.OPEN) {
            enterFast(now);
        }
        if (wait > 0) {
            kind = Kind.REORDERING;
            c.timers.retransmission(now + wait);
        } else if (kind == Kind.REORDERING) {
            kind = Kind.TIMEOUT;
            c.timers.retransmission(now + timeout());
        }
    }

    private void markLost(int i) {
        sent.set(i, SentSegments.LOST);
        sent.clear(i, SentSegments.IN_FLIGHT);
        lost++;
    }

    private void enterFast(long now) {
        before.remember(congestion, c.timestamp(now));
        congestion.lost(sender.outstanding(), now);
        reduction.begin(sender.outstanding() - sent.sackedBytes() + arrived);
        point = sender.next;
        phase = Phase.FAST;
        c.ecnReduced = c.ecn;
    }

    /** The peer has seen congestion (RFC 3168, 6.1.2). */
    void congested(long now) {
        if (phase == Phase.OPEN && !Sequence.isBefore(sender.una, point)) {
            congestion.lost(sender.outstanding(), now);
            congestion.window = congestion.threshold;
            point = sender.next; // once in a round trip
            c.ecnReduced = true;
        }
    }

    /** Without SACK: RFC 6582. */
    private void countDuplicates(Segment s, boolean progress, int window, int acked, long now) {
        if (progress) {
            duplicates = 0;
            if (phase == Phase.FAST && Sequence.isBefore(sender.una, point)) { // the next is lost, too
                congestion.window = Math.max(congestion.window - acked + sender.segment, sender.segment);
                loseFirst();
            }
            return;
        }
        if (s.length > 0 || s.numbers() > 0 || sent.size() == 0 || window != sender.window) {
            return;
        }
        duplicates++;
        if (phase == Phase.FAST) {
            congestion.grow(sender.segment);
        } else if (duplicates == DUPLICATES && phase == Phase.OPEN && !Sequence.isBefore(sender.una, point)) {
            enterFast(now);
            congestion.window = congestion.threshold + DUPLICATES * sender.segment;
            loseFirst();
        }
    }

    /** The first is sent again at once, whatever the window says (RFC 6582, 3.2). */
    private void loseFirst() {
        if (sent.size() > 0 && sent.is(0, SentSegments.IN_FLIGHT)) {
            if (sent.length(0) > sender.segment) {
                sent.split(0, sent.start(0) + sender.segment);
            }
            markLost(0);
            urgent = true;
        }
    }

    /** Whether so much may be sent again now. */
    boolean maySendAgain(int bytes) {
        return urgent || sent.inFlight() == 0 || sent.inFlight() + bytes <= window();
    }

    /** How much may be in the network from now on. */
    private void adapt(int bytes, boolean progress, int una, long now) {
        if (phase != Phase.OPEN && !Sequence.isBefore(sender.una, point)) {
            boolean fast = phase == Phase.FAST;
            phase = Phase.OPEN;
            rack.recovered();
            if (fast) {
                congestion.window = congestion.threshold;
                return;
            }
        }
        if (phase == Phase.FAST && c.sack) {
            congestion.window = reduction.window(bytes, sent.inFlight(), congestion.threshold, sender.segment, progress
                    && lost == lostBefore);
        } else if (phase != Phase.FAST && progress && bytes > 0 && use.isLimited(una, congestion)) {
            // RFC 5681, 3.2: not for what has only overtaken others
            congestion.acknowledged(bytes, roundTrip, now);
        }
    }

    /** The congestion window has kept something from being sent. */
    void limited() {
        use.limited(sender.next);
    }

    /** Without SACK the first two duplicates let a new segment go each (RFC 3042). */
    int window() {
        return congestion.window + (phase == Phase.OPEN && !c.sack
                ? Math.min(duplicates, DUPLICATES - 1) * sender.segment
                : 0);
    }

    /** A segment was sent, or sent again. */
    void sent(int bytes, boolean again, long now) {
        retransmitted += again ? 1 : 0;
        urgent &= !again;
        lastSend = now;
        use.sent(sender);
        if (phase == Phase.FAST) {
            reduction.sent(bytes);
        }
        if (c.timers.retransmission() == Timers.NEVER || kind == Kind.PERSIST || kind == Kind.PROBE && !again
                || kind == Kind.TIMEOUT && !again && mayProbe() && now + probe() < c.timers.retransmission()) {
            arm(now);
        }
    }

    /** Whether the next to be due may be a tail loss probe (RFC 8985, 7.2). */
    private boolean mayProbe() {
        return c.sack && phase == Phase.OPEN && backoff == 0 && !probing && roundTrip.isKnown()
                && sent.sackedBytes() == 0;
    }

    private long probe() {
        return 2 * roundTrip.smoothed() + (sender.outstanding() < 2 * sender.segment ? DELAYED_ACK : LEAST_PROBE);
    }

    /** The window of the peer keeps all from being sent, and nothing is on its way. */
    void persist(long now) {
        if (c.timers.retransmission() == Timers.NEVER) {
            kind = Kind.PERSIST;
            c.timers.retransmission(now + patience.next(timeout(), roundTrip.timeout(), now));
        }
    }

    /** Begins to wait anew. */
    private void arm(long now) {
        if (kind == Kind.REORDERING && c.timers.retransmission() != Timers.NEVER && sent.size() > 0) {
            return;
        }
        kind = Kind.TIMEOUT;
        if (sent.size() == 0) {
            c.timers.retransmission(Timers.NEVER);
            return;
        }
        long wait = timeout();
        if (mayProbe()) { // RFC 8985, 7.2: in the place of a timeout that would be earlier
            wait = Math.min(wait, probe());
            kind = Kind.PROBE;
        }
        c.timers.retransmission(now + wait);
    }

    /** Two tries were not answered. */
    boolean hasTriedOften() {
        return patience.tries() > 1;
    }

    /** The timer has run out. */
    void due(long now) throws IOException {
        if (c.state == TcpState.SYN_SENT || c.state == TcpState.SYN_RECEIVED) {
            if (!patience.isOver(roundTrip.timeout(), now)) {
                backoff++;
                c.ports.handshake.again(c, now);
                c.timers.retransmission(now + patience.next(timeout(), roundTrip.timeout(), now));
            }
            return;
        }
        switch (kind) {
            case REORDERING -> {
                kind = Kind.TIMEOUT;
                detect(0, now);
                if (c.timers.retransmission() == Timers.NEVER) {
                    c.timers.retransmission(now + timeout());
                }
                c.ports.output.flush(c, now);
            }
            case PROBE -> probe(now);
            case PERSIST -> {
                if (sent.size() > 0 || !patience.isOver(roundTrip.timeout(), now)) {
                    backoff++;
                    c.ports.output.probeWindow(c, now);
                    arm(now);
                    persist(now);
                }
            }
            case TIMEOUT -> timedOut(now);
        }
    }

    /** Sends a segment so that the peer tells what it lacks at the end (RFC 8985, 7.3). */
    private void probe(long now) throws IOException {
        kind = Kind.TIMEOUT;
        probing = true;
        int before = sender.next;
        probedWithOld = !c.ports.output.sendNew(c, 1, now);
        if (probedWithOld && sent.size() > 0) {
            int i = sent.size() - 1;
            if (sent.length(i) > sender.segment) {
                sent.split(i, sent.end(i) - sender.segment);
                i++;
            }
            c.ports.output.again(c, i, now);
        }
        probeEnd = probedWithOld ? before : sender.next;
        c.timers.retransmission(now + timeout());
    }

    private void timedOut(long now) throws IOException {
        if (sent.size() == 0 || patience.isOver(roundTrip.timeout(), now)) {
            return;
        }
        if (phase != Phase.TIMEOUT) {
            before.remember(congestion, c.timestamp(now));
            congestion.timedOut(sender.outstanding(), now);
        } else {
            congestion.window = congestion.segment;
        }
        phase = Phase.TIMEOUT;
        point = sender.next;
        duplicates = 0;
        probing = false;
        backoff++;
        c.ecnReduced = c.ecn;
        if (patience.tries() == BLACK_HOLE && sent.length(0) >= sender.segment && sender.segment > SAFE_SEGMENT) {
            pathBefore = c.pathSegment;
            c.pathSegment = SAFE_SEGMENT;
            c.resize();
            congestion.resize(sender.segment);
        }
        boolean reneged = sent.is(0, SentSegments.SACKED); // RFC 2018, 8: the peer may drop what it has acknowledged so
        for (int i = 0; i < sent.size(); i++) {
            if (reneged) {
                sent.clear(i, SentSegments.SACKED);
            }
            if (!sent.is(i, SentSegments.SACKED)) {
                markLost(i);
            }
        }
        c.timers.retransmission(now + patience.next(timeout(), roundTrip.timeout(), now));
        c.ports.output.flush(c, now);
    }

    /** An acceptable acknowledgment has come: the peer is there, even if it takes nothing. */
    void heard() {
        if (!c.released && (kind == Kind.PERSIST || sender.window == 0)) {
            patience.restart();
        }
    }

    /** The window has opened. */
    void opened() {
        if (kind == Kind.PERSIST) {
            kind = Kind.TIMEOUT;
            backoff = 0;
            c.timers.retransmission(Timers.NEVER);
        }
    }

    /** Segments have to be shorter from now on: those on their way are lost, which is no sign of congestion. */
    void shorten(long now) throws IOException {
        congestion.resize(sender.segment);
        for (int i = 0; i < sent.size(); i++) {
            if (sent.is(i, SentSegments.IN_FLIGHT) && sent.length(i) > sender.segment) {
                markLost(i);
            }
        }
        c.ports.output.flush(c, now);
    }

    /** Nothing was on its way for a while (RFC 5681, 4.1). */
    void rested(long now) {
        if (phase == Phase.OPEN && lastSend != Timers.NEVER && now - lastSend > timeout()) {
            congestion.restart();
        }
    }
}
