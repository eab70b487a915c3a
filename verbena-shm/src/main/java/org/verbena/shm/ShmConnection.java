// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import org.verbena.shm.layout.Link;
import org.verbena.verbs.ConnectionEvent;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.QueuedConnection;

/** A connection from establishment to its end. */
final class ShmConnection extends QueuedConnection {
    private final ShmConnectionManager manager;
    private final ShmConnectionManager.ConnectionEnd end;
    private final ShmQueuePair qp;
    /** The connection of the queue pair, which may be in another one since. */
    private final long link;

    /**
     * Makes one.
     *
     * @param link identity of the queue pair's connection, see {@link Link}
     */
    ShmConnection(ShmConnectionManager manager, ShmConnectionManager.ConnectionEnd end, ShmQueuePair qp, long link,
            byte[] privateData) throws VerbsException {
        super(qp, privateData);
        this.manager = manager;
        this.end = end;
        this.qp = qp;
        this.link = link;
    }

    void established() {
        begin();
        String gone = end.endedBecause;
        if (gone != null || end.session.isDead()) {
            ended(gone == null ? peer() + " has ended" : gone);
        }
    }

    void abandonConnection() {
        giveUp();
    }

    /** The other side has disconnected or died. */
    void ended(String reason) {
        end(ConnectionEvent.DISCONNECTED, reason, () -> {
            if (end.session.isDead()) {
                qp.enterError(link, reason, -1);
            } else {
                qp.disconnected(link, reason);
            }
        });
    }

    @Override
    public String peer() {
        return end.session.peerName();
    }

    @Override
    protected void disconnectBoth() {
        qp.disconnected(link, "disconnected");
        manager.disconnected(end);
    }
}
