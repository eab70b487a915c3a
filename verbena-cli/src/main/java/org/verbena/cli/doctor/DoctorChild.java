// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.doctor;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.ExitCode;
import org.verbena.cli.support.OwnJvm;
import org.verbena.linux.LinuxException;

/**
 * A part of the work in a fresh JVM: checks that need a second process, and checks that may end the process in which
 * they run. The child answers with one line of JSON.
 */
final class DoctorChild {
    private static final ObjectMapper JSON = new ObjectMapper();
    /** A crash is a finding: it leaves no files behind. The log of the JVM is discarded, and no part of the answer. */
    private static final List<String> QUIET = List.of("-XX:-CreateCoredumpOnCrash", "-XX:ErrorFile=/dev/null",
            "-Xlog:disable");
    private static final int KEPT_ERRORS = 400;
    private static final int SIGNAL = 128;
    private static final Pattern CRASH = Pattern.compile("#\\s+(SIG[A-Z]+ |C  \\[).*");
    private static final Pattern ERRNO = Pattern.compile("error[:=] ?(\\d{1,4})");

    private DoctorChild() {}

    /** The process gave no answer; the message says what it gave instead. */
    static final class Failed extends IOException {
        private static final long serialVersionUID = 1;

        Failed(String message) {
            super(message);
        }
    }

    /** Runs {@code verbena doctor --as=role}, after the arguments {@code before}. */
    static JsonNode ask(List<String> before, String role, Duration limit) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(before);
        command.addAll(OwnJvm.command(QUIET, List.of("doctor", "--as=" + role)));
        Process process = start(command);
        try {
            FutureTask<String> out = reader(process.getInputStream());
            FutureTask<String> err = reader(process.getErrorStream());
            if (!process.waitFor(limit.toNanos(), TimeUnit.NANOSECONDS)) {
                throw new Failed("a second process (" + role + ") gave no answer within " + limit.toSeconds() + " s");
            }
            String answer = text(out);
            int code = process.exitValue();
            JsonNode node = code == 0 ? answer(answer) : null;
            if (node == null) {
                String said = (crash(answer) + text(err)).strip();
                throw new Failed("a second process (" + role + ") "
                        + (code > SIGNAL ? "was ended by signal " + (code - SIGNAL) : "ended with exit code " + code)
                        + (said.isEmpty()
                                ? ""
                                : "; it said: " + said.substring(Math.max(0, said.length()
                                        - KEPT_ERRORS))));
            }
            return node;
        } finally {
            process.destroyForcibly();
        }
    }

    /** The last line of JSON; null if there is none. A JVM may print lines of its own before and after. */
    static @Nullable JsonNode answer(String out) throws IOException {
        String last = out.lines().filter(l -> l.startsWith("{")).reduce("", (before, line) -> line);
        return last.isEmpty() ? null : JSON.readTree(last);
    }

    /** The report of a JVM about its crash: the signal, and the place where it happened. */
    private static String crash(String out) {
        return out.lines().filter(l -> CRASH.matcher(l).matches()).map(l -> l.substring(1).strip())
                .reduce("", (all, line) -> all + line + "; ");
    }

    private static Process start(List<String> command) throws IOException {
        try {
            return new ProcessBuilder(command).start();
        } catch (IOException e) { // its message ends with the errno, and long advice on other errors
            String message = String.valueOf(e.getMessage());
            Matcher errno = ERRNO.matcher(message);
            String call = "start " + command.getFirst();
            throw errno.find()
                    ? new LinuxException(call, Integer.parseInt(errno.group(1)))
                    : new Failed(call + ": " + message.lines().findFirst().orElse(""));
        }
    }

    private static String text(FutureTask<String> reader) throws IOException, InterruptedException {
        try {
            return reader.get(5, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new Failed("a second process's output cannot be read: " + e);
        }
    }

    private static FutureTask<String> reader(InputStream stream) {
        FutureTask<String> task = new FutureTask<>(() -> new String(stream.readAllBytes(), StandardCharsets.UTF_8));
        Thread.ofPlatform().daemon().name("doctor-child").start(task);
        return task;
    }

    /** A finding as a child printed it. */
    static DoctorFinding finding(JsonNode n) {
        return new DoctorFinding(DoctorVerdict.of(n.path("verdict").asText()), n.path("evidence").asText(),
                n.path("remedy").asText());
    }

    static String print(Map<String, ?> answer) throws IOException {
        return JSON.writeValueAsString(new LinkedHashMap<>(answer));
    }

    /** In the child: ends it after a time limit, whatever it does, and when its parent has ended. */
    static void endsWithParent(Duration limit) {
        Thread.ofPlatform().daemon().name("doctor-limit").start(() -> {
            try {
                Thread.sleep(limit);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            Runtime.getRuntime().halt(ExitCode.FAILURE);
        });
        Thread.ofPlatform().daemon().name("doctor-parent").start(() -> {
            try {
                while (System.in.read() >= 0) {
                    // there is no input; the stream ends when the parent has ended
                }
            } catch (IOException e) {
                // also the end of the parent
            }
            Runtime.getRuntime().halt(ExitCode.FAILURE);
        });
    }
}
