// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import java.util.concurrent.atomic.AtomicBoolean;

import org.verbena.linux.Errno;
import org.verbena.roce.cm.CmConnection;
import org.verbena.roce.cm.CmMessage;
import org.verbena.roce.cm.RejectReason;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.Gid;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.VerbsException;

/** A connection request that waits for its reply. */
final class RoceConnectionRequest extends ConnectionRequest {
    private final RoceConnectionManager manager;
    private final CmConnection connection;
    private final CmMessage.Req request;
    private final AtomicBoolean answered = new AtomicBoolean();

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
        answerOnce("accept");
        return manager.accept(verb, connection, request, own, parameters);
    }

    @Override
    public void reject(byte... data) throws VerbsException {
        if (data.length > ConnectionParameters.MAX_PRIVATE_DATA) {
            throw new VerbsException("reject a connection", Errno.EINVAL, "private data of " + data.length
                    + " bytes, at most " + ConnectionParameters.MAX_PRIVATE_DATA + " are carried");
        }
        answerOnce("reject");
        manager.reject(connection, RejectReason.CONSUMER_DEFINED, data);
    }

    /** The listener was closed. */
    void refuse() {
        if (answered.compareAndSet(false, true)) {
            manager.reject(connection, RejectReason.INVALID_SERVICE_ID);
        }
    }

    private void answerOnce(String verb) throws VerbsException {
        if (!answered.compareAndSet(false, true)) {
            throw new VerbsException(verb + " a connection of " + peer(), Errno.EINVAL,
                    "the request was answered already");
        }
    }
}
