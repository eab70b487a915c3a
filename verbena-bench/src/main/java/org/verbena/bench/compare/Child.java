// SPDX-License-Identifier: Apache-2.0
package org.verbena.bench.compare;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/** A child process whose output is read; it ends with the block that started it, whatever happens. */
final class Child implements AutoCloseable {
    private static final long LIMIT_SECONDS = 120;

    private final Process process;
    private final BufferedReader out;
    private final Thread watchdog;

    Child(List<String> command, String... environment) throws IOException {
        ProcessBuilder b = new ProcessBuilder(command).redirectError(Redirect.INHERIT);
        for (int i = 0; i < environment.length; i += 2) {
            b.environment().put(environment[i], environment[i + 1]);
        }
        process = b.start();
        out = process.inputReader(StandardCharsets.UTF_8);
        watchdog = Thread.ofPlatform().daemon().start(() -> {
            try {
                if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                    process.destroyForcibly();
                }
            } catch (InterruptedException e) {
                // the process has ended
            }
        });
    }

    /** A JVM like this one, with the flags that all JVMs of the comparison share. */
    static List<String> java(String mainClass, String... arguments) {
        List<String> c = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xshare:auto", "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow", "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
                "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED", "--add-exports=java.base/sun.net=ALL-UNNAMED",
                "--add-exports=java.base/jdk.internal.access=ALL-UNNAMED",
                "--add-exports=java.base/jdk.internal.event=ALL-UNNAMED",
                "-Dagrona.disable.bounds.checks=true", "-cp", System.getProperty("java.class.path"), mainClass));
        c.addAll(List.of(arguments));
        return c;
    }

    /** The next line that is printed, or null at the end. */
    @Nullable
    String line() throws IOException {
        return out.readLine();
    }

    /** The remaining output; throws if the child fails. */
    String rest() throws IOException {
        StringBuilder b = new StringBuilder();
        for (String l = line(); l != null; l = line()) {
            b.append(l).append('\n');
        }
        try {
            int code = process.waitFor();
            if (code != 0) {
                throw new IOException(process.info().commandLine().orElse("a child")
                        + " ended with exit code "
                        + code + ": " + b);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
        return b.toString();
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(5, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        watchdog.interrupt();
    }
}
