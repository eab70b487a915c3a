package org.verbena.shm;

import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionEvent;
import org.verbena.verbs.VerbsException;

/** A connection from establishment to its end. */
final class ShmConnection extends Connection {
    private final ShmConnectionManager manager;
    private final ShmConnectionManager.Half half;
    private final ShmQueuePair qp;
    private final byte[] privateData;
    private final LinkedBlockingQueue<ConnectionEvent> events = new LinkedBlockingQueue<>();
    private final AtomicBoolean connected = new AtomicBoolean(true);

    ShmConnection(ShmConnectionManager manager, ShmConnectionManager.Half half, ShmQueuePair qp, byte[] privateData)
            throws VerbsException {
        super(qp);
        this.manager = manager;
        this.half = half;
        this.qp = qp;
        this.privateData = privateData.clone();
    }

    void established() {
        events.add(ConnectionEvent.builder(ConnectionEvent.ESTABLISHED).detail("connected with " + peer()).build());
        opened();
        String gone = half.endedBecause;
        if (gone != null || half.session.isDead()) {
            ended(gone == null ? peer() + " has ended" : gone);
        }
    }

    void abandonConnection() {
        connected.set(false);
        abandon();
    }

    /** The other side has disconnected or died. */
    void ended(String reason) {
        if (connected.compareAndSet(true, false)) {
            if (half.session.isDead()) {
                qp.enterError(reason, -1);
            } else {
                qp.disconnected(reason);
            }
            events.add(ConnectionEvent.builder(ConnectionEvent.DISCONNECTED).detail(reason).build());
        }
    }

    @Override
    public byte[] privateData() {
        return privateData.clone();
    }

    @Override
    public String peer() {
        return half.session.peerName();
    }

    @Override
    public boolean isConnected() {
        return connected.get();
    }

    @Override
    public @Nullable ConnectionEvent awaitEvent(Duration timeout) {
        long nanos = TimeUnit.NANOSECONDS.convert(timeout);
        try {
            return events.poll(nanos, TimeUnit.NANOSECONDS);
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
            manager.disconnected(half);
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
