// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

import org.verbena.sockets.VerbenaServerSocketChannel;
import org.verbena.sockets.VerbenaSocketChannel;

/** One end of a stream whose program knows nothing of remote memory: echoes all bytes until the end. */
final class EchoPeer {
    private static final int PIECE = 4096;

    private EchoPeer() {}

    /** {@code listen} or {@code connect PORT}. */
    public static void main(String[] args) throws Exception {
        Peer.begin();
        Peer.say("REMOTE_MEMORY " + (hasRemoteMemory() ? "there" : "absent"));
        try (SocketChannel channel = args[0].equals("listen") ? accept() : connect(Integer.parseInt(args[1]))) {
            ByteBuffer piece = ByteBuffer.allocate(PIECE);
            while (channel.read(piece.clear()) >= 0) {
                piece.flip();
                while (piece.hasRemaining()) {
                    channel.write(piece);
                }
            }
        }
        Peer.say("END");
        Peer.hear();
    }

    private static boolean hasRemoteMemory() {
        try {
            Class.forName("org.verbena.erm.RemoteMemory");
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    private static SocketChannel accept() throws IOException {
        try (ServerSocketChannel server = VerbenaServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            Peer.say("PORT " + server.socket().getLocalPort());
            return server.accept();
        }
    }

    private static SocketChannel connect(int port) throws IOException {
        SocketChannel channel = VerbenaSocketChannel.open();
        channel.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        return channel;
    }
}
