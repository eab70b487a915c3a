// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import org.verbena.roce.cm.CmConnection;
import org.verbena.roce.cm.CmMessage;
import org.verbena.roce.cm.RejectReason;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.Gid;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.QueuedRequest;

/** A connection request that waits for its reply. */
final class RoceConnectionRequest extends QueuedRequest {
    private final RoceConnectionManager manager;
    private final CmConnection connection;
    private final CmMessage.Req request;

    RoceConnectionRequest(RoceConnectionManager manager, CmConnection connection, CmMessage.Req request) {
        this.manager = manager;
        this.connection = connection;
        this.request = request;
    }

    @Override
    public byte[] privateData() {
        return RoceConnectionManager.data(request);
    }

    @Override
    public Gid remoteGid() {
        return connection.remote();
    }

    @Override
    public Gid localGid() {
        return connection.local();
    }

    @Override
    public String peer() {
        return connection.remote().toString();
    }

    @Override
    protected Connection implAccept(QueuePair qp, ConnectionParameters parameters) throws VerbsException {
        String verb = "accept on " + qp.describe();
        RoceQueuePair own = manager.checkConnectable(verb, qp, parameters);
        manager.checkType(verb, own, request);
        takeToAccept();
        return manager.accept(verb, connection, request, own, parameters);
    }

    @Override
    protected void implReject(byte... data) throws VerbsException {
        manager.reject(connection, RejectReason.CONSUMER_DEFINED, data);
    }

    /** The listener was closed. */
    void refuse() {
        if (take()) {
            manager.reject(connection, RejectReason.INVALID_SERVICE_ID);
        }
    }
}
