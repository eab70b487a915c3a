// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RuleSourceTest {
    private static String through(String source) {
        long[] attributes = new long[8];
        System.arraycopy(RuleSource.longs(source), 0, attributes, SocketLayout.SOURCE, 7);
        return RuleSource.of(attributes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "verbena.rules", "/etc/libvma.conf", "/straße/é.conf",
        "/12345678901234567890123456789012345678901234567890.conf"})
    void whatFitsIsKept(String source) {
        assertThat(through(source)).isEqualTo(source);
    }

    @Test
    void ofALongPathTheEndIsKept() {
        assertThat(through("/" + "x".repeat(100) + "/rules.conf")).startsWith("...").endsWith("x/rules.conf").hasSize(
                56);
        assertThat(through("/" + "é".repeat(100) + "/rules.conf")).startsWith("...é").endsWith("é/rules.conf");
    }

    @Test
    void anythingIsSomeText() {
        assertThat(RuleSource.of(new long[] {0, -1, -1, -1, -1, -1, -1, -1})).isNotEmpty();
        assertThat(RuleSource.of(new long[8])).isEmpty();
    }
}
