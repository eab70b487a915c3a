// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.tests.ProgramLane;

/** Fails if a change to the options or to the archive makes the archive unused. */
@ProgramLane
class AgentArchiveTest {
    @TempDir private Path folder;

    @Test
    void programsWithTheAgentStartFromTheClassArchive() throws Exception {
        Path log = folder.resolve("loaded");
        AgentRun run = AgentRun.of(AgentRun.command(AgentRun.java(), List.of("-javaagent:" + AgentJar.in(folder)
                + "=quiet,stream.earn=0", "-Xlog:class+load:file=" + log), AgentJar.program(folder), "echo"), folder);
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(Files.readAllLines(log)).filteredOn(line -> line.contains(" jdk.internal.foreign."))
                .anyMatch(line -> line.endsWith("source: shared objects file"))
                .noneMatch(line -> line.contains("source: jrt:"));
    }
}
