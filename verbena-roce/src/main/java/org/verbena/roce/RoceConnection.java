// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import org.verbena.verbs.ConnectionEvent;
import org.verbena.verbs.Gid;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.QueuedConnection;

/** A connection from establishment to its end. */
final class RoceConnection extends QueuedConnection {
    private final RoceConnectionManager manager;
    private final ConnectionEnd end;
    private final RoceQueuePair qp;
    private final Gid peer;

    RoceConnection(RoceConnectionManager manager, ConnectionEnd end, RoceQueuePair qp, Gid peer, byte[] privateData)
            throws VerbsException {
        super(qp, privateData);
        this.manager = manager;
        this.end = end;
        this.qp = qp;
        this.peer = peer;
    }

    void established() {
        begin();
        end.setConnection(this);
        qp.core().setConnection(this);
        if (qp.state() == QueuePairState.ERR) {
            failed(qp.errorReason());
        }
    }

    /** The queue pair has failed: notifies the peer, if possible. */
    void failed(String reason) {
        boolean answers = !qp.core().transport.hasExhaustedRetries();
        end(ConnectionEvent.DISCONNECTED, reason, () -> manager.disconnect(end, answers));
    }

    void abandonConnection() {
        giveUp();
    }

    /** The other side has disconnected, or does not respond any more. */
    void ended(String reason) {
        end(ConnectionEvent.DISCONNECTED, reason, () -> qp.disconnected(reason));
    }

    @Override
    public String peer() {
        return peer.toString();
    }

    @Override
    protected void disconnectBoth() {
        qp.disconnected("disconnected");
        manager.disconnect(end, true);
    }
}
