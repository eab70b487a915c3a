// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.example;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import org.verbena.cli.example.Examples.Example;
import org.verbena.cli.support.Distribution;
import org.verbena.cli.support.Nearest;
import org.verbena.cli.support.Paragraph;
import org.verbena.cli.support.Terminal;

/** {@code verbena example}: lists the example programs, and runs one with the options that it needs. */
@Command(name = "example", description = {
    "Lists the example programs, or runs one with the Java options that it needs.",
    "Options for the program itself come behind '--'."}, exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"2:wrong command line", "other:that of the program"})
public final class ExampleCommand implements Callable<Integer> {
    /** The least that is left for what an example shows. */
    private static final int LEAST = 20;
    /** Words that mean the same to a shell with quotes and without. */
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_@%+=:,./-]+");

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Parameters(index = "0", arity = "0..1", paramLabel = "NAME", completionCandidates = Names.class,
            description = "The example; without one all are listed.") private @Nullable String name;

    @Parameters(index = "1..*", paramLabel = "ARG",
            description = "Arguments of the program.") private List<String> arguments = new ArrayList<>();

    @Option(names = "-D", paramLabel = "KEY=VALUE",
            description = "A system property of the program; may be repeated.") private List<String> properties = new ArrayList<>();

    @Option(names = "--show", description = "Print the source instead.") private boolean show;

    @Option(names = "--command", description = "Print the command line instead, for a shell.") private boolean command;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this help message and exit.")
    @SuppressWarnings("UnusedVariable") // picocli looks at it
    private boolean help;

    /** The examples of this distribution, for what completes their names; none where they cannot be read. */
    static final class Names implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            try {
                return all(Distribution.folder()).all().keySet().iterator();
            } catch (IOException e) {
                return Collections.emptyIterator();
            }
        }
    }

    private static Examples all(Path home) throws IOException {
        Path folder = home.resolve("docs/examples");
        return Examples.in(Files.exists(folder) ? folder.toRealPath() : folder);
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Path home = Distribution.folder();
        Examples examples = all(home);
        if (name == null) {
            if (show || command || !properties.isEmpty()) {
                throw new ParameterException(spec.commandLine(), "which example? 'verbena example' lists them");
            }
            list(examples);
            return 0;
        }
        if (show && command) {
            throw new ParameterException(spec.commandLine(), "--show and --command exclude each other");
        }
        Example example = find(examples, name);
        List<String> line = line(examples, example, home);
        if (!show && !command) {
            return run(line);
        }
        PrintWriter out = spec.commandLine().getOut();
        if (show) {
            out.print(Files.readString(example.source()));
        } else {
            out.println(line.stream().map(ExampleCommand::quoted).collect(Collectors.joining(" ")));
        }
        out.flush();
        return 0;
    }

    private void list(Examples examples) throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        int indent = examples.all().keySet().stream().mapToInt(String::length).max().orElse(0) + 2;
        int width = Math.max(LEAST, Terminal.OUT.columns() - indent);
        for (Example e : examples.all().values()) {
            String about = e.about() + (e.arguments().isEmpty()
                    ? ""
                    : " Argument: " + e.arguments().replace("|", " or ") + ".");
            String first = e.name();
            for (String line : Paragraph.wrap(about, width)) {
                out.println(first + " ".repeat(indent - first.length()) + line);
                first = "";
            }
        }
        out.flush();
    }

    private Example find(Examples examples, String wanted) {
        Example exact = examples.all().get(wanted);
        if (exact != null) {
            return exact;
        }
        String lower = wanted.toLowerCase(Locale.ROOT);
        for (Example e : examples.all().values()) {
            if (e.name().toLowerCase(Locale.ROOT).equals(lower)) {
                return e;
            }
        }
        String question = Nearest.question(wanted, examples.all().keySet());
        throw new ParameterException(spec.commandLine(), "there is no example '" + wanted + "'" + (question.isEmpty()
                ? "; 'verbena example' lists them"
                : ": " + question));
    }

    /** The whole command line. */
    private List<String> line(Examples examples, Example example, Path home) throws IOException {
        List<String> line = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin/java").toString()));
        line.addAll(examples.options(example.way(), Map.of("lib", fromHere(home.resolve("lib")), "agent", fromHere(
                Distribution.agent()))));
        properties.forEach(p -> line.add("-D" + p));
        line.add(fromHere(example.source()));
        line.addAll(arguments);
        return line;
    }

    /** A path that is shorter if it is below the current folder. */
    private static String fromHere(Path path) {
        Path here = Path.of("").toAbsolutePath();
        return (path.startsWith(here) ? here.relativize(path) : path).toString();
    }

    private static String quoted(String word) {
        return PLAIN.matcher(word).matches() ? word : "'" + word.replace("'", "'\\''") + "'";
    }

    /** The program has this process's standard streams, and ends with it. */
    private static int run(List<String> line) throws IOException, InterruptedException {
        Process program = new ProcessBuilder(line).inheritIO().start();
        Thread end = Thread.ofPlatform().unstarted(() -> {
            program.destroy();
            program.onExit().join();
        });
        Runtime.getRuntime().addShutdownHook(end);
        int code = program.waitFor();
        try {
            Runtime.getRuntime().removeShutdownHook(end);
        } catch (IllegalStateException ending) {
            // by the signal that has ended the program, too
        }
        return code;
    }
}
