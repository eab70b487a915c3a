// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.PriorityQueue;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.stack.header.Bytes;
import org.verbena.stack.header.Ipv4Header;
import org.verbena.stack.header.TcpHeader;
import org.verbena.stack.ip.Datagram;
import org.verbena.stack.ip.Ip;
import org.verbena.stack.ip.Path;
import org.verbena.stack.ip.PortClaims;
import org.verbena.stack.ip.Protocol;
import org.verbena.stack.model.TcpSettings;
import org.verbena.stack.model.TcpState;
import org.verbena.verbs.spi.NumberMap;

/** All ports of a host, with their connections. */
public final class TcpPorts implements Protocol {
    /** Ports that are given to those who ask for any. */
    private static final int FIRST_EPHEMERAL = 32_768;
    private static final int PORTS = 65_536;
    /** Less is not believed of a path (RFC 1191, 3: routers that tell less are wrong or worse). */
    private static final int LEAST_MTU = 552;
    /** Port pairs that are kept after their connection; above that the oldest go, as Linux has it ({@code tcp_max_tw_buckets}). */
    private static final int MOST_TIME_WAIT = 1 << 18;
    /** After this a port pair in TIME_WAIT is used again for a new connection from here, if timestamps tell segments apart. */
    private static final long REUSE = 1_000_000_000L;
    private static final long NO_BUFFER_PAUSE = 50_000;
    /** Fewer that have not answered are no flood. */
    private static final int LEAST_HALF = 256;

    final Blocks blocks;
    final TimerWheel wheel;
    final Output output;
    final Handshake handshake;
    final SegmentInput input;
    final TcpCounts tcpCounts = new TcpCounts();

    private final Ip ip;
    private final PortClaims claims;
    private final FlowTable flows;
    private final NumberMap<Listener> listeners = new NumberMap<>();
    private final KeyedHash hash;
    private final RandomGenerator random;
    private final SynCookies cookies;
    private final Segment segment = new Segment();
    private final Path scratch = new Path();
    /** By when each is looked at, which is not after its end. */
    private final PriorityQueue<TimeWait> waiting = new PriorityQueue<>();
    private int timeWaits;
    private @Nullable Connection[] byNumber = new @Nullable Connection[64];
    private int[] freeNumbers = new int[64];
    private int free;
    private int numbers;
    private @Nullable Connection[] pending = new @Nullable Connection[64];
    private int pendings;
    private boolean noBuffer;
    private long lastWork;
    private long nextPort;
    private final TimerWheel.Action due = this::due;

    /** None yet. {@code random} chooses secrets and ports; {@code memory} is the most bytes that data of all connections takes. */
    public TcpPorts(Ip ip, RandomGenerator random, long memory, long now) {
        this.ip = ip;
        claims = ip.claims();
        this.random = random;
        blocks = new Blocks(memory);
        wheel = new TimerWheel(now);
        output = new Output(this, ip);
        handshake = new Handshake(this);
        input = new SegmentInput(this);
        flows = new FlowTable(random);
        hash = new KeyedHash(random);
        cookies = new SynCookies(this, new KeyedHash(random));
        ip.carry(Ipv4Header.TCP, this);
    }

    /** The numbers so far. */
    public TcpCounts counts() {
        return tcpCounts;
    }

    /** Bytes that data of connections takes. */
    public long memory() {
        return blocks.used();
    }

    /** Accepts connections at a port, or at one that nobody has for 0; null if it, or all, are in use. */
    public @Nullable Listener listen(int port, int backlog, TcpSettings settings) throws IOException {
        int p = port == 0 ? anyListenerPort() : canListen(port) ? port : 0;
        if (p == 0) {
            return null;
        }
        Listener l = new Listener(this, settings, p, Math.max(backlog, 0));
        listeners.put(p, l);
        return l;
    }

    private int anyListenerPort() throws IOException {
        int n = PORTS - FIRST_EPHEMERAL;
        int start = random.nextInt(n);
        for (int i = 0; i < n; i++) {
            int p = FIRST_EPHEMERAL + (start + i) % n;
            if (canListen(p)) {
                return p;
            }
        }
        return 0;
    }

    private boolean canListen(int port) throws IOException {
        return listeners.get(port) == null && claims.claim(Ipv4Header.TCP, port, 0, 0);
    }

    void forget(Listener l) {
        listeners.remove(l.port());
        claims.release(Ipv4Header.TCP, l.port());
    }

    /** 0 if a peer can be connected to, else an errno. */
    public int way(long high, long low, int port) {
        return port == 0 || ip.isToMany(high, low) ? Errno.EINVAL : ip.way(high, low);
    }

    /**
     * Begins to connect to a peer that there is a {@link #way} to.
     *
     * @param port of this end, 0 for any
     * @return null if the port, or each, is in use towards that peer
     */
    public @Nullable Connection connect(int port, long high, long low, int remotePort, TcpSettings settings, long now)
            throws IOException {
        Path path = scratch;
        ip.route(path, high, low);
        int p = port == 0 ? anyPort(path, remotePort, now) : canConnect(path, remotePort, port, now) ? port : 0;
        if (p == 0) {
            return null;
        }
        Flow old = flows.get(path, remotePort, p);
        int initial = initial(path, remotePort, p, now);
        if (old instanceof TimeWait t) {
            initial = after(t, initial);
            reuse(t);
        }
        Connection c = create(settings, path, remotePort, p);
        handshake.open(c, initial, now);
        return c;
    }

    /** RFC 6056, 3.3.3. */
    private int anyPort(Path path, int remotePort, long now) throws IOException {
        int n = PORTS - FIRST_EPHEMERAL;
        int start = (int) (hash.of(path, remotePort, 0, nextPort++) >>> 1 & 0x7fff_ffff) % n;
        for (int i = 0; i < n; i++) {
            int p = FIRST_EPHEMERAL + (start + i) % n;
            if (listeners.get(p) == null && !(p == remotePort && path.isToSelf()) // or it would be connected to itself
                    && canConnect(path, remotePort, p, now)) {
                return p;
            }
        }
        return 0;
    }

    private boolean canConnect(Path path, int remotePort, int port, long now) throws IOException {
        Flow f = flows.get(path, remotePort, port);
        return (f == null || f instanceof TimeWait t && isReusable(t, now)) && claims.claim(Ipv4Header.TCP, port, path
                .localHigh(), path.localLow());
    }

    private static boolean isReusable(TimeWait t, long now) {
        return t.timestamps && now - (t.until - t.duration) >= REUSE;
    }

    private static int after(TimeWait t, int initial) {
        return Sequence.isAfter(initial, t.sent) ? initial : t.sent + 0xffff + 2;
    }

    private void reuse(TimeWait t) {
        tcpCounts.reused++;
        drop(t);
    }

    private void drop(TimeWait t) {
        t.gone = true;
        timeWaits--;
        flows.remove(t.path, t.remotePort, t.port);
        claims.release(Ipv4Header.TCP, t.port);
    }

    /** The first sequence number (RFC 6528). */
    private int initial(Path path, int remotePort, int port, long now) {
        return (int) (now / 4000) + (int) hash.of(path, remotePort, port, 0);
    }

    /** So that nobody learns how long this host runs (RFC 7323, 7.1). */
    int timestampOffset(Path path, int remotePort, int port) {
        return (int) hash.of(path, remotePort, port, 1);
    }

    /** A connection that a listener has. */
    Connection accept(TcpSettings settings, Path path, int remotePort, int port) {
        claims.claimAgain(Ipv4Header.TCP, port);
        return create(settings, path, remotePort, port);
    }

    private Connection create(TcpSettings settings, Path path, int remotePort, int port) {
        int number = free > 0 ? freeNumbers[--free] : numbers++;
        if (number >= byNumber.length) {
            byNumber = Arrays.copyOf(byNumber, number * 2);
        }
        Connection c = new Connection(this, settings, number, new Path(path), remotePort, port);
        c.timestampOffset = timestampOffset(path, remotePort, port);
        byNumber[number] = c;
        flows.put(c.path, c.remotePort, c.port, c);
        return c;
    }

    /** A connection is gone, or in TIME_WAIT. */
    void forget(Connection c, long now) {
        if (byNumber[c.number] != c) {
            return;
        }
        byNumber[c.number] = null;
        wheel.cancel(c.number);
        if (free == freeNumbers.length) {
            freeNumbers = Arrays.copyOf(freeNumbers, free * 2);
        }
        freeNumbers[free++] = c.number;
        if (flows.get(c.path, c.remotePort, c.port) == c) {
            flows.remove(c.path, c.remotePort, c.port);
        }
        claims.release(Ipv4Header.TCP, c.port);
        Listener l = c.listener;
        if (l != null) {
            if (c.queued) {
                l.remove(c);
            } else {
                l.half--;
            }
        }
    }

    /** Keeps the port pair of a connection that both ends have ended. */
    void timeWait(Connection c, long now) throws IOException {
        c.state = TcpState.TIME_WAIT;
        TimeWait t = new TimeWait(c, now);
        if (c.ackNow) {
            c.ackNow = false;
            output.acknowledge(t, now);
        }
        c.sender.clear();
        claims.claimAgain(Ipv4Header.TCP, t.port);
        forget(c, now);
        if (t.duration == 0) {
            claims.release(Ipv4Header.TCP, t.port);
        } else {
            flows.put(t.path, t.remotePort, t.port, t);
            timeWaits++;
            waiting.add(t);
        }
        if (waiting.size() > 2 * timeWaits + LEAST_HALF) {
            waiting.removeIf(w -> w.gone);
        }
        if (timeWaits > MOST_TIME_WAIT) {
            dropOldest();
        }
        if (c.released) {
            c.receiver.clear();
        }
    }

    private void dropOldest() {
        for (TimeWait t = waiting.poll(); t != null; t = waiting.poll()) {
            if (!t.gone) {
                drop(t);
                return;
            }
        }
    }

    private void dropOld(long now) {
        for (TimeWait t = waiting.peek(); t != null && (t.gone || now - t.looked >= 0); t = waiting.peek()) {
            waiting.poll();
            if (!t.gone && now - t.until < 0) { // it was prolonged
                t.looked = t.until;
                waiting.add(t);
            } else if (!t.gone) {
                drop(t);
            }
        }
    }

    @Override
    public void received(Datagram d, long now) throws IOException {
        Segment s = segment;
        if (d.isToMany() || !s.read(d) || ip.way(d.path().remoteHigh(), d.path().remoteLow()) != 0) {
            tcpCounts.malformed++;
            return;
        }
        tcpCounts.segmentsIn++;
        if (s.options.isSigned()) {
            tcpCounts.signed++;
            return; // as Linux has it: who signs has a key that nobody here has
        }
        Flow f = flows.get(s.path, s.remotePort, s.port);
        if (f instanceof Connection c) {
            input.received(c, s, now);
        } else if (!(f instanceof TimeWait t) || isNew(t, s, now)) {
            fresh(s, f instanceof TimeWait t ? after(t, initial(s.path, s.remotePort, s.port, now)) : 0, f != null,
                    now);
        }
    }

    /** A segment for which there is no connection. */
    private void fresh(Segment s, int after, boolean again, long now) throws IOException {
        Listener l = listeners.get(s.port);
        if (l == null || s.has(TcpHeader.RST)) {
            output.refuse(s, now);
        } else if (s.has(TcpHeader.ACK)) {
            cookies.check(l, s, now);
        } else if (s.has(TcpHeader.SYN) && !s.has(TcpHeader.FIN)) {
            int initial = again ? after : initial(s.path, s.remotePort, s.port, now);
            if (l.half > Math.max(l.backlog, LEAST_HALF)) {
                cookies.answer(l, s, now);
            } else {
                handshake.listen(l, s, initial, now);
            }
        }
    }

    /** What comes for a connection that is over (RFC 9293, 3.10.7.4; RFC 1337; RFC 6191); true if it begins a new one, and the old one is gone. */
    private boolean isNew(TimeWait t, Segment s, long now) throws IOException {
        if (s.has(TcpHeader.RST) || !s.has(TcpHeader.ACK) && !s.has(TcpHeader.SYN)) {
            return false;
        }
        boolean stamped = t.timestamps && s.options.hasTimestamps();
        if (s.has(TcpHeader.SYN) && !s.has(TcpHeader.ACK) && !s.has(TcpHeader.FIN) && listeners.get(s.port) != null
                && (stamped && s.options.timestamp() - t.recent > 0 || Sequence.isAfter(s.sequence, t.next))) {
            reuse(t);
            return true;
        }
        boolean late = stamped && s.options.timestamp() - t.recent < 0;
        if (late || s.has(TcpHeader.SYN) || s.numbers() > 0 || s.sequence != t.next) {
            if (!late && s.has(TcpHeader.FIN) && s.end() == t.next) { // the acknowledgment was lost
                t.until = now + t.duration;
            }
            output.acknowledge(t, now);
        }
        return false;
    }

    @Override
    public boolean failed(int errno, int mtu, Path p, MemorySegment m, long at, long now) throws IOException {
        int port = Bytes.u16(m, at);
        int remotePort = Bytes.u16(m, at + 2);
        int sequence = Bytes.i32(m, at + 4);
        // Anybody can send such an error; who does not see the connection cannot guess the number (RFC 5927, 4.1).
        if (!(flows.get(p, remotePort, port) instanceof Connection c) || Sequence.isBefore(sequence, c.sender.una)
                || !Sequence.isBefore(sequence, c.sender.next)) {
            return false;
        }
        if (errno == Errno.EMSGSIZE) {
            shorten(c, mtu, now);
            return true;
        }
        if (errno == 0) {
            return true;
        }
        c.softError(errno);
        if (c.state == TcpState.SYN_SENT && errno == Errno.ECONNREFUSED) {
            c.end(errno, now); // a hard error, before there is a connection (RFC 5461)
        }
        return true;
    }

    /** A router has said how long packets may be (RFC 1191; RFC 8201; RFC 5927, 7). */
    private static void shorten(Connection c, int mtu, long now) throws IOException {
        int path = Math.max(mtu, LEAST_MTU) - c.path.headerBytes() - TcpHeader.BYTES;
        if (c.state.isSynchronized() && path < c.pathSegment) {
            c.pathSegment = path;
            c.resize();
            c.recovery.shorten(now);
        }
    }

    /** The maximum segment size to tell. */
    int tellSegment(TcpSettings s, Path p) {
        int own = pathSegment(p);
        return s.maximumSegment() > 0 ? Math.min(s.maximumSegment(), own) : own;
    }

    int pathSegment(Path p) {
        return ip.room(p) - TcpHeader.BYTES;
    }

    /** Has {@link #work} look at a connection. */
    void soon(Connection c) {
        if (!c.pending) {
            c.pending = true;
            if (pendings == pending.length) {
                pending = Arrays.copyOf(pending, pendings * 2);
            }
            pending[pendings++] = c;
        }
    }

    /** As {@link #soon}, after a pause in which buffers may become free. */
    void later(Connection c) {
        noBuffer = true;
        soon(c);
    }

    private void due(int number, long now) throws IOException {
        Connection c = byNumber[number];
        if (c != null) {
            c.timers.due(now);
        }
    }

    /** Sends what segments that have come have made possible, and does what is due; answers when to call again. */
    public long work(long now) throws IOException {
        noBuffer = false;
        int n = pendings;
        for (int i = 0; i < n; i++) {
            Connection c = pending[i];
            pending[i] = null;
            if (c != null) {
                c.pending = false;
                if (c.state != TcpState.CLOSED) {
                    output.flush(c, now);
                }
            }
        }
        int more = pendings - n;
        System.arraycopy(pending, n, pending, 0, more);
        Arrays.fill(pending, more, pendings, null);
        pendings = more;
        wheel.advance(now, due);
        dropOld(now);
        lastWork = now;
        return next();
    }

    /** When to call {@link #work} next; {@code Long.MAX_VALUE} if never. */
    public long next() {
        TimeWait t = waiting.peek();
        long next = t == null ? wheel.next() : Math.min(wheel.next(), t.looked);
        return pendings == 0 ? next : noBuffer ? Math.min(next, lastWork + NO_BUFFER_PAUSE) : lastWork;
    }

    /** Each connection that is not in TIME_WAIT. */
    public void forEach(Consumer<Connection> c) {
        for (int i = 0; i < numbers; i++) {
            Connection some = byNumber[i];
            if (some != null) {
                c.accept(some);
            }
        }
    }

    /** Whether a connection that nobody has any more has something that its peer does not know. */
    public boolean isLingering() {
        for (int i = 0; i < numbers; i++) {
            Connection c = byNumber[i];
            if (c != null && c.released && c.state.sends()) {
                return true;
            }
        }
        return false;
    }

    /** Resets all connections. */
    public void abortAll(long now) throws IOException {
        for (int i = 0; i < numbers; i++) {
            Connection c = byNumber[i];
            if (c != null) {
                c.abort(now);
            }
        }
    }

    /** Port pairs that are kept after their connections. */
    public int timeWaits() {
        return timeWaits;
    }
}
