// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.testkit.ClassPathArchive;
import org.verbena.tests.BesideOthers;

/** Fails if a change to the options or the archive of child processes makes the archive unused. */
@BesideOthers
class ChildArchiveTest {
    private static final String ARCHIVED = " source: shared objects file";

    @TempDir private Path folder;

    @Test
    void childrenStartFromTheClassArchive() throws Exception {
        if (!ClassPathArchive.isPossible()) {
            System.out.println(
                    "ChildArchiveTest.childrenStartFromTheClassArchive: skipped, it needs jars (mvn verify)");
            return;
        }
        Path log = folder.resolve("classes");
        try (Child child = Child.of(ToolPeer.class).option("-Xlog:class+load:file=" + log).start()) {
            child.await("GID");
            child.end();
        }
        assertThat(log).content().contains("org.verbena.shm.ShmContext" + ARCHIVED, ToolPeer.class.getName()
                + ARCHIVED);
    }
}
