// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.FlowLabel;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.WcStatus;

/**
 * The transport's half of a queue pair; made by {@link Transport#create}. Used under the context's lock only.
 */
public abstract class TransportQueuePair {
    private static final int FIRST_DYNAMIC_PORT = 0xc000;

    final Transport transport;
    final Wire wire;
    final QueuePairOwner owner;
    final SendRing sends;
    private final int number;
    private final int type;
    QueuePairState state = QueuePairState.RESET;
    @Nullable Path path;
    /** UDP source port: routers distribute flows by it (annex A17, 17.9.2). */
    private int sourcePort;
    int accessFlags;
    private boolean draining;
    private boolean notifyDrained;

    // ---- used by Timers and Transport
    int heapIndex = -1;
    long heapTime;
    boolean scheduled;

    TransportQueuePair(Transport transport, int number, int type, QueuePairOwner owner, SendRing sends) {
        this.transport = transport;
        wire = transport.wire();
        this.number = number;
        this.type = type;
        this.owner = owner;
        this.sends = sends;
        sourcePort = FIRST_DYNAMIC_PORT | number & 0x3fff;
    }

    /** 24 bits. */
    public final int number() {
        return number;
    }

    /** {@link org.verbena.verbs.QueuePairType}. */
    public final int type() {
        return type;
    }

    /** The current state. */
    public final QueuePairState state() {
        return state;
    }

    /** The entries of the send queue. */
    public final SendRing sends() {
        return sends;
    }

    /** In SQD with a request that was started before and is not complete. */
    public final boolean isDraining() {
        return draining;
    }

    /**
     * Changes state or attributes; the provider has checked that the transition exists and the values are in range.
     *
     * @param to the new state; ERR flushes what is posted before the call returns, RESET discards it
     * @param attributes the attributes to set
     * @param newPath for {@link QueuePairAttributes#AV}; owned by the queue pair, which closes its previous one
     */
    public final void modify(QueuePairState to, QueuePairAttributes attributes, @Nullable Path newPath) {
        if (newPath != null) {
            dropPath();
            path = newPath;
            int label = newPath.flowLabel();
            sourcePort = label == 0 ? FIRST_DYNAMIC_PORT | number & 0x3fff : FlowLabel.toUdpSourcePort(label);
        }
        if (attributes.has(QueuePairAttributes.ACCESS_FLAGS)) {
            accessFlags = attributes.accessFlags();
        }
        if (to == QueuePairState.RESET) {
            acknowledge();
            reset();
            state = QueuePairState.RESET;
            return;
        }
        if (to == QueuePairState.ERR) {
            end("moved to ERR by the application");
            return;
        }
        QueuePairState from = state;
        state = to;
        set(from, attributes);
        if (to == QueuePairState.SQD && from != QueuePairState.SQD) {
            draining = true;
            notifyDrained = attributes.sqdAsyncNotify();
            checkDrained();
        } else if (from == QueuePairState.SQD && to == QueuePairState.RTS) {
            draining = false;
            transport.schedule(this);
        }
    }

    /** Takes over {@code count} filled entries of the ring and sends what may be sent now. The batch is not flushed. */
    public final void post(int count) {
        sends.tail += count;
        switch (state) {
            case ERR, SQE -> flushSends();
            case RTS -> send();
            default -> { // SQD: they wait; other states accept none
            }
        }
    }

    /** A receive was posted; in state ERR, posted receives are flushed here. */
    public final void receivePosted() {
        if (state == QueuePairState.ERR) {
            flushReceives();
        }
    }

    /** Moves to ERR on request: what was received is acknowledged first. */
    public final void end(String reason) {
        acknowledge();
        fail(reason, -1);
    }

    /** Fails the queue pair, for instance because its completion queue has overrun; {@code event} is -1 for none. */
    public final void fail(String reason, int event) {
        if (state == QueuePairState.ERR || state == QueuePairState.RESET) {
            return;
        }
        beginError(reason, event);
        flush();
    }

    /** Closes it; no callback afterwards. Packets that arrive for it are dropped. */
    public final void close() {
        acknowledge();
        reset();
        state = QueuePairState.RESET;
        dropPath();
        transport.forget(this);
    }

    /** Whether it has failed because the peer responded to no retransmission. */
    public boolean hasExhaustedRetries() {
        return false;
    }

    // ---- differs by type

    /** The application moves it to ERR: delayed ACKs for what was received are sent now. */
    void acknowledge() {
        // unreliable types acknowledge nothing
    }

    /** Sets attributes; {@link #state} is the new state already. */
    abstract void set(QueuePairState from, QueuePairAttributes attributes);

    /** Sends what may be sent now. */
    abstract void send();

    /** Handles a packet that is valid and of this type, in a state that receives. */
    abstract void received(Packet p);

    /**
     * Continues work that could not be done at once.
     *
     * @return true if work is left that neither a packet nor a timer will resume
     */
    abstract boolean work();

    /** When {@link #expired} has to be called; {@link Timers#NEVER} for never. */
    abstract long deadline();

    /** The time of {@link #deadline} has passed. */
    abstract void expired(long now);

    /** In ERR: discards what is in flight. */
    abstract void stop();

    /** Returns or flushes a partially received message; the receive in use, if there is one, is flushed. */
    abstract void flushReceiveInUse();

    /** To RESET: discards everything. */
    abstract void clear();

    /** True if every started request of the send queue is complete. */
    abstract boolean isIdle();

    // ---- for subclasses

    /** Sends what was written to {@link Wire#next()}. */
    final void sendPacket(Path to, int ecn, int length) {
        wire.send(to, sourcePort, ecn, length);
        owner.count(SamplePoint.QP_TX_PACKETS, 1);
    }

    /** Completes the oldest request; one that was not signaled and succeeded produces no completion. */
    final void complete(SendWqe w, int status) {
        w.status = status;
        w.byteLength = w.length;
        if (status != WcStatus.SUCCESS) {
            SendCounts.failed(owner, status);
            owner.sent(w);
        } else {
            SendCounts.done(owner, w);
            if ((w.flags & SendFlags.SIGNALED) != 0) {
                owner.sent(w);
            }
        }
        sends.head++;
    }

    /** The oldest request, which must exist. */
    final SendWqe oldest() {
        return sends.at(sends.head);
    }

    /** Fails the oldest request, and with it the queue pair. */
    final void failOldest(int status, String reason) {
        beginError(reason, -1);
        complete(sends.at(sends.head), status);
        flush();
    }

    /** Fails the oldest request of an unreliable service: later ones are flushed, receiving continues (10.8.2.2). */
    final void failOldestToSqe(int status, String reason) {
        state = QueuePairState.SQE;
        owner.stateChanged(QueuePairState.SQE, reason, -1);
        complete(sends.at(sends.head), status);
        flushSends();
    }

    private void beginError(String reason, int event) {
        state = QueuePairState.ERR;
        draining = false;
        stop();
        owner.stateChanged(QueuePairState.ERR, reason, event);
    }

    private void flush() {
        flushSends();
        flushReceiveInUse();
        flushReceives();
        ReceiveSource source = owner.receives();
        if (source != null && source.isShared()) {
            owner.event(AsyncEventType.QP_LAST_WQE_REACHED);
        }
    }

    private void flushSends() {
        while (!sends.isEmpty()) {
            complete(sends.at(sends.head), WcStatus.WR_FLUSH_ERR);
        }
        stop();
    }

    private void flushReceives() {
        ReceiveSource source = owner.receives();
        if (source == null || source.isShared()) {
            return;
        }
        for (ReceiveWqe w = source.take(); w != null; w = source.take()) {
            CurrentReceive.flush(owner, source, w);
        }
    }

    /** The first packet of a connection was received (11.6.3.1). */
    final void reportEstablished() {
        if (state == QueuePairState.RTR) {
            owner.event(AsyncEventType.COMM_EST);
        }
        owner.peerReady();
    }

    /** In SQD: raises the event when the last started request is complete. */
    final void checkDrained() {
        if (draining && isIdle()) {
            draining = false;
            if (notifyDrained) {
                owner.event(AsyncEventType.SQ_DRAINED);
            }
        }
    }

    private void reset() {
        clear();
        sends.head = sends.tail;
        draining = false;
        transport.timers().remove(this);
    }

    private void dropPath() {
        Path p = path;
        if (p != null) {
            path = null;
            p.close();
        }
    }
}
