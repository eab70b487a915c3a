// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.net.InetSocketAddress;

import org.jspecify.annotations.Nullable;

import org.verbena.shm.control.Acceptor;
import org.verbena.verbs.ConnectionRejectedException;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.QueuedListener;

/** Requests for one port, oldest first. */
final class ShmConnectionListener extends QueuedListener<ShmConnectionRequest> {
    private final ShmConnectionManager manager;
    private @Nullable Acceptor acceptor;

    ShmConnectionListener(ShmContext context, ShmConnectionManager manager, InetSocketAddress address)
            throws VerbsException {
        super(context, address);
        this.manager = manager;
    }

    void bind(Acceptor a) {
        acceptor = a;
        opened();
    }

    void abandonListener() {
        abandon();
    }

    /** False if it is too late, or too many wait. */
    boolean take(ShmConnectionRequest r) {
        return offer(r);
    }

    @Override
    protected void stop() {
        manager.forget(this);
        Acceptor a = acceptor;
        if (a != null) {
            a.close();
        }
    }

    @Override
    protected void refuse(ShmConnectionRequest r) {
        r.refuse(ConnectionRejectedException.INVALID_SERVICE_ID, "the listener was closed");
    }
}
