// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.Gid;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.VerbsException;

/** A connection request that waits for its reply. */
final class RdmaConnectionRequest extends ConnectionRequest {
    private final RdmaConnectionManager manager;
    private final CmIdentifier id;
    private final byte[] privateData;
    private final String peer;
    private final @Nullable Gid remoteGid;
    private final @Nullable Gid localGid;
    private final AtomicBoolean answered = new AtomicBoolean();

    RdmaConnectionRequest(RdmaConnectionManager manager, CmIdentifier id, byte... privateData) {
        this.manager = manager;
        this.id = id;
        this.privateData = privateData.clone();
        peer = String.valueOf(id.remote());
        remoteGid = id.remoteGid();
        localGid = id.localGid();
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
    public @Nullable Gid remoteGid() {
        return remoteGid;
    }

    @Override
    public @Nullable Gid localGid() {
        return localGid;
    }

    @Override
    protected Connection implAccept(QueuePair qp, ConnectionParameters parameters) throws VerbsException {
        String verb = "accept on " + qp.describe();
        RdmaQueuePair own = manager.checkConnectable(verb, qp, parameters);
        answerOnce("accept");
        return manager.accept(verb, id, privateData, own, parameters);
    }

    @Override
    public void reject(byte... data) throws VerbsException {
        if (data.length > ConnectionParameters.MAX_PRIVATE_DATA) {
            throw new VerbsException("reject a connection", Errno.EINVAL, "private data of " + data.length
                    + " bytes, at most " + ConnectionParameters.MAX_PRIVATE_DATA + " are carried");
        }
        answerOnce("reject");
        id.reject(data);
        id.destroy();
    }

    /** The listener was closed. */
    void refuse() {
        if (answered.compareAndSet(false, true)) {
            id.refuse();
        }
    }

    private void answerOnce(String verb) throws VerbsException {
        if (!answered.compareAndSet(false, true)) {
            throw new VerbsException(verb + " a connection of " + peer(), Errno.EINVAL,
                    "the request was answered already");
        }
    }
}
