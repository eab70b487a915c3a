// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The messages and the texts of {@code rping}. */
class RpingClientTest {
    @ParameterizedTest
    @CsvSource({"0,26,rdma-ping-0: ABCDEFGHIJKL", "57,30,rdma-ping-57: zABCDEFGHIJKLMN",
        "58,26,rdma-ping-58: ABCDEFGHIJK", "2147483647,26,rdma-ping-2147483647: HIJ"})
    void textsMatchC(int number, int size, String text) {
        assertThat(RpingClient.text(number, size)).isEqualTo((text + "\0").getBytes(StandardCharsets.US_ASCII));
    }

    @Test
    void bufferOfferIsEncodedInNetworkOrder() {
        byte[] bytes = HexFormat.of().parseHex("00007f0102030405fedcba98fffffffe");
        RpingBuffer offer = new RpingBuffer(0x7f01_0203_0405L, 0xfedcba98, 0xfffffffeL);
        assertThat(RpingBuffer.get(MemorySegment.ofArray(bytes))).isEqualTo(offer);
        byte[] put = new byte[RpingBuffer.BYTES];
        offer.put(MemorySegment.ofArray(put));
        assertThat(put).isEqualTo(bytes);
    }
}
