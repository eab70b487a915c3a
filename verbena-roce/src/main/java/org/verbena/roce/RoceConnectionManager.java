// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.roce.cm.CmAgent;
import org.verbena.roce.cm.CmConnection;
import org.verbena.roce.cm.CmMessage;
import org.verbena.roce.cm.CmTimes;
import org.verbena.roce.cm.PrivateData;
import org.verbena.roce.cm.RdmaCmHeader;
import org.verbena.roce.cm.RejectReason;
import org.verbena.roce.link.Gids;
import org.verbena.roce.link.WireCounts;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionManager;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.DatagramPeer;
import org.verbena.verbs.DatagramService;
import org.verbena.verbs.Gid;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.VerbsException;

/**
 * Connects queue pairs by address as librdmacm does: services are ports, requests carry its header, and peers may be
 * programs that use it. The agent implements the protocol; this class has the waiting threads and their queue pairs.
 */
final class RoceConnectionManager extends ConnectionManager {
    private static final int FIRST_EPHEMERAL = 32768;
    private static final int LAST_EPHEMERAL = 60999;
    /** Code 12 of the RNR timer, 0.64 ms, and code 15 of the time-out, 134 ms: a JVM pauses now and then. */
    private static final int RNR_TIMER = 12;
    private static final int TIMEOUT = Math.clamp(Integer.getInteger("verbena.roce.timeout", 15), 1, 31);
    private static final int PKEY = 0xFFFF;
    private static final int HOP_LIMIT = 64;
    private static final int PSN_MASK = 0xFF_FFFF;
    /**
     * In the field of a key that these queue pairs do not use, with the length of the private data, which are padded.
     */
    private static final int LENGTH_FOLLOWS = 0x5642_0000;
    /** A reply that has arrived in time may be reported a little later. */
    private static final Duration MARGIN = Duration.ofMillis(500);
    /** How long a context that closes waits for peers, 1 s: five tries of {@link CmConnection#disconnect}. */
    static final long LINGER = 1_000_000_000L;
    /** How often it checks for their replies, 1 ms: the engine needs the lock to receive them. */
    private static final long CHECK_INTERVAL = 1_000_000;

    private final RoceContext context;
    private final Port port;
    private final ManagementQueuePair management;
    private final CmAgent agent;
    private final long guid;
    private final SecureRandom random = new SecureRandom();

    RoceConnectionManager(RoceContext context, Port port, long guid) {
        this.context = context;
        this.port = port;
        this.guid = guid;
        management = new ManagementQueuePair(context.transport(), port);
        agent = new CmAgent(management, guid, code(port.wire().mtu()), random);
    }

    private static int code(int mtu) {
        return Integer.numberOfTrailingZeros(mtu) - 7;
    }

    /** The counts of the device, including connection management messages. */
    DeviceCounts counts(CounterEntry published, WireCounts wire) {
        return new DeviceCounts(published, context.transport(), wire, management, agent.counts());
    }

    // ---- progress, under the lock and outside the transport

    /** Receives messages and runs what is due; returns how much that was. */
    int progress() {
        int n = management.deliver(agent);
        long next = agent.nextDeadline();
        if (next != Long.MAX_VALUE && next - management.nanoTime() <= 0) {
            agent.progress();
            n++;
        }
        return n;
    }

    /** When {@link #progress} has to be called next. */
    long nextDeadline() {
        return agent.nextDeadline();
    }

    // ---- listening

    @Override
    public ConnectionListener listen(InetSocketAddress local) throws VerbsException {
        String verb = "listen on " + local;
        context.requireOpen(verb);
        Gid gid = listenAt(verb, local);
        return at(verb, local.getPort(), number -> listen(verb, gid, number));
    }

    /** An action that takes a port, if it is free. */
    private interface PortAction<T> {
        T at(int port) throws VerbsException;
    }

    /** Runs the action for a port; 0 is any free one. */
    private static <T> T at(String verb, int port, PortAction<T> what) throws VerbsException {
        if (port != 0) {
            return what.at(port);
        }
        int count = LAST_EPHEMERAL - FIRST_EPHEMERAL + 1;
        int at = ThreadLocalRandom.current().nextInt(count);
        for (int i = 0; i < count; i++) {
            try {
                return what.at(FIRST_EPHEMERAL + (at + i) % count);
            } catch (VerbsException e) {
                if (e.errno() != Errno.EADDRINUSE) {
                    throw e;
                }
            }
        }
        throw new VerbsException(verb, Errno.EADDRINUSE, "no port is free");
    }

    /** The GID of an address, or null for all GIDs of this port. */
    private @Nullable Gid listenAt(String verb, InetSocketAddress local) throws VerbsException {
        InetAddress ip = local.getAddress();
        if (ip == null) {
            throw new VerbsException(verb, Errno.EADDRNOTAVAIL, "the host name is not known");
        }
        Gid own = Gids.of(ip);
        boolean loopback = false;
        for (int i = 0; i < port.attributes().gidTableLength(); i++) {
            Gid gid = port.gid(i).gid();
            loopback |= Gids.address(gid).isLoopbackAddress();
            if (gid.equals(own)) {
                return gid;
            }
        }
        if (ip.isAnyLocalAddress() || ip.isLoopbackAddress() && loopback) {
            return null;
        }
        throw new VerbsException(verb, Errno.EADDRNOTAVAIL, ip.getHostAddress() + " is not an address of "
                + context.describe());
    }

    private ConnectionListener listen(String verb, @Nullable Gid gid, int number) throws VerbsException {
        InetSocketAddress address = new InetSocketAddress(Gids.address(gid == null ? port.gid(0).gid() : gid), number);
        RoceConnectionListener l = new RoceConnectionListener(context, this, address, gid);
        boolean free;
        context.lock().lock();
        try {
            free = agent.listen(RdmaCmHeader.service(number), l);
        } finally {
            context.lock().unlock();
        }
        if (!free) {
            l.abandonListener();
            throw new VerbsException(verb, Errno.EADDRINUSE, "another listener has port " + number + " of "
                    + context.describe());
        }
        l.listening();
        context.adopt(l);
        return l;
    }

    void forget(RoceConnectionListener l) {
        context.lock().lock();
        agent.forgetService(RdmaCmHeader.service(l.localAddress().getPort()));
        context.lock().unlock();
    }

    // ---- datagram services

    @Override
    protected DatagramService implProvide(String verb, InetSocketAddress local, QueuePair qp, byte[] privateData)
            throws VerbsException {
        context.requireOpen(verb);
        if (qp.context() != context) {
            throw new VerbsException(verb, Errno.EINVAL, "the queue pair belongs to another context");
        }
        Gid gid = listenAt(verb, local);
        int qkey = ready(verb, qp);
        return at(verb, local.getPort(), number -> provide(verb, gid, number, qp, qkey, privateData));
    }

    /** Moves a queue pair to RTS, if it is not there yet; returns its Q_Key. */
    private static int ready(String verb, QueuePair qp) throws VerbsException {
        switch (qp.state()) {
            case RESET -> {
                qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).qkey(DatagramService.QKEY)
                        .build());
                qp.modify(QueuePairAttributes.to(QueuePairState.RTR).build());
                qp.modify(QueuePairAttributes.to(QueuePairState.RTS).sqPsn(0).build());
            }
            case ERR -> throw new VerbsException(verb, Errno.EINVAL, "the queue pair is in ERR: " + qp.errorReason());
            default -> {
                // it has a Q_Key
            }
        }
        return qp.query().qkey();
    }

    private DatagramService provide(String verb, @Nullable Gid gid, int number, QueuePair qp, int qkey,
            byte[] privateData) throws VerbsException {
        InetSocketAddress address = new InetSocketAddress(Gids.address(gid == null ? port.gid(0).gid() : gid), number);
        RoceDatagramService s = new RoceDatagramService(this, context.describe(), address, qp);
        boolean free;
        context.lock().lock();
        try {
            free = agent.provide(RdmaCmHeader.datagramService(number), gid, qp.number(), qkey, PrivateData.of(
                    privateData));
        } finally {
            context.lock().unlock();
        }
        if (!free) {
            s.abandonService();
            throw new VerbsException(verb, Errno.EADDRINUSE, "another datagram service has port " + number + " of "
                    + context.describe());
        }
        s.provided();
        context.adopt(s);
        return s;
    }

    void forget(RoceDatagramService s) {
        context.lock().lock();
        agent.forgetService(RdmaCmHeader.datagramService(s.localAddress().getPort()));
        context.lock().unlock();
    }

    @Override
    protected DatagramPeer implResolve(String verb, InetSocketAddress remote, Duration timeout, byte[] privateData)
            throws VerbsException {
        context.requireOpen(verb);
        int source = source(verb, remote.getAddress());
        Gid from = port.gid(source).gid();
        Gid to = Gids.of(remote.getAddress());
        CompletableFuture<Optional<CmMessage.SidrRep>> told = new CompletableFuture<>();
        context.lock().lock();
        try {
            agent.resendSidr(from, to, RdmaCmHeader.datagramService(remote.getPort()), PKEY,
                    new RdmaCmHeader(0, Gids.address(from), Gids.address(to)).with(privateData),
                    management.nanoTime() + timeout.toNanos(), a -> told.complete(Optional.ofNullable(a)));
            context.posted();
        } finally {
            context.lock().unlock();
        }
        CmMessage.SidrRep a = await(verb, told, timeout.plus(MARGIN));
        if (a.status() != 0) {
            throw new VerbsException(verb, Errno.ECONNREFUSED, a.status() == 1
                    ? "no datagram service has port " + remote.getPort()
                    : "the peer rejects it, status " + a.status());
        }
        return new DatagramPeer(AddressVector.builder(to).sourceGidIndex(source).hopLimit(HOP_LIMIT).build(),
                a.queuePair(), a.qkey(), a.data().bytes());
    }

    private static CmMessage.SidrRep await(String verb, CompletableFuture<Optional<CmMessage.SidrRep>> told,
            Duration timeout) throws VerbsException {
        try {
            return told.get(TimeUnit.NANOSECONDS.convert(timeout), TimeUnit.NANOSECONDS)
                    .orElseThrow(TimeoutException::new);
        } catch (TimeoutException e) {
            throw new VerbsException(verb, Errno.ETIMEDOUT, "the peer does not respond");
        } catch (ExecutionException e) {
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VerbsException(verb, Errno.EINTR, "the thread was interrupted");
        }
    }

    // ---- connecting

    @Override
    protected Connection implConnect(QueuePair qp, InetSocketAddress remote, ConnectionParameters parameters)
            throws VerbsException {
        String verb = "connect " + qp.describe() + " to " + remote;
        context.requireOpen(verb);
        RoceQueuePair own = checkConnectable(verb, qp, parameters);
        long start = management.nanoTime();
        int source = source(verb, remote.getAddress());
        Gid from = port.gid(source).gid();
        Gid to = Gids.of(remote.getAddress());
        int psn = random.nextInt() & PSN_MASK;
        ConnectionEnd end = new ConnectionEnd(context, verb, true);
        byte[] data = parameters.privateData();
        PrivateData carried = new RdmaCmHeader(0, Gids.address(from), Gids.address(to)).with(data);
        context.lock().lock();
        try {
            CmMessage.Route route = new CmMessage.Route(from, to, 0, 0, 0, HOP_LIMIT, TIMEOUT);
            end.cm = agent.connect(new CmMessage.Req(agent.nextTransaction(), agent.newId(), RdmaCmHeader.service(
                    remote.getPort()), guid, LENGTH_FOLLOWS | data.length, own.number(), parameters
                            .responderResources(), parameters.initiatorDepth(), CmTimes.RESPONSE, CmTimes.RESPONSE,
                    CmTimes.RETRIES, own.type() == QueuePairType.UC ? CmMessage.UC : CmMessage.RC, 0, psn, parameters
                            .retryCount(), parameters.rnrRetry(), own.hasSharedReceives(), PKEY, code(port.wire()
                                    .mtu()), route, carried), end, start + parameters.timeout().toNanos());
            context.posted();
        } finally {
            context.lock().unlock();
        }
        boolean done = false;
        try {
            CmMessage.Rep reply = end.await(parameters.timeout().plus(MARGIN));
            if (reply == null) {
                throw new AssertionError("an active end is told a reply");
            }
            connect(own, source, to, reply.queuePair(), psn, reply.startingPsn(), Math.min(parameters
                    .responderResources(), reply.initiatorDepth()), Math.min(parameters.initiatorDepth(), reply
                            .responderResources()), parameters.retryCount(), reply.rnrRetry(), parameters);
            RoceConnection c = new RoceConnection(this, end, own, to, data(reply));
            act(end.cm, CmConnection::sendRtu);
            context.adopt(c);
            done = true;
            c.established();
            context.count(SamplePoint.DEVICE_CONNECTIONS);
            return c;
        } finally {
            if (!done) {
                disconnect(end, true);
            }
        }
    }

    /** The first GID of the port from which an address is reachable. */
    private int source(String verb, @Nullable InetAddress ip) throws VerbsException {
        if (ip == null) {
            throw new VerbsException(verb, Errno.EHOSTUNREACH, "the host name is not known");
        }
        Gid to = Gids.of(ip);
        VerbsException why = null;
        for (int i = 0; i < port.attributes().gidTableLength(); i++) {
            Gid gid = port.gid(i).gid();
            // the loopback interface leads nowhere else, whatever the routes of others are
            if (Gids.isIp4(gid) == Gids.isIp4(to) && (ip.isLoopbackAddress() || !Gids.address(gid)
                    .isLoopbackAddress())) {
                try {
                    context.path(verb, AddressVector.builder(to).sourceGidIndex(i).build()).close();
                    return i;
                } catch (VerbsException e) {
                    why = e;
                }
            }
        }
        throw new VerbsException(verb, Errno.EHOSTUNREACH, why == null
                ? "no address of " + context.describe() + " leads there"
                : String.valueOf(why.getMessage()));
    }

    /** Rejects a queue pair that cannot be connected, or not in this way. */
    RoceQueuePair checkConnectable(String verb, QueuePair qp, ConnectionParameters p) throws VerbsException {
        int reads = Math.max(p.responderResources(), p.initiatorDepth());
        if (reads > RoceLimits.MAX_READS) {
            throw new VerbsException(verb, Errno.EINVAL, reads + " reads and atomics outstanding, " + context.describe()
                    + " takes " + RoceLimits.MAX_READS + " at most");
        }
        if (qp.context() != context) {
            throw new VerbsException(verb, Errno.EINVAL, "the queue pair belongs to another context");
        }
        if (!(qp instanceof RoceQueuePair own) || qp.type() != QueuePairType.RC && qp.type() != QueuePairType.UC) {
            throw new VerbsException(verb, Errno.EINVAL, "the connection manager of " + context.describe()
                    + " connects queue pairs of type RC and UC, not " + QueuePairType.toString(qp.type()));
        }
        if (qp.isClosed() || qp.state() != QueuePairState.RESET && qp.state() != QueuePairState.INIT) {
            throw new VerbsException(verb, Errno.EINVAL, "the queue pair is "
                    + (qp.isClosed() ? "closed" : "in " + qp.state()) + ", must be in RESET or INIT");
        }
        return own;
    }

    /** Rejects a queue pair of another type than the requester's. */
    void checkType(String verb, RoceQueuePair own, CmMessage.Req request) throws VerbsException {
        int asked = switch (request.transport()) {
            case CmMessage.RC -> QueuePairType.RC;
            case CmMessage.UC -> QueuePairType.UC;
            default -> QueuePairType.XRC_SEND;
        };
        if (own.type() != asked) {
            throw new VerbsException(verb, Errno.EINVAL, "the peer's queue pair is of type " + QueuePairType.toString(
                    asked) + ", this one of " + QueuePairType.toString(own.type()));
        }
    }

    /** Connects a queue pair and moves it to RTS: each end has named the PSN that the other starts with. */
    private void connect(RoceQueuePair qp, int source, Gid peer, int peerNumber, int psn, int peerPsn, int responder,
            int initiator, int retryCount, int rnrRetry, ConnectionParameters p) throws VerbsException {
        if (qp.state() == QueuePairState.RESET) {
            qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(p.accessFlags())
                    .build());
        }
        QueuePairAttributes.Builder receiving = QueuePairAttributes.to(QueuePairState.RTR)
                .addressVector(AddressVector.builder(peer).sourceGidIndex(source).hopLimit(HOP_LIMIT).build())
                .pathMtu(port.wire().mtu()).destinationQueuePair(peerNumber).rqPsn(psn);
        QueuePairAttributes.Builder sending = QueuePairAttributes.to(QueuePairState.RTS).sqPsn(peerPsn);
        if (qp.type() == QueuePairType.RC) {
            receiving.maxDestReadAtomic(Math.min(responder, RoceLimits.MAX_READS)).minRnrTimer(RNR_TIMER);
            sending.timeout(TIMEOUT).retryCount(retryCount).rnrRetry(rnrRetry).maxReadAtomic(Math.min(initiator,
                    RoceLimits.MAX_READS));
        }
        qp.modify(receiving.build());
        qp.modify(sending.build());
    }

    /** Accepts a request, for {@link RoceConnectionRequest}. */
    Connection accept(String verb, CmConnection cm, CmMessage.Req request, RoceQueuePair own,
            ConnectionParameters parameters) throws VerbsException {
        ConnectionEnd end = new ConnectionEnd(context, verb, false);
        end.cm = cm;
        boolean done = false;
        boolean moved = false;
        try {
            context.lock().lock();
            boolean waits = cm.isReqRcvd();
            context.lock().unlock();
            if (!waits) {
                throw new VerbsException(verb, Errno.ECONNRESET, "the peer has abandoned the connection");
            }
            int psn = random.nextInt() & PSN_MASK;
            int responder = Math.min(parameters.responderResources(), request.initiatorDepth());
            int initiator = Math.min(parameters.initiatorDepth(), request.responderResources());
            connect(own, index(cm.local()), cm.remote(), request.queuePair(), psn, request.startingPsn(), responder,
                    initiator, request.retryCount(), request.rnrRetry(), parameters);
            moved = true;
            byte[] data = parameters.privateData();
            long giveUp = management.nanoTime() + parameters.timeout().toNanos();
            RoceConnection c = new RoceConnection(this, end, own, cm.remote(), data(request));
            try {
                act(cm, x -> own.core().onFirstPacket(x::communicationEstablished)); // by data alone
                act(cm, x -> x.accept(LENGTH_FOLLOWS | data.length, own.number(), psn, responder, initiator, parameters
                        .rnrRetry(), own.hasSharedReceives(), PrivateData.of(data), end, giveUp));
                end.await(parameters.timeout().plus(MARGIN));
            } catch (VerbsException e) {
                c.abandonConnection();
                throw e;
            } finally {
                act(cm, x -> own.core().onFirstPacket(null));
            }
            context.adopt(c);
            done = true;
            c.established();
            context.count(SamplePoint.DEVICE_CONNECTIONS);
            return c;
        } finally {
            if (!done) {
                reject(cm, RejectReason.NO_QUEUE_PAIR);
                if (moved) {
                    own.disconnected("the connection was not established");
                }
            }
        }
    }

    private int index(Gid local) throws VerbsException {
        for (int i = 0; i < port.attributes().gidTableLength(); i++) {
            if (port.gid(i).gid().equals(local)) {
                return i;
            }
        }
        throw new VerbsException("accept", Errno.EADDRNOTAVAIL, local + " is not a GID of this port any more");
    }

    void reject(CmConnection cm, int reason, byte... data) {
        if (reason == RejectReason.CONSUMER_DEFINED) {
            context.count(SamplePoint.DEVICE_REJECTS);
        }
        act(cm, c -> c.reject(reason, PrivateData.of(data)));
    }

    /**
     * Ends a connection, or abandons one that was not established.
     *
     * @param answers false if the peer did not respond to all retransmissions
     */
    void disconnect(ConnectionEnd end, boolean answers) {
        act(end.cm, c -> c.disconnect(answers));
    }

    /**
     * Before the wire closes: waits until peers know that their connections have ended, since nothing would be
     * retransmitted to them afterwards and they would wait forever. Not for long: they may be dead.
     */
    void linger() {
        long until = System.nanoTime() + LINGER;
        while (isEnding() && System.nanoTime() - until < 0 && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(CHECK_INTERVAL);
        }
    }

    private boolean isEnding() {
        context.lock().lock();
        try {
            return agent.isEnding();
        } finally {
            context.lock().unlock();
        }
    }

    private void act(@Nullable CmConnection cm, Consumer<CmConnection> action) {
        if (cm != null) {
            context.lock().lock();
            try {
                action.accept(cm);
                context.posted();
            } finally {
                context.lock().unlock();
            }
        }
    }

    /** The private data of the peer's application in its request. */
    static byte[] data(CmMessage.Req request) {
        PrivateData all = request.data();
        return sent(RdmaCmHeader.of(all) == null ? all : all.from(RdmaCmHeader.BYTES), request.qkey());
    }

    private static byte[] data(CmMessage.Rep reply) {
        return sent(reply.data(), reply.qkey());
    }

    /**
     * The private data that were sent. Another implementation does not send their length: all of it, with the padding.
     */
    private static byte[] sent(PrivateData data, int mark) {
        return ((mark & 0xFFFF_0000) == LENGTH_FOLLOWS ? data.upTo(mark & 0xFFFF) : data).bytes();
    }
}
