// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.support;

import java.io.IOException;
import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionRequest;

/** How commands wait for connection requests. */
public final class ConnectionRequests {
    private ConnectionRequests() {}

    /**
     * The next request; null if none came in time.
     *
     * @throws CommandException if none came and the thread is interrupted, which ends the wait early
     */
    public static @Nullable ConnectionRequest await(ConnectionListener listener, Duration most) throws IOException {
        ConnectionRequest request = listener.awaitRequest(most);
        if (request == null && Thread.currentThread().isInterrupted()) {
            throw new CommandException("interrupted");
        }
        return request;
    }
}
