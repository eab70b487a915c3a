// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketOption;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

import com.sun.net.httpserver.HttpServer;

/** A program that is attached to while it has an HttpClient, an HttpServer and a Selector, which it goes on using. */
public class Kept {
    private static final int ROUNDS = 100;

    public static void main(String[] words) throws Exception {
        HttpServer before = serve();
        HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        try (Selector selector = Selector.open()) {
            System.out.println("ready");
            while (System.in.read() >= 0) {
                HttpServer now = serve();
                System.out.println("http " + get(client, before) + get(client, now) + get(client, before));
                now.stop(0);
                System.out.println("registered first " + echo(selector, false));
                System.out.println("registered late " + echo(selector, true));
            }
        }
        before.stop(0);
    }

    private static HttpServer serve() throws IOException {
        HttpServer s = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
        s.createContext("/", x -> {
            x.sendResponseHeaders(200, 2);
            x.getResponseBody().write("ok".getBytes("US-ASCII"));
            x.close();
        });
        s.start();
        return s;
    }

    private static String get(HttpClient client, HttpServer server) throws Exception {
        HttpRequest r = HttpRequest.newBuilder(URI.create("http://localhost:" + server.getAddress().getPort() + "/"))
                .build();
        return client.send(r, HttpResponse.BodyHandlers.ofString()).body();
    }

    /** A new server and a new client at the old selector, the client from the beginning or after half of the rounds. */
    private static String echo(Selector selector, boolean late) throws Exception {
        try (ServerSocketChannel listener = ServerSocketChannel.open(); SocketChannel client = SocketChannel.open()) {
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            if (late) {
                client.connect(listener.getLocalAddress());
            } else {
                listener.configureBlocking(false);
                SelectionKey accepts = listener.register(selector, SelectionKey.OP_ACCEPT);
                client.configureBlocking(false);
                SelectionKey key = client.register(selector, SelectionKey.OP_CONNECT);
                client.connect(listener.getLocalAddress());
                await(selector, key, SelectionKey.OP_CONNECT);
                client.finishConnect();
                key.interestOps(SelectionKey.OP_READ);
                await(selector, accepts, SelectionKey.OP_ACCEPT);
            }
            try (SocketChannel server = listener.accept()) {
                int rounds = 0;
                for (; late && (rounds < ROUNDS || transport(client).equals("undecided")); rounds++) {
                    server.write(ByteBuffer.wrap(new byte[] {(byte) rounds}));
                    check(client, rounds);
                    Thread.sleep(1);
                }
                client.configureBlocking(false);
                SelectionKey key = client.register(selector, SelectionKey.OP_READ);
                for (int i = 0; i < ROUNDS; i++) {
                    server.write(ByteBuffer.wrap(new byte[] {(byte) i}));
                    await(selector, key, SelectionKey.OP_READ);
                    check(client, i);
                    Thread.sleep(1);
                }
                return transport(client);
            }
        } finally {
            selector.selectNow();
        }
    }

    private static void check(SocketChannel client, int expected) throws IOException {
        ByteBuffer b = ByteBuffer.allocate(2);
        if (client.read(b) != 1 || b.get(0) != (byte) expected) {
            throw new IOException(b + " rather than " + expected);
        }
    }

    private static void await(Selector selector, SelectionKey key, int ops) throws IOException {
        do {
            selector.selectedKeys().clear();
            selector.select();
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
