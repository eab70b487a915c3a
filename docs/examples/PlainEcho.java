// SPDX-License-Identifier: Apache-2.0
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/** A program that knows nothing of Verbena: it sends itself a word and says whose channel carried it. */
public class PlainEcho {
    public static void main(String[] args) throws Exception {
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            try (SocketChannel client = SocketChannel.open(server.getLocalAddress());
                    SocketChannel accepted = server.accept()) {
                client.write(ByteBuffer.wrap("hello".getBytes(StandardCharsets.UTF_8)));
                client.shutdownOutput();
                ByteBuffer word = ByteBuffer.allocate(16);
                while (accepted.read(word) >= 0) {
                }
                System.out.println(StandardCharsets.UTF_8.decode(word.flip()) + ", through "
                        + accepted.provider().getClass().getSimpleName());
            }
        }
    }
}
