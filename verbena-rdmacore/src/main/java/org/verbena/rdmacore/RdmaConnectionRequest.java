// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.Gid;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.QueuedRequest;

/** A connection request that waits for its reply. */
final class RdmaConnectionRequest extends QueuedRequest {
    private final RdmaConnectionManager manager;
    private final CmIdentifier id;
    private final byte[] privateData;
    private final String peer;
    private final @Nullable Gid remoteGid;
    private final @Nullable Gid localGid;

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
        takeToAccept();
        return manager.accept(verb, id, privateData, own, parameters);
    }

    @Override
    protected void implReject(byte... data) throws VerbsException {
        id.reject(data);
        id.destroy();
    }

    /** The listener was closed. */
    void refuse() {
        if (take()) {
            id.refuse();
        }
    }
}
