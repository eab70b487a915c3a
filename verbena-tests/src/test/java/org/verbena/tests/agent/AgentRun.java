// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.agent;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.verbena.testkit.Jvm;

/** How a program ended, and what it printed. */
public record AgentRun(int code, String out, String err) {
    private static final int LONGEST_SECONDS = 180;
    private static final Path JVMS = Path.of("/usr/lib/jvm");

    /** Runs a command with its output in files. */
    static AgentRun of(List<String> command, Path scratch) throws IOException, InterruptedException {
        Path folder = Files.createTempDirectory(scratch, "run");
        ProcessBuilder b = new ProcessBuilder(command);
        b.environment().remove("JAVA_TOOL_OPTIONS");
        b.environment().remove("JDK_JAVA_OPTIONS");
        Process p = b.directory(folder.toFile()).redirectOutput(folder.resolve("out").toFile())
                .redirectError(folder.resolve("err").toFile()).start();
        if (!p.waitFor(LONGEST_SECONDS, TimeUnit.SECONDS)) {
            p.destroyForcibly();
            throw new AssertionError(command + " does not end: " + Files.readString(folder.resolve("err")));
        }
        return new AgentRun(p.exitValue(), Files.readString(folder.resolve("out"), StandardCharsets.UTF_8),
                Files.readString(folder.resolve("err"), StandardCharsets.UTF_8));
    }

    static List<String> command(Path java, List<String> options, Path classes, String... words) {
        List<String> c = Jvm.commandOf(java);
        if (java.equals(java())) {
            c.addAll(AgentArchive.options());
        }
        c.addAll(options);
        c.addAll(options.contains("-cp") ? List.of() : List.of("-cp", classes.toString()));
        c.add("Report");
        c.addAll(List.of(words));
        return c;
    }

    /** The {@code java} of this test. */
    public static Path java() {
        return Path.of(Jvm.JAVA);
    }

    /** A {@code java} that is too old for Verbena, if this machine has one. */
    public static Optional<Path> oldJava() throws IOException {
        try (Stream<Path> homes = Files.exists(JVMS) ? Files.list(JVMS) : Stream.empty()) {
            return homes.filter(h -> h.getFileName().toString().matches(".*[-.](8|11|17|21)([-.].*)?"))
                    .map(h -> h.resolve("bin/java")).filter(Files::isExecutable).min(Comparator.naturalOrder());
        }
    }
}
