// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.verbena.cli.Main;
import org.verbena.telemetry.CounterFolder;
import org.verbena.testkit.Jvm;
import org.verbena.testkit.Thorough;

/** The {@code verbena} command in a separate process, started from modules like by {@code ./verbena}. */
public final class CommandProcess implements AutoCloseable {
    private static final int LONGEST_SECONDS = 240;
    private static final String MAIN = Main.class.getName();

    /** One thread per task: the common pool of a small machine has only one. */
    private static final Executor THREADS = task -> Thread.ofPlatform().daemon().start(task);

    /** How it ended. */
    public record Result(int code, String out, String err) {}

    /** A command that runs, in a process of its own or in a {@link CommandHost}. */
    interface Running {
        InputStream out();

        InputStream err();

        /** Its exit code. */
        int await(int seconds) throws InterruptedException, ExecutionException, TimeoutException;

        /** Ends it, and what it has started. */
        void close();
    }

    /** A process of its own. */
    record Own(Process process) implements Running {
        @Override
        public InputStream out() {
            return process.getInputStream();
        }

        @Override
        public InputStream err() {
            return process.getErrorStream();
        }

        @Override
        public int await(int seconds) throws InterruptedException, TimeoutException {
            if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
                throw new TimeoutException("still running after " + seconds + " seconds");
            }
            return process.exitValue();
        }

        @Override
        public void close() {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    private final Running command;
    private final BufferedReader out;
    private final CompletableFuture<String> err;

    /** Starts with options of the JVM's. */
    static CommandProcess startWith(List<String> options, List<String> before, String... arguments)
            throws IOException {
        return start(modulePath(), options, before, arguments);
    }

    private CommandProcess(Running command) {
        this.command = command;
        out = reader(command.out());
        err = CompletableFuture.supplyAsync(() -> all(reader(command.err())), THREADS);
    }

    static BufferedReader reader(InputStream from) {
        return new BufferedReader(new InputStreamReader(from, StandardCharsets.UTF_8));
    }

    private static CommandProcess start(List<String> command) throws IOException {
        return of(new ProcessBuilder(command));
    }

    /** Starts a program of another kind. */
    static CommandProcess of(ProcessBuilder program) throws IOException {
        return new CommandProcess(new Own(program.start()));
    }

    /** Starts a command that listens, and does not have to have a process of its own. */
    static CommandProcess server(String... arguments) throws IOException {
        return start(HostedCommand.Host.SERVERS, arguments);
    }

    /** Starts a command that is in another process than each {@link #server}, but does not have to have one of its own. */
    static CommandProcess client(String... arguments) throws IOException {
        return start(HostedCommand.Host.CLIENTS, arguments);
    }

    private static CommandProcess start(HostedCommand.Host host, String... arguments) throws IOException {
        return Thorough.ON ? start(arguments) : new CommandProcess(new HostedCommand(host, List.of(), arguments));
    }

    /**
     * Starts a command that looks at the processes whose counter files are in a folder, and does not have to have a process of
     * its own. For the tests of one class at a time.
     */
    static CommandProcess statistics(Path folder, String... arguments) throws IOException {
        return Thorough.ON
                ? startWith(List.of("-D" + CounterFolder.PROPERTY + "=" + folder), List.of(), arguments)
                : new CommandProcess(new HostedCommand(HostedCommand.Host.STATISTICS, List.of(CounterFolder.PROPERTY,
                        folder.toString()), arguments));
    }

    static CommandProcess start(String... arguments) throws IOException {
        return startWithout(List.of(), "", arguments);
    }

    /**
     * Starts behind the command {@code before}, for instance taskset, and without modules that match {@code without}.
     */
    static CommandProcess startWithout(List<String> before, String without, String... arguments) throws IOException {
        return startFrom(path(p -> without.isEmpty() || !p.matches(".*" + without + ".*")), before, arguments);
    }

    /** Starts behind the command {@code before}, from these modules. */
    static CommandProcess startFrom(String modulePath, List<String> before, String... arguments) throws IOException {
        return start(modulePath, List.of(), before, arguments);
    }

    private static CommandProcess start(String modulePath, List<String> options, List<String> before,
            String... arguments) throws IOException {
        List<String> command = new ArrayList<>(before);
        command.addAll(java(modulePath));
        command.addAll(CommandArchive.options(modulePath));
        command.addAll(options);
        command.addAll(module(arguments));
        return start(command);
    }

    /** The JVM and its options, without the class archive. */
    static List<String> java(String modulePath) {
        List<String> command = Jvm.command();
        command.addAll(modules(modulePath));
        return command;
    }

    /**
     * Options for modules, like those of {@code ./verbena}; a class archive is valid only for these exports and this
     * native access.
     */
    static List<String> modules(String modulePath) {
        return Stream.concat(Stream.of("--module-path", modulePath), Jvm.ALL_AS_MODULES.stream()).toList();
    }

    /** What comes after the options of the JVM's. */
    static List<String> module(String... arguments) {
        List<String> words = new ArrayList<>(List.of("--module", "org.verbena.cli/" + MAIN));
        words.addAll(List.of(arguments));
        return words;
    }

    /** Starts from a class path that begins with {@code more}. */
    static CommandProcess startOnClassPath(Path more, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(Jvm.JAVA, "--class-path", more + File.pathSeparator + path(
                p -> true),
                "--enable-native-access=ALL-UNNAMED", MAIN));
        command.addAll(List.of(arguments));
        return start(command);
    }

    public static Result run(String... arguments) throws IOException {
        try (CommandProcess p = start(arguments)) {
            return p.end();
        }
    }

    /** Runs a command that does not have to have a process of its own. */
    public static Result runHosted(String... arguments) throws IOException {
        try (CommandProcess p = client(arguments)) {
            return p.end();
        }
    }

    /**
     * Runs a command in this process, for wrong usage: it ends before it does anything, and exit codes of processes
     * have separate tests.
     */
    static Result refuse(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code = Main.commandLine(arguments).setOut(new PrintWriter(out)).setErr(new PrintWriter(err)).execute(
                arguments);
        return new Result(code, out.toString().strip(), err.toString().strip());
    }

    /** Makes the archive of classes, if that was not done: for tests that go on in a network namespace, in which its commands would have no 127.0.0.1. */
    public static void prepare() {
        CommandArchive.modules();
    }

    /** The modules that the build has made, and what they need. */
    static String modulePath() {
        return path(p -> true);
    }

    /** Those of them. */
    static String path(Predicate<String> wanted) {
        return joined(CommandArchive.modules().stream().filter(p -> wanted.test(p.toString())).toList());
    }

    static String joined(List<Path> modules) {
        return modules.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }

    private static String all(BufferedReader reader) {
        return reader.lines().collect(Collectors.joining("\n"));
    }

    /** That of a command that has one of its own. */
    Process process() {
        return ((Own) command).process();
    }

    /** Reads a line of its standard output. */
    String line() throws IOException {
        String line = command instanceof Own ? lineOfProcess() : out.readLine();
        if (line == null) {
            throw new AssertionError("ended with " + end());
        }
        return line;
    }

    /** A reader of a process's pipe cannot be interrupted, so another thread reads. */
    private String lineOfProcess() {
        CompletableFuture<String> line = CompletableFuture.supplyAsync(() -> {
            try {
                return out.readLine();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }, THREADS);
        try {
            return line.get(LONGEST_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new AssertionError("no line of " + command, e);
        }
    }

    /** Waits for the end. */
    Result end() throws IOException {
        try {
            CompletableFuture<String> rest = CompletableFuture.supplyAsync(() -> all(out), THREADS);
            int code = command.await(LONGEST_SECONDS);
            return new Result(code, rest.get(30, TimeUnit.SECONDS), err.get(30, TimeUnit.SECONDS));
        } catch (InterruptedException | ExecutionException | TimeoutException | UncheckedIOException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        command.close();
    }
}
