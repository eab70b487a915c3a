// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SelectionKey;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.testkit.Await;

/** Connections that begin their handshake when TCP has carried enough. */
@Isolated // counts of the process
class EarnedRingsTest extends TcpEnds {
    private static final int MESSAGE = 64;
    private static final long BYTES = 1 << 20;

    private record Ends(RingStream client, RingStream server) {
        boolean areByRing() {
            return client.isOutputByRing() && server.isOutputByRing();
        }
    }

    private Ends earning() throws IOException {
        Tcp tcp = connect();
        return new Ends((RingStream) Stream.of(tcp.client(), Stream.Role.CLIENT, null, false),
                (RingStream) Stream.of(tcp.server(), Stream.Role.SERVER, null, false));
    }

    private static void close(Ends ends) {
        ends.client.close(false);
        ends.server.close(false);
    }

    /** Sends bytes and receives them. */
    private static void pass(Stream from, Stream to, int bytes) throws IOException {
        ByteBuffer out = ByteBuffer.allocate(bytes);
        for (int i = 0; i < bytes; i++) {
            out.put(i, (byte) (i * 31 + 7));
        }
        ByteBuffer in = ByteBuffer.allocate(bytes);
        while (in.hasRemaining()) {
            from.write(out);
            assertThat(to.read(in)).isNotNegative();
        }
        assertThat(in.flip()).isEqualTo(out.flip());
    }

    private static void roundTrips(Ends ends, int n) throws IOException {
        for (int i = 0; i < n; i++) {
            pass(ends.client, ends.server, MESSAGE);
            pass(ends.server, ends.client, MESSAGE);
        }
    }

    @Test
    void connectionOfFewMessagesStaysWithTcp() throws Exception {
        long before = StreamCounters.fallbacks(FallbackReason.NOT_EARNED);
        Ends ends = earning();
        assertThat(StreamCounters.fallbacks(FallbackReason.NOT_EARNED)).isEqualTo(before + 2);
        roundTrips(ends, 127);
        assertThat(ends.client.handshake()).isNull();
        assertThat(ends.server.handshake()).isNull();
        assertThat(ends.client.reason()).isEqualTo(FallbackReason.NOT_EARNED);
        assertThat(ends.client.fallbackReason()).as("it may change").isEmpty();
        assertThat(ends.client.state().reason()).isEqualTo(FallbackReason.NOT_EARNED);
        close(ends);
        assertThat(StreamCounters.fallbacks(FallbackReason.NOT_EARNED)).isEqualTo(before + 2);
    }

    @Test
    void messagesThatAreAnsweredEarnRings() throws Exception {
        long before = StreamCounters.fallbacks(FallbackReason.NOT_EARNED);
        Ends ends = earning();
        roundTrips(ends, 129);
        Await.until("rings", ends::areByRing);
        assertThat(StreamCounters.fallbacks(FallbackReason.NOT_EARNED)).isEqualTo(before);
        assertThat(ends.client.reason()).isEqualTo(FallbackReason.NONE);
        roundTrips(ends, 10);
        assertThat(ends.client.figures().sentByRing()).isGreaterThan(0);
        close(ends);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void bytesInOneDirectionEarnRings(boolean upwards) throws Exception {
        Ends ends = earning();
        Stream from = upwards ? ends.client : ends.server;
        Stream to = upwards ? ends.server : ends.client;
        for (int i = 0; i < BYTES / 4096; i++) {
            assertThat(ends.client.handshake()).isNull();
            pass(from, to, 4096);
        }
        Await.until("rings", ends::areByRing);
        pass(from, to, 100_000);
        close(ends);
    }

    /** The end that was too early tries again. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void endsThatBeginApartMeetWhenTheBytesAreEnough(boolean clientIsEarly) throws Exception {
        long before = StreamCounters.fallbacks(FallbackReason.PLAIN_PEER);
        Ends ends = earning();
        RingStream early = clientIsEarly ? ends.client : ends.server;
        early.beginHandshake();
        assertThat(early.reason()).isEqualTo(FallbackReason.NONE);
        Await.until("nobody has come", () -> early.reason() == FallbackReason.PLAIN_PEER);
        assertThat(early.fallbackReason()).isNotEmpty();
        assertThat(early.staysWithTcp()).isFalse();
        roundTrips(ends, 1);
        while (!ends.areByRing()) {
            pass(ends.client, ends.server, 4096);
        }
        Await.until("no reason", () -> early.reason() == FallbackReason.NONE);
        assertThat(StreamCounters.fallbacks(FallbackReason.PLAIN_PEER)).isEqualTo(before);
        pass(ends.server, ends.client, 100_000);
        close(ends);
    }

    @Test
    void plainPeerStaysOneIfItsConnectionEndsInALaterAttempt() throws Exception {
        Tcp tcp = connect();
        RingStream client = (RingStream) Stream.of(tcp.client(), Stream.Role.CLIENT, null, false);
        Stream server = new KernelStream(tcp.server(), Stream.Role.SERVER, FallbackReason.RULE);
        client.beginHandshake();
        Await.until("nobody has come", () -> client.reason() == FallbackReason.PLAIN_PEER);
        while (client.handshake() == null) { // until the messages are enough, from the end of the first attempt on
            pass(client, server, MESSAGE);
            pass(server, client, MESSAGE);
        }
        client.close(false);
        Await.until("its end", client::staysWithTcp);
        assertThat(client.reason()).isEqualTo(FallbackReason.PLAIN_PEER);
        server.close(false);
    }

    /** What a program says meanwhile is kept: a rule, a selector of another provider. */
    @Test
    void connectionThatIsToStayWithTcpEarnsNothing() throws Exception {
        Ends ends = earning();
        ends.client.stayWithTcp(FallbackReason.FOREIGN_SELECTOR);
        assertThat(ends.client.reason()).isEqualTo(FallbackReason.FOREIGN_SELECTOR);
        for (int i = 0; i < 2 * BYTES / 4096; i++) {
            pass(ends.client, ends.server, 4096);
        }
        assertThat(ends.client.handshake()).isNull();
        assertThat(ends.client.kernelOps(SelectionKey.OP_READ)).isEqualTo(SelectionKey.OP_READ);
        close(ends);
    }

    /** The peer may be a plain one, which that finds out after seconds. */
    @Test
    void filesAreSentByTheKernelWhileTheHandshakeIsUnderWay(@TempDir Path dir) throws Exception {
        Path path = Files.write(dir.resolve("file"), new byte[1000]);
        Ends ends = earning();
        ends.client.beginHandshake();
        Await.until("the handshake", () -> ends.client.handshake() != null && ends.client.handshake().isStarted());
        try (FileChannel file = FileChannel.open(path)) {
            assertThat(ends.client.sendFile(file, 0, 1000)).isEqualTo(1000);
            ends.server.beginHandshake();
            Await.until("rings", ends::areByRing);
            ByteBuffer in = ByteBuffer.allocate(2000);
            while (in.position() < 1000) {
                ends.server.read(in);
            }
            long sent = ends.client.sendFile(file, 0, 1000);
            assertThat(sent).as("into the ring, or left to the caller").isIn(1000L, -1L);
            assertThat(ends.client.out().bytesByTcp()).isEqualTo(1000);
        }
        close(ends);
    }

    /** By sendfile(2) as on the stock JDK, and the bytes count. */
    @Test
    void filesAreSentByTheKernelUntilRingsAreEarned(@TempDir Path dir) throws Exception {
        byte[] content = new byte[3 << 20];
        for (int i = 0; i < content.length; i++) {
            content[i] = (byte) (i * 17 + (i >>> 11));
        }
        Path path = Files.write(dir.resolve("file"), content);
        Ends ends = earning();
        ByteBuffer in = ByteBuffer.allocate(content.length);
        try (FileChannel file = FileChannel.open(path)) {
            long sent = 0;
            long n;
            while (sent < BYTES && (n = ends.client.sendFile(file, sent, BYTES - sent)) >= 0) {
                sent += n;
                ends.server.read(in);
            }
            assertThat(sent).as("by the kernel").isEqualTo(BYTES);
            while (in.position() < sent) {
                ends.server.read(in);
            }
            Await.until("rings", ends::areByRing);
        }
        ByteBuffer out = ByteBuffer.wrap(content, in.position(), content.length - in.position());
        while (in.hasRemaining()) {
            ends.client.write(out);
            ends.server.read(in);
        }
        assertThat(in.array()).isEqualTo(content);
        close(ends);
    }
}
