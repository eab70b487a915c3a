// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.TreeSet;

/** A program that knows nothing of Verbena: an echo server, or its client, which waits for nothing but the echo. */
public class Chat {
    private static final int MESSAGE = 64;
    private static final long LONGEST_NANOS = 60000000000L;

    public static void main(String[] words) throws Exception {
        if (words[0].equals("serve")) {
            try (ServerSocketChannel server = ServerSocketChannel.open()) {
                server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                System.out.println(server.socket().getLocalPort());
                try (SocketChannel channel = server.accept()) {
                    ByteBuffer buffer = ByteBuffer.allocate(MESSAGE);
                    while (channel.read(buffer) >= 0) {
                        buffer.flip();
                        while (buffer.hasRemaining()) {
                            channel.write(buffer);
                        }
                        buffer.clear();
                    }
                }
            }
        } else { // talk PORT MESSAGES [TRANSPORT: goes on until the connection has it, and then says as many messages again]
            try (SocketChannel channel = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer
                    .parseInt(words[1])))) {
                int messages = Integer.parseInt(words[2]);
                say(channel, messages);
                if (words.length > 3) {
                    long end = System.nanoTime() + LONGEST_NANOS;
                    while (!transport(channel).equals(words[3]) && System.nanoTime() - end < 0) {
                        say(channel, 1);
                    }
                    say(channel, messages);
                }
                System.out.println(transport(channel));
                System.out.println(threads());
                while (System.in.read() >= 0) {
                }
            }
        }
    }

    private static void say(SocketChannel channel, int messages) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(MESSAGE);
        for (int i = 0; i < messages; i++) {
            buffer.clear();
            channel.write(buffer);
            buffer.clear();
            while (buffer.hasRemaining()) {
                if (channel.read(buffer) < 0) {
                    throw new IOException("the end, in message " + i);
                }
            }
        }
    }

    private static String transport(SocketChannel channel) throws IOException {
        for (SocketOption<?> o : channel.supportedOptions()) {
            if (o.name().equals("VERBENA_TRANSPORT")) {
                return (String) channel.getOption(o);
            }
        }
        return "none";
    }

    private static TreeSet<String> threads() {
        TreeSet<String> all = new TreeSet<String>();
        for (Thread t : Thread.getAllStackTraces().keySet()) {
            if (t.getName().startsWith("verbena-")) {
                all.add(t.getName());
            }
        }
        return all;
    }
}
