// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A program with many connections that it does not read from, or its client, which writes as much as possible; it knows
 * nothing of Verbena.
 */
final class SlowPeer {
    private static final int PIECE = 64 << 10;
    private static final int PAGE = 4096;
    private static final int MIB = 1 << 20;
    /** How long a writer must make no progress until it counts as stuck. */
    private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final List<SocketChannel> channels = new ArrayList<>();
    private final ServerSocketChannel listener;

    private SlowPeer() throws IOException {
        listener = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1000);
    }

    public static void main(String[] none) throws Exception {
        Peer.begin();
        SlowPeer p = new SlowPeer();
        Peer.say("PORT " + p.listener.socket().getLocalPort());
        while (true) {
            String[] words = Peer.hear().split(" ", -1);
            switch (words[0]) {
                case "connect" -> { // PORT COUNT
                    for (int i = 0; i < Integer.parseInt(words[2]); i++) {
                        p.channels.add(SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(),
                                Integer
                                        .parseInt(words[1]))));
                    }
                    Peer.say("CONNECTED");
                }
                case "accept" -> { // COUNT
                    for (int i = 0; i < Integer.parseInt(words[1]); i++) {
                        p.channels.add(p.listener.accept());
                    }
                    Peer.say("ACCEPTED");
                }
                case "decide" -> Peer.say("DECIDED " + p.byRing());
                case "fill" -> Peer.say("FILLED " + p.fill());
                case "heap" -> Peer.say("HEAP " + heap(Integer.parseInt(words[1]))); // MIB
                case "read" -> Peer.say("READ " + p.readAll());
                case "close" -> {
                    for (SocketChannel c : p.channels) {
                        c.close();
                    }
                    Peer.say("CLOSED");
                }
                case "exit" -> System.exit(0);
                default -> throw new IllegalArgumentException(words[0]);
            }
        }
    }

    private static String transport(SocketChannel c) throws IOException {
        for (SocketOption<?> o : c.supportedOptions()) {
            if (o.name().equals("VERBENA_TRANSPORT")) {
                return String.valueOf(c.getOption(o));
            }
        }
        return "none";
    }

    /** Waits until the transport of each is decided; returns how many use a ring. */
    private int byRing() throws IOException, InterruptedException {
        int rings = 0;
        for (SocketChannel c : channels) {
            while (transport(c).equals("undecided")) {
                Thread.sleep(1);
            }
            rings += transport(c).equals("stream") ? 1 : 0;
        }
        return rings;
    }

    private long fill() throws IOException, InterruptedException {
        ByteBuffer piece = ByteBuffer.allocate(PIECE);
        long sum = 0;
        for (SocketChannel c : channels) {
            c.configureBlocking(false);
        }
        for (long quiet = System.nanoTime(); System.nanoTime() - quiet < QUIET_NANOS;) {
            long before = sum;
            for (SocketChannel c : channels) {
                sum += c.write(piece.clear());
            }
            if (sum != before) {
                quiet = System.nanoTime();
            } else {
                Thread.sleep(10);
            }
        }
        for (SocketChannel c : channels) {
            c.shutdownOutput();
        }
        return sum;
    }

    /** Allocates this much memory, and releases it. */
    private static int heap(int mib) {
        List<byte[]> all = new ArrayList<>();
        for (int i = 0; i < mib; i++) {
            byte[] piece = new byte[MIB];
            for (int k = 0; k < MIB; k += PAGE) {
                piece[k] = 1;
            }
            all.add(piece);
        }
        return all.size();
    }

    private long readAll() throws IOException {
        ByteBuffer into = ByteBuffer.allocate(PIECE);
        long sum = 0;
        for (SocketChannel c : channels) {
            for (int n = c.read(into.clear()); n >= 0; n = c.read(into.clear())) {
                sum += n;
            }
        }
        return sum;
    }
}
