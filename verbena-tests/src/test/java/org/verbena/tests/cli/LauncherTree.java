// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * A small source tree with the real {@code ./verbena} in it, and fakes of all programs that it starts: a Maven that
 * creates a jar and counts, and JDKs whose {@code java} prints its own path and its arguments, one per line, and may make class
 * lists, and archives that are the list. {@code
 * PATH} has nothing else but the tools that the launcher uses.
 */
final class LauncherTree {
    /** The folder where the launcher looks; its copy looks at fakes. */
    private static final String JVMS = "/usr/lib/jvm";
    private static final List<String> TOOLS = List.of("bash", "readlink", "find", "flock", "date", "mkdir", "cp", "ln",
            "mv", "rm", "grep", "awk", "tail", "cat", "sleep", "timeout");
    private static final String WALL = "a line of a wall";
    private static final String MAVEN = """
            #!/usr/bin/env bash
            echo "JAVA_HOME=$JAVA_HOME $*" >>"$0.log"
            if [[ -e $0.dies ]]; then cat "$0.dies"; exit 1; fi
            for ((i = 0; i < 200; i++)); do echo "[INFO] %s"; done
            while [[ -e $0.held ]]; do sleep 0.05; done
            if [[ -e $0.fails ]]; then cat "$0.fails"; exit 1; fi
            if [[ $* == *javadoc:aggregate* ]]; then
                mkdir -p target/launcher/reports/apidocs
                echo page >target/launcher/reports/apidocs/index.html
                exit
            fi
            mkdir -p verbena-cli/target/launcher/dist/lib
            echo jar >verbena-cli/target/launcher/dist/lib/verbena-cli.jar
            mkdir -p verbena-cli/target/launcher/dist/agent
            [[ ! -e $0.agent ]] || cp "$0.agent" verbena-cli/target/launcher/dist/agent/verbena-agent.jar
            """.formatted(WALL);
    private static final String JAVA = """
            #!/usr/bin/env bash
            for a; do
                [[ -e ${0%/*}/archives ]] || break
                case $a in
                    -XX:DumpLoadedClassList=*) printf '%s\\n' 'picocli/A id: 1' '@cp picocli/A 2' 'B id: 2' >"${a#*=}" ;;
                    -XX:SharedClassListFile=*) list=${a#*=} ;;
                    -XX:SharedArchiveFile=*) [[ $* != *-Xshare:dump* ]] || cat "$list" >"${a#*=}" ;;
                esac
            done
            printf '%s\\n' "$0" "$@"
            """;

    /** How a start ended. */
    record Started(int code, List<String> out, String err) {
        /** The arguments of {@code java}. */
        List<String> arguments() {
            return out.subList(1, out.size());
        }
    }

    /** The tree. */
    final Path root;
    private final Path bin;
    private final Path jvms;
    private final Map<String, String> environment = new TreeMap<>();
    private final Map<Process, Path> errors = new HashMap<>();

    LauncherTree(Path parent) throws IOException {
        Files.setPosixFilePermissions(parent, PosixFilePermissions.fromString("rwx--x--x"));
        root = Files.createDirectory(parent.resolve("a tree")); // with a blank, which real paths may have
        bin = Files.createDirectory(parent.resolve("bin"));
        jvms = Files.createDirectory(parent.resolve("jvm"));
        script(root.resolve("verbena"), Files.readString(source()));
        copyDistribution(source().resolveSibling("verbena-cli/src/main/dist"), root.resolve(
                "verbena-cli/src/main/dist"));
        Files.createFile(root.resolve("pom.xml"));
        for (String module : List.of("linux", "telemetry", "verbs", "shm", "roce", "rdmacore", "sockets", "erm",
                "micrometer", "agent", "cli")) {
            Path m = Files.createDirectories(root.resolve("verbena-" + module + "/src/main/java"));
            Files.createFile(m.resolve("A.java"));
            Files.createFile(root.resolve("verbena-" + module + "/pom.xml"));
        }
        tools(TOOLS.toArray(String[]::new));
        script(bin.resolve("mvn"), MAVEN);
        environment.put("PATH", bin.toString());
    }

    private void copyDistribution(Path from, Path to) throws IOException {
        for (String script : List.of("bin/verbena", "libexec/java.sh")) {
            Files.createDirectories(to.resolve(script).getParent());
            script(to.resolve(script), Files.readString(from.resolve(script)));
        }
        Files.copy(from.resolve("jvm.options"), to.resolve("jvm.options"));
        Path finder = to.resolve("libexec/java.sh");
        String text = Files.readString(finder);
        assertThat(text.split(JVMS + "/\\*", -1)).as("places that name " + JVMS).hasSize(2);
        script(finder, text.replace(JVMS + "/*", jvms + "/*"));
    }

    private static Path source() {
        Path p = Path.of("").toAbsolutePath();
        while (!Files.isExecutable(p.resolve("verbena")) || !Files.exists(p.resolve("verbena-cli"))) {
            p = p.getParent();
        }
        return p.resolve("verbena");
    }

    /** The path of a tool on the machine. */
    static Path tool(String name) {
        return Arrays.stream(System.getenv("PATH").split(":", -1)).map(d -> Path.of(d, name))
                .filter(Files::isExecutable).findFirst().orElseThrow(() -> new AssertionError("no " + name));
    }

    private static void script(Path file, String text) throws IOException {
        Files.writeString(file, text);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    /** Puts tools of the machine on PATH. */
    void tools(String... names) throws IOException {
        for (String name : names) {
            script(bin.resolve(name), "#!/bin/sh\nexec " + tool(name) + " \"$@\"\n");
        }
    }

    /** The files of a distribution beside the build, and a version. */
    void documents() throws IOException {
        Files.writeString(root.resolve("pom.xml"), "<project>\n  <version>1.2</version>\n"
                + "  <project.build.outputTimestamp>2026-01-02T03:04:05Z</project.build.outputTimestamp>\n</project>\n");
        for (String name : List.of("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE")) {
            Files.createFile(root.resolve(name));
        }
        Files.createFile(Files.createDirectory(root.resolve("docs")).resolve("drop-in.md"));
    }

    /** Puts a JDK where JDKs are. */
    Path jdk(String name, String version) throws IOException {
        Path home = Files.createDirectories(jvms.resolve(name));
        Files.createDirectory(home.resolve("bin"));
        script(home.resolve("bin/java"), JAVA);
        script(home.resolve("bin/javac"), JAVA);
        Files.writeString(home.resolve("release"), "IMPLEMENTOR=\"X\"\nJAVA_VERSION=\"" + version + "\"\n");
        return home;
    }

    /** From now on this JDK creates archives of classes. */
    void archives(Path home) throws IOException {
        Files.createFile(home.resolve("bin/archives"));
    }

    /** Puts the {@code java} of a JDK on PATH, behind two links like on Debian. */
    void javaOnPath(Path home) throws IOException {
        Path alternative = Files.createSymbolicLink(bin.resolve("java.alternative"), home.resolve("bin/java"));
        Files.createSymbolicLink(bin.resolve("java"), alternative);
    }

    void variable(String name, Object value) {
        environment.put(name, value.toString());
    }

    void withoutMaven() throws IOException {
        Files.delete(bin.resolve("mvn"));
    }

    /** From now on builds do not end. */
    void holdMaven() throws IOException {
        Files.createFile(bin.resolve("mvn.held"));
    }

    void releaseMaven() throws IOException {
        Files.deleteIfExists(bin.resolve("mvn.held"));
    }

    /** From now on the build fails with this message; an empty text repairs it. */
    void failingMaven(String says) throws IOException {
        Files.deleteIfExists(bin.resolve("mvn.fails"));
        if (!says.isEmpty()) {
            Files.writeString(bin.resolve("mvn.fails"), says);
        }
    }

    /** From now on Maven ends at its start with this message. */
    void brokenMaven(String says) throws IOException {
        Files.writeString(bin.resolve("mvn.dies"), says);
    }

    /** The file that the build creates the agent from. */
    void agent(Path jar) throws IOException {
        Files.copy(jar, bin.resolve("mvn.agent"));
    }

    /** The arguments of Maven, one line per build. */
    List<String> builds() throws IOException {
        Path log = bin.resolve("mvn.log");
        return Files.exists(log) ? Files.readAllLines(log) : List.of();
    }

    Process begin(List<String> prefix, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(prefix);
        command.add(root.resolve("verbena").toString());
        command.addAll(List.of(arguments));
        return launch(command);
    }

    /** Starts a launcher at another path. */
    Process beginAt(Path launcher, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(launcher.toString()));
        command.addAll(List.of(arguments));
        return launch(command);
    }

    private Process launch(List<String> command) throws IOException {
        ProcessBuilder b = new ProcessBuilder(command);
        b.environment().clear();
        b.environment().putAll(environment);
        b.redirectError(Files.createTempFile(root.getParent(), "err", "").toFile());
        Process p = b.start();
        p.getOutputStream().close();
        errors.put(p, b.redirectError().file().toPath());
        return p;
    }

    /** What it has written to its standard error so far. */
    String err(Process p) throws IOException {
        return Files.readString(errors.get(p));
    }

    Started end(Process p) throws IOException, InterruptedException {
        String out = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(p.waitFor(180, TimeUnit.SECONDS)).isTrue();
        String err = err(p);
        assertThat(out + err).doesNotContain(WALL);
        return new Started(p.exitValue(), out.lines().toList(), err);
    }

    /** Starts {@code ./verbena} and waits for its end. */
    Started start(String... arguments) throws IOException, InterruptedException {
        return end(begin(List.of(), arguments));
    }
}
