// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OtherProcessTest {
    private static final int SIGQUIT = 3;

    @TempDir private Path proc;

    @Test
    void jvmHandlesSigquit() throws Exception {
        assertThat(OtherProcess.catches(Path.of("/proc/self"), SIGQUIT)).isTrue();
        Process sleep = new ProcessBuilder("sleep", "60").start();
        try {
            assertThat(OtherProcess.catches(Path.of("/proc/" + sleep.pid()), SIGQUIT)).isFalse();
        } finally {
            sleep.destroyForcibly();
        }
    }

    /** The attempt to attach decides then. */
    @Test
    void processWithUnknownSignalsMayBeAJvm() throws Exception {
        assertThat(OtherProcess.catches(proc, SIGQUIT)).isTrue();
        Files.writeString(proc.resolve("status"), "Name: x\nSigCgt: nonsense\n");
        assertThat(OtherProcess.catches(proc, SIGQUIT)).isTrue();
        Files.writeString(proc.resolve("status"), "Name: x\nSigCgt:\t0000000000000004\n");
        assertThat(OtherProcess.catches(proc, SIGQUIT)).isTrue();
        Files.writeString(proc.resolve("status"), "Name: x\nSigCgt:\t0000000000000003\n");
        assertThat(OtherProcess.catches(proc, SIGQUIT)).isFalse();
    }

    /** An id that stands for all unmapped users does not identify one user. */
    @Test
    void idThatProvesNothingIsRefused() {
        assertThat(OtherProcess.refusal(7, 1000, 1000, true)).isNull();
        assertThat(OtherProcess.refusal(7, 0, 65534, false)).isNull();
        assertThat(OtherProcess.refusal(7, 1000, 1001, true)).contains("process 7 is of user 1001", "(1000)");
        assertThat(OtherProcess.refusal(7, 65534, 65534, false)).contains("process 7 is of user 65534",
                "does not map");
        assertThat(OtherProcess.refusal(7, 65534, 65534, true)).isNull();
    }
}
