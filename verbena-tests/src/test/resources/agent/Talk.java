// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/** A program that knows nothing of Verbena: an echo server, or its client. For Java 8 and later. */
public class Talk {
    private static final int MESSAGE = 1000;
    /**
     * After this number of messages a connection waits until its carrier is decided, which is known for the later ones.
     */
    private static final int UNDECIDED = 10;
    private static final long LONGEST_NANOS = 60000000000L;

    public static void main(String[] words) throws Exception {
        int n = Integer.parseInt(words[1]);
        if (words[0].equals("serve")) {
            serve(n);
        } else if (words[0].equals("talk")) { // PORT MESSAGES PAUSE_MILLIS
            try (SocketChannel channel = connect(n)) {
                talk(channel, Integer.parseInt(words[2]), Integer.parseInt(words[3]));
            }
        // as talk, and stays
        } else if (words[0].equals("hold") || words[0].equals("half") || words[0].equals("fill")) {
            SocketChannel channel = connect(n);
            talk(channel, Integer.parseInt(words[2]), Integer.parseInt(words[3]));
            if (words[0].equals("half")) {
                channel.shutdownOutput();
            }
            System.out.println(words[0].equals("fill") ? fill(channel) : 0);
            stay();
            channel.close();
        } else if (words[0].equals("sink")) { // MESSAGES that it echoes; then it reads no more
            sink(n);
        } else if (words[0].equals("crowd")) { // PORT CONNECTIONS
            List<SocketChannel> all = new ArrayList<SocketChannel>();
            for (int i = 0; i < Integer.parseInt(words[2]); i++) {
                all.add(connect(n));
            }
            System.out.println(all.size());
            stay();
        } else if (words[0].equals("crowded")) { // CONNECTIONS
            List<SocketChannel> all = new ArrayList<SocketChannel>();
            ServerSocketChannel server = listen();
            while (all.size() < n) {
                all.add(server.accept());
            }
            System.out.println(all.size());
            stay();
        } else if (words[0].equals("pending")) { // PORT of a listener that accepts no connection
            SocketChannel channel = SocketChannel.open();
            channel.configureBlocking(false);
            System.out.println(channel.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), n)));
            stay();
            channel.close();
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

    private static void talk(SocketChannel channel, int messages, int pauseMillis)
            throws IOException, InterruptedException {
        for (int i = 0; i < messages; i++) {
            if (i == UNDECIDED) {
                decide(channel);
            }
            say(channel);
            Thread.sleep(pauseMillis);
        }
    }

    /** Until it is decided what carries a connection, if that is to be decided. */
    private static void decide(SocketChannel channel) throws IOException, InterruptedException {
        for (SocketOption<?> o : channel.supportedOptions()) {
            if (o.name().equals("VERBENA_TRANSPORT")) {
                long end = System.nanoTime() + LONGEST_NANOS;
                while ("undecided".equals(channel.getOption(o)) && System.nanoTime() - end < 0) {
                    Thread.sleep(1);
                }
            }
        }
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

    /** Until standard input ends. */
    private static void stay() throws IOException {
        while (System.in.read() >= 0) {
        }
    }

    /** Writes until nothing fits in for half a second; how many bytes these were. */
    private static int fill(SocketChannel channel) throws IOException, InterruptedException {
        channel.configureBlocking(false);
        int written = 0;
        for (int idle = 0; idle < 50;) {
            int n = channel.write(ByteBuffer.allocate(MESSAGE));
            written += n;
            if (n == 0) {
                idle++;
                Thread.sleep(10);
            } else {
                idle = 0;
            }
        }
        return written;
    }

    private static void sink(int messages) throws IOException, InterruptedException {
        try (ServerSocketChannel server = listen(); SocketChannel channel = server.accept()) {
            ByteBuffer buffer = ByteBuffer.allocate(MESSAGE);
            for (int i = 0; i < messages; i++) {
                while (buffer.hasRemaining()) {
                    channel.read(buffer);
                }
                if (i + 1 == UNDECIDED) {
                    decide(channel);
                }
                buffer.flip();
                channel.write(buffer);
                buffer.clear();
            }
            stay();
        }
    }

    private static ServerSocketChannel listen() throws IOException {
        ServerSocketChannel server = ServerSocketChannel.open();
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1000);
        System.out.println(server.socket().getLocalPort());
        return server;
    }

    private static void serve(int connections) throws IOException, InterruptedException {
        try (ServerSocketChannel server = listen()) {
            for (int i = 0; i < connections; i++) {
                try (SocketChannel channel = server.accept()) {
                    ByteBuffer buffer = ByteBuffer.allocateDirect(4096);
                    for (int n, total = 0; (n = channel.read(buffer)) >= 0; total += n) {
                        if (total < UNDECIDED * MESSAGE && total + n >= UNDECIDED * MESSAGE) {
                            decide(channel);
                        }
                        buffer.flip();
                        channel.write(buffer);
                        buffer.clear();
                    }
                }
            }
        }
    }
}
