// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.sockets.Verbena;
import org.verbena.sockets.VerbenaServerSocketChannel;
import org.verbena.sockets.VerbenaSocketChannel;
import org.verbena.sockets.VerbenaSocketOptions;

/** SO_ZEROCOPY, over loopback, where the kernel copies all the same, and reports that. */
class ZeroCopyTest {
    private static final int LENGTH = 8 << 20;
    private static final int ROUNDS = 3;

    private ServerSocket server;

    @BeforeEach
    void listen() throws IOException {
        server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    }

    @AfterEach
    void close() throws IOException {
        server.close();
    }

    /** TCP carries it, from the beginning or since it stays there. */
    private VerbenaSocketChannel connect(boolean offloaded) throws IOException {
        Verbena.offload(Thread.currentThread(), offloaded);
        try {
            VerbenaSocketChannel c = VerbenaSocketChannel.open();
            c.connect(server.getLocalSocketAddress());
            assertThat(((StreamSocketChannel) c).connectedStream().keepOutputByTcp()).isTrue();
            return c;
        } finally {
            Verbena.offload(Thread.currentThread(), true);
        }
    }

    private static ZeroCopyOutput output(VerbenaSocketChannel c) {
        return ((StreamSocketChannel) c).output().zeroCopy();
    }

    private static byte at(long position) {
        return (byte) (position * 31 + (position >>> 11));
    }

    @Test
    void zeroCopyIsOffByDefaultAndCanBeEnabled() throws Exception {
        try (VerbenaSocketChannel c = connect(false);
                VerbenaServerSocketChannel s = VerbenaServerSocketChannel.open()) {
            assertThat(c.getOption(VerbenaSocketOptions.ZERO_COPY)).isFalse();
            c.setOption(VerbenaSocketOptions.ZERO_COPY, true);
            assertThat(c.getOption(VerbenaSocketOptions.ZERO_COPY)).isTrue();
            c.setOption(VerbenaSocketOptions.ZERO_COPY, false);
            assertThat(c.getOption(VerbenaSocketOptions.ZERO_COPY)).isFalse();
            assertThat(output(c)).isNull();
            assertThat(s.supportedOptions()).doesNotContain(VerbenaSocketOptions.ZERO_COPY);
            assertThatThrownBy(() -> c.setOption(VerbenaSocketOptions.ZERO_COPY, null))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    /** The program fills the buffer anew as soon as a write has returned. */
    @ParameterizedTest(name = "offloaded: {0}")
    @ValueSource(booleans = {false, true})
    void writtenBytesArriveThoughTheBufferIsReused(boolean offloaded) throws Exception {
        try (VerbenaSocketChannel c = connect(offloaded); Socket peer = server.accept()) {
            CompletableFuture<Long> read = CompletableFuture.supplyAsync(() -> wrongByte(peer));
            c.setOption(VerbenaSocketOptions.ZERO_COPY, true);
            ByteBuffer buffer = ByteBuffer.allocateDirect(LENGTH);
            for (int round = 0; round < ROUNDS; round++) {
                for (int i = 0; i < LENGTH; i++) {
                    buffer.put(i, at((long) round * LENGTH + i));
                }
                assertThat(c.write(round == 1 ? buffer.clear().asReadOnlyBuffer() : buffer.clear())).isEqualTo(LENGTH);
            }
            assertThat(output(c).isPending()).isFalse();
            assertThat(output(c).sends()).isPositive();
            c.shutdownOutput();
            assertThat(read.get(60, TimeUnit.SECONDS)).isEqualTo((long) ROUNDS * LENGTH); // none is wrong before the end
        }
    }

    /** Where the first wrong byte is, or the end. */
    private static long wrongByte(Socket peer) {
        byte[] piece = new byte[100_000];
        long position = 0;
        try {
            int n;
            while ((n = peer.getInputStream().read(piece)) > 0) {
                for (int i = 0; i < n; i++, position++) {
                    if (piece[i] != at(position)) {
                        return position;
                    }
                }
            }
        } catch (IOException e) {
            return -1;
        }
        return position;
    }

    @Test
    void unsuitableWriteIsCopied() throws Exception {
        try (VerbenaSocketChannel c = connect(false); Socket peer = server.accept()) {
            c.setOption(VerbenaSocketOptions.ZERO_COPY, true);
            c.write(ByteBuffer.allocate(ZeroCopyOutput.MIN_BYTES)); // not direct
            c.write(ByteBuffer.allocateDirect(ZeroCopyOutput.MIN_BYTES - 1)); // too small
            assertThat(output(c).sends()).isZero();
            assertThat(peer.getInputStream().readNBytes(2 * ZeroCopyOutput.MIN_BYTES - 1)).containsOnly(0);
            c.configureBlocking(false);
            assertThat(c.write(ByteBuffer.allocateDirect(ZeroCopyOutput.MIN_BYTES))).isPositive();
            assertThat(output(c).sends()).isZero();
        }
    }

    private static Threads.Started writeOn(VerbenaSocketChannel c) throws IOException {
        c.setOption(VerbenaSocketOptions.ZERO_COPY, true);
        return Threads.PLATFORM.start(() -> {
            ByteBuffer much = ByteBuffer.allocateDirect(LENGTH);
            while (true) {
                c.write(much.clear());
            }
        });
    }

    @Test
    void closeEndsAWriteBlockedByTheReader() throws Exception {
        try (VerbenaSocketChannel c = connect(false); Socket peer = server.accept()) {
            Threads.Started writer = writeOn(c);
            writer.awaitBlocked();
            c.close();
            assertThat(writer.failure()).isInstanceOf(AsynchronousCloseException.class);
            assertThat(peer.getInputStream().read()).isZero();
        }
    }

    /** The kernel reports it once, and so does the write. */
    @ParameterizedTest(name = "offloaded: {0}")
    @ValueSource(booleans = {false, true})
    void resetIsReportedOnce(boolean offloaded) throws Exception {
        try (VerbenaSocketChannel c = connect(offloaded); Socket peer = server.accept()) {
            c.setOption(VerbenaSocketOptions.ZERO_COPY, true);
            peer.setSoLinger(true, 0);
            peer.close();
            ByteBuffer much = ByteBuffer.allocateDirect(LENGTH);
            assertThatThrownBy(() -> c.write(much)).isExactlyInstanceOf(IOException.class).hasMessage(
                    "Connection reset by peer");
            assertThatThrownBy(() -> c.write(much)).isExactlyInstanceOf(IOException.class).hasMessage("Broken pipe");
            assertThat(c.read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    @Test
    void resetEndsTheWrite() throws Exception {
        try (VerbenaSocketChannel c = connect(false); Socket peer = server.accept()) {
            Threads.Started writer = writeOn(c);
            assertThat(peer.getInputStream().read()).isZero();
            peer.setSoLinger(true, 0);
            peer.close();
            assertThat(writer.failure()).isInstanceOf(IOException.class).isNotInstanceOf(ClosedChannelException.class);
        }
    }
}
