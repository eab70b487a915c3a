// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.testkit.Await;
import org.verbena.testkit.Thorough;

/** Two processes and a stream between them by rings: one is killed, or stopped for a while. */
class StreamFaultTest {
    private static final int ROUNDS = 3;
    /** Takes far longer than a signal. */
    private static final int BYTES = Thorough.ON ? 200_000_000 : 60_000_000;

    private static Child start(Object... arguments) throws Exception {
        return Child.of(StreamPeer.class).option("-Dverbena.stream.patience=60000").start(arguments);
    }

    /** A program that opens plain channels, which its selector provider implements by Verbena. */
    private static Child startFlow() throws Exception {
        return Child.of(FlowPeer.class).option("-Dverbena.stream.patience=60000",
                "-Djava.nio.channels.spi.SelectorProvider=org.verbena.sockets.VerbenaSelectorProvider").start();
    }

    private static void connect(KillRounds.Ends ends) throws Exception {
        for (String kind : List.of("channel", "selector")) {
            ends.connect(kind, "rw");
            ends.accept(kind, "rw");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"client", "server"})
    void deathOfThePeerIsReported(String victim) throws Exception {
        new KillRounds(victim, StreamFaultTest::startFlow).run(ROUNDS, (ends, _) -> {
            connect(ends);
            assertThat(ends.survivor().tell("decide").await("DECIDED")).isEqualTo("stream stream");
            ends.survivor().tell("flow").await("FLOWING");
        }).close();
    }

    /** Before the ends know of each other, while they agree, and when rings have just taken over. */
    @ParameterizedTest
    @ValueSource(strings = {"client", "server"})
    void deathOfThePeerDuringTheHandshakeIsReported(String victim) throws Exception {
        List<Long> pauses = Thorough.ON
                ? List.of(0L, 1L, 2L, 3L, 5L, 10L, 20L, 50L, 100L)
                : List.of(0L, 3L, 20L);
        new KillRounds(victim, StreamFaultTest::startFlow).run(pauses.size(), (ends, number) -> {
            connect(ends);
            Await.during(Duration.ofMillis(pauses.get(number))); // the moment, whatever has come about by then
        }).close();
    }

    @Test
    void readerOfAStoppedWriterGetsEverythingAfterContinue() throws Exception {
        try (Child reader = start("reader"); Child writer = start("writer", reader.await("port"), BYTES)) {
            reader.await("ring");
            writer.stop();
            Thread.sleep(500);
            writer.proceed();
            String written = writer.await("written");
            String[] end = reader.await("end").split(" ", 3);
            assertThat(end[0]).isEqualTo(written);
            assertThat(end[2]).isEqualTo("orderly");
        }
    }

    @Test
    void stoppedReaderGetsEverythingAfterContinue() throws Exception {
        try (Child reader = start("reader"); Child writer = start("writer", reader.await("port"), BYTES)) {
            writer.await("ring");
            reader.stop();
            Thread.sleep(500);
            reader.proceed();
            String written = writer.await("written");
            String[] end = reader.await("end").split(" ", 3);
            assertThat(end[0]).isEqualTo(written);
            assertThat(end[2]).isEqualTo("orderly");
        }
    }
}
