// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.verbena.sockets.VerbenaServerSocketChannel;
import org.verbena.sockets.VerbenaSocketChannel;
import org.verbena.sockets.VerbenaSocketOptions;
import org.verbena.sockets.VerbenaSockets;

/**
 * The two processes of {@link ManyIdleConnectionsTest}. Without arguments the server, which echoes by one selector;
 * with a port and a number, the client with this many connections. Both answer lines of standard input.
 */
final class IdleConnections {
    /** The number of connections in a batch: connecting does not wait for a handshake. */
    private static final int AT_ONCE = 500;
    private static final long PAUSE_MILLIS = 2;

    private IdleConnections() {}

    public static void main(String[] args) throws Exception {
        if (args.length == 0) {
            new Server().run();
        } else {
            client(Integer.parseInt(args[0]), Integer.parseInt(args[1]));
        }
    }

    private static void say(String word, long number) {
        System.out.println(word + " " + number);
        System.out.flush();
    }

    private static BufferedReader input() {
        return new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    }

    private static boolean isByRing(SocketChannel c) {
        return c instanceof VerbenaSocketChannel v && v.isInputByRing() && v.isOutputByRing();
    }

    private static void client(int port, int connections) throws Exception {
        InetSocketAddress server = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        List<VerbenaSocketChannel> all = new ArrayList<>();
        while (all.size() < connections) {
            int from = all.size();
            for (int i = 0; i < AT_ONCE && all.size() < connections; i++) {
                VerbenaSocketChannel c = VerbenaSocketChannel.open();
                c.connect(server);
                all.add(c);
            }
            for (VerbenaSocketChannel c : all.subList(from, all.size())) {
                while (c.getOption(VerbenaSocketOptions.TRANSPORT).equals("undecided")) {
                    Thread.sleep(PAUSE_MILLIS);
                }
                while (!isByRing(c) && c.fallbackReason().isEmpty()) { // later bytes go into the ring
                    talk(c);
                }
            }
            say("opened", all.size());
        }
        Random random = new Random(7);
        BufferedReader in = input();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.startsWith("talk ")) {
                int rounds = Integer.parseInt(line.substring("talk ".length()));
                for (int i = 0; i < rounds; i++) {
                    talk(all.get(random.nextInt(all.size())));
                }
                say("talked", rounds);
            } else {
                say("rings", all.stream().filter(IdleConnections::isByRing).count());
            }
        }
    }

    private static void talk(SocketChannel c) throws IOException {
        c.write(ByteBuffer.wrap(new byte[] {1}));
        if (c.read(ByteBuffer.allocate(2)) != 1) {
            throw new IOException("not the byte that went: " + c);
        }
    }

    private static final class Server {
        private final VerbenaSelector selector = (VerbenaSelector) VerbenaSockets.selectorProvider().openSelector();
        private final Queue<String> asked = new ConcurrentLinkedQueue<>();
        private final ByteBuffer bytes = ByteBuffer.allocateDirect(64);

        Server() throws IOException {}

        void run() throws IOException {
            VerbenaServerSocketChannel listener = VerbenaServerSocketChannel.open();
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), AT_ONCE);
            listener.configureBlocking(false);
            listener.register(selector, SelectionKey.OP_ACCEPT);
            say("port", ((InetSocketAddress) listener.getLocalAddress()).getPort());
            Thread.ofPlatform().daemon().name("questions").start(this::listen);
            while (!asked.contains("end")) {
                selector.select();
                for (SelectionKey key : selector.selectedKeys()) {
                    if (key.isAcceptable()) {
                        SocketChannel c = listener.accept();
                        if (c != null) {
                            c.configureBlocking(false);
                            c.register(selector, SelectionKey.OP_READ);
                        }
                    } else {
                        echo((SocketChannel) key.channel());
                    }
                }
                selector.selectedKeys().clear();
                for (String question = asked.poll(); question != null; question = asked.poll()) {
                    answer(question);
                }
            }
        }

        private void echo(SocketChannel c) throws IOException {
            int n;
            try {
                n = c.read(bytes.clear());
            } catch (IOException reset) { // the client has ended with a doorbell unread
                n = -1;
            }
            if (n < 0) {
                c.close();
            } else {
                c.write(bytes.flip());
            }
        }

        private void listen() {
            try (BufferedReader in = input()) {
                in.lines().forEach(line -> {
                    asked.add(line);
                    selector.wakeup();
                });
            } catch (IOException e) {
                throw new IllegalStateException(e);
            } finally {
                System.exit(0);
            }
        }

        private void answer(String question) {
            if (question.equals("polls")) {
                say("polls", selector.polls());
            } else {
                say("rings", selector.keys().stream()
                        .filter(k -> k.channel() instanceof SocketChannel c && isByRing(c)).count());
            }
        }
    }
}
