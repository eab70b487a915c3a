// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

/** Waits for connection requests, a listening {@code rdma_cm_id}. Safe for use by several threads. */
public abstract class ConnectionListener extends VerbsObject {
    /** For providers. */
    protected ConnectionListener(Context context) throws VerbsException {
        super(List.of(context));
    }

    /** The address it listens on, with the port that was chosen. */
    public abstract InetSocketAddress localAddress();

    /**
     * Takes the next request.
     *
     * @param timeout how long to wait at most; zero does not wait
     * @return the request, or null when the time is over or the thread was interrupted
     * @throws VerbsException {@code EINVAL} if the listener is or gets closed
     */
    public abstract @Nullable ConnectionRequest awaitRequest(Duration timeout) throws VerbsException;
}
