package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Two processes and a stream between them by rings: one is killed, or stopped for a while. */
class StreamFaultTest {
    private static final long FOR_EVER = Long.MAX_VALUE;
    /** A second is promised; a machine that runs other tests as well may take longer. */
    private static final long PROMPT_MILLIS = 15_000;

    private static Child start(Object... arguments) throws Exception {
        return Child.of(StreamPeer.class).option("--add-exports", "java.base/sun.nio.ch=ALL-UNNAMED", "--add-exports",
                "java.base/sun.net=ALL-UNNAMED").start(arguments);
    }

    @Test
    void aReaderOfAKilledWriterGetsWhatWasWrittenAndTheEnd() throws Exception {
        for (int i = 0; i < 3; i++) {
            try (Child reader = start("reader"); Child writer = start("writer", reader.await("port"), FOR_EVER)) {
                reader.await("ring");
                Thread.sleep(30L * i);
                writer.kill();
                String[] end = reader.await("end").split(" ", 3); // each byte was compared
                assertThat(Long.parseLong(end[0])).isPositive();
                assertThat(Long.parseLong(end[1])).as("milliseconds until the end: %s", end[2])
                        .isLessThan(PROMPT_MILLIS);
            }
        }
    }

    @Test
    void aWriterToAKilledReaderIsTold() throws Exception {
        try (Child reader = start("reader"); Child writer = start("writer", reader.await("port"), FOR_EVER)) {
            writer.await("ring");
            reader.kill();
            assertThat(writer.await("failed")).isNotBlank();
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
