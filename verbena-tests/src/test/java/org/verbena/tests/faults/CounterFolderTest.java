// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.telemetry.CounterFolder;
import org.verbena.tests.ProgramLane;

/** The owner of the folder of counter files, with users that have other ids in their own user namespace. */
@ProgramLane
class CounterFolderTest {
    private static final int USERS = 65_536;
    private static final int USER = 1000;
    private static final int OVERFLOW = 65_534;
    private static final int STRANGER = 12_345;

    @TempDir Path dir;
    private String classes;

    @BeforeEach
    void prepare() throws Exception {
        UserNamespace.needed();
        classes = Users.jars(dir);
    }

    private Child start(Path folder, String... under) throws Exception {
        Child c = Child.of(CounterPeer.class).classPath(classes).under(under)
                .option("-D" + CounterFolder.PROPERTY + "=" + (folder == null ? "" : folder)).start();
        c.await("READY");
        return c;
    }

    private Path folderOf(int user) throws Exception {
        Path folder = Files.createDirectory(dir.resolve("folder"));
        Files.setAttribute(folder, "unix:uid", user);
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        return folder;
    }

    @Test
    void ownerOfATakenNameIsReportedWithARemedy() throws Exception {
        try (Child c = start(folderOf(STRANGER))) {
            assertThat(c.tell("warnings").await("WARNINGS")).startsWith("1 ").contains(
                    "it belongs to user " + STRANGER
                            + "; have him, or root, remove it, or name another folder with -D");
        }
    }

    /** The folder looks as if it were this user's: its owner is not mapped either. */
    @Test
    void overflowUserIdProvesNothing() throws Exception {
        try (UserNamespace a = UserNamespace.of(UserNamespace.STRANGERS, USERS);
                Child c = start(folderOf(UserNamespace.STRANGERS + USERS + 1), a.enter(OVERFLOW))) {
            assertThat(c.tell("warnings").await("WARNINGS")).startsWith("1 ").contains("proves nothing");
        }
        try (UserNamespace a = UserNamespace.of(UserNamespace.STRANGERS, USERS);
                Child c = start(dir.resolve("folder"), a.enter(USER))) {
            assertThat(c.tell("warnings").await("WARNINGS")).startsWith("1 ").contains(
                    "it belongs to a user whom this user namespace does not map");
        }
    }

    /** /dev/shm may be that of the machine: there the name would belong to the user of the machine with that id. */
    @Test
    void userNamespaceHasItsOwnNames() throws Exception {
        Path machines = Path.of("/dev/shm/verbena-" + USER);
        boolean before = Files.exists(machines);
        try (UserNamespace a = UserNamespace.of(UserNamespace.STRANGERS, USERS);
                Child c = start(null, a.enter(USER));
                Child other = start(null, a.enter(USER))) {
            String namespace = Files.readSymbolicLink(Path.of("/proc/" + c.pid() + "/ns/user")).toString()
                    .replaceAll("[^0-9]", "");
            assertThat(Path.of(machines + "-" + namespace)).isDirectoryContaining(
                    f -> f.getFileName().toString().startsWith(c.pid() + "-"));
            assertThat(Files.exists(machines)).isEqualTo(before);
            assertThat(c.tell("list").await("LIST")).contains(Long.toString(other.pid()));
        }
    }
}
