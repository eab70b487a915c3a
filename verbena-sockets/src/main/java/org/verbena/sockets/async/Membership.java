// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.async;

import java.io.IOException;
import java.nio.channels.AsynchronousChannel;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * What an asynchronous channel is to its group: the channel that carries it, what it waits for, and its end. Its
 * monitor guards the state of the channel; its holder does not block.
 */
final class Membership {
    private final ChannelGroup group;
    private final AsynchronousChannel owner;
    private final SelectableChannel channel;

    private List<Slot<?>> slots = List.of();
    private @Nullable SelectionKey key;
    private volatile boolean open = true;

    /** @param channel does not block */
    Membership(ChannelGroup group, AsynchronousChannel owner, SelectableChannel channel) {
        this.group = group;
        this.owner = owner;
        this.channel = channel;
    }

    /**
     * Enters the group. Last in the constructor of the channel.
     *
     * @throws java.nio.channels.ShutdownChannelGroupException if the group takes no more
     */
    void enter(List<Slot<?>> operations) {
        slots = operations;
        group.add(this);
    }

    ChannelGroup group() {
        return group;
    }

    boolean isOpen() {
        return open;
    }

    /** Has the group find out when the channel is ready for {@code op}; the monitor is held. */
    void want(int op) throws IOException {
        SelectionKey k = key;
        if (k == null) {
            key = channel.register(group.selector(), op, this);
        } else if ((k.interestOpsOr(op) & op) != 0) {
            return;
        }
        group.wakeup();
    }

    /** What the selector found; its interest in that is gone. */
    void ready(int ops) {
        for (Slot<?> s : slots) {
            if ((s.op() & ops) != 0) {
                s.ready();
            }
        }
    }

    /** Has the selector find it anew: there was no thread for it just now. */
    void again(int ops) {
        try {
            synchronized (this) {
                if (open) {
                    want(ops);
                }
            }
        } catch (IOException | RuntimeException e) {
            // closed meanwhile
        }
    }

    /** Closes the channel: what is pending fails. Closing twice does nothing. */
    void close() throws IOException {
        boolean known;
        synchronized (this) {
            if (!open) {
                return;
            }
            open = false;
            known = key != null;
        }
        try {
            channel.close();
        } finally {
            try {
                if (known) {
                    group.forget(channel);
                }
            } finally {
                failAll();
                group.remove(this);
            }
        }
    }

    private void failAll() {
        for (Slot<?> s : slots) {
            try {
                s.fail();
            } catch (RuntimeException | Error e) {
                // the executor of the program accepts no more tasks: the others are processed all the same
            }
        }
    }

    /** By the channel's own method, as the program would. */
    void closeQuietly() {
        try {
            owner.close();
        } catch (IOException | RuntimeException _) {
            // no caller waits for the result
        }
    }
}
