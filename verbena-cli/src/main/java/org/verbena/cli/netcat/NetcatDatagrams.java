// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.netcat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import org.verbena.stack.UdpPeer;
import org.verbena.stack.UdpSocket;

/** Each read of standard input as a datagram to a peer, and the bytes of its datagrams to standard output. */
final class NetcatDatagrams {
    /** As much of the input as makes a datagram at most. */
    private static final int LONGEST = 16_384;
    private static final int LONGEST_RECEIVED = 65_536;

    private final UdpSocket socket;
    private final StandardStreams streams;
    /** How long nothing may move in either direction. */
    private final long patience;
    private volatile long moved = System.nanoTime();
    private volatile @Nullable IOException failure;

    NetcatDatagrams(UdpSocket socket, StandardStreams streams, Duration patience) {
        this.socket = socket;
        this.streams = streams;
        this.patience = patience.toNanos();
    }

    /** Runs with a peer until nothing has moved for too long, or it refuses. */
    void connect(InetSocketAddress to) throws IOException, InterruptedException {
        UdpPeer peer = UdpPeer.of(to);
        socket.connect(peer);
        sendTo(peer);
        receive(to);
    }

    /**
     * Runs with the peer whose datagram comes first, until nothing has moved for too long. Those of others are dropped.
     *
     * @param first takes the address of that peer
     */
    void listen(Consumer<InetSocketAddress> first) throws IOException, InterruptedException {
        UdpPeer peer = new UdpPeer();
        ByteBuffer bytes = ByteBuffer.allocateDirect(LONGEST_RECEIVED);
        boolean came = false;
        while (!came) {
            came = socket.receive(bytes.clear(), peer, Duration.ofDays(1));
        }
        InetSocketAddress from = peer.toSocketAddress();
        first.accept(from);
        streams.write(bytes.flip());
        moved = System.nanoTime();
        sendTo(UdpPeer.of(from));
        receive(from);
    }

    private void sendTo(UdpPeer peer) {
        Thread.ofPlatform().daemon().name("verbena-netcat-input").start(() -> send(peer));
    }

    private void send(UdpPeer peer) {
        ByteBuffer bytes = ByteBuffer.allocateDirect(LONGEST);
        try {
            while (streams.read(bytes.clear()) >= 0) {
                socket.send(bytes.flip(), peer);
                moved = System.nanoTime();
            }
        } catch (IOException e) {
            failure = e;
            socket.close(); // which wakes the other thread
        }
    }

    /** Takes datagrams of a peer. */
    private void receive(InetSocketAddress peer) throws IOException, InterruptedException {
        UdpPeer from = new UdpPeer();
        ByteBuffer bytes = ByteBuffer.allocateDirect(LONGEST_RECEIVED);
        try {
            for (long left = patience; left > 0; left = patience - (System.nanoTime() - moved)) {
                if (socket.receive(bytes.clear(), from, Duration.ofNanos(left)) && from.toSocketAddress().equals(
                        peer)) {
                    streams.write(bytes.flip());
                    moved = System.nanoTime();
                }
            }
        } catch (IOException e) {
            IOException f = failure;
            throw f == null ? e : f;
        }
    }
}
