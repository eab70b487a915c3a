// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;

/** A test of connections that begin their handshake when TCP has carried enough. */
class EarningEnds extends TcpEnds {
    static final int MESSAGE = 64;
    static final long BYTES = 1 << 20;

    record Ends(RingStream client, RingStream server) {
        boolean areByRing() {
            return client.isOutputByRing() && server.isOutputByRing();
        }
    }

    final Ends earning() throws IOException {
        Tcp tcp = connect();
        return new Ends((RingStream) Stream.of(tcp.client(), Stream.Role.CLIENT, null, false),
                (RingStream) Stream.of(tcp.server(), Stream.Role.SERVER, null, false));
    }

    static void close(Ends ends) {
        ends.client().close(false);
        ends.server().close(false);
    }

    /** Sends bytes and receives them. */
    static void pass(Stream from, Stream to, int bytes) throws IOException {
        ByteBuffer out = ByteBuffer.allocate(bytes);
        for (int i = 0; i < bytes; i++) {
            out.put(i, (byte) (i * 31 + 7));
        }
        ByteBuffer in = ByteBuffer.allocate(bytes);
        while (in.hasRemaining()) {
            from.write(out);
            assertThat(to.read(in)).isNotNegative();
        }
        assertThat(in.flip()).isEqualTo(out.flip());
    }

    static void roundTrips(Ends ends, int n) throws IOException {
        for (int i = 0; i < n; i++) {
            pass(ends.client(), ends.server(), MESSAGE);
            pass(ends.server(), ends.client(), MESSAGE);
        }
    }
}
