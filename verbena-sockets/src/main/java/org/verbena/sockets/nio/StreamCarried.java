// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.nio.channels.SelectableChannel;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.stream.Stream;

/** A channel whose bytes a {@link Stream} carries once it is connected: what a selector needs of it. */
interface StreamCarried {
    /** The JDK's channel under this one. */
    SelectableChannel inner();

    /** The stream; null before the channel is connected. Takes no lock. */
    @Nullable
    Stream streamOrNull();

    /** Notifies {@code listener} when the channel becomes connected, at once if it is. Takes no lock. */
    void onConnected(ConnectionListener listener);

    /** Removes a listener, as its key is dropped. */
    void forget(ConnectionListener listener);

    /** The key that listens to the stream: the first of those that different selectors have of the channel. */
    AtomicReference<@Nullable SelectorKey> listening();

    /**
     * The key that listened has gone: the keys at other selectors are informed, so that one of them listens. Takes no
     * lock.
     */
    void onListenerRemoved();
}
