// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The normal form of RFC 5952; what it says is read back as what it was. */
class Ipv6TextTest {
    private static String text(byte[] bytes) {
        ByteBuffer b = ByteBuffer.wrap(bytes);
        return Ipv6Text.of(b.getLong(0), b.getLong(8));
    }

    @ParameterizedTest
    @CsvSource({
        "0:0:0:0:0:0:0:0, ::",
        "0:0:0:0:0:0:0:1, ::1",
        "2001:0db8:0:0:0:0:2:1, 2001:db8::2:1",
        "2001:db8:0:1:1:1:1:1, 2001:db8:0:1:1:1:1:1",
        "2001:0:0:1:0:0:0:1, 2001:0:0:1::1",
        "2001:db8:0:0:1:0:0:1, 2001:db8::1:0:0:1",
        "FE80:0:0:0:0:0:0:ABCD, fe80::abcd",
        "1:0:0:0:0:0:0:0, 1::",
        "0:0:1:0:0:0:0:0, 0:0:1::",
        "0:0:0:0:0:0:7f00:1, ::7f00:1",
    })
    void examples(String any, String normal) throws Exception {
        assertThat(text(InetAddress.ofLiteral(any).getAddress())).isEqualTo(normal);
    }

    @Test
    void mappedIpv4AddressIsWrittenInDottedForm() {
        byte[] mapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, 10, 0, 0, (byte) 200};
        assertThat(text(mapped)).isEqualTo("::ffff:10.0.0.200");
    }

    @Test
    void textRoundTrips() throws Exception {
        Random random = new Random(1);
        byte[] bytes = new byte[16];
        for (int i = 0; i < 20_000; i++) {
            random.nextBytes(bytes);
            bytes[0] |= 1; // no IPv4 address
            for (int zeros = random.nextInt(12); zeros > 0; zeros--) {
                bytes[2 + random.nextInt(14)] = 0;
            }
            String text = text(bytes);
            assertThat(text).matches("[0-9a-f:]+").doesNotContain(":::").doesNotContainPattern("(^|:)0[0-9a-f]");
            assertThat(((Inet6Address) InetAddress.ofLiteral(text)).getAddress()).as(text).isEqualTo(bytes);
        }
    }
}
