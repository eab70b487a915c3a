package org.verbena.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import org.verbena.sockets.VerbenaAsynchronousChannelProvider;
import org.verbena.sockets.VerbenaServerSocketChannel;
import org.verbena.sockets.VerbenaSocketChannel;
import org.verbena.sockets.VerbenaSocketOptions;

/** The options that Java lacks, and the asynchronous channels, which are the kernel's. */
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
    void aServerDoesNotSpin() throws Exception {
        try (VerbenaServerSocketChannel s = VerbenaServerSocketChannel.open()) {
            assertThat(s.supportedOptions()).doesNotContain(VerbenaSocketOptions.SPIN);
            assertThatThrownBy(() -> s.getOption(VerbenaSocketOptions.SPIN))
                    .isInstanceOf(UnsupportedOperationException.class);
            s.setOption(VerbenaSocketOptions.USER_DATA, 5);
            assertThat(s.getOption(VerbenaSocketOptions.USER_DATA)).isEqualTo(5);
        }
    }

    @Test
    void theBoundDeviceIsTheKernels() throws Exception {
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

    @Test
    void asynchronousChannelsCarryBytesWithTheirProvider() throws Exception {
        var provider = new VerbenaAsynchronousChannelProvider();
        var group = provider.openAsynchronousChannelGroup(1, Executors.defaultThreadFactory());
        try (AsynchronousServerSocketChannel server = provider.openAsynchronousServerSocketChannel(group);
                AsynchronousSocketChannel client = provider.openAsynchronousSocketChannel(group)) {
            assertThat(server.provider()).isSameAs(provider);
            assertThat(client.provider()).isSameAs(provider);
            server.bind(Carrier.anyPort());
            var accepted = server.accept();
            client.connect(server.getLocalAddress()).get(60, TimeUnit.SECONDS);
            client.write(ByteBuffer.wrap(new byte[] {9})).get(60, TimeUnit.SECONDS);
            ByteBuffer got = ByteBuffer.allocate(1);
            try (AsynchronousSocketChannel a = accepted.get(60, TimeUnit.SECONDS)) {
                assertThat(a.provider()).isSameAs(provider);
                a.read(got).get(60, TimeUnit.SECONDS);
            }
            assertThat(got.get(0)).isEqualTo((byte) 9);
        } finally {
            group.shutdownNow();
        }
    }
}
