// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.tests.ProgramLane;

/** A writer and its process have ended before the other end reads its first byte. */
@ProgramLane
class LateReaderTest {
    /** The session with the dead process is aborted before that. */
    private static final long LATE_MILLIS = 2000;

    private static Child start(String property, Object... arguments) throws Exception {
        return Child.of(StreamPeer.class).option(property, "-Dverbena.stream.patience=60000").start(arguments);
    }

    /** Most of them arrived by TCP, the last ones are in the ring. */
    @ParameterizedTest
    @ValueSource(longs = {3000, 100_000})
    void lateReaderGetsAllBytes(long bytes) throws Exception {
        try (Child reader = start("-DreadWhenTold=true", "reader");
                Child writer = start("-DexitAtOnce=true", "writer", reader.await("port"), bytes)) {
            writer.await("ring");
            String written = writer.await("written");
            writer.end();
            Thread.sleep(LATE_MILLIS);
            reader.tell("read");
            assertThat(reader.await("end")).startsWith(written + " ").endsWith(" orderly"); // each byte was compared
        }
    }
}
