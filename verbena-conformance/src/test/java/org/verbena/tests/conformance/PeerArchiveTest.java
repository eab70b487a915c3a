// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.testkit.ClassPathArchive;

/** Fails when the options of peers, or what their archive is made of, change so that the JVM ignores the archive. */
class PeerArchiveTest {
    private static final String ARCHIVED = " source: shared objects file";

    @TempDir private Path folder;

    @Test
    void peersStartFromTheClassArchive() throws Exception {
        if (!ClassPathArchive.isPossible()) {
            System.out.println("PeerArchiveTest.peersStartFromTheClassArchive: skipped, it needs jars (mvn verify)");
            return;
        }
        Path log = folder.resolve("classes");
        try (PeerProcess peer = PeerProcess.start(ShmConformanceTest.Fixture.class, PeerArchive.classPath(), List.of(
                "-Xlog:class+load:file=" + log))) {
            String device = peer.run(fixture -> fixture.open().device().name());
            assertThat(device).isEqualTo("shm0");
        }
        assertThat(log).content().contains("org.verbena.shm.ShmContext" + ARCHIVED, ConformancePeer.class.getName()
                + ARCHIVED);
    }
}
