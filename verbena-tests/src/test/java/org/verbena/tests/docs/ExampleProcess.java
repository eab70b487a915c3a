// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.docs;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.verbena.cli.example.Examples;
import org.verbena.testkit.Folders;
import org.verbena.testkit.Jvm;

/** An example in a separate JVM, compiled and started by Java's source launcher as documented, or several in an {@link ExampleHost}. */
final class ExampleProcess implements AutoCloseable {
    /** The modules that a program needs at run time. */
    static final String CORE = ".*verbena-(linux|telemetry|verbs|shm)\\b.*|.*/jspecify[^/]*";

    /** The modules of a program that requests channels of Verbena, and their remote memory. */
    private static final String CHANNELS = CORE + "|.*verbena-(sockets|erm)\\b.*";

    static final Path FOLDER = Markdown.root().resolve("docs/examples");

    private static final int LONGEST_SECONDS = 180;

    private final Process process;
    private final BufferedReader out;

    /** How one of several ended. */
    record Result(int code, String out) {}

    private ExampleProcess(List<String> options, Path example, List<String> arguments) throws IOException {
        this(options, Stream.concat(Stream.of(example.toString()), arguments.stream()).toList());
    }

    private ExampleProcess(List<String> options, List<String> program) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Jvm.JAVA);
        command.add("-XX:TieredStopAtLevel=1");
        command.addAll(options);
        command.addAll(program);
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        out = process.inputReader(StandardCharsets.UTF_8);
    }

    /** Starts with modules, {@code port} as the property of that name. */
    static ExampleProcess onModulePath(Path example, int port, String... arguments) throws IOException {
        return new ExampleProcess(modules(port), example, List.of(arguments));
    }

    private static List<String> modules(int port) {
        return with(way("modules", CORE), "-Dport=" + port);
    }

    /** The options by which {@code verbena example} starts an example, with the jars and folders whose path matches. */
    private static List<String> way(String name, String jars) {
        try {
            return Examples.in(FOLDER).options(name, Map.of("lib", "LIB")).stream()
                    .map(o -> o.replaceAll("LIB(/\\*)?", Matcher.quoteReplacement(path(jars))))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> with(List<String> options, String... more) {
        return Stream.concat(options.stream(), Stream.of(more)).toList();
    }

    /** Starts with modules, Verbena's channels and their remote memory, {@code port} as the property of that name. */
    static ExampleProcess withChannels(Path example, int port, String... arguments) throws IOException {
        String name = example.getFileName().toString().replace(".java", "");
        String way = Examples.in(FOLDER).all().get(name).way();
        return new ExampleProcess(with(way(way, CHANNELS), "-Dverbena.stream.patience=60000", "-Dport=" + port),
                example, List.of(arguments));
    }

    /** Starts with a stack and the devices that it is on. */
    static ExampleProcess withStack(Path example, String... arguments) throws IOException {
        return new ExampleProcess(way("stack", CORE + "|.*verbena-(stack|xdp)\\b.*"), example, List.of(arguments));
    }

    /** Starts a process for several examples, as {@link #onModulePath}. */
    static ExampleProcess host() throws IOException {
        String tests = Jvm.classesOf(ExampleHost.class) + File.pathSeparator + Jvm.classesOf(Folders.class);
        return new ExampleProcess(modules(0), List.of("-cp", tests, ExampleHost.class.getName(), "--add-modules",
                "org.verbena.verbs"));
    }

    /** Runs an example in a host. */
    Result run(Path example) throws IOException {
        process.getOutputStream().write((example + "\n").getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().flush();
        List<String> lines = new ArrayList<>();
        String line = line();
        for (; !line.startsWith(ExampleHost.END); line = line()) {
            lines.add(line);
        }
        return new Result(Integer.parseInt(line.substring(ExampleHost.END.length())), String.join("\n", lines));
    }

    /** As {@link #withChannels}, with the agent rather than options for it, on the module path or on the class path. */
    static ExampleProcess withAgent(Path example, Path agent, boolean modules) throws IOException {
        List<String> options = new ArrayList<>(List.of("-javaagent:" + agent + "=quiet,stream.earn=0",
                "--illegal-native-access=deny", "-Dverbena.stream.patience=60000"));
        options.addAll(modules
                ? List.of("-p", path(CHANNELS), "--add-modules", "org.verbena.erm")
                : List.of("-cp", path(CHANNELS)));
        return new ExampleProcess(options, example, List.of());
    }

    /** Starts with nothing but options of the JVM's. */
    static ExampleProcess plain(Path example, String... options) throws IOException {
        return new ExampleProcess(List.of(options), example, List.of());
    }

    /** Starts with these words behind {@code java}. */
    static ExampleProcess java(List<String> words) throws IOException {
        return new ExampleProcess(List.of(), words);
    }

    /** Starts with a class path. */
    static ExampleProcess onClassPath(Path example) throws IOException {
        return onClassPath(example, CORE);
    }

    /** Starts with a class path of the jars and folders whose path matches. */
    static ExampleProcess onClassPath(Path example, String jars, String... options) throws IOException {
        return new ExampleProcess(with(way("class-path", jars), options), example, List.of());
    }

    /** The jars and folders of the class path of this JVM whose path matches, as a class path. */
    static String path(String jars) {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .filter(p -> p.matches(jars))
                .collect(Collectors.joining(File.pathSeparator));
    }

    /** The next line that it prints. */
    String line() throws IOException {
        String line = out.readLine();
        if (line == null) {
            throw new AssertionError("ended with exit code " + code());
        }
        return line;
    }

    /** All other lines that it prints, up to its end. */
    String rest() {
        return out.lines().collect(Collectors.joining("\n"));
    }

    long pid() {
        return process.pid();
    }

    /** Waits for the end; answers the exit code. */
    int code() {
        try {
            if (!process.waitFor(LONGEST_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError("still running after " + LONGEST_SECONDS + " seconds");
            }
            return process.exitValue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
