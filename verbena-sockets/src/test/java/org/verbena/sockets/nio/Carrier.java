// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;

import sun.nio.ch.DefaultSelectorProvider;

import org.verbena.sockets.VerbenaSelectorProvider;
import org.verbena.sockets.VerbenaSocketChannel;

/**
 * The carrier of a test's connection: each test runs on the JDK's own channels first, which define the expected
 * behaviour.
 */
enum Carrier {
    /** Both ends are the JDK's. */
    JDK,
    /** The tested end is Verbena's and its peer is not. */
    TCP,
    /** Both ends are Verbena's, and rings carry both directions. */
    RING;

    private static final VerbenaSelectorProvider OURS = VerbenaSelectorProvider.instance();

    /** A connection: the end to test and its peer. */
    record Pair(SocketChannel tested, SocketChannel peer) implements AutoCloseable {
        @Override
        public void close() throws IOException {
            tested.close();
            peer.close();
        }
    }

    SelectorProvider provider() {
        return this == JDK ? DefaultSelectorProvider.get() : OURS;
    }

    SelectorProvider peerProvider() {
        return this == RING ? OURS : DefaultSelectorProvider.get();
    }

    static InetSocketAddress anyPort() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    /**
     * Bound, without a listener: connections to its address are refused. As long as it is open no other socket can
     * listen there, and connect(2) does not choose the port, which would connect a socket to itself.
     */
    static SocketChannel unlistened() throws IOException {
        return SocketChannel.open().bind(anyPort());
    }

    /** The tested end connects. */
    Pair connected() throws Exception {
        try (ServerSocketChannel server = peerProvider().openServerSocketChannel()) {
            server.bind(anyPort());
            SocketChannel client = provider().openSocketChannel();
            client.connect(server.getLocalAddress());
            return awaitRings(new Pair(client, server.accept()));
        }
    }

    /** The tested end is accepted. */
    Pair accepted() throws Exception {
        try (ServerSocketChannel server = provider().openServerSocketChannel()) {
            server.bind(anyPort());
            SocketChannel client = peerProvider().openSocketChannel();
            client.connect(server.getLocalAddress());
            return awaitRings(new Pair(server.accept(), client));
        }
    }

    private Pair awaitRings(Pair pair) throws Exception {
        long end = System.nanoTime() + 60_000_000_000L;
        while (this == RING && !(onRings(pair.tested) && onRings(pair.peer))) {
            if (System.nanoTime() > end) {
                throw new AssertionError("no rings after a minute: " + pair);
            }
            pass(pair.tested, pair.peer);
            pass(pair.peer, pair.tested);
            Thread.sleep(1);
        }
        return pair;
    }

    private static boolean onRings(SocketChannel channel) {
        return channel instanceof VerbenaSocketChannel v && v.isInputByRing() && v.isOutputByRing();
    }

    private static void pass(SocketChannel from, SocketChannel to) throws IOException {
        from.write(ByteBuffer.wrap("hello".getBytes(US_ASCII)));
        ByteBuffer got = ByteBuffer.allocate(5);
        while (got.hasRemaining()) {
            to.read(got);
        }
    }
}
