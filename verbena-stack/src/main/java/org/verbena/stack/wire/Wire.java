// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.wire;

import java.io.IOException;

import org.jspecify.annotations.Nullable;

/** A link for Ethernet frames. For one thread at a time, but for {@link #sleep}, which one thread calls beside the others. */
public interface Wire extends AutoCloseable {
    /** How long an IP packet may be. */
    int mtu();

    /** The next frame that has come, which has to be {@linkplain ReceivedFrame#release released}; null if there is none. */
    @Nullable
    ReceivedFrame receive() throws IOException;

    /** A buffer for a frame to send; null while all are in use. It is sent, or given back. */
    @Nullable
    SendFrame acquire() throws IOException;

    /** How long a packet with {@link SendFrame#cut} may be, without the Ethernet header; 0 if this wire cuts none. */
    int mostCut();

    /** As {@link #acquire}, a buffer for a packet of {@link #mostCut}, which has to be {@linkplain SendFrame#cut cut}. */
    @Nullable
    SendFrame acquireLong() throws IOException;

    /**
     * Sends the first bytes of a buffer, and takes it back.
     *
     * @param bytes length with the Ethernet header
     */
    void send(SendFrame frame, int bytes) throws IOException;

    /** Whether that many buffers are free; looks which have been sent. */
    boolean hasFree(int frames) throws IOException;

    /** Throws if the link is gone, which who only receives may not learn otherwise. For any thread; takes a while. */
    void requireLink() throws IOException;

    /** Takes back a buffer that is not sent. */
    void giveBack(SendFrame frame);

    /** Has the next {@link #sleep} end when a frame comes; false if one is there already, which {@link #receive} answers. */
    boolean arm() throws IOException;

    /** Sleeps until a frame has come since {@link #arm}, or for so many nanoseconds. */
    void sleep(long nanos) throws IOException;

    /** Ends a {@link #sleep}, or the next one. For any thread. */
    void wake() throws IOException;

    /** Has frames that come and go written from now on; null for no more. */
    void capture(@Nullable Capture c);

    @Override
    void close() throws IOException;
}
