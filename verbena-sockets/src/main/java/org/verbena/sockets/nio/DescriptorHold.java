// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;

import org.jspecify.annotations.Nullable;
import sun.nio.ch.DefaultSelectorProvider;

/**
 * Keeps the descriptor of an inner channel open, also when that is closed, as long as a selector of the JDK has a key
 * of the descriptor as the outer channel's: such a selector finds keys by descriptors, and would take another channel
 * that gets the same number for this one. A channel that is registered keeps its descriptor; so the inner one is
 * registered with a selector that is never used to select.
 */
final class DescriptorHold {
    private static @Nullable Selector selector;

    private final SelectableChannel inner;
    private @Nullable SelectionKey key;

    DescriptorHold(SelectableChannel inner) {
        this.inner = inner;
    }

    /**
     * The selector of all, made when it is needed; if there is no descriptor for it now, there may be one the next
     * time.
     */
    private static synchronized Selector selector() throws IOException {
        Selector own = selector;
        if (own == null) {
            own = DefaultSelectorProvider.get().openSelector();
            selector = own;
        }
        return own;
    }

    /**
     * Makes the selector of all while there are descriptors: without it, channels that come and go are taken for each
     * other.
     */
    static void prepare() {
        try {
            selector();
        } catch (IOException e) {
            debug("no selector that keeps descriptors", e);
        }
    }

    /** Idempotent; does nothing to a channel that is closed, and tries again the next time if it cannot be done now. */
    synchronized void begin() {
        if (key == null) {
            try {
                key = inner.register(selector(), 0);
            } catch (ClosedChannelException | IllegalBlockingModeException _) {
                // it has ended, or changed, while the selector set out to ask
            } catch (IOException e) { // the program's selector goes on without
                debug("no selector that keeps the descriptor of " + inner, e);
            }
        }
    }

    /** To log may fail, for instance without a descriptor; no selection is to suffer from that. */
    private static void debug(String what, IOException why) {
        try {
            System.getLogger("org.verbena.sockets").log(System.Logger.Level.DEBUG, what + ": " + why.getMessage());
        } catch (RuntimeException | Error _) {
            // it serves diagnosis only
        }
    }

    /**
     * Lets go: a channel that was closed meanwhile is gone then, and so are others that were let go just now; as
     * closing one, this may take as long as SO_LINGER allows. Idempotent.
     */
    synchronized void end() {
        SelectionKey held = key;
        if (held != null) {
            key = null;
            held.cancel();
            try {
                held.selector().selectNow();
            } catch (IOException e) {
                throw new UncheckedIOException("let go of " + inner, e);
            }
        }
    }
}
