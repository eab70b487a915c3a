// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.async;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AcceptPendingException;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.InterruptedByTimeoutException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.ReadPendingException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.nio.channels.WritePendingException;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.verbena.sockets.async.Ends.Handled;

/** What operations of asynchronous channels answer and throw, first on the JDK's. */
@Tag("any-provider")
@Timeout(180)
@Execution(ExecutionMode.CONCURRENT)
class AsynchronousChannelTest {
    private static ByteBuffer bytes(int n) {
        return ByteBuffer.allocate(n);
    }

    @ParameterizedTest
    @EnumSource
    void allBytesArriveInOrder(Ends ends) throws Exception {
        byte[] much = new byte[3 << 20];
        new Random(1).nextBytes(much);
        try (Ends.Pair p = ends.connected()) {
            for (boolean there : new boolean[] {true, false}) {
                AsynchronousSocketChannel from = there ? p.tested() : p.peer();
                AsynchronousSocketChannel to = there ? p.peer() : p.tested();
                Thread writer = Thread.ofPlatform().start(() -> {
                    try {
                        for (ByteBuffer out = ByteBuffer.wrap(much); out.hasRemaining();) {
                            Ends.get(from.write(out));
                        }
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                });
                ByteBuffer in = bytes(much.length);
                while (in.hasRemaining()) {
                    assertThat(Ends.get(to.read(in))).isPositive();
                }
                writer.join();
                assertThat(in.flip()).isEqualTo(ByteBuffer.wrap(much));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void scatteredAndGatheredBytesArrive(Ends ends) throws Exception {
        try (Ends.Pair p = ends.connected()) {
            ByteBuffer[] out = {bytes(0), ByteBuffer.wrap(new byte[] {1, 2}), ByteBuffer.wrap(new byte[] {3, 4, 5})};
            Handled<Long> written = new Handled<>();
            p.tested().write(out, 1, 2, 0, TimeUnit.SECONDS, "with", written);
            assertThat(Ends.get(written.result)).isEqualTo(5);
            assertThat(written.attachment).isEqualTo("with");
            ByteBuffer[] in = {bytes(1), bytes(3), bytes(3)};
            long sum = 0;
            while (sum < 5) {
                Handled<Long> read = new Handled<>();
                p.peer().read(in, 0, 3, 0, TimeUnit.SECONDS, null, read);
                sum += Ends.get(read.result);
            }
            assertThat(in[0].array()).containsExactly(1);
            assertThat(in[1].array()).containsExactly(2, 3, 4);
            assertThat(in[2].array()).containsExactly(5, 0, 0);
            for (int[] bad : new int[][] {{-1, 1}, {0, 4}, {2, 2}, {0, -1}}) {
                assertThatThrownBy(() -> p.tested().write(out, bad[0], bad[1], 0, TimeUnit.SECONDS, null, written))
                        .isInstanceOf(IndexOutOfBoundsException.class);
                assertThatThrownBy(() -> p.tested().read(in, bad[0], bad[1], 0, TimeUnit.SECONDS, null, written))
                        .isInstanceOf(IndexOutOfBoundsException.class);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void emptyTransferCompletesAtOnce(Ends ends) throws Exception {
        try (Ends.Pair p = ends.connected()) {
            assertThat(Ends.get(p.tested().read(bytes(0)))).isZero();
            assertThat(Ends.get(p.tested().write(bytes(0)))).isZero();
            for (ByteBuffer[] none : new ByteBuffer[][] {{}, {bytes(0), bytes(0)}}) {
                Handled<Long> read = new Handled<>();
                p.tested().read(none, 0, none.length, 0, TimeUnit.SECONDS, null, read);
                assertThat(Ends.get(read.result)).isZero();
                Handled<Long> written = new Handled<>();
                p.tested().write(none, 0, none.length, 0, TimeUnit.SECONDS, null, written);
                assertThat(Ends.get(written.result)).isZero();
            }
            assertThatThrownBy(() -> p.tested().read(bytes(1).asReadOnlyBuffer()))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> p.tested().read(bytes(1), null, null)).isInstanceOf(NullPointerException.class);
            assertThatThrownBy(() -> p.tested().write(bytes(1), null, null)).isInstanceOf(NullPointerException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void onlyOneOperationOfAKindMayBePending(Ends ends) throws Exception {
        try (Ends.Pair p = ends.connected()) {
            Future<Integer> read = p.tested().read(bytes(1));
            assertThatThrownBy(() -> p.tested().read(bytes(1))).isInstanceOf(ReadPendingException.class);
            Future<Integer> write = Ends.fill(p.tested());
            assertThatThrownBy(() -> p.tested().write(bytes(1))).isInstanceOf(WritePendingException.class);
            assertThat(read.isDone()).isFalse();
            assertThat(write.isDone()).isFalse();
            Ends.get(p.peer().write(bytes(1)));
            assertThat(Ends.get(read)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void closeEndsPendingOperations(Ends ends) throws Exception {
        try (Ends.Pair p = ends.connected()) {
            Handled<Integer> read = new Handled<>();
            p.tested().read(bytes(1), "with", read);
            Future<Integer> write = Ends.fill(p.tested());
            p.tested().close();
            p.tested().close();
            assertThat(p.tested().isOpen()).isFalse();
            assertThat(Ends.failure(read.result)).isExactlyInstanceOf(AsynchronousCloseException.class);
            assertThat(read.attachment).isEqualTo("with");
            assertThat(Ends.failure(write)).isExactlyInstanceOf(AsynchronousCloseException.class);
            assertThat(Ends.failure(p.tested().read(bytes(1)))).isExactlyInstanceOf(ClosedChannelException.class);
            assertThat(Ends.failure(p.tested().write(bytes(1)))).isExactlyInstanceOf(ClosedChannelException.class);
            assertThat(Ends.failure(p.tested().connect(Ends.anyPort())))
                    .isExactlyInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(p.tested()::getLocalAddress).isInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(p.tested()::shutdownInput).isInstanceOf(ClosedChannelException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void timeoutEndsTheDirection(Ends ends) throws Exception {
        try (Ends.Pair p = ends.connected()) {
            Handled<Integer> read = new Handled<>();
            p.tested().read(bytes(1), 1, TimeUnit.MILLISECONDS, null, read);
            assertThat(Ends.failure(read.result)).isInstanceOf(InterruptedByTimeoutException.class);
            assertThatThrownBy(() -> p.tested().read(bytes(1))).isInstanceOf(IllegalStateException.class)
                    .isNotInstanceOf(ReadPendingException.class);
            Ends.get(p.tested().write(bytes(1))); // the other goes on
            Throwable last = null;
            while (last == null) {
                Handled<Integer> write = new Handled<>();
                p.tested().write(bytes(1 << 20), 100, TimeUnit.MILLISECONDS, null, write);
                last = write.result.handle((n, e) -> e).get(60, TimeUnit.SECONDS);
            }
            assertThat(last).isInstanceOf(InterruptedByTimeoutException.class);
            assertThatThrownBy(() -> p.tested().write(bytes(1))).isInstanceOf(IllegalStateException.class)
                    .isNotInstanceOf(WritePendingException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void unexpiredTimeoutHasNoEffect(Ends ends) throws Exception {
        try (Ends.Pair p = ends.connected()) {
            for (int i = 0; i < 3; i++) {
                Handled<Integer> read = new Handled<>();
                p.tested().read(bytes(1), 1, TimeUnit.HOURS, null, read);
                Ends.get(p.peer().write(bytes(1)));
                assertThat(Ends.get(read.result)).isEqualTo(1);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void cancellationEndsTheDirection(Ends ends) throws Exception {
        try (Ends.Pair p = ends.connected()) {
            Future<Integer> read = p.tested().read(bytes(1));
            assertThat(read.cancel(false)).isTrue();
            assertThat(read.isCancelled()).isTrue();
            assertThat(read.cancel(false)).isFalse();
            assertThatThrownBy(read::get).isInstanceOf(CancellationException.class);
            assertThatThrownBy(() -> p.tested().read(bytes(1))).isInstanceOf(IllegalStateException.class);
            Future<Integer> write = Ends.fill(p.tested());
            assertThat(write.cancel(false)).isTrue();
            assertThatThrownBy(() -> p.tested().write(bytes(1))).isInstanceOf(IllegalStateException.class);
            assertThat(p.tested().isOpen()).isTrue();
            Future<Integer> other = p.peer().read(bytes(0));
            assertThat(Ends.get(other)).isZero();
            assertThat(other.cancel(true)).isFalse();
        }
        try (Ends.Pair p = ends.connected()) {
            Future<Integer> read = p.tested().read(bytes(1));
            assertThat(read.cancel(true)).isTrue();
            assertThat(p.tested().isOpen()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource
    void shutdownInputReadsEndAndShutdownOutputEndsThePeer(Ends ends) throws Exception {
        try (Ends.Pair p = ends.connected()) {
            Future<Integer> read = p.tested().read(bytes(1));
            p.tested().shutdownInput();
            assertThat(Ends.get(read)).isEqualTo(-1);
            assertThat(Ends.get(p.tested().read(bytes(1)))).isEqualTo(-1);
            assertThat(Ends.get(p.tested().read(bytes(0)))).isEqualTo(-1);
            Ends.pass(p.tested(), p.peer(), new byte[] {1});
            Future<Integer> peers = p.peer().read(bytes(1));
            p.tested().shutdownOutput();
            assertThat(Ends.get(peers)).isEqualTo(-1);
            assertThat(Ends.failure(p.tested().write(bytes(1)))).isExactlyInstanceOf(ClosedChannelException.class);
        }
        try (Ends.Pair p = ends.connected()) {
            Future<Integer> write = Ends.fill(p.tested());
            p.tested().shutdownOutput();
            assertThat(Ends.failure(write)).isInstanceOf(IOException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void connectIsRefusedOrEndedByClose(Ends ends) throws Exception {
        try (AsynchronousSocketChannel c = ends.provider().openAsynchronousSocketChannel(null)) {
            assertThatThrownBy(() -> c.connect(InetSocketAddress.createUnresolved("nowhere", 1)))
                    .isInstanceOf(UnresolvedAddressException.class);
            assertThatThrownBy(() -> c.connect(new SocketAddress() {}))
                    .isInstanceOf(UnsupportedAddressTypeException.class);
            assertThatThrownBy(() -> c.read(bytes(1))).isInstanceOf(NotYetConnectedException.class);
            assertThatThrownBy(() -> c.write(bytes(1))).isInstanceOf(NotYetConnectedException.class);
            assertThatThrownBy(c::shutdownOutput).isInstanceOf(NotYetConnectedException.class);
            assertThat(c.getLocalAddress()).isNull();
            assertThat(c.getRemoteAddress()).isNull();
            c.bind(Ends.anyPort());
            assertThat(((InetSocketAddress) c.getLocalAddress()).getPort()).isPositive();
            assertThatThrownBy(() -> c.bind(Ends.anyPort())).isInstanceOf(AlreadyBoundException.class);
            try (AsynchronousSocketChannel noListener = ends.provider().openAsynchronousSocketChannel(null)) {
                noListener.bind(Ends.anyPort()); // a bound port without a listener
                Handled<Void> connected = new Handled<>();
                c.connect(noListener.getLocalAddress(), "with", connected);
                assertThat(Ends.failure(connected.result)).isInstanceOf(IOException.class)
                        .hasMessageContaining("refused");
                assertThat(connected.attachment).isEqualTo("with");
            }
            assertThat(c.isOpen()).isFalse();
        }
        try (Ends.Pair p = ends.connected()) {
            assertThatThrownBy(() -> p.tested().connect(Ends.anyPort()))
                    .isInstanceOf(AlreadyConnectedException.class);
            assertThat(p.tested().getRemoteAddress()).isEqualTo(p.peer().getLocalAddress());
            assertThat(p.peer().getRemoteAddress()).isEqualTo(p.tested().getLocalAddress());
        }
    }

    @ParameterizedTest
    @EnumSource
    void listenerAcceptsOneAtATime(Ends ends) throws Exception {
        AsynchronousServerSocketChannel s = ends.provider().openAsynchronousServerSocketChannel(null);
        assertThatThrownBy(s::accept).isInstanceOf(NotYetBoundException.class);
        s.bind(Ends.anyPort());
        assertThatThrownBy(() -> s.bind(Ends.anyPort())).isInstanceOf(AlreadyBoundException.class);
        SocketAddress where = s.getLocalAddress();
        Handled<AsynchronousSocketChannel> first = new Handled<>();
        s.accept("with", first);
        assertThatThrownBy(s::accept).isInstanceOf(AcceptPendingException.class);
        try (AsynchronousSocketChannel c = ends.provider().openAsynchronousSocketChannel(null)) {
            Ends.get(c.connect(where));
            try (AsynchronousSocketChannel a = Ends.get(first.result)) {
                assertThat(a.provider()).isSameAs(ends.provider());
                Ends.pass(a, c, new byte[] {1, 2, 3});
            }
        }
        Future<AsynchronousSocketChannel> pending = s.accept();
        s.close();
        assertThat(Ends.failure(pending)).isExactlyInstanceOf(AsynchronousCloseException.class);
        assertThat(Ends.failure(s.accept())).isExactlyInstanceOf(ClosedChannelException.class);
        try (AsynchronousServerSocketChannel again = ends.provider().openAsynchronousServerSocketChannel(null)) {
            again.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            again.bind(where); // the port is free when close() returns
            Future<AsynchronousSocketChannel> cancelled = again.accept();
            assertThat(cancelled.cancel(false)).isTrue();
            assertThatThrownBy(again::accept).isInstanceOf(RuntimeException.class)
                    .isNotInstanceOf(AcceptPendingException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void optionsMatchTheSocket(Ends ends) throws Exception {
        try (Ends.Pair p = ends.connected()) {
            assertThat(p.tested().supportedOptions()).contains(StandardSocketOptions.SO_SNDBUF,
                    StandardSocketOptions.SO_RCVBUF, StandardSocketOptions.SO_KEEPALIVE,
                    StandardSocketOptions.SO_REUSEADDR, StandardSocketOptions.TCP_NODELAY);
            p.tested().setOption(StandardSocketOptions.TCP_NODELAY, true)
                    .setOption(StandardSocketOptions.SO_KEEPALIVE, true);
            assertThat(p.tested().getOption(StandardSocketOptions.TCP_NODELAY)).isTrue();
            assertThat(p.tested().getOption(StandardSocketOptions.SO_KEEPALIVE)).isTrue();
            assertThatThrownBy(() -> p.tested().setOption(StandardSocketOptions.IP_MULTICAST_TTL, 1))
                    .isInstanceOf(UnsupportedOperationException.class);
        }
    }
}
