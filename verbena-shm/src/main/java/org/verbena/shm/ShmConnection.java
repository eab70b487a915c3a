package org.verbena.shm;

import org.verbena.verbs.ConnectionEvent;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.QueuedConnection;

/** A connection from establishment to its end. */
final class ShmConnection extends QueuedConnection {
    private final ShmConnectionManager manager;
    private final ShmConnectionManager.Half half;
    private final ShmQueuePair qp;

    ShmConnection(ShmConnectionManager manager, ShmConnectionManager.Half half, ShmQueuePair qp, byte[] privateData)
            throws VerbsException {
        super(qp, privateData);
        this.manager = manager;
        this.half = half;
        this.qp = qp;
    }

    void established() {
        begin();
        String gone = half.endedBecause;
        if (gone != null || half.session.isDead()) {
            ended(gone == null ? peer() + " has ended" : gone);
        }
    }

    void abandonConnection() {
        giveUp();
    }

    /** The other side has disconnected or died. */
    void ended(String reason) {
        end(ConnectionEvent.DISCONNECTED, reason, () -> {
            if (half.session.isDead()) {
                qp.enterError(reason, -1);
            } else {
                qp.disconnected(reason);
            }
        });
    }

    @Override
    public String peer() {
        return half.session.peerName();
    }

    @Override
    protected void disconnectBoth() {
        qp.disconnected("disconnected");
        manager.disconnected(half);
    }
}
