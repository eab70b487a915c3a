// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionEvent;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.VerbsException;

/** A connection whose events wait in a queue. Moving the queue pair and informing the peer is left to the provider. */
public abstract class QueuedConnection extends Connection {
    private final QueuePair qp;
    private final byte[] privateData;
    private final LinkedBlockingQueue<ConnectionEvent> events = new LinkedBlockingQueue<>();
    private final AtomicBoolean connected = new AtomicBoolean(true);

    /** Of a queue pair that is about to be connected. */
    protected QueuedConnection(QueuePair qp, byte... privateData) throws VerbsException {
        super(qp);
        this.qp = qp;
        this.privateData = privateData.clone();
    }

    /** It has come about. */
    protected final void begin() {
        events.add(ConnectionEvent.builder(ConnectionEvent.ESTABLISHED).detail("connected with " + peer()).build());
        opened();
    }

    /** It has not come about. */
    protected final void giveUp() {
        connected.set(false);
        abandon();
    }

    /**
     * Ends it once, for the first caller.
     *
     * @param type of the event, see {@link ConnectionEvent}
     * @param reason for people
     * @param what is to be done, before the event is there
     */
    protected final void end(int type, String reason, Runnable what) {
        if (connected.compareAndSet(true, false)) {
            what.run();
            events.add(ConnectionEvent.builder(type).detail(reason).build());
        }
    }

    @Override
    public final byte[] privateData() {
        return privateData.clone();
    }

    @Override
    public final boolean isConnected() {
        return connected.get();
    }

    @Override
    public final @Nullable ConnectionEvent awaitEvent(Duration timeout) {
        try {
            return events.poll(TimeUnit.NANOSECONDS.convert(timeout), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    @Override
    public final void disconnect() {
        end(ConnectionEvent.DISCONNECTED, "this side disconnected", this::disconnectBoth);
    }

    /** This side disconnects: moves its queue pair, and informs the peer. */
    protected abstract void disconnectBoth();

    @Override
    public final String describe() {
        return "connection of " + qp.describe() + " with " + peer();
    }

    @Override
    protected void implClose() {
        disconnect();
    }
}
