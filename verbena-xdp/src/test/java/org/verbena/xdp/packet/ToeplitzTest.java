// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.packet;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.net.InetAddress;
import java.util.HexFormat;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.verbena.testkit.Seeds;

/** The hash gives what Microsoft has published with its definition ("Verifying the RSS Hash Calculation"). */
class ToeplitzTest {
    private static final byte[] KEY = HexFormat.of().parseHex("6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da3"
            + "8030f20c6a42b73bbeac01fa");

    @ParameterizedTest
    @CsvSource({
        "161.142.100.80, 1766, 66.9.149.187, 2794, 323e8fc2, 51ccc178",
        "65.69.140.83, 4739, 199.92.111.2, 14230, d718262a, c626b0ea",
        "12.22.207.184, 38024, 24.19.198.95, 12898, d2d0a5de, 5c2b394a",
        "209.142.163.6, 2217, 38.27.205.30, 48228, 82989176, afc7327f",
        "202.188.127.2, 1303, 153.39.163.191, 44251, 5d1809c5, 10e828a2",
        "3ffe:2501:200:3::1, 1766, 3ffe:2501:200:1fff::7, 2794, 2cc18cd5, 40207d3d",
        "ff02::1, 4739, 3ffe:501:8::260:97ff:fe40:efab, 14230, 0f0c461c, dde51bbf",
        "fe80::200:f8ff:fe21:67cf, 38024, 3ffe:1900:4545:3:200:f8ff:fe21:67cf, 44251, 4b61e985, 02d1feef"})
    void publishedVectors(String to, int toPort, String from, int fromPort, String addresses, String all)
            throws Exception {
        ByteArrayOutputStream input = new ByteArrayOutputStream();
        input.writeBytes(InetAddress.getByName(from).getAddress());
        input.writeBytes(InetAddress.getByName(to).getAddress());
        assertThat(HexFormat.of().toHexDigits(Toeplitz.hash(KEY, input.toByteArray()))).isEqualTo(addresses);
        input.writeBytes(new byte[] {(byte) (fromPort >> 8), (byte) fromPort, (byte) (toPort >> 8), (byte) toPort});
        assertThat(HexFormat.of().toHexDigits(Toeplitz.hash(KEY, input.toByteArray()))).isEqualTo(all);
    }

    @Test
    void halvesOfBytesAddUp() {
        Seeds.each(100, random -> {
            byte[] key = bytes(random, 40);
            byte[] input = bytes(random, random.nextInt(37));
            int hash = 0;
            for (int i = 0; i < input.length; i++) {
                hash ^= Toeplitz.ofNibble(key, i, true, input[i] >> 4 & 15) ^ Toeplitz.ofNibble(key, i, false, input[i]
                        & 15);
            }
            assertThat(hash).isEqualTo(Toeplitz.hash(key, input));
        });
    }

    private static byte[] bytes(Random random, int n) {
        byte[] b = new byte[n];
        random.nextBytes(b);
        return b;
    }
}
