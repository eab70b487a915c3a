// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteOrder;
import java.util.HexFormat;

import org.junit.jupiter.api.Test;

import org.verbena.cli.support.PeerException;

/** The bytes of the hello of rsockets. */
class RsocketHelloTest {
    private static final String BYTES = "01 02 0180 000000 00"
            + "00007f0102030405 0a0b0c0d 00000002"
            + "00007f1112131415 1a1b1c1d 00040000";

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex.replace(" ", ""));
    }

    @Test
    void encodedHelloIsDecodedUnchanged() throws IOException {
        RsocketHello hello = new RsocketHello(ByteOrder.LITTLE_ENDIAN, 384,
                new RpingBuffer(0x7f01_0203_0405L, 0x0a0b0c0d, 2),
                new RpingBuffer(0x7f11_1213_1415L, 0x1a1b1c1d, 262_144));
        assertThat(hello.bytes()).isEqualTo(bytes(BYTES));
        assertThat(RsocketHello.of(bytes(BYTES + "0000"))).isEqualTo(hello);
    }

    @Test
    void bigEndianHelloIsDecoded() throws IOException {
        byte[] bytes = bytes(BYTES);
        bytes[1] |= 1;
        RsocketHello hello = RsocketHello.of(bytes);
        assertThat(hello.order()).isEqualTo(ByteOrder.BIG_ENDIAN);
        assertThat(hello.bytes()).isEqualTo(bytes);
    }

    @Test
    void invalidHelloIsRefused() {
        byte[] version = bytes(BYTES);
        version[0] = 2;
        byte[] entries = bytes(BYTES);
        entries[23] = 1;
        for (byte[] b : new byte[][] {{}, bytes(BYTES.substring(0, 60)), version, entries}) {
            assertThatThrownBy(() -> RsocketHello.of(b)).isInstanceOf(PeerException.class);
        }
    }
}
