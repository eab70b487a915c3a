// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;

import org.verbena.sockets.VerbenaServerSocketChannel;
import org.verbena.sockets.VerbenaSocketChannel;

/** Both ends of a connection, in this process, with the remote memory of both. */
record Ends(SocketChannel a, SocketChannel b, RemoteMemory memoryA, RemoteMemory memoryB) implements AutoCloseable {
    static final Duration LONG = Duration.ofSeconds(30);

    /** A connected pair of Verbena's channels, blocking; neither end has requested remote memory. */
    static SocketChannel[] channels() throws IOException {
        try (ServerSocketChannel server = VerbenaServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            SocketChannel a = VerbenaSocketChannel.open();
            a.connect(server.getLocalAddress());
            return new SocketChannel[] {a, server.accept()};
        }
    }

    static Ends open() throws IOException, InterruptedException {
        SocketChannel[] pair = channels();
        RemoteMemory.of(pair[0]);
        RemoteMemory b = RemoteMemory.of(pair[1], LONG).orElseThrow(() -> new IOException(RemoteMemory.whyNot(
                pair[1])));
        RemoteMemory a = RemoteMemory.of(pair[0], LONG).orElseThrow(() -> new IOException(RemoteMemory.whyNot(
                pair[0])));
        return new Ends(pair[0], pair[1], a, b);
    }

    /** Waits for the next event of an end; it has to be of that type. */
    static void event(RemoteMemory memory, int type) throws InterruptedException {
        long end = System.nanoTime() + LONG.toNanos();
        while (!memory.events().poll()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("no event " + EventType.toString(type));
            }
            memory.await(RemoteMemory.EVENTS, Duration.ofMillis(100));
        }
        if (memory.events().type() != type) {
            throw new AssertionError("event " + EventType.toString(memory.events().type()) + " instead of " + EventType
                    .toString(type));
        }
    }

    /** Waits for the next completion of an end, and returns its status. */
    static int completion(RemoteMemory memory) throws InterruptedException {
        long end = System.nanoTime() + LONG.toNanos();
        while (!memory.copies().poll()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("no completion");
            }
            memory.await(RemoteMemory.COMPLETIONS, Duration.ofMillis(100));
        }
        return memory.copies().status();
    }

    @Override
    public void close() throws IOException {
        a.close();
        b.close();
    }
}
