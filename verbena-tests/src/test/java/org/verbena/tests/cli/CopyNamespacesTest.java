// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.testkit.Finished;
import org.verbena.tests.NetworkLane;

/** {@code verbena copy} between PID namespaces, which shm0 does not connect: one sentence, at once, in either direction. */
@NetworkLane
class CopyNamespacesTest {
    private static final List<String> OTHER_PIDS = List.of("unshare", "--pid", "--fork", "--kill-child",
            "--mount-proc");

    /** Far longer than anything here takes: a command that waits this long did not fail at once. */
    private static final String TIMEOUT = "600";

    @TempDir private Path dir;

    private static void needed() throws IOException, InterruptedException {
        if (Finished.run("unshare", "--pid", "--fork", "--mount-proc", "true").code() != 0) {
            System.out.println("SKIPPED: this user may not make a PID namespace");
            Assumptions.abort("no namespaces");
        }
    }

    @Test
    void listenerInAnotherPidNamespaceIsNamed() throws Exception {
        assertRefused(OTHER_PIDS, List.of());
    }

    @Test
    void senderInAnotherPidNamespaceIsTold() throws Exception {
        assertRefused(List.of(), OTHER_PIDS);
    }

    private void assertRefused(List<String> listens, List<String> sends) throws Exception {
        needed();
        Path to = Files.createDirectory(dir.resolve("to"));
        Path file = Files.writeString(dir.resolve("file"), "some bytes");
        try (CopyProcess listener = CopyProcess.startQuickly(listens, CopyProcess.modulePath(), "--listen", to,
                "--port", 0);
                CopyProcess sender = CopyProcess.startQuickly(sends, CopyProcess.modulePath(), "--timeout", TIMEOUT,
                        file, listener.address())) {
            sender.expect(1);
            assertThat(sender.err().lines().filter(l -> l.contains("another PID namespace"))).as(sender.err())
                    .anyMatch(l -> l.startsWith("verbena: "));
            assertThat(to.resolve("file")).doesNotExist();
        }
    }
}
