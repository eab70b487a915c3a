// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.compat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.verbena.testkit.Jvm;

/**
 * The output and the end of an application in a fresh JVM.
 *
 * @param loaded the JVM's log of the classes that it loaded, and where from
 */
record Run(String out, String err, int code, String loaded) {
    private static final int LONGEST_SECONDS = 180;

    /** Runs with Verbena's jars as modules. */
    static Run onModulePath(List<Path> modules, Path classes, String main, Path scratch, String... options) {
        return start(modules, classes, main, scratch, List.of(options), List.of()).end();
    }

    /** Starts with Verbena's jars as modules. */
    static Started start(List<Path> modules, Path classes, String main, Path scratch, List<String> options,
            List<String> arguments) {
        List<String> all = new ArrayList<>(List.of("-p", Jars.path(modules), "--add-modules", "org.verbena.verbs",
                "--enable-native-access=org.verbena.linux", "-cp", classes.toString()));
        all.addAll(options);
        return new Started(all, main, scratch, arguments);
    }

    /** Runs with all on the class path. */
    static Run onClassPath(List<Path> jars, Path classes, String main, Path scratch) {
        List<Path> all = new ArrayList<>(jars);
        all.add(classes);
        return new Started(List.of("-cp", Jars.path(all), "--enable-native-access=ALL-UNNAMED"), main, scratch,
                List.of()).end();
    }

    /** An application that runs. */
    static final class Started implements AutoCloseable {
        private final String main;
        private final Path out;
        private final Path err;
        private final Path loaded;
        private final Process process;

        private Started(List<String> options, String main, Path scratch, List<String> arguments) {
            this.main = main;
            try {
                Path folder = Files.createTempDirectory(scratch, main);
                out = folder.resolve("out");
                err = folder.resolve("err");
                loaded = folder.resolve("loaded");
                List<String> command = new ArrayList<>(List.of(Jvm.JAVA, "-XX:TieredStopAtLevel=1",
                        "-Xlog:class+load:file=" + loaded));
                // nothing is collected, so nothing that a program has dropped is reported
                command.addAll(List.of("-XX:+UnlockExperimentalVMOptions", "-XX:+UseEpsilonGC"));
                command.addAll(options);
                command.add(main);
                command.addAll(arguments);
                process = new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile()).start();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** Waits until it has printed a first line. */
        String firstLine() {
            try {
                long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LONGEST_SECONDS);
                while (!read(out).contains("\n")) {
                    if (!process.isAlive() || System.nanoTime() > end) {
                        throw new AssertionError(main + " says nothing, but " + read(err));
                    }
                    Thread.sleep(20);
                }
                return read(out).lines().findFirst().orElseThrow();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        /** Waits for its end. */
        Run end() {
            try {
                if (!process.waitFor(LONGEST_SECONDS, TimeUnit.SECONDS)) {
                    process.destroyForcibly();
                    throw new AssertionError(main + " still runs, and printed " + read(out) + read(err));
                }
                return new Run(read(out), read(err), process.exitValue(), read(loaded));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        @Override
        public void close() {
            process.destroyForcibly();
        }
    }

    private static String read(Path file) throws IOException {
        return Files.readString(file, StandardCharsets.UTF_8);
    }
}
