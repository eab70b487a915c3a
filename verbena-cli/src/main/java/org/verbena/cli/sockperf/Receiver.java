// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.SelectorProvider;
import java.util.List;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/** Receives by the links of a client, for one thread. */
final class Receiver implements AutoCloseable {
    /** Takes messages. */
    interface Handler {
        void received(ByteBuffer message) throws IOException;
    }

    /** Messages of one link that are taken at a time. */
    static final int MOST = 64;

    private final Link[] links;
    private final SocketOptions.Wait wait;
    private final int timeout;
    private final Handler handler;
    private final @Nullable Selector selector;
    private final Consumer<SelectionKey> ready = this::ready;

    Receiver(List<Link> links, SocketOptions.Wait wait, int timeoutMillis, SelectorProvider provider, Handler handler)
            throws IOException {
        this.links = links.toArray(Link[]::new);
        this.wait = wait;
        timeout = timeoutMillis;
        this.handler = handler;
        selector = wait == SocketOptions.Wait.SELECT ? provider.openSelector() : null;
        for (Link l : links) {
            l.channel().configureBlocking(wait == SocketOptions.Wait.BLOCK);
            if (selector != null) {
                l.channel().register(selector, SelectionKey.OP_READ, l);
            }
        }
    }

    /** Takes what is there, or waits for something or for a while. */
    void round() throws IOException {
        switch (wait) {
            case BLOCK -> take(links[0]);
            case SPIN -> {
                boolean any = false;
                for (Link l : links) {
                    any |= drain(l);
                }
                if (!any) {
                    Thread.onSpinWait();
                }
            }
            case SELECT -> {
                Selector s = selector;
                if (s != null) {
                    try {
                        if (timeout == 0) {
                            s.selectNow(ready);
                        } else {
                            s.select(ready, Math.max(0, timeout)); // 0 is for ever here
                        }
                    } catch (UncheckedIOException e) {
                        throw e.getCause();
                    }
                }
            }
        }
    }

    /** Takes what is there, and does not wait. */
    void takeNow() throws IOException {
        if (wait != SocketOptions.Wait.BLOCK) {
            for (Link l : links) {
                drain(l);
            }
        }
    }

    private void ready(SelectionKey key) {
        try {
            drain((Link) key.attachment());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private boolean drain(Link l) throws IOException {
        int n = 0;
        while ((n < MOST || l.hasMore()) && take(l)) { // others wait, too
            n++;
        }
        return n > 0;
    }

    private boolean take(Link l) throws IOException {
        ByteBuffer m = l.receive();
        if (m == null) {
            return false;
        }
        handler.received(m);
        return true;
    }

    /** Has a round end that waits in a selector. */
    void wakeUp() {
        Selector s = selector;
        if (s != null) {
            s.wakeup();
        }
    }

    @Override
    public void close() throws IOException {
        Selector s = selector;
        if (s != null) {
            s.close();
        }
    }
}
