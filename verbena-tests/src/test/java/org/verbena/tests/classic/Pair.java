// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.classic;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketOption;
import java.util.concurrent.atomic.AtomicInteger;

/** Two connected sockets; if Verbena reports their transport, already {@code stream}, unless that is disabled. */
record Pair(Socket client, Socket server) implements AutoCloseable {
    private static final long LONGEST_NANOS = 60_000_000_000L;
    private static final AtomicInteger MADE = new AtomicInteger();
    private static final AtomicInteger BY_STREAM = new AtomicInteger();

    static int made() {
        return MADE.get();
    }

    static int byStream() {
        return BY_STREAM.get();
    }

    /** Connections that were not made here. */
    static void count(int made, int byStream) {
        MADE.addAndGet(made);
        BY_STREAM.addAndGet(byStream);
    }

    /** A connection that was not made here. */
    static void count(Socket s) throws IOException {
        count(1, transport(s).equals("stream") ? 1 : 0);
    }

    static ServerSocket listen() throws IOException {
        return new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    }

    /** A socket whose port has no listener, and can have none as long as it is open. */
    static Socket bound() throws IOException {
        Socket s = new Socket();
        s.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        return s;
    }

    static Pair open() throws Exception {
        try (ServerSocket listener = listen()) {
            Socket client = new Socket(listener.getInetAddress(), listener.getLocalPort());
            return new Pair(client, listener.accept()).agreed();
        }
    }

    /** Exchanges bytes until the transport of the connection is decided. */
    Pair agreed() throws Exception {
        MADE.incrementAndGet();
        long end = System.nanoTime() + LONGEST_NANOS;
        while ((transport(client) + transport(server)).contains("undecided")) {
            if (System.nanoTime() > end) {
                throw new AssertionError("still undecided after a minute");
            }
            pass(client, server);
            pass(server, client);
            Thread.sleep(1);
        }
        if (transport(client).equals("stream") && transport(server).equals("stream")) {
            BY_STREAM.incrementAndGet();
        }
        return this;
    }

    private static void pass(Socket from, Socket to) throws IOException {
        from.getOutputStream().write(new byte[] {1, 2, 3});
        if (to.getInputStream().readNBytes(3).length != 3) {
            throw new AssertionError("bytes are missing");
        }
    }

    /** The transport of a socket from its option; {@code none} without Verbena. */
    static String transport(Socket s) throws IOException {
        for (SocketOption<?> o : s.supportedOptions()) {
            if (o.name().equals("VERBENA_TRANSPORT")) {
                return (String) s.getOption(o);
            }
        }
        return "none";
    }

    InputStream in() throws IOException {
        return client.getInputStream();
    }

    OutputStream out() throws IOException {
        return client.getOutputStream();
    }

    InputStream peerIn() throws IOException {
        return server.getInputStream();
    }

    OutputStream peerOut() throws IOException {
        return server.getOutputStream();
    }

    @Override
    public void close() throws IOException {
        client.close();
        server.close();
    }
}
