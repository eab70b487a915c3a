// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Random;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A non-blocking write takes as much as TCP would, whatever carries it, without a read meanwhile. */
@Tag("any-provider")
class FirstWriteTest {
    @ParameterizedTest
    @ValueSource(ints = {5000, 10_000, 60_000, 1_000_000})
    void nonBlockingWriteTakesAsMuchAsTcp(int size) throws Exception {
        byte[] sent = new byte[size];
        new Random(size).nextBytes(sent);
        int byTcp;
        try (Carrier.Pair pair = Carrier.JDK.connected()) {
            pair.tested().configureBlocking(false);
            byTcp = pair.tested().write(ByteBuffer.wrap(sent));
        }
        assertThat(byTcp).isPositive();
        for (boolean gathering : new boolean[] {false, true}) {
            try (Carrier.Pair pair = Carrier.RING.connected()) {
                pair.tested().configureBlocking(false);
                ByteBuffer rest = ByteBuffer.wrap(sent);
                ByteBuffer first = rest.slice(0, size / 3);
                ByteBuffer second = rest.slice(size / 3, size - size / 3);
                int n = gathering
                        ? (int) pair.tested().write(new ByteBuffer[] {first, second})
                        : pair.tested().write(rest);
                assertThat(n).isGreaterThanOrEqualTo(byTcp);
                assertThat(gathering ? first.position() + second.position() : rest.position()).isEqualTo(n);
                byte[] got = TransferTest.read(pair.peer(), n);
                assertThat(ByteBuffer.wrap(got)).isEqualTo(ByteBuffer.wrap(sent, 0, n));
            }
        }
    }
}
