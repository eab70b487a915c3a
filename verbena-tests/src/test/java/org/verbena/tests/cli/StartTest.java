// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.contentOf;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.tests.CommandLane;
import org.verbena.tests.cli.CommandProcess.Result;

/** Work that a start of the command avoids. */
@CommandLane
class StartTest {
    private static final List<String> LOADED = List.of("-Xlog:class+load:stderr");

    @TempDir private Path folder;

    private static String loaded(List<String> options, String... arguments) throws Exception {
        try (CommandProcess p = CommandProcess.startWith(options, List.of(), arguments)) {
            Result r = p.end();
            assertThat(r.code()).as(r.err()).isZero();
            return r.out() + r.err();
        }
    }

    /**
     * A change of the start options, or of the contents of the archive, fails here if the archive is not used any more.
     */
    @Test
    void commandsOfTestsStartFromTheClassArchive() throws Exception {
        if (!CommandArchive.isPossible()) {
            System.out.println(
                    "StartTest.commandsOfTestsStartFromTheClassArchive: skipped, it needs jars (mvn verify)");
            return;
        }
        String archived = "org.verbena.shm.ShmContext source: shared objects file";
        // class files in Java 5's format
        String parser = "picocli.CommandLine source: shared objects file";
        assertThat(loaded(LOADED, "devices")).contains(archived).contains(parser);
        try (CopyProcess p = CopyProcess.start(List.of("env", "JDK_JAVA_OPTIONS=" + LOADED.getFirst()),
                CopyProcess.modulePath(), "--help")) {
            assertThat(p.expect(0).err()).contains(parser); // opens no device
        }
        // the processes that it starts, too
        assertThat(loaded(List.of("-Xlog:class+load:file=" + folder + "/%p"), "perf", "write-lat", "-s", "8", "-n",
                "1"))
                .isNotEmpty();
        try (Stream<Path> logs = Files.list(folder)) {
            assertThat(logs).hasSizeGreaterThan(2).allSatisfy(l -> assertThat(l).content().contains(parser))
                    // the first one opens no device
                    .filteredOn(l -> contentOf(l.toFile()).contains(archived)).hasSizeGreaterThan(1);
        }
    }

    /** Its registry of types alone is a tenth of what a short command takes. */
    @Test
    void flightRecorderStaysOffWithoutARecording() throws Exception {
        String registry = "jdk.jfr.internal.TypeLibrary ";
        assertThat(loaded(LOADED, "devices")).contains("org.verbena.shm.ShmContext ").contains(
                "jdk.jfr.FlightRecorder ")
                .doesNotContain(registry);
    }
}
