// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.security.MessageDigest;
import java.util.Random;

/** A program that knows nothing of Verbena: it sends bytes to another host, which prints their hash. */
public class RemoteTalk {
    private static final int PIECE = 1 << 20;

    public static void main(String[] words) throws Exception {
        if (words[0].equals("serve")) { // CONNECTIONS
            serve(Integer.parseInt(words[1]));
        } else if (words[0].equals("echo")) {
            echo();
        } else { // send HOST[,HOST] PORT PIECES CONNECTIONS: to each in turn; pieces 0: without an end
            String[] hosts = words[1].split(",");
            for (int i = 0; i < Integer.parseInt(words[4]); i++) {
                System.out.println(send(hosts[i % hosts.length], Integer.parseInt(words[2]), Integer.parseInt(words[3]), i));
            }
        }
    }

    private static void serve(int connections) throws Exception {
        ServerSocketChannel server = ServerSocketChannel.open();
        server.bind(new InetSocketAddress(0));
        System.out.println(server.socket().getLocalPort());
        for (int i = 0; i < connections; i++) {
            SocketChannel channel = server.accept();
            System.out.println(receive(channel));
            channel.close();
        }
        while (System.in.read() >= 0) {
            // until the test lets it go
        }
    }

    /** Each connection on a thread of its own, until it ends. */
    private static void echo() throws Exception {
        ServerSocketChannel server = ServerSocketChannel.open();
        server.bind(new InetSocketAddress(0));
        System.out.println(server.socket().getLocalPort());
        Thread accepting = new Thread(() -> {
            try {
                while (true) {
                    SocketChannel channel = server.accept();
                    new Thread(() -> echo(channel)).start();
                }
            } catch (IOException e) {
                // it is closed
            }
        });
        accepting.start();
        while (System.in.read() >= 0) {
            // until the test lets it go
        }
        server.close();
    }

    private static void echo(SocketChannel channel) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(PIECE);
        try (SocketChannel own = channel) {
            while (own.read(buffer) >= 0) {
                buffer.flip();
                write(own, buffer);
                buffer.clear();
            }
        } catch (IOException e) {
            // the other end notices
        }
    }

    private static String receive(SocketChannel channel) throws Exception {
        MessageDigest hash = MessageDigest.getInstance("SHA-256");
        ByteBuffer buffer = ByteBuffer.allocateDirect(PIECE);
        long all = 0;
        try {
            int n;
            while ((n = channel.read(buffer)) >= 0) {
                buffer.flip();
                hash.update(buffer);
                buffer.clear();
                if (all == 0 && n > 0) {
                    System.out.println("begun");
                }
                all += n;
            }
            write(channel, ByteBuffer.wrap(hash.digest()));
            return "whole " + all;
        } catch (IOException e) {
            return "broken " + e.getMessage();
        }
    }

    private static String send(String host, int port, int pieces, long seed) throws Exception {
        SocketChannel channel = SocketChannel.open();
        channel.connect(new InetSocketAddress(host, port));
        MessageDigest hash = MessageDigest.getInstance("SHA-256");
        Random random = new Random(seed);
        byte[] piece = new byte[PIECE];
        try {
            for (int i = 0; i < pieces || pieces == 0; i++) {
                random.nextBytes(piece);
                hash.update(piece);
                write(channel, ByteBuffer.wrap(piece));
                if (i == 0) {
                    System.out.println("begun");
                }
            }
            channel.shutdownOutput();
            ByteBuffer answer = ByteBuffer.allocate(32);
            while (answer.hasRemaining() && channel.read(answer) >= 0) {
                // until it is whole
            }
            boolean same = MessageDigest.isEqual(hash.digest(), answer.array());
            channel.close();
            return same ? "same" : "other, " + answer.position() + " bytes of a hash";
        } catch (IOException e) {
            channel.close();
            return "broken " + e.getMessage();
        }
    }

    private static void write(SocketChannel channel, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }
}
