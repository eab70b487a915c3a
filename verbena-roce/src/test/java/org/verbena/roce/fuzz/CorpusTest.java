// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.fuzz;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import org.verbena.roce.cm.CmFuzz;
import org.verbena.roce.link.DatagramFuzz;
import org.verbena.roce.transport.PacketFuzz;

/** Runs the inputs that {@code config/fuzz} has found so far, and a prefix of each. */
class CorpusTest {
    private static final Path CORPUS = Path.of("src/test/corpus");

    /** Runs an input. */
    @FunctionalInterface
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
    void packets() throws IOException {
        each("packets", PacketFuzz::fuzzerTestOneInput);
    }

    @Test
    void datagrams() throws IOException {
        each("datagrams", DatagramFuzz::fuzzerTestOneInput);
    }

    @Test
    void connections() throws IOException {
        each("connections", CmFuzz::fuzzerTestOneInput);
    }
}
