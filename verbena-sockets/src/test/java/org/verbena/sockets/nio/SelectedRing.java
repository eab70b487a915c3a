// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;

import org.verbena.sockets.VerbenaSelectorProvider;
import org.verbena.testkit.Await;

/**
 * A selector of Verbena's with one channel, which has rings and may be slept for at its bell.
 *
 * @param key of the pair's tested end, for reads
 */
record SelectedRing(Carrier.Pair pair, Selector selector, SelectionKey key) {
    static SelectedRing open() throws Exception {
        Carrier.Pair pair = Carrier.RING.connected();
        awaitBell((StreamSocketChannel) pair.tested());
        Selector selector = VerbenaSelectorProvider.instance().openSelector();
        pair.tested().configureBlocking(false);
        return new SelectedRing(pair, selector, pair.tested().register(selector, SelectionKey.OP_READ));
    }

    /** Until then a thread sleeps in the kernel: nobody would report the end of TCP to it. */
    static void awaitBell(StreamSocketChannel channel) {
        Await.until("the end of TCP is watched", () -> channel.streamOrNull().bell() != null);
    }
}
