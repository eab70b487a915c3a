// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** TCP's state and error without a read. */
@Isolated
class TcpConnectionTest {
    /** A connection, and the descriptor of its first end: the one created with it, as the kernel's links show. */
    private record Pair(SocketChannel first, SocketChannel second, int fd) implements AutoCloseable {
        static Pair connect() throws IOException {
            try (ServerSocketChannel server = ServerSocketChannel.open()
                    .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
                Set<Integer> before = descriptors();
                SocketChannel first = SocketChannel.open(server.getLocalAddress());
                Set<Integer> opened = descriptors();
                opened.removeAll(before);
                return new Pair(first, server.accept(), List.copyOf(opened).getFirst());
            }
        }

        private static Set<Integer> descriptors() throws IOException {
            Set<Integer> sockets = new TreeSet<>();
            try (var all = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
                for (Path one : all) {
                    if (Files.isSymbolicLink(one) && Files.readSymbolicLink(one).toString().startsWith("socket:")) {
                        sockets.add(Integer.valueOf(one.getFileName().toString()));
                    }
                }
            }
            return sockets;
        }

        @Override
        public void close() throws IOException {
            first.close();
            second.close();
        }
    }

    @Test
    void unreadBytesAndEndAreReported() throws Exception {
        try (Pair p = Pair.connect()) {
            assertThat(TcpConnection.hasEnded(p.fd)).isFalse();
            assertThat(TcpConnection.unread(p.fd)).isZero();
            p.first.shutdownInput();
            assertThat(TcpConnection.hasEnded(p.fd)).isFalse();
            p.second.write(ByteBuffer.allocate(10));
            assertThat(TcpConnection.unread(p.fd)).isEqualTo(10);
            p.second.close();
            assertThat(TcpConnection.hasEnded(p.fd)).isTrue();
            assertThat(TcpConnection.unread(p.fd)).isEqualTo(10);
            assertThat(TcpConnection.takeError(p.fd)).isZero();
        }
    }

    @Test
    void resetIsReportedOnce() throws Exception {
        try (Pair p = Pair.connect()) {
            p.second.setOption(StandardSocketOptions.SO_LINGER, 0);
            p.second.close();
            assertThat(TcpConnection.hasEnded(p.fd)).isTrue();
            assertThat(TcpConnection.takeError(p.fd)).isEqualTo(Errno.ECONNRESET);
            assertThat(TcpConnection.takeError(p.fd)).isZero();
        }
    }

    @Test
    void nonSocketThrows() throws Exception {
        assertThatThrownBy(() -> TcpConnection.hasEnded(-1)).isInstanceOf(LinuxException.class).hasMessageContaining(
                "EBADF");
        assertThatThrownBy(() -> TcpConnection.takeError(-1)).isInstanceOf(LinuxException.class);
        assertThatThrownBy(() -> TcpConnection.unread(-1)).isInstanceOf(LinuxException.class);
    }
}
