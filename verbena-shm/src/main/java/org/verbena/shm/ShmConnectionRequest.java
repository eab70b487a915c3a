// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.ConnectionRejectedException;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.QueuedRequest;

/** A request that waits for its answer. */
final class ShmConnectionRequest extends QueuedRequest {
    private final ShmConnectionManager manager;
    private final ShmConnectionManager.ConnectionEnd end;
    private final int queuePair;
    private final ShmConnectionManager.Retries retries;
    private final byte[] privateData;

    ShmConnectionRequest(ShmConnectionManager manager, ShmConnectionManager.ConnectionEnd end, int queuePair,
            ShmConnectionManager.Retries retries, byte[] privateData) {
        this.manager = manager;
        this.end = end;
        this.queuePair = queuePair;
        this.retries = retries;
        this.privateData = privateData.clone();
    }

    @Override
    public byte[] privateData() {
        return privateData.clone();
    }

    @Override
    public String peer() {
        return end.session.peerName();
    }

    @Override
    protected Connection implAccept(QueuePair qp, ConnectionParameters parameters) throws VerbsException {
        manager.check("accept", qp, parameters);
        takeToAccept();
        return manager.accept(end, privateData, queuePair, retries, qp, parameters);
    }

    @Override
    protected void implReject(byte... data) throws VerbsException {
        manager.refuse(end, ConnectionRejectedException.CONSUMER_DEFINED, data, "the peer's application rejected it");
    }

    void refuse(int reason, String text) {
        if (take()) {
            manager.refuse(end, reason, new byte[0], text);
        }
    }
}
