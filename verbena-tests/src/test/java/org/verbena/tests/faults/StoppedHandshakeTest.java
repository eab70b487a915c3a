// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.SockDiag;
import org.verbena.testkit.Await;

/**
 * Two processes, one of which is stopped after the first message of their handshake and before the last, observed
 * through the list of Unix sockets in the kernel. The other continues by TCP, or waits like with TCP; when the first
 * continues everything arrives, and each byte is compared.
 */
class StoppedHandshakeTest {
    /** More than fits into the buffers of the kernel and into rings. */
    private static final long BYTES = 30_000_000;
    private static final int PATIENT = 60_000;
    private static final int IMPATIENT = 2000;
    private static final Duration A_WHILE = Duration.ofMillis(300);
    private static final int ROUNDS = 10;

    private static Child start(int patience, boolean acceptWhenTold, Object... arguments) throws Exception {
        return Child.of(StreamPeer.class).option("-Dverbena.stream.patience=" + patience,
                "-Dverbena.stream.delay=0", "-DacceptWhenTold=" + acceptWhenTold).start(arguments);
    }

    /** A reader, a writer that has connected, and their rendezvous. */
    private record Ends(Child reader, Child writer, int port, int writersPort, Meeting meeting)
            implements
                AutoCloseable {
        static Ends start(int readersPatience, boolean acceptWhenTold, int writersPatience) throws Exception {
            Child reader = StoppedHandshakeTest.start(readersPatience, acceptWhenTold, "reader");
            int port = reader.awaitInt("port");
            try (SockDiag diag = Meeting.open(port)) {
                Child writer = StoppedHandshakeTest.start(writersPatience, false, "writer", port, BYTES);
                int writersPort = writer.awaitInt("connected");
                return new Ends(reader, writer, port, writersPort, Meeting.of(diag, writersPort, port));
            }
        }

        /** Bytes that TCP holds for the reader. */
        long inTcp() throws IOException {
            return Proc.tcpQueues().get(port + " " + writersPort).receive();
        }

        void assertAllArrives(String by) throws Exception {
            String written = writer.await("written");
            assertThat(Long.parseLong(written)).isGreaterThanOrEqualTo(BYTES);
            String[] end = reader.await("end").split(" ", 3);
            assertThat(end[0]).isEqualTo(written);
            assertThat(end[2]).isEqualTo("orderly");
            assertThat(reader.await("by")).startsWith(by);
            assertThat(writer.await("by")).startsWith(by);
        }

        @Override
        public void close() throws IOException, InterruptedException {
            writer.close();
            reader.close();
        }
    }

    /** The end that connected waits at the name, and the other does not appear for long. */
    @ParameterizedTest(name = "the reader is stopped: {0}")
    @ValueSource(booleans = {true, false})
    void waitingPeerIsFoundAfterTheStop(boolean readerStops) throws Exception {
        try (Ends ends = Ends.start(PATIENT, true, PATIENT)) {
            ends.meeting.awaitListener();
            Child stopped = readerStops ? ends.reader : ends.writer;
            stopped.stop();
            ends.reader.tell("accept");
            if (readerStops) {
                Await.until(Child.LIMIT, () -> ends.inTcp() > 0, () -> "TCP holds nothing for the reader");
            } else {
                ends.meeting.awaitBoth(); // the reader has come to the name of a process that does not answer
            }
            stopped.proceed();
            ends.assertAllArrives("ring");
        }
    }

    @ParameterizedTest(name = "the reader is stopped: {0}")
    @ValueSource(booleans = {true, false})
    void expiredHandshakeContinuesByTcp(boolean readerStops) throws Exception {
        try (Ends ends = Ends.start(IMPATIENT, true, readerStops ? IMPATIENT : PATIENT)) {
            ends.meeting.awaitListener();
            Child stopped = readerStops ? ends.reader : ends.writer;
            Child other = readerStops ? ends.writer : ends.reader;
            stopped.stop();
            ends.reader.tell("accept");
            assertThat(other.await("decided")).isEqualTo("kernel");
            stopped.proceed();
            ends.assertAllArrives("TCP:");
        }
    }

    /** They have met, and create their session. */
    @ParameterizedTest(name = "the reader is stopped: {0}")
    @ValueSource(booleans = {true, false})
    void metPeerIsAwaited(boolean readerStops) throws Exception {
        boolean caught = false;
        for (int i = 0; i < ROUNDS && !caught; i++) {
            try (Ends ends = Ends.start(PATIENT, false, PATIENT)) {
                Await.until(Child.LIMIT, () -> ends.meeting.sockets() > 1 || ends.writer.has("decided"),
                        () -> "they never meet");
                Child stopped = readerStops ? ends.reader : ends.writer;
                stopped.stop();
                Await.during(A_WHILE);
                caught = ends.meeting.sockets() > 0; // the end that listens has not come to the end of it
                stopped.proceed();
                ends.assertAllArrives("ring");
            }
        }
        assertThat(caught).as("stopped between the first word and the last").isTrue();
    }
}
