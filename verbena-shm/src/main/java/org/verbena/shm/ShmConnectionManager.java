// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.shm.control.Control;
import org.verbena.shm.control.PortDirectory;
import org.verbena.shm.control.Session;
import org.verbena.shm.layout.ControlMessage;
import org.verbena.shm.layout.Link;
import org.verbena.shm.layout.PeerMapping;
import org.verbena.shm.layout.ProtocolException;
import org.verbena.shm.layout.ShmLimits;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionManager;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.ConnectionRejectedException;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.VerbsException;

/**
 * Connects queue pairs by port. The listener of a port is found by {@link PortDirectory}; the rest is messages on the
 * session: request, reply, ready; or reject; at the end disconnect. Message handlers run on the engine's thread.
 */
final class ShmConnectionManager extends ConnectionManager {
    private static final int FIRST_EPHEMERAL = 32768;
    private static final int LAST_EPHEMERAL = 60999;
    /** Code 12 of the RNR timer, 0.64 ms, and code 14 of the time-out, 67 ms: librdmacm's usual values. */
    private static final int RNR_TIMER = 12;
    private static final int TIMEOUT = 14;
    private static final int MTU = 4096;
    private static final int MAX_RETRIES = 7;

    private final ShmContext context;
    private final AtomicLong nextId = new AtomicLong();
    private final Map<Integer, ShmConnectionListener> listeners = new ConcurrentHashMap<>();
    private final Map<Key, ConnectionEnd> ends = new ConcurrentHashMap<>();

    /** A connection's number is given by the end that connects; on a session with oneself both ends are here. */
    private record Key(Session session, long id, boolean isActive) {
        // a record's own methods have the JVM make two dozen classes when the first connection is made

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Key k && session.equals(k.session) && id == k.id && isActive == k.isActive;
        }

        @Override
        public int hashCode() {
            return 31 * session.hashCode() + Long.hashCode(id) * 2 + (isActive ? 1 : 0);
        }
    }

    /** The other end's reply. */
    private static final class Reply {
        final int queuePair;
        final int rnrRetry;
        final byte[] privateData;

        Reply(int queuePair, int rnrRetry, byte[] privateData) {
            this.queuePair = queuePair;
            this.rnrRetry = rnrRetry;
            this.privateData = privateData;
        }
    }

    /**
     * Retry counts of a queue pair.
     *
     * @param count of both ends, given by the connecting one
     * @param rnr when there is no receive, given by the end that has the receives
     */
    record Retries(int count, int rnr) {}

    /** One end of a connection, from the first message to the last. */
    static final class ConnectionEnd {
        final Session session;
        final long id;
        final boolean isActive;
        private final CompletableFuture<Reply> reply = new CompletableFuture<>();
        volatile @Nullable ShmConnection connection;
        /** Why the other end is gone; set before it is reported, for a connection that is still being established. */
        volatile @Nullable String endedBecause;

        ConnectionEnd(Session session, long id, boolean isActive) {
            this.session = session;
            this.id = id;
            this.isActive = isActive;
        }
    }

    ShmConnectionManager(ShmContext context) {
        this.context = context;
    }

    // ---- listening

    @Override
    public ConnectionListener listen(InetSocketAddress local) throws VerbsException {
        String verb = "listen on " + local;
        context.requireOpen(verb);
        checkAddress(verb, local, Errno.EADDRNOTAVAIL);
        if (local.getPort() != 0) {
            return listen(verb, local, local.getPort());
        }
        int count = LAST_EPHEMERAL - FIRST_EPHEMERAL + 1;
        int at = ThreadLocalRandom.current().nextInt(count);
        for (int i = 0; i < count; i++) {
            try {
                return listen(verb, local, FIRST_EPHEMERAL + (at + i) % count);
            } catch (VerbsException e) {
                if (e.errno() != Errno.EADDRINUSE) {
                    throw e;
                }
            }
        }
        throw new VerbsException(verb, Errno.EADDRINUSE, "no port is free");
    }

    private ConnectionListener listen(String verb, InetSocketAddress local, int port) throws VerbsException {
        ShmConnectionListener l = new ShmConnectionListener(context, this, new InetSocketAddress(local.getAddress(),
                port));
        try {
            l.bind(context.ports().listen(verb, port));
        } catch (VerbsException e) {
            l.abandonListener();
            throw e;
        }
        listeners.put(port, l);
        context.adopt(l);
        return l;
    }

    void forget(ShmConnectionListener l) {
        listeners.remove(l.localAddress().getPort(), l);
    }

    private static void checkAddress(String verb, InetSocketAddress a, int errno) throws VerbsException {
        InetAddress ip = a.getAddress();
        try {
            if (ip != null && (ip.isAnyLocalAddress() || ip.isLoopbackAddress()
                    || NetworkInterface.getByInetAddress(ip) != null)) {
                return;
            }
        } catch (SocketException e) {
            throw new VerbsException(verb, errno, "the interfaces of this host cannot be read: " + e.getMessage());
        }
        throw new VerbsException(verb, errno, a.isUnresolved()
                ? "the host name is not known"
                : "the address is not one of this host, and shm0 reaches only processes of this host");
    }

    // ---- connecting

    @Override
    protected Connection implConnect(QueuePair qp, InetSocketAddress remote, ConnectionParameters parameters)
            throws VerbsException {
        String verb = "connect " + qp.describe() + " to " + remote;
        context.requireOpen(verb);
        ShmQueuePair own = usable(verb, qp, parameters);
        checkAddress(verb, remote, Errno.EHOSTUNREACH);
        long deadline = System.nanoTime() + parameters.timeout().toNanos();
        long instance = context.ports().listenerInstance(verb, remote.getPort(), left(deadline));
        Session s = context.control().session(verb, instance, left(deadline));
        long id = nextId.incrementAndGet() << 1 | (context.instance() < s.mapping().instance() ? 0 : 1);
        ConnectionEnd end = new ConnectionEnd(s, id, true);
        ends.put(new Key(s, id, true), end);
        boolean done = false;
        try {
            s.send(new ControlMessage.Writer(ControlMessage.CM_REQUEST).putLong(id).putInt(remote.getPort())
                    .putInt(own.number()).putInt(parameters.retryCount()).putInt(parameters.rnrRetry())
                    .putBytes(parameters.privateData()), null);
            failIfDead(end);
            Reply a = Control.get(verb, end.reply, left(deadline), () -> "the peer has not accepted yet");
            long link = ready(own, s, new Retries(parameters.retryCount(), a.rnrRetry), a.queuePair, parameters);
            ShmConnection c = new ShmConnection(this, end, own, link, a.privateData);
            end.connection = c;
            s.send(new ControlMessage.Writer(ControlMessage.CM_READY).putLong(id), null);
            context.adopt(c);
            done = true;
            c.established();
            context.count(SamplePoint.DEVICE_CONNECTIONS);
            return c;
        } finally {
            if (!done) {
                ends.remove(new Key(s, id, true));
                reject(end, 4, new byte[0], "the connecting side has given up");
            }
        }
    }

    private static Duration left(long deadline) {
        return Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
    }

    /** Refuses a queue pair that cannot be connected, or not in this way. */
    void check(String verb, QueuePair qp, ConnectionParameters parameters) throws VerbsException {
        usable(verb + " on " + qp.describe(), qp, parameters);
    }

    private ShmQueuePair usable(String verb, QueuePair qp, ConnectionParameters p) throws VerbsException {
        int reads = Math.max(p.responderResources(), p.initiatorDepth());
        if (reads > ShmLimits.MAX_READS) {
            throw new VerbsException(verb, Errno.EINVAL, reads + " reads and atomics outstanding, shm0 takes "
                    + ShmLimits.MAX_READS + " at most");
        }
        if (qp.context() != context) {
            throw new VerbsException(verb, Errno.EINVAL, "the queue pair belongs to another context");
        }
        if (!(qp instanceof ShmQueuePair own) || qp.type() != QueuePairType.RC && qp.type() != QueuePairType.UC) {
            throw new VerbsException(verb, Errno.EINVAL,
                    "the connection manager of shm0 connects queue pairs of type RC "
                            + "and UC, not " + QueuePairType.toString(qp.type()));
        }
        if (qp.isClosed() || qp.state() != QueuePairState.RESET && qp.state() != QueuePairState.INIT) {
            throw new VerbsException(verb, Errno.EINVAL, "the queue pair is "
                    + (qp.isClosed() ? "closed" : "in " + qp.state()) + ", must be in RESET or INIT");
        }
        return own;
    }

    /** Moves a queue pair to RTS towards the peer's; returns the identity of the connection, see {@link Link}. */
    private static long ready(ShmQueuePair qp, Session s, Retries retries, int peer, ConnectionParameters p)
            throws VerbsException {
        if (qp.state() == QueuePairState.RESET) {
            qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(p.accessFlags())
                    .build());
        }
        QueuePairAttributes.Builder receiving = QueuePairAttributes.to(QueuePairState.RTR)
                .addressVector(AddressVector.to(PeerMapping.gid(s.mapping().instance()))).pathMtu(MTU)
                .destinationQueuePair(peer).rqPsn(0);
        QueuePairAttributes.Builder sending = QueuePairAttributes.to(QueuePairState.RTS).sqPsn(0);
        if (qp.type() == QueuePairType.RC) {
            receiving.maxDestReadAtomic(p.responderResources()).minRnrTimer(RNR_TIMER);
            sending.timeout(TIMEOUT).retryCount(retries.count()).rnrRetry(retries.rnr())
                    .maxReadAtomic(p.initiatorDepth());
        }
        qp.modify(receiving.build());
        long link = qp.linkIdentity();
        qp.modify(sending.build());
        return link;
    }

    /** Accepts a request, for {@link ShmConnectionRequest}. */
    Connection accept(ConnectionEnd end, byte[] privateData, int peerQueuePair, Retries retries, QueuePair qp,
            ConnectionParameters parameters) throws VerbsException {
        String verb = "accept on " + qp.describe();
        ShmQueuePair own = usable(verb, qp, parameters);
        boolean done = false;
        try {
            failIfDead(end);
            if (end.reply.isCompletedExceptionally()) {
                Control.get(verb, end.reply, Duration.ZERO, () -> "");
            }
            long link = ready(own, end.session, retries, peerQueuePair, parameters);
            ShmConnection c = new ShmConnection(this, end, own, link, privateData);
            end.connection = c;
            end.session.send(new ControlMessage.Writer(ControlMessage.CM_REPLY).putLong(end.id).putInt(own.number())
                    .putInt(parameters.rnrRetry()).putBytes(parameters.privateData()), null);
            try {
                Control.get(verb, end.reply, parameters.timeout(), () -> "the peer is not ready yet");
            } catch (VerbsException e) {
                c.abandonConnection();
                own.enterError(link, "the connection was not established: " + e.getMessage(), -1);
                throw e;
            }
            context.adopt(c);
            done = true;
            c.established();
            context.count(SamplePoint.DEVICE_CONNECTIONS);
            return c;
        } finally {
            if (!done) {
                ends.remove(new Key(end.session, end.id, false));
                reject(end, 4, new byte[0], "the accepting side has given up");
            }
        }
    }

    /** The application does not want the connection, or the listener that it was for is closed. */
    void refuse(ConnectionEnd end, int reason, byte[] privateData, String text) {
        context.count(SamplePoint.DEVICE_REJECTS);
        reject(end, reason, privateData, text);
    }

    private void reject(ConnectionEnd end, int reason, byte[] privateData, String text) {
        ends.remove(new Key(end.session, end.id, end.isActive));
        end.session.send(new ControlMessage.Writer(ControlMessage.CM_REJECT).putLong(end.id).putInt(end.isActive
                ? 1
                : 0)
                .putInt(reason).putBytes(privateData).putText(text), null);
    }

    void disconnected(ConnectionEnd end) {
        if (ends.remove(new Key(end.session, end.id, end.isActive)) != null) {
            end.session.send(new ControlMessage.Writer(ControlMessage.CM_DISCONNECT).putLong(end.id)
                    .putInt(end.isActive ? 1 : 0), null);
        }
    }

    private static void failIfDead(ConnectionEnd end) {
        if (end.session.isDead()) {
            end.reply.completeExceptionally(died(end.session, "its session has ended"));
        }
    }

    private static VerbsException died(Session s, String reason) {
        return new VerbsException("connect with " + s.peerName(), Errno.ECONNRESET, reason);
    }

    // ---- messages, on the engine's thread

    /** Handles a connection manager's message; false if it is another kind. */
    boolean receive(Session s, ControlMessage.Reader m) throws ProtocolException {
        switch (m.type()) {
            case ControlMessage.CM_REQUEST -> request(s, m);
            case ControlMessage.CM_REPLY -> {
                ConnectionEnd h = ends.get(new Key(s, m.getLong(), true));
                int qp = m.getInt();
                int rnrRetry = retries(m);
                byte[] data = m.getBytes(ConnectionParameters.MAX_PRIVATE_DATA);
                m.end();
                if (h != null) {
                    h.reply.complete(new Reply(qp, rnrRetry, data));
                }
            }
            case ControlMessage.CM_READY -> {
                ConnectionEnd h = ends.get(new Key(s, m.getLong(), false));
                m.end();
                if (h != null) {
                    h.reply.complete(new Reply(0, 0, new byte[0]));
                }
            }
            case ControlMessage.CM_REJECT -> rejected(s, m);
            case ControlMessage.CM_DISCONNECT -> {
                ConnectionEnd h = ends.remove(new Key(s, m.getLong(), m.getInt() == 0));
                m.end();
                ended(h, "the peer disconnected");
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private void request(Session s, ControlMessage.Reader m) throws ProtocolException {
        long id = m.getLong();
        int port = m.getInt();
        int qp = m.getInt();
        Retries retries = new Retries(retries(m), retries(m));
        byte[] data = m.getBytes(ConnectionParameters.MAX_PRIVATE_DATA);
        m.end();
        ConnectionEnd h = new ConnectionEnd(s, id, false);
        ShmConnectionListener l = listeners.get(port);
        if (ends.putIfAbsent(new Key(s, id, false), h) != null) {
            throw new ProtocolException("connection " + id + " is requested twice");
        }
        if (l == null || !l.take(new ShmConnectionRequest(this, h, qp, retries, data))) {
            context.count(SamplePoint.DEVICE_REJECTS);
            reject(h, l == null ? ConnectionRejectedException.INVALID_SERVICE_ID : 3, new byte[0],
                    l == null ? "no listener on port " + port : "the listener has too many requests waiting");
        }
    }

    private static int retries(ControlMessage.Reader m) throws ProtocolException {
        int n = m.getInt();
        if (n < 0 || n > MAX_RETRIES) {
            throw new ProtocolException(n + " retries");
        }
        return n;
    }

    private void rejected(Session s, ControlMessage.Reader m) throws ProtocolException {
        long id = m.getLong();
        boolean byActive = m.getInt() != 0;
        int reason = m.getInt();
        byte[] data = m.getBytes(ConnectionParameters.MAX_PRIVATE_DATA);
        String text = m.getText();
        m.end();
        ConnectionEnd h = ends.remove(new Key(s, id, !byActive));
        if (h != null && !byActive) {
            context.count(SamplePoint.DEVICE_REJECTS);
        }
        if (h != null && !h.reply.completeExceptionally(byActive
                ? died(s, text)
                : new ConnectionRejectedException("connect to " + s.peerName(), reason, data, text))) {
            ended(h, text);
        }
    }

    private static void ended(@Nullable ConnectionEnd h, String reason) {
        if (h != null) {
            h.endedBecause = reason;
            h.reply.completeExceptionally(died(h.session, reason));
            ShmConnection c = h.connection;
            if (c != null) {
                c.ended(reason);
            }
        }
    }

    /** True if there are connections with the peer of a session, or are about to be. */
    boolean uses(Session s) {
        return ends.keySet().stream().anyMatch(k -> k.session() == s);
    }

    /** The peer of a session is gone. */
    void sessionEnded(Session s, String reason) {
        ends.entrySet().removeIf(e -> {
            if (e.getKey().session() != s) {
                return false;
            }
            ended(e.getValue(), reason);
            return true;
        });
    }
}
