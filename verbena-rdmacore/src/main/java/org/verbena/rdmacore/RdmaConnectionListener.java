// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.net.InetSocketAddress;

import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.QueuedListener;

/** Connection requests for one address, oldest first. */
final class RdmaConnectionListener extends QueuedListener<RdmaConnectionRequest> {
    private final RdmaConnectionManager manager;
    private final CmIdentifier id;

    RdmaConnectionListener(RdmaContext context, RdmaConnectionManager manager, CmIdentifier id,
            InetSocketAddress address) throws VerbsException {
        super(context, address);
        this.manager = manager;
        this.id = id;
        opened();
        id.setConsumer(this::requested);
    }

    /** On the context's thread. */
    private void requested(CmEvent event) {
        CmIdentifier child = event.child();
        if (child != null && (isClosing() || !manager.isOnThisDevice(child) || !offer(new RdmaConnectionRequest(manager,
                child,
                event.data())))) {
            child.refuse();
        }
    }

    @Override
    protected void stop() {
        id.destroy();
    }

    @Override
    protected void refuse(RdmaConnectionRequest r) {
        r.refuse();
    }
}
