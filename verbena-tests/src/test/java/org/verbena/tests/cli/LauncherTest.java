// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.linux.Sys;
import org.verbena.testkit.Await;
import org.verbena.tests.CommandLane;
import org.verbena.tests.cli.LauncherTree.Started;

/**
 * {@code ./verbena}: choice of the JDK, builds and start of the command. Maven and the JDKs are fakes; {@code .ci/run}
 * starts the real ones.
 */
@CommandLane
class LauncherTest {
    private static final String FIRST = "verbena: building, this happens once…\n";
    private static final String WAITS = "waiting for another build of the same tree";
    /** The elapsed build time on a terminal. */
    private static final Pattern SECONDS = Pattern.compile("… [0-9]+ s ");
    private static final String AGAIN = "verbena: rebuilding, the sources changed…\n";

    @TempDir private Path dir;
    private LauncherTree tree;

    @BeforeEach
    void makeTree() throws Exception {
        tree = new LauncherTree(dir);
    }

    private Started well(Started s) {
        assertThat(s.code()).as(s.err()).isZero();
        return s;
    }

    /** Refused with one sentence, and nothing was started. */
    private void assertRefused(Started s, String sentence) throws Exception {
        assertThat(s.code()).isEqualTo(1);
        assertThat(s.err()).startsWith("verbena: ").contains(sentence);
        assertThat(s.err().lines()).hasSize(1);
        assertThat(s.out()).isEmpty();
        assertThat(tree.builds()).isEmpty();
    }

    /** Marks a file as changed now, which is later than the last build by the clock of the file system. */
    private static void touch(Path file) throws Exception {
        Thread.sleep(20);
        Files.setLastModifiedTime(file, FileTime.from(Instant.now()));
    }

    // ---- which JDK

    @Test
    void oldJavaOnPathIsSkipped() throws Exception {
        tree.javaOnPath(tree.jdk("jdk-17", "17.0.9"));
        Path jdk = tree.jdk("jdk-25", "25");
        assertThat(well(tree.start()).out()).first().isEqualTo(jdk + "/bin/java");
        assertThat(tree.builds()).hasSize(1).first().asString().startsWith("JAVA_HOME=" + jdk + " ");
    }

    @Test
    void newestJdkIsChosen() throws Exception {
        Path newest = tree.jdk("b", "26-ea");
        Path _ = tree.jdk("a", "25.0.1");
        Path _ = tree.jdk("c", "9.0.4");
        assertThat(well(tree.start()).out()).first().isEqualTo(newest + "/bin/java");
    }

    @Test
    void javaHomePrecedesPathAndFolder() throws Exception {
        Path _ = tree.jdk("newest", "27");
        Path onPath = tree.jdk("path", "25.0.2");
        tree.javaOnPath(onPath);
        assertThat(well(tree.start()).out()).first().isEqualTo(onPath + "/bin/java");
        tree.variable("JAVA_HOME", tree.jdk("old", "17.0.1"));
        assertThat(well(tree.start()).out()).as("JAVA_HOME is too old").first().isEqualTo(onPath + "/bin/java");
        Path home = tree.jdk("home", "25");
        tree.variable("JAVA_HOME", home);
        assertThat(well(tree.start()).out()).first().isEqualTo(home + "/bin/java");
        tree.variable("JAVA_HOME", dir.resolve("nowhere"));
        assertThat(well(tree.start()).out()).first().isEqualTo(onPath + "/bin/java");
    }

    @Test
    void missingJdkIsReportedInOneSentence() throws Exception {
        String sentence = "no JDK 25 or newer found: install one";
        assertRefused(tree.start("devices"), sentence);
        tree.javaOnPath(tree.jdk("jdk-17", "17.0.9"));
        tree.variable("JAVA_HOME", tree.jdk("jdk-24", "24.0.2"));
        assertRefused(tree.start(), sentence);
        Files.delete(tree.jdk("jre-25", "25").resolve("bin/javac")); // it runs Java and cannot build
        assertRefused(tree.start(), sentence);
        Files.delete(tree.jdk("odd", "25").resolve("release"));
        assertRefused(tree.start(), sentence);
    }

    // ---- when it builds

    @Test
    void firstStartBuildsWithOneLineAndSecondDoesNot() throws Exception {
        Path _ = tree.jdk("jdk-25", "25.0.1");
        Started first = well(tree.start("devices"));
        assertThat(first.err()).isEqualTo(FIRST);
        assertThat(tree.builds()).hasSize(1).first().asString().contains("-Dverbena.target=target/launcher")
                .contains("-pl verbena-cli -am package");
        Started second = well(tree.start("devices"));
        assertThat(second.err()).isEmpty();
        assertThat(second.out()).isEqualTo(first.out());
        assertThat(tree.builds()).hasSize(1);
        assertThat(Files.readString(tree.root.resolve("target/verbena/build.log"))).contains("a line of a wall");
    }

    @Test
    void terminalLineIsRedrawnAndErased() throws Exception {
        Path _ = tree.jdk("jdk-25", "25.0.1");
        tree.holdMaven();
        Process p = new ProcessBuilder(LauncherTree.tool("env").toString(), "-i", "SHELL=/bin/sh", "PATH="
                + dir.resolve("bin"), LauncherTree.tool("script").toString(), "-qec",
                "'" + tree.root + "/verbena' devices", "/dev/null").redirectErrorStream(true)
                .redirectInput(Path.of("/dev/null").toFile()).start();
        StringBuilder all = new StringBuilder();
        try (Reader out = p.inputReader(StandardCharsets.UTF_8)) {
            char[] some = new char[512];
            for (int n = out.read(some); n >= 0; n = out.read(some)) {
                all.append(some, 0, n);
                if (SECONDS.matcher(all).results().map(MatchResult::group).distinct().count() > 1) {
                    tree.releaseMaven();
                }
            }
        }
        String shown = all.toString();
        assertThat(p.waitFor()).as(shown).isZero();
        assertThat(shown).startsWith("\rverbena: building, this happens once… ");
        String java = "\r\033[K" + dir.resolve("jvm/jdk-25/bin/java") + "\r\n";
        assertThat(shown).contains(java).doesNotContain("wall");
        assertThat(shown.substring(0, shown.indexOf(java))).doesNotContain("\n");
    }

    @Test
    void changedTreeIsRebuilt() throws Exception {
        Path _ = tree.jdk("jdk-25", "25.0.1");
        Path lib = Path.of(well(tree.start()).arguments().get(1));
        int builds = 1;
        for (String changed : List.of("verbena-linux/src/main/java/A.java", "verbena-cli/src/main/java/A.java",
                "verbena-shm/pom.xml", "verbena-roce/pom.xml", "verbena-rdmacore/pom.xml", "pom.xml")) {
            touch(tree.root.resolve(changed));
            assertThat(well(tree.start()).err()).as(changed).isEqualTo(AGAIN);
            assertThat(tree.builds()).as(changed).hasSize(++builds);
        }
        Thread.sleep(20);
        Files.delete(tree.root.resolve("verbena-verbs/src/main/java/A.java"));
        assertThat(well(tree.start()).err()).as("a source that is gone").isEqualTo(AGAIN);
        assertThat(well(tree.start()).err()).isEmpty();
        assertThat(lib.resolve("verbena-cli.jar")).as("what a program runs that was started before").exists();
    }

    @Test
    void simultaneousStartsBuildOnce() throws Exception {
        Path _ = tree.jdk("jdk-25", "25.0.1");
        tree.holdMaven();
        Process a = tree.begin(List.of(), "one");
        Process b = tree.begin(List.of(), "two");
        Await.until(Duration.ofSeconds(60), () -> (tree.err(a) + tree.err(b)).contains(WAITS), () -> "neither waits");
        tree.releaseMaven();
        Started one = well(tree.end(a));
        Started two = well(tree.end(b));
        assertThat(tree.builds()).hasSize(1);
        assertThat(one.arguments()).endsWith("one");
        assertThat(two.arguments()).endsWith("two");
        assertThat(one.err() + two.err()).contains(FIRST).contains(WAITS);
        assertThat(one.arguments().get(1)).isEqualTo(two.arguments().get(1));
    }

    @Test
    void failedBuildShowsErrorsAndLogLocation() throws Exception {
        Path _ = tree.jdk("jdk-25", "25.0.1");
        tree.failingMaven("[ERROR] /x/A.java:[3,5] cannot find symbol\n[ERROR] /x/A.java:[3,5] cannot find symbol\n"
                + "[ERROR] -> [Help 1]\n[ERROR] \n[ERROR] After correcting the problems, …\n");
        String log = "verbena: the build failed; the whole log is " + tree.root + "/target/verbena/build.log\n";
        for (int i = 1; i <= 2; i++) { // the second start tries again
            Started s = tree.start("devices");
            assertThat(s.code()).isEqualTo(1);
            assertThat(s.out()).isEmpty();
            assertThat(s.err()).isEqualTo(FIRST + "[ERROR] /x/A.java:[3,5] cannot find symbol\n" + log);
            assertThat(tree.builds()).hasSize(i);
        }
        tree.failingMaven("");
        well(tree.start());
        tree.failingMaven("[ERROR] no\n");
        touch(tree.root.resolve("pom.xml"));
        Started s = tree.start();
        assertThat(s.code()).as("the old build does not pass for the new one").isEqualTo(1);
        assertThat(s.out()).isEmpty();
        assertThat(s.err()).isEqualTo(AGAIN + "[ERROR] no\n" + log);
        tree.brokenMaven("Error: JAVA_HOME is not defined correctly.\n");
        assertThat(tree.start().err()).isEqualTo(AGAIN + "Error: JAVA_HOME is not defined correctly.\n" + log);
    }

    @Test
    void missingMavenIsReportedInOneSentence() throws Exception {
        Path _ = tree.jdk("jdk-25", "25.0.1");
        tree.withoutMaven();
        assertRefused(tree.start("devices"), "Maven is needed to build Verbena: install the package maven.");
    }

    @Test
    void readOnlyTreeRunsItsLastBuild() throws Exception {
        List<String> ordinary = List.of();
        if (Sys.uid() == 0) {
            int uid = TestUser.number(0).uid();
            ordinary = List.of(LauncherTree.tool("setpriv").toString(), "--reuid=" + uid, "--regid=" + uid,
                    "--clear-groups");
        }
        Path _ = tree.jdk("jdk-25", "25.0.1");
        TestUser.run("chmod", "-R", "a+rX,a-w", tree.root.toString());
        assertRefused(tree.end(tree.begin(ordinary)), "not built yet, and " + tree.root + " cannot be written to.");
        TestUser.run("chmod", "-R", "u+w", tree.root.toString());
        well(tree.start());
        TestUser.run("chmod", "-R", "a+rX,a-w", tree.root.toString());
        try {
            assertThat(well(tree.end(tree.begin(ordinary, "x"))).err()).isEmpty();
            TestUser.run("chmod", "u+w", tree.root + "/pom.xml");
            touch(tree.root.resolve("pom.xml"));
            Started stale = well(tree.end(tree.begin(ordinary, "x")));
            assertThat(stale.arguments()).endsWith("x");
            assertThat(stale.err()).isEqualTo("verbena: the sources changed, but " + tree.root
                    + " cannot be written to: this is the last build.\n");
            assertThat(tree.builds()).hasSize(1);
        } finally {
            TestUser.run("chmod", "-R", "u+w", tree.root.toString()); // or it could not be deleted
        }
    }

    // ---- how it starts the command

    @Test
    void nativeAccessIsForOneModuleAndArgumentsPassUnchanged() throws Exception {
        Path _ = tree.jdk("jdk-25", "25.0.1");
        Started s = well(tree.start("copy", "a b", "", "*", "--json", "$HOME"));
        String lib = s.arguments().get(1);
        assertThat(lib).startsWith(tree.root + "/target/verbena/dist-").endsWith("/lib");
        assertThat(Path.of(lib, "verbena-cli.jar")).exists();
        assertThat(s.arguments()).containsExactly("--module-path", lib,
                "--enable-native-access=org.verbena.linux,org.jline.terminal.ffm",
                "--add-exports=java.base/sun.nio.ch=org.verbena.sockets",
                "--add-exports=java.base/sun.net=org.verbena.sockets",
                "--add-exports=java.base/jdk.internal.access=org.verbena.sockets",
                "--add-exports=java.base/jdk.internal.event=org.verbena.sockets",
                "--module", "org.verbena.cli/org.verbena.cli.Main", "copy", "a b", "", "*", "--json", "$HOME");
        tree.variable("VERBENA_JAVA_OPTS", "-Xmx1g  -Da=*");
        assertThat(well(tree.start("x")).arguments()).containsExactly("--module-path", lib,
                "--enable-native-access=org.verbena.linux,org.jline.terminal.ffm",
                "--add-exports=java.base/sun.nio.ch=org.verbena.sockets",
                "--add-exports=java.base/sun.net=org.verbena.sockets",
                "--add-exports=java.base/jdk.internal.access=org.verbena.sockets",
                "--add-exports=java.base/jdk.internal.event=org.verbena.sockets",
                "-Xmx1g", "-Da=*", "--module",
                "org.verbena.cli/org.verbena.cli.Main", "x");
    }

    @Test
    void buildMakesAClassArchiveForTheSameJdk() throws Exception {
        Path jdk = tree.jdk("jdk-25", "25.0.1");
        tree.archives(jdk);
        Started s = well(tree.start("x"));
        assertThat(s.err()).isEqualTo(FIRST);
        Path archive = Path.of(s.arguments().get(1)).resolveSibling("classes.jsa");
        assertThat(archive).hasContent("picocli/A id: 1\nB id: 2\n");
        // the JVM silently ignores an archive that does not match
        String option = "-XX:SharedArchiveFile=" + archive;
        assertThat(s.arguments()).containsSubsequence("-Xshare:auto", "-Xlog:cds*=off", "-Xlog:aot*=off", option,
                "--module");
        assertThat(well(tree.start("x")).out()).isEqualTo(s.out());
        tree.variable("JAVA_HOME", tree.jdk("another", "25.0.2"));
        assertThat(well(tree.start("x")).arguments()).doesNotContain(option);
        assertThat(tree.builds()).hasSize(1);
    }

    // ---- the distribution

    @Test
    void distributionRunsWithoutSourcesAndMaven() throws Exception {
        Path jdk = tree.jdk("jdk-25", "25.0.1");
        tree.archives(jdk);
        tree.tools("tar", "gzip", "sed", "stat", "mktemp", "touch");
        tree.documents();
        List<String> out = well(tree.start("dist")).out();
        Path packed = tree.root.resolve("target/verbena-1.2.tar.gz");
        assertThat(out).containsExactly(packed.toString());
        byte[] first = Files.readAllBytes(packed);
        Process another = tree.begin(List.of(), "dist"); // at the same time
        assertThat(well(tree.start("dist")).out()).isEqualTo(out);
        assertThat(well(tree.end(another)).out()).isEqualTo(out);
        assertThat(packed).hasBinaryContent(first);
        Path there = Files.createDirectory(dir.resolve("some where"));
        TestUser.run("tar", "-C", there.toString(), "-xzf", packed.toString());
        tree.withoutMaven();
        Path home = there.resolve("verbena-1.2");
        Started s = well(tree.end(tree.beginAt(home.resolve("bin/verbena"), "x", "a b")));
        assertThat(s.err()).isEmpty();
        assertThat(s.arguments()).startsWith("--module-path", home.resolve("lib").toString())
                .contains("--enable-native-access=org.verbena.linux,org.jline.terminal.ffm")
                .endsWith("--module", "org.verbena.cli/org.verbena.cli.Main", "x", "a b")
                .noneMatch(a -> a.startsWith("-XX:SharedArchiveFile"));
        assertThat(home.resolve("docs/drop-in.md")).exists();
        assertThat(home.resolve("LICENSE")).exists();
        assertThat(home.resolve("docs/api/index.html")).hasContent("page");
        assertThat(tree.builds()).as("the build, and the pages").hasSize(2).last().asString().contains(
                "javadoc:aggregate");
    }

    @Test
    void distributionWithoutJavadocIsOneBuild() throws Exception {
        Path _ = tree.jdk("jdk-25", "25.0.1");
        tree.tools("tar", "gzip", "sed", "stat", "mktemp");
        tree.documents();
        Path packed = Path.of(well(tree.start("dist", "--no-javadoc")).out().getFirst());
        TestUser.run("tar", "-C", dir.toString(), "-xzf", packed.toString());
        assertThat(dir.resolve("verbena-1.2/docs/drop-in.md")).exists();
        assertThat(dir.resolve("verbena-1.2/docs/api")).doesNotExist();
        assertThat(tree.builds()).hasSize(1);
        assertThat(tree.start("dist", "--else").err()).contains("dist takes no arguments but --no-javadoc");
    }

    @Test
    void failingJavadocSaysHowToGoWithout() throws Exception {
        Path _ = tree.jdk("jdk-25", "25.0.1");
        tree.tools("tar", "gzip", "sed", "stat", "mktemp", "touch");
        tree.documents();
        assertThat(well(tree.start("x")).out()).isNotEmpty();
        tree.failingMaven("[ERROR] bad @link");
        Started s = tree.start("dist");
        assertThat(s.code()).isEqualTo(1);
        assertThat(s.err()).contains("[ERROR] bad @link", "javadoc.log", "--no-javadoc");
    }

    @Test
    void startsFromAnyDirectoryAndThroughALink() throws Exception {
        Path _ = tree.jdk("jdk-25", "25.0.1");
        List<String> direct = well(tree.start("x")).out();
        Path link = Files.createSymbolicLink(dir.resolve("link"), tree.root.resolve("verbena"));
        Process p = new ProcessBuilder(LauncherTree.tool("env").toString(), "-i", "PATH=" + dir.resolve("bin"),
                link.toString(), "x").directory(Path.of("/").toFile()).start();
        assertThat(new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8).lines().toList()).isEqualTo(
                direct);
        assertThat(p.waitFor()).isZero();
    }
}
