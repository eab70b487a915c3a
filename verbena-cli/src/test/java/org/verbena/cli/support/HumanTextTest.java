// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.support;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HumanTextTest {
    @Test
    void sizesAndTimesAreFormatted() {
        assertThat(HumanText.size(0)).isEqualTo("0 B");
        assertThat(HumanText.size(1023)).isEqualTo("1023 B");
        assertThat(HumanText.size(1536)).isEqualTo("1.5 KiB");
        assertThat(HumanText.size(Long.MAX_VALUE)).isEqualTo("8.0 EiB");
        assertThat(HumanText.time(7.4)).isEqualTo("0:07");
        assertThat(HumanText.time(3723)).isEqualTo("1:02:03");
        assertThat(HumanText.time(Double.NaN)).isEqualTo("-:--");
        assertThat(HumanText.time(Double.POSITIVE_INFINITY)).isEqualTo("-:--");
        assertThat(HumanText.count(1, "file")).isEqualTo("1 file");
        assertThat(HumanText.count(0, "file")).isEqualTo("0 files");
    }
}
