// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.lab;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.verbena.testkit.Folders;
import org.verbena.tests.CommandOptions;
import org.verbena.tests.DebianArchive.Unavailable;

/**
 * Verbena's modules and what they depend on, for virtual machines, where {@link JavaImage} runs them.
 */
final class Modules {
    private static final Pattern OURS = Pattern.compile(
            ".*/verbena-(linux|telemetry|verbs|shm|roce|rdmacore|xdp|stack|sockets|erm|devmem|cli)(/target/.*|[-.].*)");
    /** What the command depends on. */
    private static final String THEIRS = ".*/(picocli|HdrHistogram|jackson|jline)[^/]*\\.jar";

    private Modules() {}

    /** Makes the folder {@code modules} and the command {@code verbena} in the folder that the machines share. */
    static void copy(Path share) throws IOException {
        Path modules = share.resolve("modules");
        Folders.remove(modules);
        Files.createDirectories(modules);
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            Matcher m = OURS.matcher(entry);
            if (m.matches()) {
                // A folder of classes, which all have the same name, or a jar.
                copy(Path.of(entry), modules.resolve("verbena-" + m.group(1) + (entry.endsWith(".jar") ? ".jar" : "")));
            } else if (entry.matches(THEIRS)) {
                copy(Path.of(entry), modules.resolve(Path.of(entry).getFileName().toString()));
            }
        }
        command(share.resolve("verbena"), """
                exec /jre/bin/java ${JAVA_OPTIONS:--XX:TieredStopAtLevel=1} -XX:+UseSerialGC --module-path /share/modules \\
                    %s \\
                    --module org.verbena.cli/org.verbena.cli.Main "$@"
                """.formatted(String.join(" ", CommandOptions.all())));
    }

    /**
     * Makes the folder {@code suite} and the command {@code conformance}, which runs the suite on {@code rxe0}: thoroughly, unless
     * some tests are left out.
     */
    static void copyConformance(Path share, Path target) throws IOException, Unavailable {
        Path list = target.resolve("class-path");
        if (!Files.exists(list)) {
            throw new Unavailable(
                    "a row runs the conformance suite, which is not compiled: compile it with"
                            + " mvn -Dfast -pl verbena-conformance,verbena-tests -am test-compile");
        }
        Path suite = share.resolve("suite");
        Folders.remove(suite);
        Files.createDirectories(suite);
        copy(target.resolve("test-classes"), suite.resolve("0"));
        int n = 1;
        for (String entry : Files.readString(list).strip().split(File.pathSeparator, -1)) {
            copy(Path.of(entry), suite.resolve(entry.endsWith(".jar") ? n + ".jar" : Integer.toString(n)));
            n++;
        }
        StringBuilder path = new StringBuilder("/share/suite/*");
        for (int i = 0; i < n; i++) {
            if (Files.isDirectory(suite.resolve(Integer.toString(i)))) {
                path.append(":/share/suite/").append(i);
            }
        }
        command(share.resolve("conformance"), """
                echo "random input: ${SEEDS:-0.1} of the usual rounds (SEEDS=1: all)"
                [ "${EVERY:-1}" != 1 ] || thorough=-Dthorough
                exec /jre/bin/java ${JAVA_OPTIONS:--XX:TieredStopAtLevel=1} -XX:+UseSerialGC -Xmx160m --enable-native-access=ALL-UNNAMED \\
                    -cp '%s' "-Dverbena.test.groups=$1" "-Dverbena.test.seeds.factor=${SEEDS:-0.1}" \\
                    "-Dverbena.test.topologies=${TOPOLOGIES:-.*}" "-Dverbena.test.every=${EVERY:-1}" $thorough \\
                    -Djunit.jupiter.execution.timeout.default=300s org.junit.platform.console.ConsoleLauncher execute \\
                    --disable-banner --details=${2:-summary} \\
                    --select-class=org.verbena.tests.conformance.RxeConformance
                """.formatted(path));
    }

    private static void command(Path command, String script) throws IOException {
        Files.writeString(command, "#!/bin/sh\n" + script);
        if (!command.toFile().setExecutable(true)) {
            throw new IOException("cannot make " + command + " executable");
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path f : (Iterable<Path>) files::iterator) {
                Files.copy(f, to.resolve(from.relativize(f).toString()), StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }
}
