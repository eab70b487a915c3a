package org.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.verbs.Gid;

/** What the ends of perftest tell each other. */
class PerftestAddressTest {
    private static final String TEXT = "0000:0010:00001a:ffffff:80000001:ffff00001000beef:"
            + "00:00:00:00:00:00:00:00:00:00:ff:ff:c0:00:02:07:00000000:\0";
    private static final PerftestAddress ADDRESS = new PerftestAddress(0, 16, 0x1a, 0xffffff, 0x80000001,
            0xffff00001000beefL, Gid.parse("::ffff:192.0.2.7"));

    @Test
    void theFormIsThatOfC() throws PeerException {
        byte[] bytes = TEXT.getBytes(StandardCharsets.US_ASCII);
        assertThat(bytes).hasSize(PerftestAddress.BYTES);
        assertThat(ADDRESS.bytes()).isEqualTo(bytes);
        assertThat(PerftestAddress.of(bytes)).isEqualTo(ADDRESS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0000:0010:00001a:ffffff:80000001:ffff00001000beef:00000000\0", "GET / HTTP/1.1\r\n\033[2J",
        ""})
    void garbage(String text) {
        assertThatThrownBy(() -> PerftestAddress.of(text.getBytes(StandardCharsets.US_ASCII)))
                .isInstanceOf(PeerException.class).hasMessageStartingWith("the peer is none of perftest")
                .message().doesNotContain("\033", "\r", "\n", "\0");
    }
}
