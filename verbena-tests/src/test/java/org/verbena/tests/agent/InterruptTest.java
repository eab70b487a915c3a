// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.tests.ProgramLane;

/** A program interrupts all threads that it finds, those of Verbena among them. */
@ProgramLane
class InterruptTest {
    private static final int SOME_MILLIS = 200;

    @TempDir static Path dir;

    @Test
    void interruptedThreadsOfVerbenaGoOnAndUseNoCpu() throws Exception {
        TalkProcess.Program program = new TalkProcess.Program(dir, "Interrupts");
        try (TalkProcess p = program.start("stream.delay=0,stream.patience=60000")) {
            assertThat(p.line()).isEqualTo("interrupted");
            assertThat(p.line()).as("threads that have the group, priority or class loader of a thread of the program")
                    .isEqualTo("heirs []");
            assertThat(p.line()).as("the connection").isEqualTo("stream");
            assertThat(p.line()).as("another connection").isEqualTo("stream");
            assertThat(Integer.parseInt(p.line())).as("milliseconds of processor time in a second of rest")
                    .isLessThan(SOME_MILLIS);
        }
    }
}
