package org.verbena.rdmacore;

import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionEvent;
import org.verbena.verbs.VerbsException;

/** A connection from establishment to its end. */
final class RdmaConnection extends Connection {
    private final RdmaQueuePair qp;
    private final CmIdentifier id;
    private final String peer;
    private final byte[] privateData;
    private final LinkedBlockingQueue<ConnectionEvent> events = new LinkedBlockingQueue<>();
    private final AtomicBoolean connected = new AtomicBoolean(true);

    RdmaConnection(RdmaQueuePair qp, CmIdentifier id, byte... privateData) throws VerbsException {
        super(qp);
        this.qp = qp;
        this.id = id;
        this.privateData = privateData.clone();
        peer = String.valueOf(id.remote());
    }

    void established() {
        events.add(ConnectionEvent.builder(ConnectionEvent.ESTABLISHED).detail("connected with " + peer).build());
        opened();
        id.giveTo(this::happened);
    }

    void abandonConnection() {
        connected.set(false);
        abandon();
    }

    /** On the context's thread. */
    private void happened(CmEvent event) {
        switch (event.type()) {
            case CmEvent.DISCONNECTED -> ended(ConnectionEvent.DISCONNECTED, "the peer has disconnected or is gone");
            case CmEvent.DEVICE_REMOVAL -> ended(ConnectionEvent.DEVICE_REMOVAL, "the device is gone");
            default -> { // it changes nothing
            }
        }
    }

    private void ended(int type, String detail) {
        if (connected.compareAndSet(true, false)) {
            qp.toError();
            id.disconnect(); // the answer, which ends the peer's waiting
            events.add(ConnectionEvent.builder(type).detail(detail).build());
        }
    }

    @Override
    public byte[] privateData() {
        return privateData.clone();
    }

    @Override
    public String peer() {
        return peer;
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
            qp.toError();
            id.disconnect();
            events.add(ConnectionEvent.builder(ConnectionEvent.DISCONNECTED).detail("this side disconnected").build());
        }
    }

    @Override
    public String describe() {
        return "connection of " + qp.describe() + " with " + peer;
    }

    @Override
    protected void implClose() {
        disconnect();
        id.retire();
    }
}
