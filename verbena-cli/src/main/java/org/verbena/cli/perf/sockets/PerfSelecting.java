// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.sockets;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

import org.verbena.cli.perf.run.PerfControl;
import org.verbena.cli.perf.run.PerfLoop;

/** A loop that waits for all its channels with one selector: sleeping in it, or polling it. */
abstract class PerfSelecting extends PerfLoop {
    private static final long LOOK_MILLIS = 1000;

    protected final Selector selector;
    private final Consumer<SelectionKey> serve = this::unchecked;
    private final boolean spins;
    private boolean first = true;
    private long turns;

    PerfSelecting(PerfControl peer, Selector selector) {
        this(peer, selector, false);
    }

    PerfSelecting(PerfControl peer, Selector selector, boolean spins) {
        super(peer);
        this.selector = selector;
        this.spins = spins;
    }

    /** A key is ready. */
    protected abstract void serve(SelectionKey key) throws IOException;

    private void unchecked(SelectionKey key) {
        try {
            serve(key);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Serves ready channels, or those that become ready within a second if it sleeps; checks whether the peer is alive
     * if none is.
     */
    protected final void select() throws IOException {
        try {
            if (spins) {
                turns = selector.selectNow(serve) == 0 ? peer.spin(turns) : 0;
            } else if (selector.select(serve, LOOK_MILLIS) == 0) {
                peer.look(first);
                first = false;
            } else {
                first = true;
            }
        } catch (UncheckedIOException e) {
            throw Objects.requireNonNull(e.getCause());
        }
    }

    /** Closes the selector and all that is registered with it. */
    @Override
    public void close() throws IOException {
        for (SelectionKey key : List.copyOf(selector.keys())) {
            key.channel().close();
        }
        selector.close();
    }
}
