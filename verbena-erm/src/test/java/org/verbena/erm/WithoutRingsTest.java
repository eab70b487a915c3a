// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import org.verbena.sockets.VerbenaSocketChannel;

/** A channel without rings has no remote memory, and says why; beside other tests, for a plain peer takes seconds to find out. */
@Execution(ExecutionMode.CONCURRENT)
class WithoutRingsTest {
    @Test
    void channelWithoutRingsStatesReason() throws Exception {
        try (SocketChannel plain = SocketChannel.open(); SocketChannel ours = VerbenaSocketChannel.open()) {
            assertThat(RemoteMemory.of(plain)).isEmpty();
            assertThat(RemoteMemory.whyNot(plain)).contains("none of Verbena's");
            assertThat(RemoteMemory.of(ours)).isEmpty();
            assertThat(RemoteMemory.whyNot(ours)).isEqualTo("the channel is not connected");
            ours.close();
            assertThat(RemoteMemory.whyNot(ours)).isEqualTo("the channel is closed");
        }
        try (ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress
                .getLoopbackAddress(), 0)); SocketChannel ours = VerbenaSocketChannel.open()) {
            ours.connect(server.getLocalAddress());
            try (SocketChannel peer = server.accept()) {
                assertThat(RemoteMemory.of(ours, Duration.ofSeconds(30))).isEmpty();
                assertThat(RemoteMemory.whyNot(ours)).isEqualTo(
                        "TCP carries the connection: the other end does not use Verbena");
                assertThat(peer.isOpen()).isTrue();
            }
        }
    }
}
