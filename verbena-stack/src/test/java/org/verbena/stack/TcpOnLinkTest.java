// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.FutureTask;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.verbena.stack.StackLink.Link;
import org.verbena.testkit.AllocatedBytes;
import org.verbena.testkit.Await;

/** TCP of the stack, whose peer is the kernel's. */
final class TcpOnLinkTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final int BYTES = 50_000_000;

    @ParameterizedTest
    @EnumSource
    void bytesGoBothWaysToAServerOfTheKernel(Link link) throws Exception {
        StackLink.run(link, stack -> {
            try (ServerSocket server = new ServerSocket(0)) {
                FutureTask<List<byte[]>> there = Transfers.start(() -> {
                    try (Socket s = server.accept()) {
                        FutureTask<byte[]> in = Transfers.start(() -> Transfers.hash(s.getInputStream()));
                        byte[] sent = Transfers.send(7, BYTES, (b, n) -> s.getOutputStream().write(b, 0, n));
                        s.shutdownOutput();
                        return List.of(sent, in.get());
                    }
                });
                try (TcpSocket s = stack.connectTcp(new InetSocketAddress(StackLink.KERNEL, server.getLocalPort()),
                        PATIENCE)) {
                    FutureTask<byte[]> in = Transfers.start(() -> Transfers.hash(s));
                    byte[] sent = Transfers.send(8, BYTES, s);
                    byte[] got = in.get();
                    assertThat(there.get()).containsExactly(got, sent);
                }
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void aServerOfTheStackTakesClientsOfTheKernel(Link link) throws Exception {
        StackLink.run(link, stack -> {
            try (TcpServer server = stack.listenTcp(0, 64)) {
                int clients = 20;
                FutureTask<List<FutureTask<Void>>> echoes = Transfers.start(() -> {
                    List<FutureTask<Void>> all = new ArrayList<>();
                    for (int i = 0; i < clients; i++) {
                        TcpSocket s = Objects.requireNonNull(server.accept(PATIENCE));
                        all.add(Transfers.start(() -> {
                            try (s) {
                                ByteBuffer b = ByteBuffer.allocate(10_000);
                                while (s.read(b.clear()) >= 0) {
                                    s.write(b.flip());
                                }
                            }
                            return null;
                        }));
                    }
                    return all;
                });
                for (int i = 0; i < clients; i++) {
                    try (Socket s = new Socket(StackLink.OURS, server.port())) {
                        byte[] b = new byte[1 + i * 5000];
                        new Random(i).nextBytes(b);
                        FutureTask<byte[]> back = Transfers.start(() -> s.getInputStream().readNBytes(b.length));
                        s.getOutputStream().write(b);
                        assertThat(back.get()).isEqualTo(b);
                        s.shutdownOutput();
                        assertThat(s.getInputStream().read()).isEqualTo(-1);
                    }
                }
                for (FutureTask<Void> t : echoes.get()) {
                    t.get();
                }
                assertThat(stack.tcpStatistics().accepted()).isEqualTo(clients);
            }
            assertThatThrownBy(() -> new Socket(StackLink.OURS, 4711).close()).isInstanceOf(ConnectException.class)
                    .hasMessageContaining("refused");
        });
    }

    @ParameterizedTest
    @EnumSource
    void refusalsAndResetsAreTold(Link link) throws Exception {
        StackLink.run(link, stack -> {
            assertThatThrownBy(() -> stack.connectTcp(new InetSocketAddress(StackLink.KERNEL, 4711), PATIENCE))
                    .isInstanceOf(ConnectException.class).hasMessageContaining(StackLink.KERNEL + ":4711");
            assertThatThrownBy(() -> stack.connectTcp(new InetSocketAddress("10.78.0.77", 1), Duration.ofMillis(50)))
                    .isInstanceOf(SocketTimeoutException.class);
            assertThatThrownBy(() -> stack.connectTcp(new InetSocketAddress("10.99.0.1", 1), PATIENCE))
                    .isInstanceOf(NoRouteToHostException.class).hasMessageContaining("no gateway");
            try (ServerSocket server = new ServerSocket(0);
                    TcpSocket s = stack.connectTcp(new InetSocketAddress(StackLink.KERNEL, server.getLocalPort()),
                            PATIENCE)) {
                try (Socket k = server.accept()) {
                    k.setSoLinger(true, 0);
                }
                assertThatThrownBy(() -> s.read(ByteBuffer.allocate(1), PATIENCE)).isInstanceOf(SocketException.class)
                        .hasMessageContaining("reset");
                assertThatThrownBy(() -> s.write(ByteBuffer.allocate(1))).isInstanceOf(SocketException.class);
            }
            try (ServerSocket server = new ServerSocket(0)) {
                TcpSocket s = stack.connectTcp(new InetSocketAddress(StackLink.KERNEL, server.getLocalPort()),
                        PATIENCE);
                try (Socket k = server.accept()) {
                    s.abort();
                    assertThatThrownBy(() -> k.getInputStream().read()).isInstanceOf(SocketException.class);
                }
                assertThatThrownBy(() -> s.read(ByteBuffer.allocate(1))).isInstanceOf(ClosedChannelException.class);
            }
        });
    }

    private static Thread startUntilItSleeps(Runnable r) {
        Thread t = Thread.ofPlatform().daemon().start(r);
        Await.until("it sleeps", () -> t.getState() == Thread.State.TIMED_WAITING);
        return t;
    }

    @ParameterizedTest
    @EnumSource
    void threadsThatWaitAreWokenOrInterrupted(Link link) throws Exception {
        StackLink.run(link, stack -> {
            try (ServerSocket server = new ServerSocket(0)) {
                TcpSocket s = stack.connectTcp(new InetSocketAddress(StackLink.KERNEL, server.getLocalPort()),
                        PATIENCE);
                FutureTask<Integer> reading = new FutureTask<>(() -> s.read(ByteBuffer.allocate(1)));
                startUntilItSleeps(reading).interrupt();
                assertThatThrownBy(reading::get).hasCauseInstanceOf(InterruptedIOException.class);
                FutureTask<Integer> again = new FutureTask<>(() -> s.read(ByteBuffer.allocate(1)));
                startUntilItSleeps(again);
                s.close();
                assertThatThrownBy(again::get).hasCauseInstanceOf(ClosedChannelException.class);
                TcpSocket other = stack.connectTcp(new InetSocketAddress(StackLink.KERNEL, server.getLocalPort()),
                        PATIENCE);
                FutureTask<Integer> last = new FutureTask<>(() -> other.read(ByteBuffer.allocate(1)));
                startUntilItSleeps(last);
                stack.close();
                assertThatThrownBy(last::get).hasCauseInstanceOf(ClosedChannelException.class);
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void aSegmentAllocatesNothing(Link link) throws Exception {
        StackLink.run(link, stack -> {
            try (SocketChannel kernel = SocketChannel.open(); TcpServer server = stack.listenTcp(7, 1)) {
                kernel.connect(new InetSocketAddress(StackLink.OURS, 7));
                try (TcpSocket s = Objects.requireNonNull(server.accept(PATIENCE))) {
                    ByteBuffer b = ByteBuffer.allocateDirect(1000);
                    ByteBuffer there = ByteBuffer.allocateDirect(1000);
                    s.setNoDelay(true);
                    long[] least = {Integer.MAX_VALUE, Integer.MAX_VALUE};
                    for (int round = 0; round < 60 && least[0] + least[1] > 0; round++) {
                        least[0] = Math.min(least[0], AllocatedBytes.leastOf(() -> {
                            for (int i = 0; i < 5; i++) {
                                s.write(b.clear());
                            }
                        }));
                        for (int left = 5 * 1000 * AllocatedBytes.ROUNDS; left > 0;) {
                            left -= kernel.read(there.clear().limit(Math.min(1000, left)));
                        }
                        for (int i = 0; i < AllocatedBytes.ROUNDS; i++) {
                            kernel.write(there.clear());
                        }
                        Await.until("all have come", () -> s.info().unread() == 1000 * AllocatedBytes.ROUNDS);
                        least[1] = Math.min(least[1], AllocatedBytes.leastOf(() -> s.read(b.clear(), Duration.ZERO)));
                    }
                    assertThat(least).as("bytes of 5 writes, and of a read").containsOnly(0);
                }
            }
        });
    }
}
