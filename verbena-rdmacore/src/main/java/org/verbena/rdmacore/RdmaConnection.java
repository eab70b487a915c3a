// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import org.verbena.verbs.ConnectionEvent;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.QueuedConnection;

/** A connection from establishment to its end. */
final class RdmaConnection extends QueuedConnection {
    private final RdmaQueuePair qp;
    private final CmIdentifier id;
    private final String peer;

    RdmaConnection(RdmaQueuePair qp, CmIdentifier id, byte... privateData) throws VerbsException {
        super(qp, privateData);
        this.qp = qp;
        this.id = id;
        peer = String.valueOf(id.remote());
    }

    void established() {
        begin();
        id.setConsumer(this::onEvent);
    }

    void abandonConnection() {
        giveUp();
    }

    /** On the context's thread. */
    private void onEvent(CmEvent event) {
        switch (event.type()) {
            case CmEvent.DISCONNECTED -> end(ConnectionEvent.DISCONNECTED, "the peer has disconnected or died",
                    this::disconnectBoth);
            case CmEvent.DEVICE_REMOVAL -> end(ConnectionEvent.DEVICE_REMOVAL, "the device was removed",
                    this::disconnectBoth);
            default -> { // it has no effect
            }
        }
    }

    @Override
    public String peer() {
        return peer;
    }

    /** If the peer disconnected first, this is the reply that it waits for. */
    @Override
    protected void disconnectBoth() {
        qp.toError();
        id.disconnect();
    }

    @Override
    protected void implClose() {
        super.implClose();
        id.retire();
    }
}
