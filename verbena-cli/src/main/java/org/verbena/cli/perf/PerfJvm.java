// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.ExitCode;
import org.verbena.cli.support.OwnJvm;

/**
 * A fresh JVM that runs {@code verbena perf} with the same Java, code and options as this one. It ends when this
 * process ends in any way, since its standard input ends then.
 */
final class PerfJvm implements AutoCloseable {
    private static final int KEPT_LINES = 20;
    private static final int EXIT_SECONDS = 5;
    private static final int SIGNAL = 128;

    private final Process process;
    private final BufferedReader lines;
    private final ArrayDeque<String> errors = new ArrayDeque<>();
    private final Thread errorReader;
    private final String role;

    PerfJvm(String role, List<String> jvmOptions, List<String> arguments) throws IOException {
        this.role = role;
        List<String> command = OwnJvm.command(jvmOptions, List.of("perf"));
        command.addAll(arguments);
        process = new ProcessBuilder(command).start();
        lines = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        errorReader = Thread.ofPlatform().daemon().start(this::collectErrors);
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

    /** Waits like {@link #verdict}, since its peer sees it leave before it has ended; null unless a signal ended it. */
    @Nullable
    String killed() {
        String how = verdict();
        return how != null && process.exitValue() > SIGNAL ? how : null;
    }

    /** Waits for the end; returns a sentence about its failure, or null if it succeeded. */
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

    /** Whether SIGINT has ended it; waits like {@link #verdict}. */
    boolean interrupted() {
        verdict();
        return !process.isAlive() && process.exitValue() == ExitCode.INTERRUPTED;
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
