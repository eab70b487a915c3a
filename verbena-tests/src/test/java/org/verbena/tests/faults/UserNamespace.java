// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Assumptions;

import org.verbena.testkit.Finished;

/** A user namespace of a test's own, whose ids from 0 on are users of this machine; it ends with what lives in it. */
final class UserNamespace implements AutoCloseable {
    /** Users of the machine that have no account, as a rule. */
    static final int STRANGERS = 400_000_000;

    /** Lives in the namespace until its input ends. */
    private final Process holder;

    private UserNamespace(Process holder) {
        this.holder = holder;
    }

    /** Skips the test, with a line, unless this process may make such namespaces. */
    static void needed() throws IOException, InterruptedException {
        Users.needsRoot("map users of a namespace to those of the machine");
        Finished probe = Finished.run("unshare", "--user", "--pid", "--mount", "--fork", "true");
        if (probe.code() != 0) {
            System.out.println("SKIPPED: the kernel makes no user and PID namespaces here: " + probe.output().strip());
            Assumptions.abort("no namespaces");
        }
    }

    /** With the users of the machine from {@code first} on. */
    static UserNamespace of(int first, int users) throws IOException, InterruptedException {
        Process holder = new ProcessBuilder("unshare", "--user", "sh", "-c", "echo begun; exec cat")
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        assertThat(holder.inputReader(StandardCharsets.UTF_8).readLine()).isEqualTo("begun");
        for (String map : List.of("gid_map", "uid_map")) {
            Files.writeString(Path.of("/proc/" + holder.pid(), map), "0 " + first + " " + users + "\n");
        }
        return new UserNamespace(holder);
    }

    /** What starts a program in it as one of its users. */
    String[] enter(int uid) {
        List<String> command = new ArrayList<>(List.of("nsenter", "--user=/proc/" + holder.pid() + "/ns/user", "--"));
        command.addAll(List.of("setpriv", "--reuid=" + uid, "--regid=" + uid, "--clear-groups"));
        return command.toArray(String[]::new);
    }

    @Override
    public void close() throws InterruptedException {
        holder.destroyForcibly().waitFor();
    }
}
