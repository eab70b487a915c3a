import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** A program that knows nothing of Verbena: an echo server, or one who talks to it. For Java 8 and up. */
public class Talk {
    private static final int MESSAGE = 1000;

    public static void main(String[] words) throws Exception {
        int n = Integer.parseInt(words[1]);
        if (words[0].equals("serve")) {
            serve(n);
        } else if (words[0].equals("talk")) { // PORT MESSAGES PAUSE_MILLIS
            try (SocketChannel channel = connect(n)) {
                for (int i = 0; i < Integer.parseInt(words[2]); i++) {
                    say(channel);
                    Thread.sleep(Integer.parseInt(words[3]));
                }
            }
        } else if (words[0].equals("hook")) { // PORT: its shutdown hook talks
            final SocketChannel channel = connect(n);
            Runtime.getRuntime().addShutdownHook(new Thread() {
                @Override
                public void run() {
                    try {
                        Thread.sleep(200);
                        say(channel);
                        channel.close();
                    } catch (IOException | InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }
            });
        }
    }

    private static SocketChannel connect(int port) throws IOException {
        return SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    }

    /** A message there, and the same back. */
    private static void say(SocketChannel channel) throws IOException {
        channel.write(ByteBuffer.allocate(MESSAGE));
        ByteBuffer back = ByteBuffer.allocate(MESSAGE);
        while (back.hasRemaining()) {
            if (channel.read(back) < 0) {
                throw new IOException("the end, after " + back.position());
            }
        }
    }

    private static void serve(int connections) throws IOException {
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            System.out.println(server.socket().getLocalPort());
            for (int i = 0; i < connections; i++) {
                try (SocketChannel channel = server.accept()) {
                    ByteBuffer buffer = ByteBuffer.allocateDirect(4096);
                    while (channel.read(buffer) >= 0) {
                        buffer.flip();
                        channel.write(buffer);
                        buffer.clear();
                    }
                }
            }
        }
    }
}
