package org.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CopyTextTest {
    @Test
    void sizesAndTimes() {
        assertThat(CopyText.size(0)).isEqualTo("0 B");
        assertThat(CopyText.size(1023)).isEqualTo("1023 B");
        assertThat(CopyText.size(1536)).isEqualTo("1.5 KiB");
        assertThat(CopyText.size(Long.MAX_VALUE)).isEqualTo("8.0 EiB");
        assertThat(CopyText.time(7.4)).isEqualTo("0:07");
        assertThat(CopyText.time(3723)).isEqualTo("1:02:03");
        assertThat(CopyText.time(Double.NaN)).isEqualTo("-:--");
        assertThat(CopyText.time(Double.POSITIVE_INFINITY)).isEqualTo("-:--");
        assertThat(CopyText.count(1, "file")).isEqualTo("1 file");
        assertThat(CopyText.count(0, "file")).isEqualTo("0 files");
    }
}
