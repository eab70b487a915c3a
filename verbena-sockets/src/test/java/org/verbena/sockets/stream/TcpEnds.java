// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import org.verbena.linux.SockDiag;

/** A test that has connections of the kernel's, which are closed after it. */
class TcpEnds {
    final List<AutoCloseable> open = new ArrayList<>();
    ServerSocketChannel listener;

    @BeforeEach
    void listen() throws IOException {
        listener = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1024);
        open.add(listener);
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable one : open.reversed()) {
            one.close();
        }
    }

    record Tcp(SocketChannel client, SocketChannel server) {}

    final Tcp connect() throws IOException {
        SocketChannel client = SocketChannel.open(listener.getLocalAddress());
        open.add(client);
        SocketChannel server = listener.accept();
        open.add(server);
        client.configureBlocking(false);
        server.configureBlocking(false);
        return new Tcp(client, server);
    }

    static String nameOf(Tcp tcp) throws IOException {
        try (SockDiag diag = SockDiag.open()) {
            return "verbena-stream-" + Long.toHexString(diag.find((InetSocketAddress) tcp.client().getLocalAddress(),
                    (InetSocketAddress) tcp.client().getRemoteAddress()).orElseThrow().cookie());
        }
    }
}
