// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the lab takes from Wireshark, by a frame that Linux 6.1 sent during {@code rping}. */
class TsharkTest {
    private static final String SEND = "52540000000252540000000308004500003c4aa0400040116c0bc0000203c0000202f46912b70028"
            + "00000400ffff0000001380a5af3f000056374342937000000526000000407308c8f2";
    /** One byte by {@code ibv_rc_pingpong -s 1}: its payload is no protocol. */
    private static final String BYTE = "5254000000024a5df0703bd2080045020030000040004011b6b7c0000201c000020212b712b7001c85620470ffff0000"
            + "002e80811de27b00000023b48f2b";
    private static final int IP_LENGTH = 16;
    private static final int UDP_LENGTH = 38;

    /** As if it had been sent so: the headers of IP and UDP know its length. */
    private static byte[] cut(byte[] frame, int by) {
        byte[] less = Arrays.copyOf(frame, frame.length - by);
        ByteBuffer b = ByteBuffer.wrap(less);
        b.putShort(IP_LENGTH, (short) (b.getShort(IP_LENGTH) - by));
        b.putShort(UDP_LENGTH, (short) (b.getShort(UDP_LENGTH) - by));
        return less;
    }

    private static Path capture(Path dir, byte[]... frames) throws Exception {
        ByteBuffer b = ByteBuffer.allocate(4096).order(ByteOrder.nativeOrder());
        b.putInt(0xa1b2c3d4).putShort((short) 2).putShort((short) 4).putLong(0).putInt(65536).putInt(1);
        for (byte[] f : frames) {
            b.putLong(0).putInt(f.length).putInt(f.length).put(f);
        }
        return Files.write(dir.resolve("a.pcap"), Arrays.copyOf(b.array(), b.position()));
    }

    @Test
    void packetsAreCountedAndMalformedOnesNamed(@TempDir Path dir) throws Exception {
        if (!Tshark.isThere()) {
            System.out.println("TsharkTest: skipped, there is no tshark (Debian: apt-get install tshark)");
        }
        assumeTrue(Tshark.isThere());
        byte[] whole = HexFormat.of().parseHex(SEND);
        byte[] other = whole.clone();
        other[37] ^= 1; // the port
        Tshark.Opinion o = Tshark.on(capture(dir, whole, other, whole, cut(whole, 24), HexFormat.of().parseHex(
                BYTE)));
        assertThat(o.packets()).isEqualTo(4);
        assertThat(o.malformed()).containsExactly("4");
        assertThat(o.of(dir.resolve("a.pcap"))).isEqualTo(
                "tshark: a.pcap: 4 packets of RoCEv2, 1 malformed, frames 4");
    }
}
