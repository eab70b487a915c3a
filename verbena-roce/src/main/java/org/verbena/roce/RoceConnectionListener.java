// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import java.net.InetSocketAddress;

import org.jspecify.annotations.Nullable;

import org.verbena.roce.cm.CmConnection;
import org.verbena.roce.cm.CmMessage;
import org.verbena.roce.cm.CmService;
import org.verbena.roce.cm.RejectReason;
import org.verbena.verbs.Gid;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.QueuedListener;

/** Connection requests for one port, oldest first. */
final class RoceConnectionListener extends QueuedListener<RoceConnectionRequest> implements CmService {
    private final RoceConnectionManager manager;
    /** Null if it listens on all GIDs. */
    private final @Nullable Gid gid;

    RoceConnectionListener(RoceContext context, RoceConnectionManager manager, InetSocketAddress address,
            @Nullable Gid gid) throws VerbsException {
        super(context, address);
        this.manager = manager;
        this.gid = gid;
    }

    void listening() {
        opened();
    }

    void abandonListener() {
        abandon();
    }

    /** Under the context's lock. */
    @Override
    public int requested(CmConnection connection, CmMessage.Req request) {
        if (isClosing() || gid != null && !gid.equals(connection.local())) {
            return RejectReason.INVALID_SERVICE_ID;
        }
        return offer(new RoceConnectionRequest(manager, connection, request)) ? 0 : RejectReason.NO_RESOURCES;
    }

    @Override
    protected void stop() {
        manager.forget(this);
    }

    @Override
    protected void refuse(RoceConnectionRequest r) {
        r.refuse();
    }
}
