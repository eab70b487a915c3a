// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static java.nio.channels.SelectionKey.OP_READ;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.verbena.sockets.VerbenaSelectorProvider;

/**
 * A sleeping selector is notified of each byte: the ready queue entry is posted when it has arrived, and the writer is
 * not there any more when the notice has.
 */
@Tag("any-provider")
class LateNoticeTest {
    private static final int BYTES = 3000;
    /** Nothing else happens in between that could wake anybody. */
    private static final int LONG_MILLIS = 60_000;

    @Test
    @Timeout(300)
    void noReadyQueueEntryIsLost() throws Exception {
        try (Carrier.Pair pair = Carrier.RING.connected();
                VerbenaSelector selector = new VerbenaSelector(VerbenaSelectorProvider.instance())) {
            pair.tested().configureBlocking(false);
            pair.tested().register(selector, OP_READ);
            ByteBuffer one = ByteBuffer.allocate(2);
            for (int i = 0; i < BYTES; i++) {
                CompletableFuture<Integer> written = CompletableFuture.supplyAsync(() -> write(pair));
                assertThat(selector.select(LONG_MILLIS)).as("byte %d", i).isOne();
                selector.selectedKeys().clear();
                assertThat(written.get()).isOne();
                assertThat(pair.tested().read(one.clear())).isOne();
            }
        }
    }

    private static int write(Carrier.Pair pair) {
        try {
            return pair.peer().write(ByteBuffer.allocate(1));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
