package org.verbena.sockets.nio;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;

import org.jspecify.annotations.Nullable;
import sun.nio.ch.DefaultSelectorProvider;

/**
 * Keeps the descriptor of an inner channel open, also when that is closed, as long as a selector of the JDK knows the
 * descriptor as the outer channel's: such a selector finds keys by descriptors, and would take another channel that gets
 * the same number for this one. A channel that a selector knows keeps its descriptor; so the inner one is registered with a
 * selector that nobody waits for.
 */
final class DescriptorHold {
    private final SelectableChannel inner;
    private @Nullable SelectionKey key;

    DescriptorHold(SelectableChannel inner) {
        this.inner = inner;
    }

    /** The selector, made when it is needed first. */
    private static final class Holder {
        static final Selector SELECTOR;

        static {
            try {
                SELECTOR = DefaultSelectorProvider.get().openSelector();
            } catch (IOException e) {
                throw new ExceptionInInitializerError(e);
            }
        }
    }

    /** Idempotent; does nothing to a channel that is closed. */
    synchronized void begin() {
        if (key == null) {
            try {
                key = inner.register(Holder.SELECTOR, 0);
            } catch (ClosedChannelException | IllegalBlockingModeException _) {
                // it has ended, or changed, while the selector set out to ask
            }
        }
    }

    /** Lets go: a channel that was closed meanwhile is gone then. Idempotent. */
    synchronized void end() {
        SelectionKey held = key;
        if (held != null) {
            key = null;
            held.cancel();
            try {
                Holder.SELECTOR.selectNow();
            } catch (IOException e) {
                throw new java.io.UncheckedIOException("let go of " + inner, e);
            }
        }
    }
}
