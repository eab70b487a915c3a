// SPDX-License-Identifier: Apache-2.0
import java.io.FileInputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;

/** A program that is attached to while it has a Selector, which it goes on using, also without a descriptor to spare. */
public class Scarce {
    private static final int MESSAGES = 50;
    private static final long LONGEST_MILLIS = 20_000;

    private static final Deque<FileInputStream> FILLER = new ArrayDeque<>();

    /** A letter a command: a round, take all descriptors, give one back, give all back. */
    public static void main(String[] none) throws IOException {
        try (Selector selector = Selector.open()) {
            System.out.println("ready");
            for (int c = System.in.read(); c >= 0; c = System.in.read()) {
                switch (c) {
                    case 'r' -> System.out.println("round " + round(selector));
                    case 't' -> take();
                    case 'g' -> FILLER.pop().close();
                    default -> {
                        while (!FILLER.isEmpty()) {
                            FILLER.pop().close();
                        }
                    }
                }
            }
        }
    }

    private static void take() {
        try {
            while (true) {
                FILLER.push(new FileInputStream("/dev/null"));
            }
        } catch (IOException full) {
            // as wanted
        }
    }

    private static InetSocketAddress here(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    private static String round(Selector selector) {
        try {
            refused(selector);
            return talk(selector);
        } catch (IOException e) {
            return "failed: " + e.getMessage();
        } finally {
            try {
                selector.selectNow();
            } catch (IOException e) {
                System.out.println(e);
            }
        }
    }

    private static int unused() throws IOException {
        try (ServerSocketChannel gone = ServerSocketChannel.open().bind(here(0))) {
            return gone.socket().getLocalPort();
        }
    }

    /** A connection that fails, as the selector says; its descriptor is free for the next channel then. */
    private static void refused(Selector selector) throws IOException {
        int port = unused();
        SocketChannel client = SocketChannel.open();
        client.configureBlocking(false);
        SelectionKey key = client.register(selector, SelectionKey.OP_CONNECT);
        client.connect(here(port));
        await(selector, key, SelectionKey.OP_CONNECT);
        try {
            client.finishConnect();
            throw new IOException("connected to nobody");
        } catch (ConnectException e) {
            client.close();
        }
    }

    /** Both ends at the selector; answers what carries them. */
    private static String talk(Selector selector) throws IOException {
        try (ServerSocketChannel listener = ServerSocketChannel.open()) {
            listener.configureBlocking(false);
            SelectionKey accepting = listener.bind(here(0)).register(selector, SelectionKey.OP_ACCEPT);
            try (SocketChannel client = SocketChannel.open()) {
                client.configureBlocking(false);
                SelectionKey key = client.register(selector, SelectionKey.OP_CONNECT);
                client.connect(listener.getLocalAddress());
                await(selector, accepting, SelectionKey.OP_ACCEPT);
                await(selector, key, SelectionKey.OP_CONNECT);
                client.finishConnect();
                try (SocketChannel server = listener.accept()) {
                    server.configureBlocking(false);
                    SelectionKey other = server.register(selector, 0);
                    for (int i = 0; i < MESSAGES; i++) {
                        pass(selector, server, client, key, i);
                        pass(selector, client, server, other, i);
                    }
                    return transport(client);
                }
            }
        }
    }

    private static void pass(Selector selector, SocketChannel from, SocketChannel to, SelectionKey key, int i)
            throws IOException {
        key.interestOps(SelectionKey.OP_READ);
        from.write(ByteBuffer.wrap(new byte[] {(byte) i}));
        await(selector, key, SelectionKey.OP_READ);
        ByteBuffer b = ByteBuffer.allocate(2);
        if (to.read(b) != 1 || b.get(0) != (byte) i) {
            throw new IOException(b + " rather than " + i);
        }
        key.interestOps(0);
    }

    private static void await(Selector selector, SelectionKey key, int ops) throws IOException {
        long end = System.nanoTime() + LONGEST_MILLIS * 1_000_000;
        do {
            if (System.nanoTime() - end > 0) {
                throw new IOException("the selector does not find " + ops + " of " + key.channel());
            }
            selector.selectedKeys().remove(key);
            selector.select(LONGEST_MILLIS);
        } while (!selector.selectedKeys().contains(key) || (key.readyOps() & ops) == 0);
    }

    private static String transport(SocketChannel channel) throws IOException {
        for (SocketOption<?> o : channel.supportedOptions()) {
            if (o.name().equals("VERBENA_TRANSPORT")) {
                return String.valueOf(channel.getOption(o));
            }
        }
        return "none";
    }
}
