// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.cm;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.Gid;

/**
 * The connection manager of a port (IBTA volume 1, chapter 12): connections and datagram services, the local ones and
 * those that peers request. Retransmits what is lost, replies to duplicates, and limits the state that unknown hosts can
 * make it keep.
 *
 * <p>Pure: no thread, clock or socket. Every caller holds the agent's lock. Callbacks are called from inside
 * {@link #received} and {@link #progress}.
 */
public final class CmAgent {
    /** Requests of all peers that wait for a reply. */
    static final int MAX_OFFERED = 4096;
    /** Requests of one peer that wait for a reply. */
    public static final int MAX_OFFERED_OF_PEER = 1024;
    /** Connections in TIME_WAIT that are kept. */
    static final int MAX_TIME_WAIT = 16_384;
    private static final int LARGEST_MTU_CODE = 5;

    private record PeerId(Gid peer, int id) {}

    /** A queue pair that is the reply to SIDR requests. */
    private record Datagrams(@Nullable Gid gid, int queuePair, int qkey, PrivateData data) {}

    private final CmTransport transport;
    private final long caGuid;
    private final RandomGenerator random;
    private final int mtuCode;
    final CmCounts counts = new CmCounts();
    private final Map<Integer, CmConnection> connections = new HashMap<>();
    /** Of the passive side: finds the connection of a duplicate request. */
    private final Map<PeerId, CmConnection> requests = new HashMap<>();
    private final Map<Gid, Integer> offeredOfPeer = new HashMap<>();
    private final Map<Long, CmService> services = new HashMap<>();
    private final Map<Long, Datagrams> datagrams = new HashMap<>();
    private final Map<Integer, SidrRequest> sidrRequests = new HashMap<>();
    /** Connections with a deadline, each once, however often a peer makes it change. */
    private final TreeSet<CmConnection> timers = new TreeSet<>(Comparator.comparingLong((CmConnection c) -> c.deadline)
            .thenComparingInt(c -> c.localId));
    private final ArrayDeque<CmConnection> timeWait = new ArrayDeque<>();
    private int offered;
    private long transactions;

    /**
     * An agent without connections.
     *
     * @param transport carries the messages
     * @param caGuid of the local adapter; with the queue pair numbers it identifies connections to peers
     * @param mtuCode code of the largest path MTU here: 1 for 256 to 5 for 4096 bytes
     * @param random for numbers that other hosts cannot predict
     */
    public CmAgent(CmTransport transport, long caGuid, int mtuCode, RandomGenerator random) {
        this.transport = transport;
        this.caGuid = caGuid;
        this.mtuCode = mtuCode;
        this.random = random;
        transactions = random.nextLong();
    }

    // ---- the user's side

    /** The counts so far. */
    public CmCounts counts() {
        return counts;
    }

    /** A number for an exchange, for {@link CmMessage#transaction}. */
    public long nextTransaction() {
        return transactions++;
    }

    /** A number for a connection of this side, for {@link CmMessage.Req#localId}; it is not in use. */
    public int newId() {
        int id;
        do {
            id = random.nextInt();
        } while (id == 0 || connections.containsKey(id) || sidrRequests.containsKey(id));
        return id;
    }

    /**
     * Listens for a service from now on.
     *
     * @return false if the service has a listener already
     */
    public boolean listen(long serviceId, CmService service) {
        return !datagrams.containsKey(serviceId) && services.putIfAbsent(serviceId, service) == null;
    }

    /**
     * Replies to SIDR requests for a service with a queue pair of type UD.
     *
     * @param gid the local GID that a request has to be sent to, or null for any
     * @return false if the service is provided already
     */
    public boolean provide(long serviceId, @Nullable Gid gid, int queuePair, int qkey, PrivateData data) {
        return !services.containsKey(serviceId) && datagrams.putIfAbsent(serviceId, new Datagrams(gid, queuePair,
                qkey, data)) == null;
    }

    /** Stops listening for, or providing, a service. */
    public void forgetService(long serviceId) {
        services.remove(serviceId);
        datagrams.remove(serviceId);
    }

    /**
     * Requests a connection.
     *
     * @param request with a number of {@link #newId}
     * @param giveUpAt time of {@link CmTransport#nanoTime} at which the peer is considered dead
     * @return the connection
     */
    public CmConnection connect(CmMessage.Req request, CmUser user, long giveUpAt) {
        CmConnection c = new CmConnection(this, request.route().local(), request.route().remote(), request.localId(),
                request, user, giveUpAt);
        connections.put(c.localId, c);
        return c;
    }

    /**
     * Requests the queue pair of a service.
     *
     * @param from own GID
     * @param to the peer's
     * @param data at most 216 bytes
     * @param giveUpAt time of {@link CmTransport#nanoTime} at which the peer is considered dead
     * @param user receives the reply, or null if none arrived
     */
    public void resendSidr(Gid from, Gid to, long serviceId, int pkey, PrivateData data, long giveUpAt,
            Consumer<CmMessage.@Nullable SidrRep> user) {
        int id = newId();
        SidrRequest q = new SidrRequest(from, to, CmCodec.encode(new CmMessage.SidrReq(nextTransaction(), id, pkey,
                serviceId, data)), giveUpAt, user);
        sidrRequests.put(id, q);
        send(from, to, q.mad);
        q.deadline = Math.min(now() + CmTimes.responseNanos(CmTimes.RESPONSE), giveUpAt);
    }

    // ---- time

    /**
     * When {@link #progress} has to be called next: a time of {@link CmTransport#nanoTime}, {@link Long#MAX_VALUE} for
     * never.
     */
    public long nextDeadline() {
        long next = timers.isEmpty() ? Long.MAX_VALUE : timers.first().deadline;
        if (!sidrRequests.isEmpty()) { // called by each poll, and an iterator would be an allocation
            for (SidrRequest q : sidrRequests.values()) {
                next = Math.min(next, q.deadline);
            }
        }
        return next;
    }

    /** Handles expired deadlines. */
    public void progress() {
        long now = now();
        while (!timers.isEmpty() && timers.first().deadline - now <= 0) {
            CmConnection c = timers.first();
            wakeAt(c, Long.MAX_VALUE);
            c.onTimer(now);
        }
        if (!sidrRequests.isEmpty()) {
            resendSidr(now);
        }
    }

    private void resendSidr(long now) {
        ArrayDeque<SidrRequest> over = new ArrayDeque<>();
        for (Iterator<SidrRequest> i = sidrRequests.values().iterator(); i.hasNext();) {
            SidrRequest q = i.next();
            if (q.giveUp - now <= 0) {
                i.remove();
                over.add(q);
            } else if (q.deadline - now <= 0) {
                counts.retransmitted++;
                send(q.from, q.to, q.mad);
                q.deadline = Math.min(now + CmTimes.responseNanos(CmTimes.RESPONSE), q.giveUp);
            }
        }
        for (SidrRequest q : over) { // the user may send another request
            counts.timeouts++;
            q.user.accept(null);
        }
    }

    // ---- messages

    /**
     * A datagram was received by queue pair 1.
     *
     * @param to the local GID that it was sent to
     * @param from the sender's GID
     * @param mad its bytes, not validated
     */
    public void received(Gid to, Gid from, byte[] mad) {
        CmMessage message = CmCodec.decode(mad);
        if (message == null) {
            counts.malformed++;
            return;
        }
        counts.received++;
        switch (message) {
            case CmMessage.Req m -> requested(to, from, m);
            case CmMessage.SidrReq m -> send(from, m, to);
            case CmMessage.SidrRep m -> requestEnded(from, m);
            case CmMessage.Rep m -> {
                CmConnection c = find(m.remoteId(), to, from);
                if (c != null) {
                    c.received(m);
                }
            }
            case CmMessage.Rtu m -> {
                CmConnection c = find(m.remoteId(), to, from);
                if (c != null) {
                    c.received(m);
                }
            }
            case CmMessage.Rej m -> {
                // an active side that timed out before any reply does not have the number here
                CmConnection c = m.remoteId() == 0
                        ? requests.get(new PeerId(from, m.localId()))
                        : find(m.remoteId(),
                                to, from);
                if (c != null) {
                    c.received(m);
                }
            }
            case CmMessage.Mra m -> {
                CmConnection c = find(m.remoteId(), to, from);
                if (c != null) {
                    c.received(m);
                }
            }
            case CmMessage.Dreq m -> {
                CmConnection c = find(m.remoteId(), to, from);
                if (c != null) {
                    c.received(m);
                } else { // forgotten since: the peer must not wait
                    int own = m.remoteId();
                    int peers = m.localId();
                    send(to, from, CmCodec.encode(new CmMessage.Drep(m.transaction(), own, peers,
                            PrivateData.NONE)));
                }
            }
            case CmMessage.Drep m -> {
                CmConnection c = find(m.remoteId(), to, from);
                if (c != null) {
                    c.received(m);
                }
            }
        }
    }

    /** The connection with a number, if the message comes from its peer. */
    private @Nullable CmConnection find(int id, Gid to, Gid from) {
        CmConnection c = connections.get(id);
        if (c == null || !c.remote.equals(from) || !c.local.equals(to)) {
            counts.unexpected++;
            return null;
        }
        return c;
    }

    private void requested(Gid to, Gid from, CmMessage.Req m) {
        CmConnection known = requests.get(new PeerId(from, m.localId()));
        if (known != null) {
            known.duplicateReq();
            return;
        }
        int reason = refusal(to, from, m);
        CmService service = services.get(m.serviceId());
        if (reason == 0 && service == null) {
            reason = RejectReason.INVALID_SERVICE_ID;
        }
        if (reason != 0 || service == null) {
            refuse(to, from, m, reason);
            return;
        }
        CmConnection c = new CmConnection(this, to, from, newId(), m);
        connections.put(c.localId, c);
        requests.put(new PeerId(from, m.localId()), c);
        offered++;
        offeredOfPeer.merge(from, 1, Integer::sum);
        int refusal = service.requested(c, m);
        if (refusal != 0) {
            counts.refused++;
            c.reject(refusal, PrivateData.NONE);
        }
    }

    /** Why a request is rejected whatever its service; 0 if it is not. Nothing is kept of a rejected one. */
    private int refusal(Gid to, Gid from, CmMessage.Req m) {
        boolean xrc = m.transport() == CmMessage.EXTENDED && m.extendedTransport() == CmMessage.XRC;
        if (m.transport() != CmMessage.RC && m.transport() != CmMessage.UC && !xrc) {
            return RejectReason.INVALID_TRANSPORT;
        }
        if (!m.route().local().equals(from) || !m.route().remote().equals(to)) {
            return RejectReason.INVALID_GID;
        }
        if (m.pathMtu() < 1 || m.pathMtu() > LARGEST_MTU_CODE || m.pathMtu() > mtuCode) {
            return RejectReason.INVALID_MTU;
        }
        if (services.containsKey(m.serviceId()) && (offered >= MAX_OFFERED || offeredOfPeer.getOrDefault(from,
                0) >= MAX_OFFERED_OF_PEER)) {
            counts.refused++;
            return RejectReason.NO_RESOURCES;
        }
        return 0;
    }

    private void refuse(Gid to, Gid from, CmMessage.Req m, int reason) {
        counts.rejectsSent++;
        send(to, from, CmCodec.encode(new CmMessage.Rej(m.transaction(), 0, m.localId(), CmMessage.MESSAGE_REQ,
                reason, PrivateData.NONE, PrivateData.NONE)));
    }

    private void send(Gid to, CmMessage.SidrReq m, Gid from) {
        Datagrams d = datagrams.get(m.serviceId());
        send(from, to, CmCodec.encode(d == null || d.gid() != null && !d.gid().equals(from)
                ? new CmMessage.SidrRep(m.transaction(), m.requestId(), 1, 0, m.serviceId(), 0, PrivateData.NONE)
                : new CmMessage.SidrRep(m.transaction(), m.requestId(), 0, d.queuePair(), m.serviceId(), d.qkey(), d
                        .data())));
    }

    private void requestEnded(Gid from, CmMessage.SidrRep m) {
        SidrRequest q = sidrRequests.get(m.requestId());
        if (q == null || !q.to.equals(from)) {
            counts.unexpected++;
            return;
        }
        sidrRequests.remove(m.requestId());
        q.user.accept(m);
    }

    // ---- for connections

    long now() {
        return transport.nanoTime();
    }

    long caGuid() {
        return caGuid;
    }

    PrivateData caGuidBytes() {
        return PrivateData.of(ByteBuffer.allocate(Long.BYTES).putLong(caGuid).array());
    }

    void send(Gid from, Gid to, byte[] mad) {
        counts.sent++;
        transport.send(from, to, mad);
    }

    /** Sets the deadline of a connection, in place of its last one; {@link Long#MAX_VALUE} for never. */
    void wakeAt(CmConnection c, long at) {
        timers.remove(c);
        c.deadline = at;
        if (at != Long.MAX_VALUE) {
            timers.add(c);
        }
    }

    /** A request does not wait any more. */
    void requestEnded(CmConnection c) {
        offered--;
        offeredOfPeer.computeIfPresent(c.remote, (gid, n) -> n == 1 ? null : n - 1);
    }

    /** A connection enters TIME_WAIT; the oldest one is forgotten if there are too many. */
    void ended(CmConnection c) {
        timeWait.add(c);
        if (timeWait.size() > MAX_TIME_WAIT) {
            drop(timeWait.remove());
        }
    }

    /** A connection leaves TIME_WAIT, which has the same length for all, so it is the oldest. */
    void forget(CmConnection c) {
        timeWait.remove(c);
        drop(c);
    }

    private void drop(CmConnection c) {
        wakeAt(c, Long.MAX_VALUE);
        connections.remove(c.localId, c);
        if (!c.active) {
            requests.remove(new PeerId(c.remote, c.remoteId), c);
        }
    }

    /** Number of connections, in whatever state. */
    public int size() {
        return connections.size();
    }

    /** Whether a peer that is presumably alive has not replied to a DREQ yet. */
    public boolean isEnding() {
        return connections.values().stream().anyMatch(CmConnection::awaitsDrep);
    }

    /** Number of connections with a deadline. */
    int waiting() {
        return timers.size();
    }
}
