// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

/** Replays the corpus of {@code config/fuzz remote-memory}. */
class CorpusTest {
    private static final Path CORPUS = Path.of("src/test/corpus/remote-memory");

    @Test
    void corpusRunsClean() throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.list(CORPUS)) {
            files = all.sorted().toList();
        }
        assertThat(files).hasSizeGreaterThan(100);
        for (Path file : files) {
            byte[] input = Files.readAllBytes(file);
            assertThatCode(() -> MessagesFuzz.fuzzerTestOneInput(input)).as(file.toString())
                    .doesNotThrowAnyException();
        }
    }
}
