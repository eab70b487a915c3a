// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.cli.support.PeerException;
import org.verbena.verbs.Gid;

/** The addresses that the ends of a ping-pong exchange. */
class PingPongAddressTest {
    private static final String TEXT = "0012:00000a:ffffff:00000000000000000000ffff0a000001\0";
    private static final PingPongAddress ADDRESS = new PingPongAddress(0x12, 10, 0xffffff, Gid.parse(
            "::ffff:10.0.0.1"));

    @Test
    void formatMatchesC() throws PeerException {
        byte[] bytes = TEXT.getBytes(StandardCharsets.US_ASCII);
        assertThat(bytes).hasSize(PingPongAddress.BYTES);
        assertThat(ADDRESS.bytes()).isEqualTo(bytes);
        assertThat(PingPongAddress.of(bytes)).isEqualTo(ADDRESS);
        assertThat(PingPongAddress.NONE.bytes()).hasSize(PingPongAddress.BYTES);
        assertThat(ADDRESS).hasToString("LID 0x0012, QPN 0x00000a, PSN 0xffffff, GID ::ffff:10.0.0.1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0012:00000a:ffffff:00000000000000000000ffff0a000001x",
        "0012:00000a:ffffff:00000000000000000000ffff0a00000g\0",
        "0012;00000a:ffffff:00000000000000000000ffff0a000001\0",
        "GET / HTTP/1.1\r\n\033[2J", ""})
    void garbageIsRefused(String text) {
        assertThatThrownBy(() -> PingPongAddress.of(text.getBytes(StandardCharsets.US_ASCII)))
                .isInstanceOf(PeerException.class).hasMessageStartingWith("the peer is no ping-pong: it said '")
                .message().doesNotContain("\033", "\r", "\n", "\0");
    }
}
