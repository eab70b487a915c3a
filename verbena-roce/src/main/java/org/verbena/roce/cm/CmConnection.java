// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.cm;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.Gid;

/**
 * One end of a connection, from its first message to the end of TIME_WAIT (IBTA volume 1, 12.9.7). Made by
 * {@link CmAgent}; used under its lock. A call that does not fit the state does nothing.
 */
public final class CmConnection {
    /** The state of a connection. */
    enum State {
        /** Active: the REQ was sent. */
        REQ_SENT,
        /** Active: the REP was received, and the user prepares its queue pair. */
        REP_RCVD,
        /** Passive: the REQ was received, and the user decides. */
        REQ_RCVD,
        /** Passive: the REP was sent. */
        REP_SENT,
        /** Data may flow. */
        ESTABLISHED,
        /** A DREQ was sent. */
        DREQ_SENT,
        /** Answers late messages until it is forgotten. */
        TIME_WAIT
    }

    private static final long NEVER = Long.MAX_VALUE;

    private final CmAgent agent;
    final int localId;
    final Gid local;
    final Gid remote;
    final boolean active;
    private final long transaction;
    private @Nullable CmUser user;
    State state;
    int remoteId;
    private int localQueuePair;
    private int remoteQueuePair;
    /** The message that is retransmitted when the timer expires, or for a duplicate of its cause. */
    private byte @Nullable [] lastMessage;
    /** How long the peer may take to reply. */
    private long responseTimeout;
    private long giveUp = NEVER;
    private int retriesLeft;
    /** The peer is presumably alive, and will reply to a DREQ. */
    private boolean peerReachable;
    /** When {@link #onTimer} has to be called; only {@link CmAgent#wakeAt} changes it. */
    long deadline = NEVER;

    /** An end of the active side, which sends the REQ. */
    CmConnection(CmAgent agent, Gid local, Gid remote, int localId, CmMessage.Req request, CmUser user,
            long giveUp) {
        this.agent = agent;
        this.local = local;
        this.remote = remote;
        this.localId = localId;
        this.user = user;
        active = true;
        transaction = request.transaction();
        localQueuePair = request.queuePair();
        state = State.REQ_SENT;
        begin(request, CmTimes.responseNanos(request.remoteTimeout()), giveUp);
    }

    /** An end of the passive side, which has received a REQ. */
    CmConnection(CmAgent agent, Gid local, Gid remote, int localId, CmMessage.Req request) {
        this.agent = agent;
        this.local = local;
        this.remote = remote;
        this.localId = localId;
        active = false;
        transaction = request.transaction();
        remoteId = request.localId();
        remoteQueuePair = request.queuePair();
        responseTimeout = CmTimes.responseNanos(request.localTimeout());
        state = State.REQ_RCVD;
    }

    private void begin(CmMessage message, long answerIn, long giveUpAt) {
        responseTimeout = answerIn;
        giveUp = giveUpAt;
        retriesLeft = Integer.MAX_VALUE;
        byte[] mad = CmCodec.encode(message);
        lastMessage = mad;
        send(mad);
        wake(Math.min(now() + responseTimeout, giveUp));
    }

    private long now() {
        return agent.now();
    }

    private void send(byte[] mad) {
        agent.send(local, remote, mad);
    }

    private void send(CmMessage message) {
        send(CmCodec.encode(message));
    }

    private void retransmit() {
        byte[] mad = lastMessage;
        if (mad != null) {
            send(mad);
            agent.counts.retransmitted++;
        }
    }

    private void wake(long at) {
        agent.wakeAt(this, at);
    }

    // ---- the user's side

    /** Own GID. */
    public Gid local() {
        return local;
    }

    /** The peer's GID. */
    public Gid remote() {
        return remote;
    }

    /** The active side, after {@link CmUser#replied}: the queue pair can receive. */
    public void sendRtu() {
        if (state == State.REP_RCVD) {
            state = State.ESTABLISHED;
            byte[] mad = CmCodec.encode(new CmMessage.Rtu(transaction, localId, remoteId, PrivateData.NONE));
            lastMessage = mad;
            send(mad);
            wake(NEVER);
        }
    }

    /**
     * The passive side: accepts a request. The queue pair can receive already.
     *
     * @param qkey see {@link CmMessage.Rep}
     * @param queuePair the local queue pair's number, 24 bits
     * @param startingPsn of the first packet that the peer will send
     * @param responderResources see {@link CmMessage.Rep}
     * @param initiatorDepth see {@link CmMessage.Rep}
     * @param rnrRetry see {@link CmMessage.Rep}
     * @param srq whether it has a shared receive queue
     * @param data at most 196 bytes
     * @param user the user of the connection from now on
     * @param giveUpAt time of {@link CmTransport#nanoTime} at which the peer is considered dead if it is not ready
     */
    public void accept(int qkey, int queuePair, int startingPsn, int responderResources, int initiatorDepth,
            int rnrRetry,
            boolean srq, PrivateData data, CmUser user, long giveUpAt) {
        if (state == State.REQ_RCVD) {
            this.user = user;
            localQueuePair = queuePair;
            state = State.REP_SENT;
            agent.requestEnded(this);
            begin(new CmMessage.Rep(transaction, localId, remoteId, qkey, queuePair, startingPsn, responderResources,
                    initiatorDepth, 0, rnrRetry, srq, agent.caGuid(), data), responseTimeout, giveUpAt);
        }
    }

    /** True as long as a request waits for {@link #accept} or {@link #reject}. */
    public boolean isReqRcvd() {
        return state == State.REQ_RCVD;
    }

    /** The passive side: the queue pair has received a packet, so the peer is ready, even if its RTU was lost. */
    public void communicationEstablished() {
        if (state == State.REP_SENT) {
            established();
        }
    }

    /**
     * Rejects a request or a reply, or, before any reply, abandons the request.
     *
     * @param reason see {@link RejectReason}
     * @param data at most 148 bytes
     */
    public void reject(int reason, PrivateData data) {
        switch (state) {
            case REQ_RCVD -> sendRej(CmMessage.MESSAGE_REQ, reason, data);
            case REP_RCVD -> sendRej(CmMessage.MESSAGE_REP, reason, data);
            case REQ_SENT, REP_SENT -> sendRej(CmMessage.MESSAGE_OTHER, reason, data);
            case ESTABLISHED, DREQ_SENT, TIME_WAIT -> { // too late
            }
        }
    }

    private void sendRej(int about, int reason, PrivateData data) {
        // for a time-out the peer finds the connection by the GUID; for an application's it gets the length of the data
        PrivateData info = switch (reason) {
            case RejectReason.TIMEOUT -> agent.caGuidBytes();
            case RejectReason.CONSUMER_DEFINED -> PrivateData.of((byte) data.length());
            default -> PrivateData.NONE;
        };
        byte[] mad = CmCodec.encode(new CmMessage.Rej(transaction, localId, remoteId, about, reason, info, data));
        send(mad);
        agent.counts.rejectsSent++;
        end(mad);
    }

    /**
     * Ends an established connection, without a call of {@link CmUser#disconnected}.
     *
     * @param answers whether the peer is presumably alive, so that {@link CmAgent#isEnding} is worth waiting for
     */
    public void disconnect(boolean answers) {
        if (state == State.ESTABLISHED || state == State.REP_SENT) {
            user = null;
            state = State.DREQ_SENT;
            peerReachable = answers;
            begin(new CmMessage.Dreq(agent.nextTransaction(), localId, remoteId, remoteQueuePair,
                    PrivateData.NONE), CmTimes.DREQ_TIMEOUT, NEVER);
            retriesLeft = CmTimes.RETRIES;
        } else {
            reject(RejectReason.CONSUMER_DEFINED, PrivateData.NONE);
        }
    }

    // ---- the agent's side

    /** Whether the peer has not replied to a DREQ yet, and is expected to. */
    boolean awaitsDrep() {
        return peerReachable && state == State.DREQ_SENT;
    }

    /** The deadline has passed; it may have been postponed meanwhile. */
    void onTimer(long now) {
        switch (state) {
            case REQ_SENT, REP_SENT, DREQ_SENT -> {
                if (now - giveUp < 0 && retriesLeft-- > 0) {
                    retransmit();
                    if (state == State.DREQ_SENT) {
                        responseTimeout = Math.min(2 * responseTimeout, CmTimes.responseNanos(CmTimes.RESPONSE));
                    }
                    wake(Math.min(now + responseTimeout, giveUp));
                } else {
                    timedOut();
                }
            }
            case TIME_WAIT -> agent.forget(this);
            case REP_RCVD, REQ_RCVD, ESTABLISHED -> { // these do not wait for the peer
            }
        }
    }

    private void timedOut() {
        agent.counts.timeouts++;
        CmUser target = user;
        if (state == State.DREQ_SENT) {
            end(null);
            return;
        }
        sendRej(CmMessage.MESSAGE_OTHER, RejectReason.TIMEOUT, PrivateData.NONE);
        if (target != null) {
            target.timedOut();
        }
    }

    /**
     * Ends it without further callbacks; late messages are answered for a while with the last message, if there is one.
     */
    private void end(byte @Nullable [] answer) {
        if (state == State.REQ_RCVD) {
            agent.requestEnded(this);
        }
        user = null;
        lastMessage = answer;
        state = State.TIME_WAIT;
        agent.ended(this);
        wake(now() + CmTimes.TIME_WAIT);
    }

    private void established() {
        state = State.ESTABLISHED;
        lastMessage = null;
        wake(NEVER);
        CmUser target = user;
        if (target != null) {
            target.established();
        }
    }

    /** A duplicate of the REQ was received. */
    void duplicateReq() {
        switch (state) {
            case REQ_RCVD -> send(new CmMessage.Mra(transaction, localId, remoteId, CmMessage.MESSAGE_REQ,
                    CmTimes.SERVICE, PrivateData.NONE));
            case REP_SENT, TIME_WAIT -> retransmit();
            case REQ_SENT, REP_RCVD, ESTABLISHED, DREQ_SENT -> agent.counts.unexpected++; // it was late
        }
    }

    void received(CmMessage.Rep m) {
        if (!active || remoteId != 0 && m.localId() != remoteId) {
            agent.counts.unexpected++;
            return;
        }
        switch (state) {
            case REQ_SENT -> {
                remoteId = m.localId();
                remoteQueuePair = m.queuePair();
                state = State.REP_RCVD;
                wake(NEVER);
                CmUser target = user;
                if (target != null) {
                    target.replied(m);
                }
            }
            case REP_RCVD -> send(new CmMessage.Mra(transaction, localId, remoteId, CmMessage.MESSAGE_REP,
                    CmTimes.SERVICE, PrivateData.NONE));
            case ESTABLISHED, TIME_WAIT -> retransmit(); // retransmits the RTU, or the rejection
            case REQ_RCVD, REP_SENT, DREQ_SENT -> agent.counts.unexpected++; // it was late
        }
    }

    void received(CmMessage.Rtu m) {
        if (state == State.REP_SENT && m.localId() == remoteId) {
            established();
        } else {
            agent.counts.unexpected++;
        }
    }

    void received(CmMessage.Mra m) {
        if (m.about() == CmMessage.MESSAGE_REQ && state == State.REQ_SENT
                || m.about() == CmMessage.MESSAGE_REP && state == State.REP_SENT && m.localId() == remoteId) {
            wake(Math.min(now() + CmTimes.responseNanos(m.serviceTimeout()), giveUp));
        } else {
            agent.counts.unexpected++;
        }
    }

    void received(CmMessage.Rej m) {
        boolean known = remoteId != 0 && m.localId() == remoteId;
        if (state == State.REQ_SENT || (state == State.REQ_RCVD || state == State.REP_SENT || state == State.REP_RCVD)
                && known) {
            CmUser target = user;
            agent.counts.rejectsReceived++;
            end(null);
            if (target != null) {
                int length = !RejectReason.isOfApplication(m.reason())
                        ? 0
                        : m.info().length() == 1 ? m.info().bytes()[0] & 0xFF : m.data().length();
                target.rejected(m.reason(), m.data().upTo(length));
            }
        } else if (state == State.ESTABLISHED && known) { // a late REP of a connection that the peer has forgotten
            disconnected();
        } else {
            agent.counts.unexpected++;
        }
    }

    void received(CmMessage.Dreq m) {
        if (m.localId() != remoteId || m.queuePair() != localQueuePair || state == State.REQ_SENT
                || state == State.REQ_RCVD) {
            agent.counts.unexpected++;
            return;
        }
        byte[] answer = CmCodec.encode(new CmMessage.Drep(m.transaction(), localId, remoteId,
                PrivateData.NONE));
        send(answer);
        if (state == State.REP_SENT) {
            established(); // a peer that disconnects was ready, even if its RTU was lost (12.9.7.2)
        }
        if (state != State.TIME_WAIT) {
            disconnected();
        }
    }

    private void disconnected() {
        CmUser target = user;
        end(null);
        if (target != null) {
            target.disconnected();
        }
    }

    void received(CmMessage.Drep m) {
        if (state == State.DREQ_SENT && m.localId() == remoteId) {
            end(null);
        } else if (state != State.TIME_WAIT) {
            agent.counts.unexpected++;
        }
    }

    @Override
    public String toString() {
        return "CmConnection[" + local + " to " + remote + ", " + Integer.toHexString(localId) + ", " + state + "]";
    }
}
