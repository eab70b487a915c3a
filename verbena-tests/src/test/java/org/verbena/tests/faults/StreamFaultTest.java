package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two processes and a stream between them by rings: one is killed, or stopped for a while. */
class StreamFaultTest {
    private static final long FOR_EVER = Long.MAX_VALUE;
    /** As with TCP; of several, since a machine that runs other tests as well may take longer now and then. */
    private static final long PROMPT_MILLIS = 1000;
    private static final long LONGEST_MILLIS = 60_000;
    private static final int ROUNDS = 3;

    private static Child start(Object... arguments) throws Exception {
        return Child.of(StreamPeer.class).option("--add-exports", "java.base/sun.nio.ch=ALL-UNNAMED", "--add-exports",
                "java.base/sun.net=ALL-UNNAMED", "-Dverbena.stream.patience=60000").start(arguments);
    }

    @Test
    void aReaderOfAKilledWriterGetsWhatWasWrittenAndTheEnd() throws Exception {
        long shortest = FOR_EVER;
        for (int i = 0; i < ROUNDS; i++) {
            try (Child reader = start("reader"); Child writer = start("writer", reader.await("port"), FOR_EVER)) {
                reader.await("ring");
                Thread.sleep(30L * i);
                writer.kill();
                String[] end = reader.await("end").split(" ", 3); // each byte was compared
                assertThat(Long.parseLong(end[0])).isPositive();
                long millis = Long.parseLong(end[1]);
                assertThat(millis).isLessThan(LONGEST_MILLIS);
                shortest = Math.min(shortest, millis);
            }
        }
        assertThat(shortest).as("milliseconds until the end").isLessThan(PROMPT_MILLIS);
    }

    @Test
    void aWriterToAKilledReaderIsTold() throws Exception {
        long shortest = FOR_EVER;
        for (int i = 0; i < ROUNDS; i++) {
            try (Child reader = start("reader"); Child writer = start("writer", reader.await("port"), FOR_EVER)) {
                writer.await("ring");
                long killed = System.nanoTime();
                reader.kill();
                assertThat(writer.await("failed")).isNotBlank();
                long millis = (System.nanoTime() - killed) / 1_000_000;
                assertThat(millis).isLessThan(LONGEST_MILLIS);
                shortest = Math.min(shortest, millis);
            }
        }
        assertThat(shortest).as("milliseconds until it is told").isLessThan(PROMPT_MILLIS);
    }

    /** Before the ends know of each other, while they agree, and when rings have just taken over. */
    @ParameterizedTest
    @ValueSource(ints = {0, 2, 5, 20, 50, 100, 200, 400})
    void aWriterIsKilledWhileTheEndsAgree(int millis) throws Exception {
        try (Child reader = start("reader"); Child writer = start("writer", reader.await("port"), FOR_EVER)) {
            writer.await("connected");
            Thread.sleep(millis);
            writer.kill();
            assertThat(reader.await("end")).matches("[0-9]+ [0-9]+ .*"); // each byte was compared
        }
    }

    @Test
    void aReaderOfAStoppedWriterGetsEverythingWhenThatGoesOn() throws Exception {
        try (Child reader = start("reader"); Child writer = start("writer", reader.await("port"), 200_000_000)) {
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
    void aStoppedReaderGetsEverythingWhenItGoesOn() throws Exception {
        try (Child reader = start("reader"); Child writer = start("writer", reader.await("port"), 200_000_000)) {
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
