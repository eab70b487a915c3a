// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;

import org.verbena.sockets.VerbenaServerSocketChannel;
import org.verbena.sockets.VerbenaSocketChannel;

/** Exchanges a message with another process; the connecting one ends with its connection open. */
final class ExitPeer {
    private static final int BYTES = 64;
    private static final int ROUNDS_BY_RING = 200;

    private ExitPeer() {}

    /** {@code answer}, or {@code ask PORT exit|return}. */
    public static void main(String[] args) throws IOException {
        if (args[0].equals("answer")) {
            answer();
        } else {
            ask(Integer.parseInt(args[1]));
            if (args[2].equals("exit")) {
                System.exit(0);
            }
        }
    }

    private static void answer() throws IOException {
        try (ServerSocketChannel listener = VerbenaServerSocketChannel.open()) {
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            System.out.println("port " + ((InetSocketAddress) listener.getLocalAddress()).getPort());
            try (VerbenaSocketChannel channel = (VerbenaSocketChannel) listener.accept()) {
                ByteBuffer message = ByteBuffer.allocateDirect(BYTES);
                try {
                    while (channel.read(message.clear()) >= 0) {
                        channel.write(message.flip());
                    }
                    System.out.println("end orderly");
                } catch (IOException e) {
                    System.out.println("end " + e);
                }
                System.out.println("by " + (channel.isInputByRing() ? "ring" : "TCP"));
            }
        }
    }

    @SuppressWarnings("resource") // it ends with the process
    private static void ask(int port) throws IOException {
        VerbenaSocketChannel channel = VerbenaSocketChannel.open();
        channel.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        ByteBuffer message = ByteBuffer.allocateDirect(BYTES);
        for (int byRing = 0; byRing < ROUNDS_BY_RING;) {
            channel.write(message.clear());
            message.clear();
            while (message.hasRemaining()) {
                if (channel.read(message) < 0) {
                    throw new IOException("the other end has gone");
                }
            }
            byRing += channel.isInputByRing() && channel.isOutputByRing() ? 1 : 0;
        }
    }
}
