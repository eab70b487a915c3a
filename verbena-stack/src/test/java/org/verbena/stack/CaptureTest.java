// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.FutureTask;

import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.verbena.linux.Errno;
import org.verbena.stack.model.CaptureStatistics;
import org.verbena.verbs.VerbsException;

/** Files of a stack's frames, read record by record. */
final class CaptureTest {
    private static final int FILE_HEADER = 24;
    private static final int RECORD_HEADER = 16;
    private static final int SNAP = 200;
    private static final int BYTES = 300_000;
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @TempDir Path folder;

    /** The frames of a file. */
    private record Frames(int count, int longest, int longestHere) {
        static Frames of(Path file) throws Exception {
            ByteBuffer b = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN).position(
                    FILE_HEADER);
            int count = 0;
            int longest = 0;
            int longestHere = 0;
            while (b.hasRemaining()) {
                int at = b.position();
                Instant time = Instant.ofEpochSecond(b.getInt(at), b.getInt(at + 4));
                assertThat(time).isBetween(Instant.now().minusSeconds(300), Instant.now().plusSeconds(1));
                int here = b.getInt(at + 8);
                int length = b.getInt(at + 12);
                assertThat(here).isLessThanOrEqualTo(length);
                longest = Math.max(longest, length);
                longestHere = Math.max(longestHere, here);
                b.position(at + RECORD_HEADER + here);
                count++;
            }
            return new Frames(count, longest, longestHere);
        }
    }

    /** A connection by which bytes go there and back. */
    private static void talk(Stack stack, TcpServer server) throws Exception {
        FutureTask<Integer> echo = new FutureTask<>(() -> {
            try (TcpSocket s = server.accept(PATIENCE)) {
                ByteBuffer b = ByteBuffer.allocate(BYTES);
                boolean more = true;
                while (more && b.hasRemaining()) {
                    more = s.read(b) >= 0;
                }
                return s.write(b.flip());
            }
        });
        Thread.ofPlatform().daemon().start(echo);
        try (Socket s = new Socket(stack.address(), server.port())) {
            s.getOutputStream().write(new byte[BYTES]);
            assertThat(s.getInputStream().readAllBytes()).hasSize(BYTES);
        }
        assertThat(echo.get()).isEqualTo(BYTES);
    }

    @ParameterizedTest
    @EnumSource(StackLink.Link.class)
    void framesAreWrittenUpToTheSnapLength(StackLink.Link link) throws Exception {
        Path cut = folder.resolve("cut.pcap");
        Path whole = folder.resolve("whole.pcap");
        StackLink.run(link, stack -> {
            try (TcpServer server = stack.listenTcp(0, 4)) {
                StackCapture capture = stack.capture(cut, SNAP);
                assertThatThrownBy(() -> stack.capture(whole)).isInstanceOfSatisfying(VerbsException.class,
                        e -> assertThat(
                                e.errno()).isEqualTo(Errno.EBUSY));
                talk(stack, server);
                capture.close();
                CaptureStatistics first = capture.statistics();
                Frames frames = Frames.of(cut);
                assertThat(first).isEqualTo(new CaptureStatistics(frames.count, 0, ""));
                assertThat(frames.longestHere).isEqualTo(SNAP);
                assertThat(frames.longest).isGreaterThan(1400);
                talk(stack, server);
                assertThat(capture.statistics()).isEqualTo(first);
                stack.capture(whole); // which the stack's end closes
                talk(stack, server);
            }
        });
        Frames frames = Frames.of(whole);
        assertThat(frames.longestHere).isEqualTo(frames.longest);
        assertThat(frames.count).isGreaterThan(10);
    }

    @ParameterizedTest
    @EnumSource(StackLink.Link.class)
    void theSegmentsOfOneConnectionAreWritten(StackLink.Link link) throws Exception {
        Path all = folder.resolve("all.pcap");
        StackLink.run(link, stack -> {
            try (TcpServer server = stack.listenTcp(0, 4);
                    Socket k = new Socket(stack.address(), server.port());
                    TcpSocket s = Objects.requireNonNull(server.accept(PATIENCE))) {
                try (StackCapture capture = s.capture(all)) {
                    talk(stack, server); // another one's
                    assertThat(capture.statistics().frames()).isZero();
                    s.write(ByteBuffer.allocate(1));
                    assertThat(k.getInputStream().read()).isZero();
                    k.getOutputStream().write(1);
                    assertThat(s.read(ByteBuffer.allocate(1), PATIENCE)).isEqualTo(1);
                    assertThat(capture.statistics().frames()).isGreaterThanOrEqualTo(2);
                    assertThat(capture.statistics().lost()).isZero();
                    assertThatThrownBy(() -> stack.capture(folder.resolve("x"))).isInstanceOf(VerbsException.class);
                }
            }
        });
        Frames frames = Frames.of(all);
        assertThat(frames.longest).as("of segments of a byte").isLessThan(100);
        assertThat(frames.count).isGreaterThanOrEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource(value = StackLink.Link.class, names = "TAP")
    void aFileThatCannotBeWrittenIsRefused(StackLink.Link link) throws Exception {
        StackLink.run(link, stack -> {
            assertThatThrownBy(() -> stack.capture(folder.resolve("no/such.pcap"))).hasMessageContaining(
                    "packets cannot be written to " + folder);
            assertThatThrownBy(() -> stack.capture(Path.of("/dev/full"))).hasMessageContaining("/dev/full");
            assertThatThrownBy(() -> stack.capture(folder.resolve("x"), 10)).isInstanceOf(
                    IllegalArgumentException.class);
            stack.capture(folder.resolve("after")).close(); // none has stayed
        });
    }
}
