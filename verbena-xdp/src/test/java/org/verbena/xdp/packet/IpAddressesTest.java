// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.packet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.util.HexFormat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class IpAddressesTest {
    @ParameterizedTest
    @CsvSource({"0a000001, 10.0.0.1", "00000000000000000000ffff0a0000ff, ::ffff:10.0.0.255",
        "00000000000000000000ffff00000000, ::ffff:0.0.0.0", "000000000000000000000000ff000001, 0:0:0:0:0:0:ff00:1",
        "00000000000000000001ffff0a000001, 0:0:0:0:1:ffff:a00:1", "20010db8000000000000000000000001, "
                + "2001:db8:0:0:0:0:0:1", "fe800000000000000000000000000001, fe80:0:0:0:0:0:0:1"})
    void textIsReadBackAsTheSameBytes(String hex, String text) {
        byte[] bytes = HexFormat.of().parseHex(hex);
        assertThat(IpAddresses.of(bytes)).isInstanceOf(bytes.length == 4 ? Inet4Address.class : Inet6Address.class);
        assertThat(IpAddresses.of(bytes).getAddress()).isEqualTo(bytes);
        assertThat(IpAddresses.text(IpAddresses.of(bytes))).isEqualTo(text);
        assertThat(IpAddresses.parse(text)).isEqualTo(bytes);
    }

    @Test
    void mappedAddressIsWrittenInMoreThanOneWay() {
        assertThat(IpAddresses.parse("::FFFF:a00:1")).isEqualTo(IpAddresses.parse("::ffff:10.0.0.1")).hasSize(16);
        assertThatThrownBy(() -> IpAddresses.parse("::ffff:1.2")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> IpAddresses.of(new byte[5])).isInstanceOf(IllegalArgumentException.class);
    }
}
