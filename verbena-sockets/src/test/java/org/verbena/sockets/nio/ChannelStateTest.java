// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.verbena.sockets.VerbenaSelectorProvider;
import org.verbena.sockets.VerbenaServerSocketChannel;
import org.verbena.sockets.VerbenaSocketChannel;

/** The states of channels and what each refuses, as the JDK's channels do. */
class ChannelStateTest {
    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

    @ParameterizedTest
    @EnumSource
    void unconnectedChannelBehavesLikeTheJdk(Carrier carrier) throws Exception {
        try (SocketChannel c = carrier.provider().openSocketChannel()) {
            assertThat(c.provider()).isSameAs(carrier.provider());
            assertThat(c.isOpen()).isTrue();
            assertThat(c.isBlocking()).isTrue();
            assertThat(c.isConnected()).isFalse();
            assertThat(c.isConnectionPending()).isFalse();
            assertThat(c.getLocalAddress()).isNull();
            assertThat(c.getRemoteAddress()).isNull();
            assertThatThrownBy(() -> c.read(EMPTY)).isInstanceOf(NotYetConnectedException.class);
            assertThatThrownBy(() -> c.write(EMPTY)).isInstanceOf(NotYetConnectedException.class);
            assertThatThrownBy(c::shutdownInput).isInstanceOf(NotYetConnectedException.class);
            assertThatThrownBy(c::shutdownOutput).isInstanceOf(NotYetConnectedException.class);
            assertThatThrownBy(c::finishConnect).isInstanceOf(NoConnectionPendingException.class);
            assertThatThrownBy(() -> c.connect(InetSocketAddress.createUnresolved("nowhere.invalid", 1)))
                    .isInstanceOf(UnresolvedAddressException.class);
            assertThatThrownBy(() -> c.read((ByteBuffer) null)).isInstanceOf(NullPointerException.class);
            assertThat(c.isOpen()).isTrue();
            c.bind(Carrier.anyPort());
            assertThat(((InetSocketAddress) c.getLocalAddress()).getPort()).isPositive();
            assertThatThrownBy(() -> c.bind(Carrier.anyPort())).isInstanceOf(AlreadyBoundException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void connectedAndClosedChannelsBehaveLikeTheJdk(Carrier carrier) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            SocketChannel c = pair.tested();
            assertThat(c.isConnected()).isTrue();
            assertThat(c.finishConnect()).isTrue();
            assertThatThrownBy(() -> c.connect(Carrier.anyPort())).isInstanceOf(AlreadyConnectedException.class);
            assertThat(c.getRemoteAddress()).isEqualTo(pair.peer().getLocalAddress());
            assertThat(c.getLocalAddress()).isEqualTo(pair.peer().getRemoteAddress());
            assertThat(c.write(EMPTY.duplicate())).isZero();
            assertThat(c.read(EMPTY.duplicate())).isZero();
            c.close();
            c.close();
            assertThat(c.isOpen()).isFalse();
            assertThat(c.isConnected()).isFalse();
            assertThatThrownBy(() -> c.read(EMPTY)).isExactlyInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(() -> c.write(EMPTY)).isExactlyInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(c::shutdownInput).isExactlyInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(c::getLocalAddress).isExactlyInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(() -> c.connect(Carrier.anyPort())).isExactlyInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(c::finishConnect).isExactlyInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(() -> c.configureBlocking(false)).isExactlyInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(() -> c.getOption(StandardSocketOptions.TCP_NODELAY))
                    .isExactlyInstanceOf(ClosedChannelException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void refusedConnectionClosesTheChannel(Carrier carrier) throws Exception {
        try (SocketChannel bound = Carrier.unlistened()) {
            SocketAddress noListener = bound.getLocalAddress();
            SocketChannel c = carrier.provider().openSocketChannel();
            assertThatThrownBy(() -> c.connect(noListener)).isInstanceOf(ConnectException.class)
                    .hasMessage("Connection refused");
            assertThat(c.isOpen()).isFalse();

            SocketChannel later = carrier.provider().openSocketChannel();
            later.configureBlocking(false);
            assertThatThrownBy(() -> {
                later.connect(noListener);
                while (!later.finishConnect()) {
                    Thread.onSpinWait();
                }
            }).isInstanceOf(ConnectException.class);
            assertThat(later.isOpen()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource
    void nonBlockingConnectSucceeds(Carrier carrier) throws Exception {
        try (ServerSocketChannel server = carrier.provider().openServerSocketChannel().bind(Carrier.anyPort());
                SocketChannel c = carrier.provider().openSocketChannel()) {
            server.configureBlocking(false);
            assertThat(server.accept()).isNull();
            c.configureBlocking(false);
            boolean connected = c.connect(server.getLocalAddress());
            assertThat(c.isConnectionPending()).isEqualTo(!connected);
            while (!connected) {
                connected = c.finishConnect();
            }
            assertThat(c.isConnectionPending()).isFalse();
            assertThat(c.read(ByteBuffer.allocate(1))).isZero();
            c.configureBlocking(true);
            SocketChannel accepted = null;
            while (accepted == null) {
                accepted = server.accept();
            }
            assertThat(accepted.isBlocking()).isTrue();
            accepted.write(ByteBuffer.allocate(3));
            ByteBuffer got = ByteBuffer.allocate(3);
            while (got.hasRemaining()) {
                assertThat(c.read(got)).isPositive();
            }
            accepted.close();
            assertThat(c.read(got.clear())).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void halfCloseEndsOneDirection(Carrier carrier) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            SocketChannel c = pair.tested();
            c.write(ByteBuffer.wrap(new byte[] {1, 2, 3}));
            c.shutdownOutput();
            c.shutdownOutput();
            assertThatThrownBy(() -> c.write(ByteBuffer.allocate(1))).isInstanceOf(ClosedChannelException.class);
            assertThat(TransferTest.read(pair.peer(), 10)).containsExactly(1, 2, 3);
            assertThat(pair.peer().read(ByteBuffer.allocate(1))).isEqualTo(-1);
            pair.peer().write(ByteBuffer.wrap(new byte[] {4, 5}));
            assertThat(TransferTest.read(c, 2)).containsExactly(4, 5);
            c.shutdownInput();
            c.shutdownInput();
            assertThat(c.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            c.configureBlocking(false);
            assertThat(c.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            assertThatThrownBy(() -> c.write(ByteBuffer.allocate(1))).isInstanceOf(ClosedChannelException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void lingerOfZeroResets(Carrier carrier) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            pair.tested().setOption(StandardSocketOptions.SO_LINGER, 0);
            pair.tested().close();
            assertThatThrownBy(() -> pair.peer().read(ByteBuffer.allocate(1))).isExactlyInstanceOf(
                    SocketException.class)
                    .hasMessage("Connection reset");
            assertThatThrownBy(() -> pair.peer().read(ByteBuffer.allocate(1))).isExactlyInstanceOf(
                    SocketException.class)
                    .hasMessage("Connection reset");
        }
    }

    @ParameterizedTest
    @EnumSource
    void unusableBuffersThrow(Carrier carrier) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            SocketChannel c = pair.tested();
            pair.peer().write(ByteBuffer.allocate(10));
            assertThatThrownBy(() -> c.read(ByteBuffer.allocate(1).asReadOnlyBuffer()))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> c.read(new ByteBuffer[] {ByteBuffer.allocate(1).asReadOnlyBuffer()}))
                    .isInstanceOf(IllegalArgumentException.class);
            Arena closed = Arena.ofShared();
            ByteBuffer gone = closed.allocate(100).asByteBuffer();
            closed.close();
            for (int i = 0; i < 2; i++) {
                c.configureBlocking(i == 0);
                assertThatThrownBy(() -> c.read(gone)).isInstanceOf(IllegalStateException.class);
                assertThatThrownBy(() -> c.write(gone)).isInstanceOf(IllegalStateException.class);
                assertThatThrownBy(() -> c.read(new ByteBuffer[] {gone})).isInstanceOf(IllegalStateException.class);
                assertThatThrownBy(() -> c.write(new ByteBuffer[] {gone})).isInstanceOf(IllegalStateException.class);
            }
            c.configureBlocking(true);
            try (Arena confined = Arena.ofConfined()) {
                ByteBuffer own = confined.allocate(100).asByteBuffer();
                assertThat(c.read(own)).isPositive();
                assertThat(c.write(own.flip())).isPositive();
                own.clear();
                assertThat(Threads.PLATFORM.start(() -> c.write(own)).failure()).isInstanceOf(
                        WrongThreadException.class);
                assertThat(Threads.PLATFORM.start(() -> c.read(own)).failure()).isInstanceOf(
                        WrongThreadException.class);
            }
            assertThat(c.isOpen()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    void invalidServerCallsAreRefused(Carrier carrier) throws Exception {
        try (ServerSocketChannel s = carrier.provider().openServerSocketChannel()) {
            assertThatThrownBy(s::accept).isInstanceOf(NotYetBoundException.class);
            s.bind(null);
            assertThatThrownBy(() -> s.bind(null)).isInstanceOf(AlreadyBoundException.class);
            s.close();
            assertThatThrownBy(s::accept).isExactlyInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(s::getLocalAddress).isExactlyInstanceOf(ClosedChannelException.class);
        }
    }

    @Test
    void providerOpensVerbenaChannelsForTcpOnly() throws Exception {
        VerbenaSelectorProvider ours = VerbenaSelectorProvider.instance();
        try (SocketChannel tcp = ours.openSocketChannel(StandardProtocolFamily.INET);
                ServerSocketChannel server = ours.openServerSocketChannel(StandardProtocolFamily.INET);
                SocketChannel unix = ours.openSocketChannel(StandardProtocolFamily.UNIX);
                ServerSocketChannel unixServer = ours.openServerSocketChannel(StandardProtocolFamily.UNIX);
                VerbenaSocketChannel open = VerbenaSocketChannel.open();
                VerbenaServerSocketChannel openServer = VerbenaServerSocketChannel.open();
                var udp = ours.openDatagramChannel()) {
            assertThat(tcp).isInstanceOf(VerbenaSocketChannel.class);
            assertThat(server).isInstanceOf(VerbenaServerSocketChannel.class);
            assertThat(unix).isNotInstanceOf(VerbenaSocketChannel.class);
            assertThat(unixServer).isNotInstanceOf(VerbenaServerSocketChannel.class);
            for (var channel : new java.nio.channels.SelectableChannel[] {
                tcp, server, unix, unixServer, udp, open, openServer
            }) {
                assertThat(channel.provider()).isSameAs(ours);
            }
            assertThatThrownBy(() -> VerbenaSocketChannel.open(StandardProtocolFamily.UNIX))
                    .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("SocketChannel.open(UNIX)");
        }
    }
}
