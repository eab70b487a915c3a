// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.io.FileInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadPoolExecutor;

/**
 * A program that knows nothing of Verbena and executes commands of a test with channels and classic sockets: one
 * command per line, and one line for each answer. Another process echoes the data that it sends, which are compared by
 * hash.
 */
final class SocketPeer {
    private static final int MESSAGE = 1000;
    private static final int HANDLERS = 32;
    private static final int BACKLOG = 1000;
    private static final long LONGEST_NANOS = 30_000_000_000L;

    private final Map<String, PeerConnection> connections = new HashMap<>();
    private final Deque<FileInputStream> filler = new ArrayDeque<>();
    private final ExecutorService handlers = Executors.newFixedThreadPool(HANDLERS, r -> {
        Thread t = new Thread(r, "handler");
        t.setDaemon(true);
        return t;
    });
    private final ServerSocketChannel channels;
    private final ServerSocket sockets;
    private volatile boolean churning;
    private Thread churner = Thread.currentThread();

    private SocketPeer() throws IOException {
        ((ThreadPoolExecutor) handlers).prestartAllCoreThreads();
        channels = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), BACKLOG);
        sockets = new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress());
    }

    public static void main(String[] none) throws Exception {
        Peer.begin();
        SocketPeer p = new SocketPeer();
        if (!"false".equals(System.getProperty("firstConnection"))) { // one to itself, before it is told anything
            Future<?> echo;
            try (PeerConnection c = PeerConnection.connect("nio", p.channels.getLocalAddress())) {
                echo = p.handlers.submit(() -> p.echo(p.accept("nio")));
                agree(c);
            }
            echo.get(); // until its other end is closed, too: nothing of it is released later
        }
        Peer.say("PORTS " + p.channels.socket().getLocalPort() + " " + p.sockets.getLocalPort());
        while (true) {
            String[] words = Peer.hear().split(" ", -1);
            if (words[0].equals("exit")) { // in order, so that shutdown hooks run
                System.exit(0);
            }
            try {
                Peer.say(p.obey(words));
            } catch (IOException e) {
                Peer.say("FAILED " + e.getClass().getName() + ": " + e.getMessage());
            }
        }
    }

    private String obey(String[] words) throws Exception {
        switch (words[0]) {
            case "serve" -> {
                for (String kind : List.of("nio", "classic")) {
                    Thread.ofPlatform().daemon().start(() -> serve(kind));
                }
                return "SERVING";
            }
            case "accept" -> { // KIND
                PeerConnection c = accept(words[1]);
                connections.put("accepted", c);
                Future<?> _ = handlers.submit(() -> echo(c));
                return "ACCEPTED";
            }
            case "connect" -> { // NAME KIND PORT
                connections.put(words[1], PeerConnection.connect(words[2], at(words[3])));
                return "CONNECTED";
            }
            case "talk" -> { // NAME BYTES
                talk(connections.get(words[1]), Integer.parseInt(words[2]));
                return "TALKED " + connections.get(words[1]).transport();
            }
            case "flood" -> { // NAME BYTES
                flood(connections.get(words[1]), Integer.parseInt(words[2]));
                return "FLOODED " + connections.get(words[1]).transport();
            }
            case "agree" -> { // NAME
                return "AGREED " + agree(connections.get(words[1]));
            }
            case "decide" -> { // NAME of one that others talk to
                PeerConnection c = connections.get(words[1]);
                for (long end = System.nanoTime() + LONGEST_NANOS; c.transport().equals("undecided")
                        && System.nanoTime() < end;) {
                    Thread.sleep(1);
                }
                return "DECIDED " + c.transport();
            }
            case "end" -> { // NAME
                try (PeerConnection c = connections.remove(words[1])) {
                    Peer.say("WAITING " + Files.readSymbolicLink(Path.of("/proc/thread-self")));
                    return "END " + c.awaitEnd();
                }
            }
            case "close" -> { // NAME
                connections.remove(words[1]).close();
                return "CLOSED";
            }
            case "exhaust" -> {
                exhaust();
                return "EXHAUSTED " + filler.size();
            }
            case "free" -> { // COUNT
                for (int i = Integer.parseInt(words[1]); i > 0 && !filler.isEmpty(); i--) {
                    filler.pop().close();
                }
                return "FREED " + filler.size();
            }
            case "churn" -> { // takes each descriptor that becomes free, for a moment
                churning = true;
                churner = Thread.ofPlatform().daemon().start(this::churn);
                return "CHURNING";
            }
            case "calm" -> {
                churning = false;
                churner.join(); // it may be about to take one
                return "CALM";
            }
            case "cycle" -> { // CYCLES RING_EACH THREADS NIO_PORT CLASSIC_PORT
                cycle(Integer.parseInt(words[1]), Integer.parseInt(words[2]), Integer.parseInt(words[3]),
                        Map.of("nio", at(words[4]), "classic", at(words[5])));
                return "CYCLED";
            }
            case "collect" -> {
                System.gc();
                System.gc();
                Runtime r = Runtime.getRuntime();
                return "HEAP " + (r.totalMemory() - r.freeMemory());
            }
            default -> throw new IllegalArgumentException(Arrays.toString(words));
        }
    }

    private static SocketAddress at(String port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(port));
    }

    // ---- the answering end

    private PeerConnection accept(String kind) throws IOException {
        return kind.equals("nio") ? PeerConnection.of(channels.accept()) : PeerConnection.of(sockets.accept());
    }

    private void serve(String kind) {
        try {
            while (true) {
                PeerConnection c = accept(kind);
                Future<?> _ = handlers.submit(() -> echo(c));
            }
        } catch (IOException e) {
            Peer.say("SERVING FAILED " + e);
        }
    }

    private Object echo(PeerConnection c) throws IOException {
        byte[] buffer = new byte[MESSAGE];
        try (c) {
            int n;
            while ((n = c.read(buffer)) >= 0) {
                c.write(buffer, n);
            }
        }
        return c;
    }

    // ---- the requesting end

    private void talk(PeerConnection c, int bytes) throws Exception {
        talk(c, bytes, new Random(bytes));
    }

    /** Sends bytes in pieces, each of which is echoed before the next. */
    private static void talk(PeerConnection c, int bytes, Random random) throws Exception {
        MessageDigest sent = MessageDigest.getInstance("SHA-256");
        MessageDigest received = MessageDigest.getInstance("SHA-256");
        byte[] out = new byte[MESSAGE];
        byte[] in = new byte[MESSAGE];
        for (int left = bytes; left > 0;) {
            int n = Math.min(left, 1 + random.nextInt(MESSAGE));
            random.nextBytes(out);
            c.write(out, n);
            sent.update(out, 0, n);
            receive(c, n, in, received);
            left -= n;
        }
        compare(sent, received);
    }

    private static void receive(PeerConnection c, int bytes, byte[] in, MessageDigest received) throws IOException {
        for (int back = 0; back < bytes;) {
            int got = c.read(in);
            if (got < 0) {
                throw new IOException("the end, " + (bytes - back) + " bytes early");
            }
            received.update(in, 0, got);
            back += got;
        }
    }

    private static void compare(MessageDigest sent, MessageDigest received) {
        if (!Arrays.equals(sent.digest(), received.digest())) {
            throw new AssertionError("what came back is not what was sent");
        }
    }

    /** Sends bytes, all at once, while they come back. */
    private void flood(PeerConnection c, int bytes) throws Exception {
        byte[] out = new byte[bytes];
        new Random(bytes).nextBytes(out);
        Future<?> writer = handlers.submit(() -> {
            c.write(out, bytes);
            return c;
        });
        MessageDigest sent = MessageDigest.getInstance("SHA-256");
        sent.update(out);
        MessageDigest received = MessageDigest.getInstance("SHA-256");
        receive(c, bytes, new byte[MESSAGE], received);
        writer.get();
        compare(sent, received);
    }

    /** Exchanges bytes until the transport of the connection is decided. */
    private static String agree(PeerConnection c) throws Exception {
        Random random = new Random(1);
        long end = System.nanoTime() + LONGEST_NANOS;
        while (c.transport().equals("undecided") && System.nanoTime() < end) {
            talk(c, MESSAGE, random);
            Thread.sleep(1);
        }
        talk(c, 10 * MESSAGE, random);
        return c.transport();
    }

    /** Opens all available descriptors. */
    private void exhaust() {
        try {
            while (true) {
                filler.push(new FileInputStream("/dev/null"));
            }
        } catch (IOException full) {
            // as wanted
        }
    }

    private void churn() {
        while (churning) {
            try (FileInputStream f = new FileInputStream("/dev/zero")) {
                f.read();
            } catch (IOException full) {
                Thread.yield();
            }
        }
    }

    // ---- short connections

    private void cycle(int cycles, int ringEach, int threads, Map<String, SocketAddress> to) throws Exception {
        try (ExecutorService all = Executors.newFixedThreadPool(threads)) {
            List<Future<?>> running = new ArrayList<>();
            for (int t = 0; t < threads; t++) {
                int first = t;
                running.add(all.submit(() -> {
                    for (int i = first; i < cycles; i += threads) {
                        String kind = i % 2 == 0 ? "nio" : "classic";
                        boolean ring = i / 2 % ringEach == 0;
                        try (PeerConnection c = PeerConnection.connect(kind, to.get(kind))) {
                            use(c, i, ring);
                        }
                    }
                    return cycles;
                }));
            }
            for (Future<?> f : running) {
                f.get();
            }
        }
    }

    private static void use(PeerConnection c, int i, boolean ring) throws Exception {
        if (ring) {
            String by = agree(c);
            if (!by.equals("stream")) {
                throw new AssertionError("connection " + i + " is carried by " + by);
            }
        } else if (i % 3 != 0) {
            talk(c, MESSAGE / 2, new Random(i));
        }
        if (i % 5 == 0) {
            c.reset();
        }
    }
}
