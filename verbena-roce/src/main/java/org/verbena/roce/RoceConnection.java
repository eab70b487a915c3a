package org.verbena.roce;

import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionEvent;
import org.verbena.verbs.Gid;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.VerbsException;

/** A connection from establishment to its end. */
final class RoceConnection extends Connection {
    private final RoceConnectionManager manager;
    private final ConnectionEnd end;
    private final RoceQueuePair qp;
    private final Gid peer;
    private final byte[] privateData;
    private final LinkedBlockingQueue<ConnectionEvent> events = new LinkedBlockingQueue<>();
    private final AtomicBoolean connected = new AtomicBoolean(true);

    RoceConnection(RoceConnectionManager manager, ConnectionEnd end, RoceQueuePair qp, Gid peer, byte[] privateData)
            throws VerbsException {
        super(qp);
        this.manager = manager;
        this.end = end;
        this.qp = qp;
        this.peer = peer;
        this.privateData = privateData.clone();
    }

    void established() {
        events.add(ConnectionEvent.builder(ConnectionEvent.ESTABLISHED).detail("connected with " + peer()).build());
        opened();
        end.belongsTo(this);
        qp.core().connectedBy(this);
        if (qp.state() == QueuePairState.ERR) {
            failed(qp.errorReason());
        }
    }

    /** The queue pair has failed: the peer is told, if it can be. */
    void failed(String reason) {
        if (connected.compareAndSet(true, false)) {
            events.add(ConnectionEvent.builder(ConnectionEvent.DISCONNECTED).detail(reason).build());
            manager.disconnect(end);
        }
    }

    void abandonConnection() {
        connected.set(false);
        abandon();
    }

    /** The other side has disconnected, or answers no more. */
    void ended(String reason) {
        if (connected.compareAndSet(true, false)) {
            qp.disconnected(reason);
            events.add(ConnectionEvent.builder(ConnectionEvent.DISCONNECTED).detail(reason).build());
        }
    }

    @Override
    public byte[] privateData() {
        return privateData.clone();
    }

    @Override
    public String peer() {
        return peer.toString();
    }

    @Override
    public boolean isConnected() {
        return connected.get();
    }

    @Override
    public @Nullable ConnectionEvent awaitEvent(Duration timeout) {
        try {
            return events.poll(TimeUnit.NANOSECONDS.convert(timeout), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    @Override
    public void disconnect() {
        if (connected.compareAndSet(true, false)) {
            qp.disconnected("disconnected");
            events.add(ConnectionEvent.builder(ConnectionEvent.DISCONNECTED).detail("this side disconnected").build());
            manager.disconnect(end);
        }
    }

    @Override
    public String describe() {
        return "connection of " + qp.describe() + " with " + peer();
    }

    @Override
    protected void implClose() {
        disconnect();
    }
}
