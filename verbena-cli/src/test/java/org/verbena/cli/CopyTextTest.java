package org.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

    @ParameterizedTest
    @ValueSource(strings = {"localhost:1", ":18516", "127.0.0.1:65535", "[::1]:5"})
    void addresses(String text) throws Exception {
        assertThat(CopyAddress.isAddress(text)).isTrue();
        assertThat(CopyAddress.parse(text).getAddress().isLoopbackAddress()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"file", "dir/x:1", "host:", "a:b", "::1:5", "x:123456", "./x:1"})
    void noAddresses(String text) {
        assertThat(CopyAddress.isAddress(text)).isFalse();
    }

    @Test
    void portsAreChecked() throws Exception {
        assertThatExceptionOfType(CopyFailure.class).isThrownBy(() -> CopyAddress.parse("x:0"));
        assertThatExceptionOfType(CopyFailure.class).isThrownBy(() -> CopyAddress.parse("x:65536"));
        assertThat(CopyAddress.text(CopyAddress.parse("[::1]:5"))).isEqualTo("[0:0:0:0:0:0:0:1]:5");
        assertThat(CopyAddress.text(CopyAddress.loopback(5))).isEqualTo("127.0.0.1:5");
    }
}
