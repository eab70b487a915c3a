// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;

import org.junit.jupiter.api.Test;

/** The cache of hosts and ports that have refused: what an entry covers, when it expires, which one is evicted. */
class NegativeCacheTest {
    private static final long NOW = 1_000_000_000L;

    private final NegativeCache refusals = new NegativeCache();

    private static InetSocketAddress at(int host, int port) {
        return new InetSocketAddress(InetAddress.ofLiteral("10.0." + (host >> 8) + "." + (host & 255)), port);
    }

    @Test
    void hostEntryCoversAllPortsAndPortEntryOne() {
        refusals.host(at(1, 0).getAddress(), FallbackReason.PLAIN_PEER, NOW);
        refusals.port(at(2, 80), FallbackReason.REMOTE_PEER, NOW);
        assertThat(refusals.reason(at(1, 80), NOW)).isEqualTo(FallbackReason.PLAIN_PEER);
        assertThat(refusals.reason(at(1, 81), NOW)).isEqualTo(FallbackReason.PLAIN_PEER);
        assertThat(refusals.reason(at(2, 80), NOW)).isEqualTo(FallbackReason.REMOTE_PEER);
        assertThat(refusals.reason(at(2, 81), NOW)).isNull();
        assertThat(refusals.reason(at(3, 80), NOW)).isNull();
    }

    @Test
    void entryExpiresOrIsForgotten() {
        refusals.port(at(2, 80), FallbackReason.REMOTE_PEER, NOW);
        assertThat(refusals.reason(at(2, 80), NOW + NegativeCache.NANOS - 1)).isEqualTo(FallbackReason.REMOTE_PEER);
        assertThat(refusals.reason(at(2, 80), NOW + NegativeCache.NANOS)).isNull();
        refusals.port(at(2, 80), FallbackReason.REMOTE_PEER, NOW);
        refusals.host(at(2, 0).getAddress(), FallbackReason.PLAIN_PEER, NOW);
        refusals.forget(at(2, 0).getAddress());
        assertThat(refusals.reason(at(2, 80), NOW)).isNull();
    }

    @Test
    void oldestEntryIsEvictedFirst() {
        for (int i = 0; i <= NegativeCache.MAX_ENTRIES; i++) {
            refusals.host(at(i, 0).getAddress(), FallbackReason.PLAIN_PEER, NOW);
        }
        assertThat(refusals.reason(at(0, 80), NOW)).isNull();
        assertThat(refusals.reason(at(1, 80), NOW)).isEqualTo(FallbackReason.PLAIN_PEER);
        assertThat(refusals.reason(at(NegativeCache.MAX_ENTRIES, 80), NOW)).isEqualTo(FallbackReason.PLAIN_PEER);
    }
}
