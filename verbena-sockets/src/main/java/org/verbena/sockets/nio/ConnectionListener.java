// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

/** Is informed that a channel is connected: a key, which asks the {@code Stream} for readiness from then on. */
@FunctionalInterface
interface ConnectionListener {
    /**
     * The channel has its stream now, or has no listener any more. Any thread calls, perhaps twice; it must not block
     * nor call the channel's operations.
     */
    void connected();
}
