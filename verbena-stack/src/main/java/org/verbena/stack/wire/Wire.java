// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.wire;

import java.io.IOException;

import org.jspecify.annotations.Nullable;

/**
 * A link for Ethernet frames. One thread receives, releases and waits; sends are of one thread at a time, with any of them beside it waiting.
 */
public interface Wire extends AutoCloseable {
    /** How long an IP packet may be. */
    int mtu();

    /** The next frame that has come, which has to be {@linkplain ReceivedFrame#release released}; null if there is none. */
    @Nullable
    ReceivedFrame receive() throws IOException;

    /** A buffer for a frame to send; null while all are in use. It is sent, or given back. */
    @Nullable
    SendFrame acquire() throws IOException;

    /**
     * Sends the first bytes of a buffer, and takes it back.
     *
     * @param bytes length with the Ethernet header
     */
    void send(SendFrame frame, int bytes) throws IOException;

    /** Takes back a buffer that is not sent. */
    void giveBack(SendFrame frame);

    /** Waits until frames may have come, for at most so many nanoseconds. */
    void await(long nanos) throws IOException;

    @Override
    void close() throws IOException;
}
