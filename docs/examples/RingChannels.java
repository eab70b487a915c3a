// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

import org.verbena.sockets.*;

/** Asks for Verbena's channels, sends words from one to the other until rings carry them, and says so. */
public class RingChannels {
    public static void main(String[] args) throws Exception {
        try (VerbenaServerSocketChannel server = VerbenaServerSocketChannel.open();
                VerbenaSocketChannel client = VerbenaSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            client.connect(server.getLocalAddress());
            client.setOption(VerbenaSocketOptions.SPIN, Duration.ofNanos(50_000)); // how long a wait polls at most
            client.setOption(VerbenaSocketOptions.USER_DATA, "orders");
            try (SocketChannel accepted = server.accept()) {
                do {
                    send(client, accepted); // no need to wait for the handshake: until then TCP carries the bytes
                } while (client.getOption(VerbenaSocketOptions.TRANSPORT).equals("undecided"));
                send(client, accepted);
                System.out.println(client.getOption(VerbenaSocketOptions.USER_DATA) + ": "
                        + client.getOption(VerbenaSocketOptions.TRANSPORT) + client.fallbackReason());
                System.out.println("out by ring: " + client.isOutputByRing() + ", "
                        + (client.statistics().sentByRing() > 0 ? "some bytes" : "none"));
            }
        }
    }

    static void send(SocketChannel from, SocketChannel to) throws IOException {
        ByteBuffer word = ByteBuffer.wrap("hello".getBytes(StandardCharsets.UTF_8));
        from.write(word);
        word.clear();
        while (word.hasRemaining()) {
            to.read(word);
        }
    }
}
