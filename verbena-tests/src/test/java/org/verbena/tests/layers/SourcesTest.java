// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.layers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import org.verbena.tests.Repository;

/** What holds for each file of source code, whatever it does. */
class SourcesTest {
    private static final String LICENCE = "SPDX-License-Identifier: Apache-2.0";
    private static final int MAX_LINES = 600;

    @Test
    void everyFileNamesItsLicence() throws IOException {
        assertThat(sources()).hasSizeGreaterThan(1500)
                .allSatisfy(file -> assertThat(lines(file).stream().limit(2))
                        .as(Repository.root().relativize(file).toString())
                        .anyMatch(line -> line.endsWith(LICENCE)));
    }

    @Test
    void noFileIsTooLong() throws IOException {
        List<String> tooLong = sources().stream().filter(file -> lines(file).size() > MAX_LINES)
                .map(file -> Repository.root().relativize(file).toString()).sorted().toList();
        assertThat(tooLong).as("longer than %d lines", MAX_LINES).isEmpty();
    }

    private static List<Path> sources() throws IOException {
        List<Path> found = new ArrayList<>();
        for (Path file : Repository.files()) {
            if (isSource(file)) {
                found.add(file);
            }
        }
        return found;
    }

    private static boolean isSource(Path file) throws IOException {
        String name = file.getFileName().toString();
        if (name.matches(".*\\.(java|c|h|sh)")) {
            return true;
        }
        return name.indexOf('.') < 0 && Files.isExecutable(file) && Files.size(file) > 2
                && lines(file).getFirst().startsWith("#!");
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readString(file, StandardCharsets.ISO_8859_1).lines().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
