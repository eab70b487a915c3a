// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;

import org.junit.jupiter.api.Test;

import org.verbena.sockets.VerbenaServerSocketChannel;
import org.verbena.sockets.VerbenaSocketChannel;
import org.verbena.sockets.VerbenaSocketOptions;

/** The options that Java lacks. */
class VerbenaOptionsTest {
    @Test
    void spinAndUserDataAreKept() throws Exception {
        try (VerbenaSocketChannel c = VerbenaSocketChannel.open()) {
            assertThat(c.supportedOptions()).contains(VerbenaSocketOptions.SPIN, VerbenaSocketOptions.USER_DATA,
                    VerbenaSocketOptions.BIND_TO_DEVICE, StandardSocketOptions.TCP_NODELAY);
            assertThat(c.getOption(VerbenaSocketOptions.USER_DATA)).isNull();
            c.setOption(VerbenaSocketOptions.USER_DATA, "order entry");
            assertThat(c.getOption(VerbenaSocketOptions.USER_DATA)).isEqualTo("order entry");
            c.setOption(VerbenaSocketOptions.USER_DATA, null);
            assertThat(c.getOption(VerbenaSocketOptions.USER_DATA)).isNull();
            c.setOption(VerbenaSocketOptions.SPIN, Duration.ofNanos(7000));
            assertThat(c.getOption(VerbenaSocketOptions.SPIN)).isEqualTo(Duration.ofNanos(7000));
            assertThatThrownBy(() -> c.setOption(VerbenaSocketOptions.SPIN, Duration.ofSeconds(2)))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("PT2S");
            assertThatThrownBy(() -> c.setOption(VerbenaSocketOptions.SPIN, null))
                    .isInstanceOf(IllegalArgumentException.class);
            c.close();
            assertThatThrownBy(() -> c.getOption(VerbenaSocketOptions.SPIN)).isInstanceOf(ClosedChannelException.class);
        }
    }

    @Test
    void serverRejectsTheSpinOption() throws Exception {
        try (VerbenaServerSocketChannel s = VerbenaServerSocketChannel.open()) {
            assertThat(s.supportedOptions()).doesNotContain(VerbenaSocketOptions.SPIN);
            assertThatThrownBy(() -> s.getOption(VerbenaSocketOptions.SPIN))
                    .isInstanceOf(UnsupportedOperationException.class);
            s.setOption(VerbenaSocketOptions.USER_DATA, 5);
            assertThat(s.getOption(VerbenaSocketOptions.USER_DATA)).isEqualTo(5);
        }
    }

    @Test
    void boundDeviceIsSetOnTheSocket() throws Exception {
        try (VerbenaSocketChannel c = VerbenaSocketChannel.open();
                VerbenaServerSocketChannel s = VerbenaServerSocketChannel.open()) {
            assertThat(c.getOption(VerbenaSocketOptions.BIND_TO_DEVICE)).isEmpty();
            c.setOption(VerbenaSocketOptions.BIND_TO_DEVICE, "lo");
            assertThat(c.getOption(VerbenaSocketOptions.BIND_TO_DEVICE)).isEqualTo("lo");
            s.setOption(VerbenaSocketOptions.BIND_TO_DEVICE, "lo").bind(Carrier.anyPort());
            assertThat(c.connect(s.getLocalAddress())).isTrue();
            assertThatThrownBy(() -> s.setOption(VerbenaSocketOptions.BIND_TO_DEVICE, "nowhere0"))
                    .isInstanceOf(IOException.class).hasMessageContaining("nowhere0");
            assertThatThrownBy(() -> s.setOption(VerbenaSocketOptions.BIND_TO_DEVICE, "a name that is too long"))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}
