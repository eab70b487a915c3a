package org.verbena.tests.compat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * What an application printed in a fresh JVM, and how it ended.
 *
 * @param loaded the JVM's log of the classes that it loaded, and where from
 */
record Run(String out, String err, int code, String loaded) {
    private static final int LONGEST_SECONDS = 60;

    /** Runs with Verbena's jars as modules. */
    static Run onModulePath(List<Path> modules, Path classes, String main, Path scratch, String... options) {
        List<String> all = new ArrayList<>(List.of("-p", Jars.path(modules), "--add-modules", "org.verbena.verbs",
                "--enable-native-access=org.verbena.linux", "-cp", classes.toString()));
        all.addAll(List.of(options));
        return start(all, main, scratch);
    }

    /** Runs with all on the class path. */
    static Run onClassPath(List<Path> jars, Path classes, String main, Path scratch) {
        List<Path> all = new ArrayList<>(jars);
        all.add(classes);
        return start(List.of("-cp", Jars.path(all), "--enable-native-access=ALL-UNNAMED"), main, scratch);
    }

    private static Run start(List<String> options, String main, Path scratch) {
        try {
            Path folder = Files.createTempDirectory(scratch, main);
            Path out = folder.resolve("out");
            Path err = folder.resolve("err");
            Path loaded = folder.resolve("loaded");
            List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java")
                    .toString(), "-XX:TieredStopAtLevel=1", "-Xlog:class+load:file=" + loaded));
            command.addAll(options);
            command.add(main);
            Process p = new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile()).start();
            if (!p.waitFor(LONGEST_SECONDS, TimeUnit.SECONDS)) {
                p.destroyForcibly();
                throw new AssertionError(main + " still runs, and printed " + read(out) + read(err));
            }
            return new Run(read(out), read(err), p.exitValue(), read(loaded));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static String read(Path file) throws IOException {
        return Files.readString(file, StandardCharsets.UTF_8);
    }
}
