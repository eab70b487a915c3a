// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.DatagramPacket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.linux.NetworkNamespace;
import org.verbena.testkit.TwoHosts;
import org.verbena.verbs.Context;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;

/** A stack on an interface with several receive queues, whose packets the sender spreads over them. */
final class QueuesOnLinkTest {
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final StackConfig CONFIG = StackConfig.of(StackLink.OURS + "/24");

    /** The kernel chooses a queue by the hash of the addresses and ports, and what comes on a queue without a socket goes to the kernel. */
    @Test
    void packetsOfAllQueuesComeIn() throws Exception {
        StackLink.runWithQueues(StackLink.KERNEL + "/24", () -> {
            try (Context context = Verbs.open("xdp_vrb1");
                    Stack stack = Stack.open(context, CONFIG);
                    UdpSocket socket = stack.bindUdp(7)) {
                int senders = 64;
                List<DatagramChannel> channels = new ArrayList<>();
                UdpPeer from = new UdpPeer();
                ByteBuffer b = ByteBuffer.allocateDirect(100);
                for (int i = 0; i < senders; i++) {
                    DatagramChannel c = DatagramChannel.open().connect(new InetSocketAddress(StackLink.OURS, 7));
                    channels.add(c);
                    c.write(ByteBuffer.wrap(new byte[] {(byte) i}));
                    assertThat(socket.receive(b.clear(), from, PATIENCE)).isTrue();
                    assertThat(b.get(0)).isEqualTo((byte) i);
                    socket.send(b.flip(), from);
                    c.socket().setSoTimeout((int) PATIENCE.toMillis());
                    byte[] back = new byte[1];
                    c.socket().receive(new DatagramPacket(back, 1));
                    assertThat(back[0]).isEqualTo((byte) i);
                }
                for (DatagramChannel c : channels) {
                    c.close();
                }
            }
            return null;
        });
    }

    @Test
    void connectionsOfTheKernelComeByDifferentQueues() throws Exception {
        StackLink.runWithQueues(StackLink.KERNEL + "/24", () -> {
            try (Context context = Verbs.open("xdp_vrb1");
                    Stack stack = Stack.open(context, CONFIG);
                    TcpServer server = stack.listenTcp(7, 64)) {
                int clients = 16;
                List<FutureTask<byte[]>> back = new ArrayList<>();
                List<FutureTask<byte[]>> others = new ArrayList<>();
                List<Socket> sockets = new ArrayList<>();
                List<byte[]> sent = new ArrayList<>();
                for (int i = 0; i < clients; i++) {
                    Socket s = new Socket(StackLink.OURS, 7);
                    sockets.add(s);
                    TcpSocket t = Objects.requireNonNull(server.accept(PATIENCE));
                    FutureTask<byte[]> echo = Transfers.start(() -> {
                        try (t) {
                            ByteBuffer b = ByteBuffer.allocate(100_000);
                            while (t.read(b.clear()) >= 0) {
                                t.write(b.flip());
                            }
                        }
                        return new byte[0];
                    });
                    byte[] bytes = new byte[1_000_000];
                    new Random(i).nextBytes(bytes);
                    sent.add(bytes);
                    back.add(Transfers.start(() -> s.getInputStream().readNBytes(bytes.length)));
                    FutureTask<byte[]> writing = Transfers.start(() -> {
                        s.getOutputStream().write(bytes);
                        return bytes;
                    });
                    others.add(echo);
                    others.add(writing);
                }
                for (int i = 0; i < clients; i++) {
                    assertThat(back.get(i).get()).isEqualTo(sent.get(i));
                    sockets.get(i).close();
                }
                for (FutureTask<byte[]> f : others) {
                    f.get();
                }
                assertThat(stack.tcpStatistics().accepted()).isEqualTo(clients);
                assertThat(stack.tcpStatistics().malformed()).isZero();
            }
            return null;
        });
    }

    @Test
    void twoStacksTalkAndAThirdIsRefused() throws Exception {
        StackLink.runWithQueues(null, () -> {
            try (Context one = Verbs.open("xdp_vrb0");
                    Context other = Verbs.open("xdp_vrb1");
                    Context third = Verbs.open("xdp_vrb1");
                    Stack a = Stack.open(one, StackConfig.of(StackLink.KERNEL + "/24"));
                    Stack b = Stack.open(other, CONFIG);
                    TcpServer server = b.listenTcp(7, 1);
                    TcpSocket s = a.connectTcp(new InetSocketAddress(StackLink.OURS, 7), PATIENCE);
                    TcpSocket t = Objects.requireNonNull(server.accept(PATIENCE))) {
                byte[] bytes = new byte[5_000_000];
                new Random(1).nextBytes(bytes);
                FutureTask<byte[]> writing = Transfers.start(() -> {
                    s.write(ByteBuffer.wrap(bytes));
                    s.shutdownOutput();
                    return bytes;
                });
                ByteBuffer got = ByteBuffer.allocate(bytes.length + 1);
                while (t.read(got, PATIENCE) > 0) {
                    // until the end
                }
                assertThat(got.flip()).isEqualTo(ByteBuffer.wrap(writing.get()));
                assertThatThrownBy(() -> Stack.open(third, CONFIG)).isInstanceOfSatisfying(VerbsException.class,
                        e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY));
            }
            return null;
        });
    }

    /** The kernel has the addresses as well, and its own packets come by all queues, too. */
    @Test
    void aStackThatSharesTheInterfaceGetsItsPacketsOfAllQueues() throws Exception {
        TwoHosts.run(NetworkNamespace::callInNew, 4, peer -> {
            try (Context context = Verbs.open("xdp_vrb1");
                    Stack stack = Stack.open(context, StackConfig.shared());
                    TcpServer server = stack.listenTcp(0, 64);
                    ServerSocket kernels = new ServerSocket(0, 64, InetAddress.getByName(TwoHosts.OURS))) {
                for (int i = 0; i < 32; i++) {
                    byte[] sent = {(byte) i, 1, 2};
                    int port = i % 2 == 0 ? server.port() : kernels.getLocalPort();
                    Future<byte[]> got = peer.start(() -> {
                        try (Socket s = new Socket(TwoHosts.OURS, port)) {
                            s.getOutputStream().write(sent);
                            return s.getInputStream().readNBytes(sent.length);
                        }
                    });
                    if (i % 2 == 0) {
                        try (TcpSocket s = Objects.requireNonNull(server.accept(PATIENCE))) {
                            ByteBuffer b = ByteBuffer.allocate(sent.length);
                            while (b.hasRemaining() && s.read(b, PATIENCE) > 0) {
                                // until all are there
                            }
                            s.write(b.flip());
                            assertThat(got.get(20, TimeUnit.SECONDS)).isEqualTo(sent);
                        }
                    } else {
                        try (Socket s = kernels.accept()) {
                            s.getOutputStream().write(s.getInputStream().readNBytes(sent.length));
                            assertThat(got.get(20, TimeUnit.SECONDS)).isEqualTo(sent);
                        }
                    }
                }
            }
        });
    }
}
