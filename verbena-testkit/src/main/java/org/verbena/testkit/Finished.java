// SPDX-License-Identifier: Apache-2.0
package org.verbena.testkit;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A program that has ended.
 *
 * @param code its exit code
 * @param output what it wrote to standard output and standard error
 */
public record Finished(int code, String output) {
    /** Long enough for a loaded machine; reached only when a test fails. */
    private static final Duration LIMIT = Duration.ofMinutes(4);

    /** Runs a program until it ends; throws IOException if there is none of that name. */
    public static Finished run(String... command) throws IOException, InterruptedException {
        return run(List.of(command));
    }

    /** Runs a program until it ends; throws IOException if there is none of that name. */
    public static Finished run(List<String> command) throws IOException, InterruptedException {
        return run(new ProcessBuilder(command));
    }

    /** Runs a program until it ends; throws IOException if there is none of that name. */
    public static Finished run(ProcessBuilder program) throws IOException, InterruptedException {
        Path output = Files.createTempFile("verbena-test", ".txt"); // and no pipe, which what it leaves behind may hold open
        try {
            Process p = program.redirectErrorStream(true).redirectOutput(output.toFile()).start();
            if (!p.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                p.destroyForcibly().waitFor();
                throw new AssertionError("does not end: " + program.command() + "\n" + read(output));
            }
            return new Finished(p.exitValue(), read(output));
        } finally {
            Files.delete(output);
        }
    }

    private static String read(Path output) throws IOException {
        return new String(Files.readAllBytes(output), StandardCharsets.UTF_8);
    }
}
