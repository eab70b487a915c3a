// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The sockets of channels are sockets: streams, time-outs, options, states. */
@Tag("any-provider")
class SocketAdaptorTest {
    static Stream<Arguments> carriersAndThreads() {
        return TransferTest.carriersAndThreads();
    }

    @ParameterizedTest
    @MethodSource("carriersAndThreads")
    void timedOutReadCanContinue(Carrier carrier, Threads threads) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            Socket s = pair.tested().socket();
            assertThat(s.getSoTimeout()).isZero();
            s.setSoTimeout(60);
            threads.start(() -> {
                InputStream in = s.getInputStream();
                for (int i = 0; i < 3; i++) {
                    long start = System.nanoTime();
                    assertThatThrownBy(in::read).isInstanceOf(SocketTimeoutException.class).hasMessage(
                            "Read timed out");
                    assertThat((System.nanoTime() - start) / 1_000_000).isBetween(59L, 30_000L);
                    pair.peer().write(ByteBuffer.wrap(new byte[] {7, 8}));
                    assertThat(in.read()).isEqualTo(7);
                    assertThat(in.read()).isEqualTo(8);
                }
                return null;
            }).get();
            assertThatThrownBy(() -> s.setSoTimeout(-1)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void acceptTimesOut(Carrier carrier) throws Exception {
        try (ServerSocketChannel channel = carrier.provider().openServerSocketChannel()) {
            ServerSocket server = channel.socket();
            assertThat(server.isBound()).isFalse();
            assertThat(server.getLocalPort()).isEqualTo(-1);
            server.bind(Carrier.anyPort());
            assertThat(server.isBound()).isTrue();
            assertThat(server.getChannel()).isSameAs(channel);
            server.setSoTimeout(50);
            assertThatThrownBy(server::accept).isInstanceOf(SocketTimeoutException.class)
                    .hasMessage("Accept timed out");
            try (Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
                    Socket accepted = server.accept()) {
                assertThat(accepted.getChannel().provider()).isSameAs(carrier.provider());
                client.getOutputStream().write(3);
                assertThat(accepted.getInputStream().read()).isEqualTo(3);
            }
            channel.configureBlocking(false);
            server.setSoTimeout(0);
            assertThatThrownBy(server::accept).isInstanceOf(IllegalBlockingModeException.class);
            server.close();
            assertThat(server.isClosed()).isTrue();
            assertThatThrownBy(server::accept).isInstanceOf(ClosedChannelException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void connectWithTimeoutSucceeds(Carrier carrier) throws Exception {
        try (ServerSocket server = new ServerSocket()) {
            server.bind(Carrier.anyPort());
            InetSocketAddress there = (InetSocketAddress) server.getLocalSocketAddress();
            Socket s = carrier.provider().openSocketChannel().socket();
            s.connect(there, 60_000);
            assertThat(s.isConnected()).isTrue();
            assertThat(s.getPort()).isEqualTo(there.getPort());
            assertThatThrownBy(() -> s.connect(there, 10)).isInstanceOf(SocketException.class)
                    .hasMessage("Already connected");
            Socket peer = server.accept();
            peer.getOutputStream().write(new byte[] {1, 2, 3});
            assertThat(s.getInputStream().readNBytes(3)).isEqualTo(new byte[] {1, 2, 3});
            peer.close();
            assertThat(s.getInputStream().read()).isEqualTo(-1);
            s.close();
        }
        try (SocketChannel bound = Carrier.unlistened()) {
            SocketAddress noListener = bound.getLocalAddress();
            Socket refused = carrier.provider().openSocketChannel().socket();
            assertThatThrownBy(() -> refused.connect(noListener, 60_000)).isInstanceOf(ConnectException.class);
            assertThat(refused.isClosed()).isTrue();
            SocketChannel nonBlocking = carrier.provider().openSocketChannel();
            nonBlocking.configureBlocking(false);
            assertThatThrownBy(() -> nonBlocking.socket().connect(noListener, 10))
                    .isInstanceOf(IllegalBlockingModeException.class);
            nonBlocking.close();
        }
        Socket nowhere = carrier.provider().openSocketChannel().socket();
        assertThatThrownBy(() -> nowhere.connect(InetSocketAddress.createUnresolved("a.invalid", 1)))
                .isInstanceOf(UnknownHostException.class);
        assertThat(nowhere.isClosed()).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void unansweredConnectTimesOut(Carrier carrier) throws Exception {
        try (ServerSocket full = new ServerSocket()) {
            full.bind(Carrier.anyPort(), 1);
            Socket[] fill = new Socket[8];
            Throwable last = null;
            for (int i = 0; i < fill.length && last == null; i++) {
                fill[i] = carrier.provider().openSocketChannel().socket();
                try {
                    fill[i].connect(full.getLocalSocketAddress(), 100);
                } catch (SocketTimeoutException e) {
                    last = e;
                    assertThat(fill[i].isClosed()).isTrue();
                }
            }
            assertThat(last).hasMessage("Connect timed out");
            for (Socket s : fill) {
                if (s != null) {
                    s.close();
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void statesAndAddressesMatchTheJdk(Carrier carrier) throws Exception {
        Socket fresh = carrier.provider().openSocketChannel().socket();
        assertThat(fresh.getChannel().socket()).isSameAs(fresh);
        assertThat(fresh.isConnected()).isFalse();
        assertThat(fresh.isBound()).isFalse();
        assertThat(fresh.getPort()).isZero();
        assertThat(fresh.getLocalPort()).isEqualTo(-1);
        assertThat(fresh.getInetAddress()).isNull();
        assertThatThrownBy(fresh::getInputStream).isInstanceOf(SocketException.class)
                .hasMessage("Socket is not connected");
        assertThatThrownBy(fresh::shutdownOutput).isInstanceOf(SocketException.class)
                .hasMessage("Socket is not connected");
        fresh.bind(null);
        assertThat(fresh.isBound()).isTrue();
        assertThatThrownBy(() -> fresh.bind(null)).isInstanceOf(SocketException.class).hasMessage("Already bound");
        fresh.close();
        assertThatThrownBy(fresh::getSoTimeout).isInstanceOf(SocketException.class).hasMessage("Socket is closed");

        try (Carrier.Pair pair = carrier.connected()) {
            Socket s = pair.tested().socket();
            int port = s.getPort();
            assertThat(s.isBound()).isTrue();
            assertThat(s.isInputShutdown()).isFalse();
            s.shutdownInput();
            s.shutdownOutput();
            assertThat(s.isInputShutdown()).isTrue();
            assertThat(s.isOutputShutdown()).isTrue();
            assertThatThrownBy(s::getInputStream).isInstanceOf(SocketException.class)
                    .hasMessage("Socket input is shutdown");
            assertThatThrownBy(s::getOutputStream).isInstanceOf(SocketException.class)
                    .hasMessage("Socket output is shutdown");
            s.close();
            s.close();
            assertThat(s.isClosed()).isTrue();
            assertThat(s.isConnected()).isFalse();
            assertThat(s.getPort()).isEqualTo(port);
            assertThat(s.getLocalPort()).isPositive();
            assertThatThrownBy(() -> s.setTcpNoDelay(true)).isInstanceOf(SocketException.class)
                    .hasMessage("Socket is closed");
        }
    }

    @ParameterizedTest
    @EnumSource
    void optionsAreKept(Carrier carrier) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            Socket s = pair.tested().socket();
            for (boolean on : new boolean[] {true, false}) {
                s.setTcpNoDelay(on);
                assertThat(s.getTcpNoDelay()).isEqualTo(on);
                assertThat(pair.tested().getOption(StandardSocketOptions.TCP_NODELAY)).isEqualTo(on);
                s.setKeepAlive(on);
                assertThat(s.getKeepAlive()).isEqualTo(on);
                s.setOOBInline(on);
                assertThat(s.getOOBInline()).isEqualTo(on);
                s.setReuseAddress(on);
                assertThat(s.getReuseAddress()).isEqualTo(on);
                s.setSoLinger(on, 3);
                assertThat(s.getSoLinger()).isEqualTo(on ? 3 : -1);
            }
            s.setSendBufferSize(30_000);
            assertThat(s.getSendBufferSize()).isGreaterThanOrEqualTo(30_000);
            s.setReceiveBufferSize(30_000);
            assertThat(s.getReceiveBufferSize()).isGreaterThanOrEqualTo(30_000);
            s.setTrafficClass(8);
            assertThat(s.getTrafficClass()).isEqualTo(8);
            assertThatThrownBy(() -> s.setSendBufferSize(0)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> s.setReceiveBufferSize(-1)).isInstanceOf(IllegalArgumentException.class);
            assertThat(s.supportedOptions()).isEqualTo(pair.tested().supportedOptions())
                    .containsAll(SocketChannel.open().supportedOptions());
        }
    }

    @ParameterizedTest
    @EnumSource
    void streamsRequireABlockingChannel(Carrier carrier) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            Socket s = pair.tested().socket();
            InputStream in = s.getInputStream();
            pair.tested().configureBlocking(false);
            assertThatThrownBy(in::read).isInstanceOf(IllegalBlockingModeException.class);
            assertThatThrownBy(() -> s.getOutputStream().write(1)).isInstanceOf(IllegalBlockingModeException.class);
            assertThat(in.read(new byte[0])).isZero();
            assertThatThrownBy(() -> in.read(new byte[2], 1, 2)).isInstanceOf(IndexOutOfBoundsException.class);
            pair.tested().configureBlocking(true);
            pair.peer().write(ByteBuffer.allocate(5));
            assertThat(in.read()).isZero();
            assertThat(s.getInputStream()).isNotNull();
            assertThat(in.available()).isEqualTo(4);
            s.sendUrgentData(1);
            pair.peer().shutdownOutput();
            assertThat(in.readAllBytes()).hasSize(4);
            in.close();
            assertThat(pair.tested().isOpen()).isFalse();
            assertThatThrownBy(in::available).isInstanceOf(IOException.class);
        }
    }
}
