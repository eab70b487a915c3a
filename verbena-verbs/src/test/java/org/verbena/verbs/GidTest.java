// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GidTest {
    /** The text of inet_ntop(3), by which other programs name the same port. */
    @ParameterizedTest
    @CsvSource({"fe80:0000:0000:0000:01eb:08c4:e2e8:d623, fe80::1eb:8c4:e2e8:d623",
        "0:0:0:0:0:ffff:c000:201, ::ffff:192.0.2.1",
        "::ffff:192.0.2.1, ::ffff:192.0.2.1", "ff12:0:0:0:0:0:0:4711, ff12::4711", "::, ::"})
    void text(String written, String text) {
        assertThat(Gid.parse(written)).hasToString(text);
        assertThat(Gid.parse(text)).isEqualTo(Gid.parse(written));
    }
}
