// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import org.verbena.stack.ip.FrameFuzz;
import org.verbena.stack.tcp.SegmentFuzz;

/** Runs the inputs that {@code config/fuzz} has found so far. */
final class CorpusTest {
    private static final Path CORPUS = Path.of("src/test/corpus");

    /** Runs an input. */
    private interface Target {
        void run(byte[] input) throws Exception;
    }

    private static void each(String name, Target target) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.list(CORPUS.resolve(name))) {
            files = all.sorted().toList();
        }
        assertThat(files).hasSizeGreaterThan(100);
        for (Path file : files) {
            byte[] input = Files.readAllBytes(file);
            assertThatCode(() -> target.run(input)).as(file.toString()).doesNotThrowAnyException();
        }
    }

    @Test
    void frames() throws IOException {
        each("frames", FrameFuzz::fuzzerTestOneInput);
    }

    @Test
    void segments() throws IOException {
        each("segments", SegmentFuzz::fuzzerTestOneInput);
    }
}
