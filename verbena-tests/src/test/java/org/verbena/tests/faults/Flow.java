// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * An end of a connection of {@link FlowPeer}. Letters determine its actions: {@code r} reads to the end, {@code w}
 * writes endlessly. A classic socket and a blocking channel have a thread for each, a channel in a selector has one for
 * both.
 */
final class Flow {
    /** How a direction ended, and when, by {@link System#nanoTime}. */
    record Ended(String what, long nanos, String how) {}

    private static final int PERIOD = 251;
    private static final int PIECE = 32 * PERIOD;
    private static final int PING = 100;
    /** Bytes of a piece and its successor, so that it can be compared from any position on. */
    private static final byte[] PATTERN = new byte[PIECE + PERIOD];

    static {
        for (int i = 0; i < PATTERN.length; i++) {
            PATTERN[i] = (byte) (i % PERIOD);
        }
    }

    private final String kind;
    private final String does;
    private final PeerConnection connection;
    private final @Nullable SocketChannel selected;
    private final int localPort;
    private final List<String> threads = new CopyOnWriteArrayList<>();
    private final List<CompletableFuture<Ended>> ends = new ArrayList<>();
    private final AtomicLong read = new AtomicLong();
    private final AtomicLong written = new AtomicLong();

    private Flow(String kind, String does, PeerConnection connection, @Nullable SocketChannel selected,
            int localPort) {
        this.kind = kind;
        this.does = does;
        this.connection = connection;
        this.selected = selected;
        this.localPort = localPort;
    }

    static Flow of(Socket s, String does) {
        return new Flow("classic", does, PeerConnection.of(s), null, s.getLocalPort());
    }

    /** @param kind {@code channel}, or {@code selector} */
    static Flow of(SocketChannel c, String kind, String does) throws IOException {
        boolean selected = kind.equals("selector");
        c.configureBlocking(!selected);
        return new Flow(kind, does, PeerConnection.of(c), selected ? c : null, c.socket().getLocalPort());
    }

    /** Waits for the end of a connection that carries nothing. */
    static Ended awaitEnd(Socket s) {
        return ended("control", () -> s.getInputStream().read());
    }

    int localPort() {
        return localPort;
    }

    String transport() throws IOException {
        return connection.transport();
    }

    long read() {
        return read.get();
    }

    /** Bytes of each direction so far. */
    List<Long> moved() {
        return does.equals("rw")
                ? List.of(read.get(), written.get())
                : List.of((does.equals("r") ? read : written).get());
    }

    /** Those that run, each as its folder below /proc. */
    List<String> threads() {
        return threads;
    }

    /** The ends of {@link #directions}, for the thread that runs them. */
    List<CompletableFuture<Ended>> ends() {
        return ends;
    }

    /** What is to run in a thread each. */
    List<Supplier<Ended>> directions() {
        SocketChannel c = selected;
        if (c != null) {
            return List.of(() -> direction(does, () -> select(c)));
        }
        List<Supplier<Ended>> all = new ArrayList<>();
        if (does.contains("r")) {
            all.add(() -> direction("r", this::readAll));
        }
        if (does.contains("w")) {
            all.add(() -> direction("w", this::writeOn));
        }
        return all;
    }

    /** The only bytes of an end that otherwise does not write. */
    void ping() throws IOException {
        connection.write(PATTERN, PING);
    }

    void close() throws IOException {
        connection.close();
    }

    private Ended direction(String letters, Callable<Object> job) {
        return ended(kind + "-" + letters, () -> {
            threads.add(Files.readSymbolicLink(Path.of("/proc/thread-self")).toString());
            return job.call();
        });
    }

    private static Ended ended(String what, Callable<Object> job) {
        String how;
        try {
            how = String.valueOf(job.call());
        } catch (Exception e) {
            how = e instanceof IOException ? String.valueOf(e.getMessage()) : e.toString();
        }
        return new Ended(what, System.nanoTime(), how);
    }

    private Object readAll() throws IOException {
        byte[] in = new byte[PIECE];
        int n;
        while ((n = connection.read(in)) >= 0) {
            received(in, n);
        }
        return n;
    }

    private void received(byte[] in, int n) {
        long position = read.get(); // this thread alone moves it
        int from = (int) (position % PERIOD);
        int wrong = Arrays.mismatch(in, 0, n, PATTERN, from, from + n);
        if (wrong >= 0) {
            throw new IllegalStateException("wrong byte " + (position + wrong));
        }
        read.addAndGet(n);
    }

    private Object writeOn() throws IOException {
        while (true) {
            connection.write(PATTERN, PIECE);
            written.addAndGet(PIECE);
        }
    }

    /** One loop for both directions. */
    private Object select(SocketChannel c) throws IOException {
        ByteBuffer in = ByteBuffer.allocate(PIECE);
        ByteBuffer out = ByteBuffer.wrap(PATTERN, 0, PIECE);
        try (Selector selector = Selector.open()) {
            SelectionKey key = c.register(selector, (does.contains("r") ? SelectionKey.OP_READ : 0)
                    | (does.contains("w") ? SelectionKey.OP_WRITE : 0));
            while (true) {
                selector.select();
                selector.selectedKeys().clear();
                if (key.isReadable()) {
                    int n = c.read(in.clear());
                    if (n < 0) {
                        return n;
                    }
                    received(in.array(), n);
                }
                if (key.isWritable()) {
                    if (!out.hasRemaining()) {
                        out.position(0);
                    }
                    written.addAndGet(c.write(out));
                }
            }
        }
    }
}
