// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.compat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.verbena.tests.compat.Versions.Version.NEW;
import static org.verbena.tests.compat.Versions.Version.OLD;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.verbena.testkit.Thorough;
import org.verbena.tests.BesideOthers;
import org.verbena.tests.compat.Versions.Version;

/**
 * Old and new applications, compiled against old and new headers, on old and new libraries with old and new providers:
 * the eight rows of the document of 2015, times two. The jars are those of this build, the new ones are created from
 * its sources by {@link NextVersion}, and every run is a fresh JVM in which bytes flow.
 *
 * <pre>
 * row  App  Header  Lib
 *  1   old  old     old   works
 *  2   old  old     new   works
 *  3   old  new     old   works
 *  4   old  new     new   works
 *  5   new  old     old   does not compile
 *  6   new  old     new   does not compile
 *  7   new  new     old   works: what is new is not supported
 *  8   new  new     new   works
 * </pre>
 */
@BesideOthers
class CompatibilityTest {
    private static final String[] OLD_APP = {"Say", "Traffic", "OldApp", "StrangeOpcode", "Answering"};
    private static final String[] NEW_APP = {"Say", "Traffic", "NewApp", "NewCalls", "Demanding", "Careless", "Asking"};

    @TempDir static Path folder;

    private static Versions versions;
    /** The output of an old application when everything is old. */
    private static String before;

    @BeforeAll
    static void compileOnce() {
        versions = new Versions(folder);
        assertThat(versions.compile(OLD, oldApp(OLD), OLD_APP)).isEmpty();
        assertThat(versions.compile(NEW, oldApp(NEW), OLD_APP)).isEmpty();
        assertThat(versions.compile(NEW, newApp(), NEW_APP)).isEmpty();
        before = run(OLD, OLD, oldApp(OLD), "OldApp").out();
    }

    private static Path oldApp(Version header) {
        return folder.resolve("old-app-" + header);
    }

    private static Path newApp() {
        return folder.resolve("new-app");
    }

    /** Runs to a successful end, with the intended jars. */
    private static Run run(Version lib, Version provider, Path classes, String main, String... options) {
        Run r = Run.onModulePath(versions.runtime(lib, provider), classes, main, folder, options);
        assertThat(r.err()).isEmpty();
        assertThat(r.code()).as(r.out()).isZero();
        assertThat(r.loaded()).containsPattern("org.verbena.verbs.Verbs source: \\S*" + versions.verbs(lib))
                .containsPattern("org.verbena.shm.ShmContext source: \\S*" + versions.shm(provider));
        return r;
    }

    @Test
    void oldApplicationPrintsItsExpectedOutput() {
        assertThat(before).contains("device: shm0, shm, shared memory\n", "open nothing: ENODEV\n",
                "supports qp.rc: true\n", "supports beacon.old: false\n", "values of an unknown kind: EOPNOTSUPP\n",
                "sender: 2 SUCCESS SEND 8", "sender: 4 SUCCESS FETCH_ADD 8", "receiver: 1 SUCCESS RECV 8 WITH_IMM 9\n",
                "received: 4711\n", "read back: 4712\n", "event: ESTABLISHED\n", "receiver: 6 SUCCESS RECV 8",
                "modify without a transition: EINVAL\n", "end: closed\n").doesNotContain("problem");
    }

    static Stream<Arguments> oldApplications() {
        List<Arguments> all = new ArrayList<>();
        for (Version header : Version.values()) {
            for (Version lib : Version.values()) {
                for (Version provider : Version.values()) {
                    if (header == NEW ^ lib == NEW ^ provider == NEW || Thorough.ON) { // any two of them in all combinations
                        all.add(Arguments.of(header, lib, provider));
                    }
                }
            }
        }
        return all.stream();
    }

    @ParameterizedTest(name = "rows 1 to 4: header {0}, lib {1}, provider {2}")
    @MethodSource("oldApplications")
    void oldApplicationSeesNoChange(Version header, Version lib, Version provider) {
        assertThat(run(lib, provider, oldApp(header), "OldApp", "-Xverify:all").out()).isEqualTo(before);
    }

    @ParameterizedTest(name = "lib {0}, provider {1}")
    @CsvSource({"OLD, OLD", "OLD, NEW", "NEW, OLD", "NEW, NEW"})
    void unknownOpcodePrintsAsItsNumber(Version lib, Version provider) {
        String opcode = provider == OLD ? "RECV" : lib == OLD ? "200" : "RECV_BEACON";
        assertThat(run(lib, provider, oldApp(OLD), "StrangeOpcode").out())
                .isEqualTo("receiver: 1 SUCCESS " + opcode + " 8 WITH_IMM 12495876\n");
    }

    @ParameterizedTest(name = "rows 5 and 6: lib {0}")
    @EnumSource(Version.class)
    void newApplicationDoesNotCompileAgainstAnOldHeader(Version lib) {
        List<String> errors = versions.compile(OLD, folder.resolve("never-" + lib), NEW_APP);
        assertThat(errors).hasSizeGreaterThan(10).allSatisfy(e -> assertThat(e).contains("cannot find symbol"));
        for (String name : List.of("BEACON", "BeaconAttributes", "pace(int)", "beacons()",
                "beacon(int,int)", "WITH_BEACON")) {
            assertThat(errors).as(name).anySatisfy(e -> assertThat(e).contains(name));
        }
    }

    @ParameterizedTest(name = "row 7: provider {0}")
    @EnumSource(Version.class)
    void newApplicationThatChecksTheLevelRunsOnAnOldLibrary(Version provider) {
        Run r = run(OLD, provider, newApp(), "NewApp", "-Xverify:all");
        assertThat(r.out()).isEqualTo("compiled for: 2\nruns with: 1\n" + traffic()
                + "beacon: not here\nend: closed\n");
        assertThat(r.loaded()).doesNotContain("NewCalls", "Beacon");
    }

    @Test
    void oldProviderRefusesEveryNewFeature() {
        assertThat(run(NEW, OLD, newApp(), "NewApp", "-Xverify:all").out()).isEqualTo("compiled for: 2\nruns with: 2\n"
                + traffic() + """
                        beacon: not here
                        new verb: EOPNOTSUPP
                        new bit, QP creation: EOPNOTSUPP
                        new bit, QP: EOPNOTSUPP
                        new bit, CQ creation: EOPNOTSUPP
                        new flag, CQ creation: EOPNOTSUPP
                        new completion field: EOPNOTSUPP
                        new bit, path: EOPNOTSUPP
                        new bit, connection: EOPNOTSUPP
                        new bit, registration: EOPNOTSUPP
                        new bit, parent domain: EOPNOTSUPP
                        new bit, SRQ creation: EOPNOTSUPP
                        new bit, XRC domain: EOPNOTSUPP
                        new bit, opening of a QP: EOPNOTSUPP
                        new access right: EOPNOTSUPP
                        new hint: 4096
                        new value: EOPNOTSUPP
                        new field, device: OptionalInt.empty
                        new field, port: OptionalInt.empty
                        new operation: EOPNOTSUPP
                        new operation without a batch: EINVAL
                        end: closed
                        """);
    }

    @Test
    void newProviderHasEveryNewFeature() {
        assertThat(run(NEW, NEW, newApp(), "NewApp", "-Xverify:all").out()).isEqualTo("compiled for: 2\nruns with: 2\n"
                + traffic() + """
                        beacon: 3
                        new verb: 1
                        new bit, QP creation: 2
                        new bit, QP: done
                        new bit, CQ creation: true
                        new flag, CQ creation: true
                        new completion field: true
                        new bit, path: RTR
                        new bit, connection: done
                        new bit, registration: 64
                        new bit, parent domain: true
                        new bit, SRQ creation: 3
                        new bit, XRC domain: false
                        new bit, opening of a QP: RESET
                        new access right: EOPNOTSUPP
                        new hint: 4096
                        new value: OptionalInt[1]
                        new field, device: OptionalInt[3]
                        new field, port: OptionalInt[2]
                        new operation: posted
                        receiver: 8 SUCCESS RECV_BEACON 8 WITH_IMM 12495876
                        new operation without a batch: EINVAL
                        end: closed
                        """);
    }

    /** The output of {@code Traffic}, which never changes. */
    private static String traffic() {
        return before.substring(before.indexOf("sender:"), before.indexOf("end:"));
    }

    /** Two processes of one host, one of which was updated first. */
    @ParameterizedTest(name = "old application on lib {0}, provider {1}; new application with what is new: {2}")
    @CsvSource({"OLD, OLD, false, RECV 8 WITH_IMM 5", "OLD, NEW, false, RECV 8 WITH_IMM 5",
        "NEW, NEW, false, RECV 8 WITH_IMM 5", "OLD, NEW, true, 200 8 WITH_IMM 12495876",
        "NEW, NEW, true, RECV_BEACON 8 WITH_IMM 12495876"})
    void processesOfTwoVersionsCommunicate(Version lib, Version provider, boolean beacon, String heard) {
        try (Run.Started answering = Run.start(versions.runtime(lib, provider), oldApp(OLD), "Answering", folder,
                List.of(), List.of())) {
            List<String> arguments = new ArrayList<>(List.of(answering.firstLine().replace("port: ", "")));
            if (beacon) {
                arguments.add("beacon");
            }
            Run asking = Run.start(versions.runtime(NEW, NEW), newApp(), "Asking", folder, List.of(), arguments).end();
            assertThat(asking.err()).isEmpty();
            assertThat(asking.out().lines()).containsExactlyInAnyOrder("heard: 2 SUCCESS SEND 8 0",
                    "heard: 1 SUCCESS RECV 16 0");
            Run answered = answering.end();
            assertThat(answered.err()).isEmpty();
            assertThat(answered.out().lines().skip(1)).containsExactly("asked: 1 SUCCESS " + heard,
                    "answered: 2 SUCCESS SEND 16 0");
        }
    }

    @Test
    void applicationNeedingANewerLevelGetsOneSentence() {
        Run r = Run.onModulePath(versions.runtime(OLD, NEW), newApp(), "Demanding", folder);
        assertThat(r.code()).isEqualTo(3);
        assertThat(r.err()).isEmpty();
        assertThat(r.out()).isEqualTo(
                "refused: require API level 2: EOPNOTSUPP: the program needs Verbena's API level 2, "
                        + "but the verbena-verbs jar that runs has 1: put a newer one on the path\n");
        assertThat(Run.onModulePath(versions.runtime(NEW, OLD), newApp(), "Demanding", folder).out())
                .isEqualTo("runs with: 2\n");
    }

    /** Like C programs that end with "undefined symbol": not a promise, but the behaviour without the check. */
    @Test
    void applicationWithoutTheCheckFailsAtTheMissingCall() {
        Run r = Run.onModulePath(versions.runtime(OLD, OLD), newApp(), "Careless", folder);
        assertThat(r.code()).isEqualTo(1);
        assertThat(r.out()).isEqualTo(traffic());
        assertThat(r.err()).containsPattern("NoSuchMethodError|NoClassDefFoundError").contains("Beacon");
    }
}
