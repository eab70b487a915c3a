// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.cli.support.PeerException;
import org.verbena.verbs.Gid;

/** The addresses that the ends of perftest exchange. */
class PerftestAddressTest {
    private static final String TEXT = "0000:0010:00001a:ffffff:80000001:ffff00001000beef:"
            + "00:00:00:00:00:00:00:00:00:00:ff:ff:c0:00:02:07:00000000:\0";
    private static final PerftestAddress ADDRESS = new PerftestAddress(0, 16, 0x1a, 0xffffff, 0x80000001,
            0xffff00001000beefL, Gid.parse("::ffff:192.0.2.7"));

    @Test
    void formatMatchesC() throws PeerException {
        byte[] bytes = TEXT.getBytes(StandardCharsets.US_ASCII);
        assertThat(bytes).hasSize(PerftestAddress.BYTES);
        assertThat(ADDRESS.bytes()).isEqualTo(bytes);
        assertThat(PerftestAddress.of(bytes)).isEqualTo(ADDRESS);
    }

    /** {@code struct pingpong_dest} of x86-64, with its numbers in network order. */
    @Test
    void formatOverConnectionManagerMatchesC() throws PeerException {
        byte[] bytes = HexFormat.of().parseHex("00000000" + "00000010" + "0000001a" + "00ffffff" + "80000001"
                + "00000000"
                + "ffff00001000beef" + "00000000000000000000ffffc0000207" + "00000000" + "00000000");
        assertThat(bytes).hasSize(PerftestAddress.STRUCT_BYTES);
        assertThat(ADDRESS.struct()).isEqualTo(bytes);
        assertThat(PerftestAddress.ofStruct(bytes)).isEqualTo(ADDRESS);
        bytes[8] = 1;
        assertThatThrownBy(() -> PerftestAddress.ofStruct(bytes)).isInstanceOf(PeerException.class)
                .hasMessageContaining("queue pair 16777242");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0000:0010:00001a:ffffff:80000001:ffff00001000beef:00000000\0", "GET / HTTP/1.1\r\n\033[2J",
        ""})
    void garbageIsRefused(String text) {
        assertThatThrownBy(() -> PerftestAddress.of(text.getBytes(StandardCharsets.US_ASCII)))
                .isInstanceOf(PeerException.class).hasMessageStartingWith("the peer is none of perftest")
                .message().doesNotContain("\033", "\r", "\n", "\0");
    }
}
