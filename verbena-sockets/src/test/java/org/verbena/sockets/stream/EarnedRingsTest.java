// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

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
class EarnedRingsTest extends EarningEnds {
    @Test
    void connectionOfFewMessagesStaysWithTcp() throws Exception {
        long before = StreamCounters.fallbacks(FallbackReason.NOT_EARNED);
        Ends ends = earning();
        assertThat(StreamCounters.fallbacks(FallbackReason.NOT_EARNED)).isEqualTo(before + 2);
        roundTrips(ends, 127);
        assertThat(ends.client().handshake()).isNull();
        assertThat(ends.server().handshake()).isNull();
        assertThat(ends.client().reason()).isEqualTo(FallbackReason.NOT_EARNED);
        assertThat(ends.client().fallbackReason()).as("it may change").isEmpty();
        assertThat(ends.client().state().reason()).isEqualTo(FallbackReason.NOT_EARNED);
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
        assertThat(ends.client().reason()).isEqualTo(FallbackReason.NONE);
        roundTrips(ends, 10);
        assertThat(ends.client().figures().sentByRing()).isGreaterThan(0);
        close(ends);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void bytesInOneDirectionEarnRings(boolean upwards) throws Exception {
        Ends ends = earning();
        Stream from = upwards ? ends.client() : ends.server();
        Stream to = upwards ? ends.server() : ends.client();
        for (int i = 0; i < BYTES / 4096; i++) {
            assertThat(ends.client().handshake()).isNull();
            pass(from, to, 4096);
        }
        Await.until("rings", ends::areByRing);
        pass(from, to, 100_000);
        close(ends);
    }

    /** What a program says meanwhile is kept: a rule, a selector of another provider. */
    @Test
    void connectionThatIsToStayWithTcpEarnsNothing() throws Exception {
        Ends ends = earning();
        ends.client().stayWithTcp(FallbackReason.FOREIGN_SELECTOR);
        assertThat(ends.client().reason()).isEqualTo(FallbackReason.FOREIGN_SELECTOR);
        for (int i = 0; i < 2 * BYTES / 4096; i++) {
            pass(ends.client(), ends.server(), 4096);
        }
        assertThat(ends.client().handshake()).isNull();
        assertThat(ends.client().kernelOps(SelectionKey.OP_READ)).isEqualTo(SelectionKey.OP_READ);
        close(ends);
    }

    /** The peer may be a plain one, which that finds out after seconds. */
    @Test
    void filesAreSentByTheKernelWhileTheHandshakeIsUnderWay(@TempDir Path dir) throws Exception {
        Path path = Files.write(dir.resolve("file"), new byte[1000]);
        Ends ends = earning();
        ends.client().beginHandshake();
        Await.until("the handshake", () -> ends.client().handshake() != null && ends.client().handshake().isStarted());
        try (FileChannel file = FileChannel.open(path)) {
            assertThat(ends.client().sendFile(file, 0, 1000)).isEqualTo(1000);
            ends.server().beginHandshake();
            Await.until("rings", ends::areByRing);
            ByteBuffer in = ByteBuffer.allocate(2000);
            while (in.position() < 1000) {
                ends.server().read(in);
            }
            long sent = ends.client().sendFile(file, 0, 1000);
            assertThat(sent).as("into the ring, or left to the caller").isIn(1000L, -1L);
            assertThat(ends.client().out().bytesByTcp()).isEqualTo(1000);
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
            while (sent < BYTES && (n = ends.client().sendFile(file, sent, BYTES - sent)) >= 0) {
                sent += n;
                ends.server().read(in);
            }
            assertThat(sent).as("by the kernel").isEqualTo(BYTES);
            while (in.position() < sent) {
                ends.server().read(in);
            }
            Await.until("rings", ends::areByRing);
        }
        ByteBuffer out = ByteBuffer.wrap(content, in.position(), content.length - in.position());
        while (in.hasRemaining()) {
            ends.client().write(out);
            ends.server().read(in);
        }
        assertThat(in.array()).isEqualTo(content);
        close(ends);
    }
}
