// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.verbena.tests.faults.Users;

/**
 * An ordinary user id that is unused on this machine, by other test runs and by people: processes of this user find
 * only those that the test has started.
 */
final class TestUser {
    private static final int FIRST = 20_000;
    private static final int COUNT = 20_000;

    private final int uid;

    private TestUser(int uid) {
        this.uid = uid;
    }

    /** Skips the test, with a line, unless there can be such users, which only root can use. */
    static void needed(String what) {
        Users.needsRoot("start commands as other users: " + what);
    }

    /** One of this test run's users, by a small number. */
    static TestUser number(int n) {
        return new TestUser(FIRST + (int) (ProcessHandle.current().pid() % COUNT) + n * COUNT);
    }

    int uid() {
        return uid;
    }

    /** The command prefix for this user. */
    List<String> command() {
        return List.of("setpriv", "--reuid=" + uid, "--regid=" + uid, "--clear-groups");
    }

    /** Creates a directory that belongs to this user, below one that everybody may traverse. */
    Path directory(Path parent, String name) throws IOException, InterruptedException {
        Path d = Files.createDirectory(parent.resolve(name));
        run("chmod", "711", parent.toString());
        run("chown", String.valueOf(uid), d.toString());
        return d;
    }

    static void run(String... command) throws IOException, InterruptedException {
        assertThat(new ProcessBuilder(command).inheritIO().start().waitFor()).as(String.join(" ", command)).isZero();
    }
}
