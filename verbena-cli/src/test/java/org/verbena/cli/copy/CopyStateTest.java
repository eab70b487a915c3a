// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.copy;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Objects;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CopyStateTest {
    private static final Instant TIME = Instant.ofEpochSecond(1234, 5678);

    @TempDir private Path dir;

    private CopyState open() throws Exception {
        return Objects.requireNonNull(CopyState.open(dir.resolve("x.state")));
    }

    @Test
    void stateMatchesOneVersionOfOneSource() throws Exception {
        try (CopyState s = open()) {
            assertThat(s.verified(100, TIME)).isZero();
            s.begin(100, TIME);
            s.verified(64);
        }
        try (CopyState s = open()) {
            assertThat(s.verified(100, TIME)).isEqualTo(64);
            assertThat(s.verified(101, TIME)).isZero();
            assertThat(s.verified(100, TIME.plusNanos(1))).isZero();
            assertThat(CopyState.open(dir.resolve("x.state"))).as("a second time").isNull();
            s.begin(100, TIME);
            assertThat(s.verified(100, TIME)).isZero();
        }
    }

    @Test
    void foreignFileIsNotAcceptedAsState() throws Exception {
        Files.write(dir.resolve("x.state"), new byte[10]);
        try (CopyState s = open()) {
            assertThat(s.verified(0, TIME)).isZero();
            s.begin(100, TIME);
            s.verified(101); // more than the file has
            assertThat(s.verified(100, TIME)).isZero();
        }
    }
}
