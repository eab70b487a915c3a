package org.verbena.roce.cm;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.Gid;

/**
 * One end of a connection, from the first message to a while after the last (IBTA volume 1, 12.9.7). Made by
 * {@link CmAgent}; used under its lock. A call that does not fit the state does nothing.
 */
public final class CmConnection {
    /** How far it is. */
    enum State {
        /** Active: the request is on its way. */
        REQUESTED,
        /** Active: the reply is there, and the user gets ready. */
        REPLIED,
        /** Passive: the user thinks about the request. */
        OFFERED,
        /** Passive: the reply is on its way. */
        ACCEPTED,
        /** Data may flow. */
        ESTABLISHED,
        /** The end is on its way. */
        ENDING,
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
    /** What is repeated when the timer ends, or when its cause comes again. */
    private byte @Nullable [] last;
    /** How soon the peer answers. */
    private long patience;
    private long giveUp = NEVER;
    private int retriesLeft;
    /** The peer is there, for all that is known, and will answer to the end. */
    private boolean farewell;
    /** When {@link #expired} is due; only {@link CmAgent#wakeAt} changes it. */
    long deadline = NEVER;

    /** Of the active side, which sends the request. */
    CmConnection(CmAgent agent, Gid local, Gid remote, int localId, CmMessage.Request request, CmUser user,
            long giveUp) {
        this.agent = agent;
        this.local = local;
        this.remote = remote;
        this.localId = localId;
        this.user = user;
        active = true;
        transaction = request.transaction();
        localQueuePair = request.queuePair();
        state = State.REQUESTED;
        begin(request, CmTimes.answer(request.remoteTimeout()), giveUp);
    }

    /** Of the passive side, which a request has reached. */
    CmConnection(CmAgent agent, Gid local, Gid remote, int localId, CmMessage.Request request) {
        this.agent = agent;
        this.local = local;
        this.remote = remote;
        this.localId = localId;
        active = false;
        transaction = request.transaction();
        remoteId = request.localId();
        remoteQueuePair = request.queuePair();
        patience = CmTimes.answer(request.localTimeout());
        state = State.OFFERED;
    }

    private void begin(CmMessage message, long answerIn, long giveUpAt) {
        patience = answerIn;
        giveUp = giveUpAt;
        retriesLeft = Integer.MAX_VALUE;
        byte[] mad = CmCodec.encode(message);
        last = mad;
        send(mad);
        wake(Math.min(now() + patience, giveUp));
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

    private void sendAgain() {
        byte[] mad = last;
        if (mad != null) {
            send(mad);
            agent.counts.repeated++;
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
    public void ready() {
        if (state == State.REPLIED) {
            state = State.ESTABLISHED;
            byte[] mad = CmCodec.encode(new CmMessage.Ready(transaction, localId, remoteId, PrivateData.NONE));
            last = mad;
            send(mad);
            wake(NEVER);
        }
    }

    /**
     * The passive side: accepts a request. The queue pair can receive already.
     *
     * @param qkey see {@link CmMessage.Reply}
     * @param queuePair the own one's number, 24 bits
     * @param startingPsn of the first packet that the peer will send
     * @param responderResources see {@link CmMessage.Reply}
     * @param initiatorDepth see {@link CmMessage.Reply}
     * @param rnrRetry see {@link CmMessage.Reply}
     * @param srq whether it has a shared receive queue
     * @param data at most 196 bytes
     * @param user who uses the connection from now on
     * @param giveUpAt time of {@link CmCarrier#nanoTime} at which the peer counts as gone if it is not ready
     */
    public void accept(int qkey, int queuePair, int startingPsn, int responderResources, int initiatorDepth,
            int rnrRetry,
            boolean srq, PrivateData data, CmUser user, long giveUpAt) {
        if (state == State.OFFERED) {
            this.user = user;
            localQueuePair = queuePair;
            state = State.ACCEPTED;
            agent.answered(this);
            begin(new CmMessage.Reply(transaction, localId, remoteId, qkey, queuePair, startingPsn, responderResources,
                    initiatorDepth, 0, rnrRetry, srq, agent.caGuid(), data), patience, giveUpAt);
        }
    }

    /** True as long as a request waits for {@link #accept} or {@link #reject}. */
    public boolean isOffered() {
        return state == State.OFFERED;
    }

    /** The passive side: the queue pair has received something, so the peer is ready, whatever became of its message. */
    public void communicationEstablished() {
        if (state == State.ACCEPTED) {
            established();
        }
    }

    /**
     * Says no: to a request, to a reply, or, while nothing has come, to go on waiting.
     *
     * @param reason see {@link RejectReason}
     * @param data at most 148 bytes
     */
    public void reject(int reason, PrivateData data) {
        switch (state) {
            case OFFERED -> rejectAbout(CmMessage.ABOUT_REQUEST, reason, data);
            case REPLIED -> rejectAbout(CmMessage.ABOUT_REPLY, reason, data);
            case REQUESTED, ACCEPTED -> rejectAbout(CmMessage.ABOUT_NONE, reason, data);
            case ESTABLISHED, ENDING, TIME_WAIT -> { // too late
            }
        }
    }

    private void rejectAbout(int about, int reason, PrivateData data) {
        // of a time-out the peer finds the connection by the GUID; of an application's it learns how long the data are
        PrivateData info = switch (reason) {
            case RejectReason.TIMEOUT -> agent.caGuidBytes();
            case RejectReason.CONSUMER_DEFINED -> PrivateData.of((byte) data.length());
            default -> PrivateData.NONE;
        };
        byte[] mad = CmCodec.encode(new CmMessage.Reject(transaction, localId, remoteId, about, reason, info, data));
        send(mad);
        agent.counts.rejectsSent++;
        end(mad);
    }

    /**
     * Ends an established connection. {@link CmUser#disconnected} is not told.
     *
     * @param answers whether the peer is there, for all that is known, so that {@link CmAgent#isEnding} is worth waiting for
     */
    public void disconnect(boolean answers) {
        if (state == State.ESTABLISHED || state == State.ACCEPTED) {
            user = null;
            state = State.ENDING;
            farewell = answers;
            begin(new CmMessage.Disconnect(agent.nextTransaction(), localId, remoteId, remoteQueuePair,
                    PrivateData.NONE), CmTimes.END, NEVER);
            retriesLeft = CmTimes.RETRIES;
        } else {
            reject(RejectReason.CONSUMER_DEFINED, PrivateData.NONE);
        }
    }

    // ---- the agent's side

    /** Whether the peer has not answered to the end yet, and is expected to. */
    boolean isFarewell() {
        return farewell && state == State.ENDING;
    }

    /** The time has come; it may have been put off meanwhile. */
    void expired(long now) {
        switch (state) {
            case REQUESTED, ACCEPTED, ENDING -> {
                if (now - giveUp < 0 && retriesLeft-- > 0) {
                    sendAgain();
                    if (state == State.ENDING) {
                        patience = Math.min(2 * patience, CmTimes.answer(CmTimes.RESPONSE));
                    }
                    wake(Math.min(now + patience, giveUp));
                } else {
                    timedOut();
                }
            }
            case TIME_WAIT -> agent.forget(this);
            case REPLIED, OFFERED, ESTABLISHED -> { // these do not wait for the peer
            }
        }
    }

    private void timedOut() {
        agent.counts.timeouts++;
        CmUser told = user;
        if (state == State.ENDING) {
            end(null);
            return;
        }
        rejectAbout(CmMessage.ABOUT_NONE, RejectReason.TIMEOUT, PrivateData.NONE);
        if (told != null) {
            told.timedOut();
        }
    }

    /** Nothing more is told; late messages are answered for a while with the last one, if there is one. */
    private void end(byte @Nullable [] answer) {
        if (state == State.OFFERED) {
            agent.answered(this);
        }
        user = null;
        last = answer;
        state = State.TIME_WAIT;
        agent.ended(this);
        wake(now() + CmTimes.TIME_WAIT);
    }

    private void established() {
        state = State.ESTABLISHED;
        last = null;
        wake(NEVER);
        CmUser told = user;
        if (told != null) {
            told.established();
        }
    }

    /** The request has come again. */
    void requestedAgain() {
        switch (state) {
            case OFFERED -> send(new CmMessage.Receipt(transaction, localId, remoteId, CmMessage.ABOUT_REQUEST,
                    CmTimes.SERVICE, PrivateData.NONE));
            case ACCEPTED, TIME_WAIT -> sendAgain();
            case REQUESTED, REPLIED, ESTABLISHED, ENDING -> agent.counts.unexpected++; // it was late
        }
    }

    void received(CmMessage.Reply m) {
        if (!active || remoteId != 0 && m.localId() != remoteId) {
            agent.counts.unexpected++;
            return;
        }
        switch (state) {
            case REQUESTED -> {
                remoteId = m.localId();
                remoteQueuePair = m.queuePair();
                state = State.REPLIED;
                wake(NEVER);
                CmUser told = user;
                if (told != null) {
                    told.replied(m);
                }
            }
            case REPLIED -> send(new CmMessage.Receipt(transaction, localId, remoteId, CmMessage.ABOUT_REPLY,
                    CmTimes.SERVICE, PrivateData.NONE));
            case ESTABLISHED, TIME_WAIT -> sendAgain(); // RTU, or why not
            case OFFERED, ACCEPTED, ENDING -> agent.counts.unexpected++; // it was late
        }
    }

    void received(CmMessage.Ready m) {
        if (state == State.ACCEPTED && m.localId() == remoteId) {
            established();
        } else {
            agent.counts.unexpected++;
        }
    }

    void received(CmMessage.Receipt m) {
        if (m.about() == CmMessage.ABOUT_REQUEST && state == State.REQUESTED
                || m.about() == CmMessage.ABOUT_REPLY && state == State.ACCEPTED && m.localId() == remoteId) {
            wake(Math.min(now() + CmTimes.answer(m.serviceTimeout()), giveUp));
        } else {
            agent.counts.unexpected++;
        }
    }

    void received(CmMessage.Reject m) {
        boolean known = remoteId != 0 && m.localId() == remoteId;
        if (state == State.REQUESTED || (state == State.OFFERED || state == State.ACCEPTED || state == State.REPLIED)
                && known) {
            CmUser told = user;
            agent.counts.rejectsReceived++;
            end(null);
            if (told != null) {
                int length = !RejectReason.isOfApplication(m.reason())
                        ? 0
                        : m.info().length() == 1 ? m.info().bytes()[0] & 0xFF : m.data().length();
                told.rejected(m.reason(), m.data().upTo(length));
            }
        } else if (state == State.ESTABLISHED && known) { // the reply to a connection that the peer has forgotten
            disconnected();
        } else {
            agent.counts.unexpected++;
        }
    }

    void received(CmMessage.Disconnect m) {
        if (m.localId() != remoteId || m.queuePair() != localQueuePair || state == State.REQUESTED
                || state == State.OFFERED) {
            agent.counts.unexpected++;
            return;
        }
        byte[] answer = CmCodec.encode(new CmMessage.Disconnected(m.transaction(), localId, remoteId,
                PrivateData.NONE));
        send(answer);
        if (state == State.ACCEPTED) {
            established(); // who ends a connection was ready, though its message is lost (12.9.7.2)
        }
        if (state != State.TIME_WAIT) {
            disconnected();
        }
    }

    private void disconnected() {
        CmUser told = user;
        end(null);
        if (told != null) {
            told.disconnected();
        }
    }

    void received(CmMessage.Disconnected m) {
        if (state == State.ENDING && m.localId() == remoteId) {
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
