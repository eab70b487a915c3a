// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The packet checker of the lab, with frames that Linux 6.1 sent during {@code rping}. */
class RocePacketTest {
    private static final String SEND_4 = "52540000000252540000000308004500003c4aa0400040116c0bc0000203c0000202f46912b70028"
            + "00000400ffff0000001380a5af3f000056374342937000000526000000407308c8f2";
    private static final String ACK_6 = "52540000000352540000000286dd60000000001c114020010db800000000000000000000000220010db8"
            + "000000000000000000000003f23312b7001c00001100ffff0000001200a9d0691f000001c5da4c4b";
    private static final int ETHERNET = 14;

    @ParameterizedTest
    @CsvSource({SEND_4 + ",RC SEND,0x13,0xa5af3f", ACK_6 + ",RC ACK,0x12,0xa9d069"})
    void packetIsDescribed(String frame, String operation, String qp, String psn) {
        RocePacket p = RocePacket.of(HexFormat.of().parseHex(frame));
        assertThat(p).isNotNull();
        assertThat(p.operation()).isEqualTo(operation);
        assertThat(p.destinationQp()).isEqualTo(Integer.decode(qp));
        assertThat(p.psn()).isEqualTo(Integer.decode(psn));
        assertThat(p.icrcRight()).isTrue();
    }

    /** Each byte from the IP header on, but for those that may change on the way: InfiniBand A17.3.3. */
    @ParameterizedTest
    @CsvSource({SEND_4 + ",1 8 10 11 26 27 32", ACK_6 + ",1 2 3 7 46 47 52"})
    void wrongByteIsDetected(String frame, String variant) {
        byte[] right = HexFormat.of().parseHex(frame);
        for (int i = ETHERNET + 1; i < right.length; i++) {
            byte[] wrong = right.clone();
            wrong[i] ^= 0x40;
            RocePacket p = RocePacket.of(wrong);
            boolean mayChange = (" " + variant + " ").contains(" " + (i - ETHERNET) + " ");
            assertThat(p == null ? Boolean.FALSE : (Boolean) p.icrcRight()).as("byte " + i).isEqualTo(mayChange);
        }
    }

    @Test
    void truncatedFrameIsMalformed() {
        byte[] whole = HexFormat.of().parseHex(SEND_4);
        RocePacket p = RocePacket.of(java.util.Arrays.copyOf(whole, whole.length - 1));
        assertThat(p).isNotNull();
        assertThat(p.operation()).isEqualTo("malformed");
        assertThat(p.icrcRight()).isFalse();
    }

    @Test
    void otherFramesAreNotRoce() {
        byte[] other = HexFormat.of().parseHex(SEND_4);
        other[37] ^= 1; // the port
        assertThat(RocePacket.of(other)).isNull();
        assertThat(RocePacket.of(new byte[20])).isNull();
    }
}
