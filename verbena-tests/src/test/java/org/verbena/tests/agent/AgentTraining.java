// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.agent;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.CompletableFuture;

/** A program whose classes of the JDK are stored in the archive of {@link AgentArchive}: echo by sockets, channels and a selector. */
final class AgentTraining {
    private AgentTraining() {}

    public static void main(String[] none) throws Exception {
        classic();
        channels();
    }

    private static void classic() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Void> served = CompletableFuture.runAsync(() -> {
                try (Socket s = server.accept()) {
                    s.getInputStream().transferTo(s.getOutputStream());
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            try (Socket s = new Socket(server.getInetAddress(), server.getLocalPort())) {
                s.getOutputStream().write(1);
                require(s.getInputStream().read() == 1);
            }
            served.get();
        }
    }

    private static void channels() throws IOException {
        try (ServerSocketChannel server = ServerSocketChannel.open().bind(loopback());
                SocketChannel client = SocketChannel.open(server.getLocalAddress());
                SocketChannel accepted = server.accept();
                Selector selector = Selector.open()) {
            accepted.configureBlocking(false).register(selector, SelectionKey.OP_READ);
            client.write(ByteBuffer.allocate(Long.BYTES));
            require(selector.select() == 1);
            require(accepted.read(ByteBuffer.allocateDirect(Long.BYTES)) == Long.BYTES);
        }
    }

    private static SocketAddress loopback() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    private static void require(boolean condition) {
        if (!condition) {
            throw new AssertionError();
        }
    }
}
