package org.verbena.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * A fresh JVM that runs {@code verbena perf} with the same Java, code and options as this one. It ends when this
 * process does, whatever way: its standard input then ends.
 */
final class PerfJvm implements AutoCloseable {
    private static final String ARCHIVE = "-XX:SharedArchiveFile=";
    private static final int KEPT_LINES = 20;
    private static final int EXIT_SECONDS = 5;
    private static final int SIGNAL = 128;

    private final Process process;
    private final BufferedReader lines;
    private final ArrayDeque<String> errors = new ArrayDeque<>();
    private final Thread errorReader;
    private final String role;

    PerfJvm(String role, List<String> arguments) throws IOException {
        this.role = role;
        List<String> command = command();
        command.add("perf");
        command.addAll(arguments);
        process = new ProcessBuilder(command).start();
        lines = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        errorReader = Thread.ofPlatform().daemon().start(this::collectErrors);
    }

    private static List<String> command() {
        List<String> c = new ArrayList<>();
        c.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        c.addAll(inherited());
        // Serial: its threads sleep unless it collects, and nothing here makes garbage.
        c.addAll(List.of("-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xshare:auto"));
        String modulePath = System.getProperty("jdk.module.path", "");
        String classPath = System.getProperty("java.class.path", "");
        if (!classPath.isEmpty()) {
            c.addAll(List.of("--class-path", classPath));
        }
        if (!modulePath.isEmpty()) {
            c.addAll(List.of("--module-path", modulePath));
        }
        Module module = PerfJvm.class.getModule();
        if (module.isNamed()) {
            c.addAll(List.of("--enable-native-access=org.verbena.linux", "--module",
                    module.getName() + "/" + Main.class.getName()));
        } else {
            c.addAll(List.of("--enable-native-access=ALL-UNNAMED", Main.class.getName()));
        }
        return c;
    }

    /** Options of this JVM that do not say where code is, which collector to use or whom to attach. */
    private static List<String> inherited() {
        List<String> kept = new ArrayList<>();
        for (String a : ProcessHandle.current().info().arguments().orElse(new String[0])) {
            if (a.equals("-m") || a.startsWith("--module=") || a.equals("--module") || a.equals("-jar")
                    || a.equals(Main.class.getName())) {
                break;
            }
            boolean collector = a.startsWith("-XX:+Use") && a.endsWith("GC");
            boolean archive = a.equals("-XX:+AutoCreateSharedArchive")
                    || (a.startsWith(ARCHIVE) && !Files.isReadable(Path.of(a.substring(ARCHIVE.length()))));
            if ((a.startsWith("-X") || a.startsWith("-D")) && !collector && !archive) {
                kept.add(a);
            }
        }
        return kept;
    }

    private void collectErrors() {
        try (BufferedReader r = process.errorReader(StandardCharsets.UTF_8)) {
            r.lines().forEach(l -> {
                synchronized (errors) {
                    errors.addLast(l);
                    if (errors.size() > KEPT_LINES) {
                        errors.removeFirst();
                    }
                }
            });
        } catch (IOException | UncheckedIOException e) {
            // the process has ended
        }
    }

    /** The next line that it prints, or null if it has ended. */
    @Nullable
    String line() throws IOException {
        return lines.readLine();
    }

    /** The sentence that says which signal has ended it, or null if none did. */
    @Nullable
    String killed() {
        return !process.isAlive() && process.exitValue() > SIGNAL ? verdict() : null;
    }

    /** Waits for the end; the sentence that says how it ended badly, or null if it ended well. */
    @Nullable
    String verdict() {
        try {
            if (!process.waitFor(EXIT_SECONDS, TimeUnit.SECONDS)) {
                return null;
            }
            errorReader.join(1000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        int code = process.isAlive() ? 0 : process.exitValue();
        if (code == 0) {
            return null;
        }
        String said;
        synchronized (errors) {
            said = String.join(System.lineSeparator(), errors).strip();
        }
        return "the " + role + " process " + (code > SIGNAL
                ? "was killed by signal " + (code - SIGNAL)
                : "ended with exit code " + code)
                + (said.isEmpty() ? "" : "; it said: " + said);
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor(EXIT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
