// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

import org.verbena.sockets.VerbenaServerSocketChannel;
import org.verbena.sockets.VerbenaSocketChannel;
import org.verbena.telemetry.CounterFile;
import org.verbena.testkit.AllocatedBytes;
import org.verbena.testkit.Await;

/** What a program pays for being looked at once a second. Isolated: each socket that others open is new to an update. */
@Isolated
class PublishedSocketsAllocationTest {
    private static final int CONNECTIONS = 100;
    /** Less than an object with two fields for each end, beside what depends on the regions of their memory. */
    private static final long FEW_BYTES = 2 * CONNECTIONS * 16 + 4000;

    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable c : open) {
            c.close();
        }
    }

    @Test
    void updateOfKnownSocketsAllocatesAsGoodAsNothing() throws Exception {
        VerbenaServerSocketChannel server = VerbenaServerSocketChannel.open();
        open.add(server);
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        for (int i = 0; i < CONNECTIONS; i++) {
            VerbenaSocketChannel client = VerbenaSocketChannel.open();
            open.add(client);
            client.connect(server.getLocalAddress());
            VerbenaSocketChannel peer = (VerbenaSocketChannel) server.accept();
            open.add(peer);
            Await.until("rings carry it", () -> {
                client.write(ByteBuffer.allocate(1));
                peer.read(ByteBuffer.allocate(10));
                return client.isOutputByRing() && peer.isInputByRing();
            });
        }
        Await.until("all are published", () -> {
            CounterFile.own().gather();
            List<Stream> streams = new ArrayList<>();
            StreamCounters.addOpen(streams);
            return streams.size() >= 2 * CONNECTIONS && streams.stream().allMatch(s -> s.published != null);
        });

        assertThat(AllocatedBytes.leastOf(CounterFile.own()::gather)).isLessThan(FEW_BYTES);
    }
}
