// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

import org.verbena.cli.Main;

/**
 * Writes the manual pages of the command and of each subcommand, and what completes its command lines in bash and zsh, from the same
 * model that {@code --help} prints:
 *
 * <pre>java -cp 'lib/*' ManPages.java FOLDER VERSION DATE</pre>
 *
 * below {@code FOLDER}: {@code man/man1}, {@code bash-completion/completions}, {@code zsh/vendor-completions}.
 */
final class ManPages {
    private static final List<String> VARIABLES = List.of(
            "JAVA_HOME", "The JDK to use, if it is 25 or newer; otherwise that of the java of PATH, or the newest under /usr/lib/jvm.",
            "VERBENA_JAVA_OPTS", "More options for the JVM, separated by blanks.",
            "VERBENA_DEBUG", "If set, failures print their stack trace as well.",
            "NO_COLOR", "If set, there are no colours.",
            "COLUMNS", "The width of a terminal's rows, in place of the terminal's own.");

    private final StringBuilder out = new StringBuilder();
    private final CommandSpec of;
    private final CommandLine.Help help;

    private ManPages(CommandSpec of) {
        this.of = of;
        help = new CommandLine.Help(of, CommandLine.Help.defaultColorScheme(Ansi.OFF));
    }

    public static void main(String[] args) throws IOException {
        if (args.length != 3) {
            System.err.println("usage: ManPages FOLDER VERSION DATE");
            System.exit(2);
        }
        Path folder = Path.of(args[0]);
        CommandLine main = Main.commandLine();
        write(folder.resolve("bash-completion/completions/verbena"), AutoComplete.bash("verbena", main)
                .replaceFirst("^#!.*\n", "")); // it is sourced
        write(folder.resolve("zsh/vendor-completions/_verbena"), """
                #compdef verbena
                autoload -U +X bashcompinit && bashcompinit
                source "${${(%):-%x}:A:h}/../../bash-completion/completions/verbena"
                unalias compopt 2>/dev/null # which zsh does not expand in completions, but finds: there is no such command
                _bash_complete -o default -F _complete_verbena
                """);
        String origin = " \"" + LocalDate.parse(args[2]) + "\" \"Verbena " + args[1] + "\" \"Verbena\"\n";
        for (CommandSpec spec : all(main)) {
            write(folder.resolve("man/man1/" + name(spec) + ".1"), new ManPages(spec).page(origin));
        }
    }

    private static void write(Path file, String text) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    /** A command and those below it. */
    private static List<CommandSpec> all(CommandLine command) {
        List<CommandSpec> specs = new ArrayList<>(List.of(command.getCommandSpec()));
        new LinkedHashSet<>(command.getSubcommands().values()).forEach(c -> specs.addAll(all(c)));
        return specs;
    }

    private static String name(CommandSpec spec) {
        return spec.qualifiedName("-");
    }

    private String page(String origin) {
        out.append(".\\\" Made by packaging/ManPages.java from the command's own help.\n.TH \"").append(name(of)
                .toUpperCase(java.util.Locale.ROOT)).append("\" \"1\"").append(origin);
        String[] description = of.usageMessage().description();
        out.append(".SH NAME\n").append(escape(name(of))).append(" \\- ").append(escape(firstSentence(description)))
                .append('\n');
        out.append(".SH SYNOPSIS\n.nf\n").append(escape(help.synopsis(0).stripTrailing())).append("\n.fi\n");
        if (description.length > 0) {
            out.append(".SH DESCRIPTION\n");
            paragraphs(description);
        }
        List<PositionalParamSpec> operands = of.positionalParameters().stream().filter(p -> !p.hidden()).toList();
        if (!operands.isEmpty()) {
            out.append(".SH OPERANDS\n");
            operands.forEach(p -> item(p.paramLabel(), p));
        }
        List<OptionSpec> options = of.options().stream().filter(o -> !o.hidden()).toList();
        if (!options.isEmpty()) {
            out.append(".SH OPTIONS\n");
            options.forEach(o -> item(String.join(", ", o.names()) + label(o), o));
        }
        List<CommandSpec> below = all(of.commandLine()).stream().filter(c -> c.parent() == of).toList();
        if (!below.isEmpty()) {
            out.append(".SH COMMANDS\n");
            below.forEach(c -> item(c.name(), firstSentence(c.usageMessage().description())));
        }
        if (!of.usageMessage().exitCodeList().isEmpty()) {
            out.append(".SH EXIT STATUS\n");
            of.usageMessage().exitCodeList().forEach(this::item);
        } else {
            out.append(".SH EXIT STATUS\n0 done, 1 failed, 2 wrong command line, 130 stopped by Ctrl-C.\n");
        }
        if (of.usageMessage().footer().length > 0) {
            out.append(".SH NOTES\n");
            paragraphs(of.usageMessage().footer());
        }
        if (of.parent() == null) {
            out.append(".SH ENVIRONMENT\n");
            for (int i = 0; i < VARIABLES.size(); i += 2) {
                item(VARIABLES.get(i), VARIABLES.get(i + 1));
            }
        }
        seeAlso(below);
        return out.toString();
    }

    private void seeAlso(List<CommandSpec> below) {
        Set<String> others = new LinkedHashSet<>();
        if (of.parent() != null) {
            others.add(name(of.parent()));
        }
        below.forEach(c -> others.add(name(c)));
        out.append(".SH SEE ALSO\n");
        String separator = "";
        for (String other : others) {
            out.append(separator).append(".BR ").append(escape(other)).append(" (1)");
            separator = ",\n";
        }
        out.append('\n');
    }

    private String label(OptionSpec option) {
        String label = help.parameterLabelRenderer().renderParameterLabel(option, Ansi.OFF, List.of()).toString();
        return label.isEmpty() || label.startsWith("=") || label.startsWith("[=") || label.startsWith(" ") ? label : " " + label;
    }

    private void item(String term, ArgSpec argument) {
        item(term, String.join(" ", plain(argument.description())));
    }

    private void item(String term, String text) {
        out.append(".TP\n.B ").append(escape(Ansi.OFF.string(term))).append('\n').append(escape(text.strip())).append('\n');
    }

    private void paragraphs(String[] lines) {
        boolean began = true;
        for (String line : plain(lines)) {
            if (line.isBlank()) {
                if (!began) {
                    out.append(".PP\n");
                }
                began = true;
            } else if (line.startsWith(" ")) { // laid out: a table, an example
                out.append(".nf\n").append(escape(line)).append("\n.fi\n");
                began = false;
            } else {
                out.append(escape(line)).append('\n');
                began = false;
            }
        }
    }

    /** Without markup and place holders, a line each. */
    private static List<String> plain(String[] lines) {
        return Arrays.stream(lines).map(l -> Ansi.OFF.string(l.replace("%n", "\n").replace("%%", "%"))).flatMap(String::lines)
                .toList();
    }

    private static String firstSentence(String[] description) {
        String all = String.join(" ", plain(description)).strip();
        int end = all.indexOf(". ");
        String first = end < 0 ? all : all.substring(0, end);
        return first.endsWith(".") ? first.substring(0, first.length() - 1) : first;
    }

    /** What troff would take for its own is escaped; a line that begins with a control character, too. */
    private static String escape(String text) {
        StringBuilder escaped = new StringBuilder();
        text.lines().forEach(line -> {
            String safe = line.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("^", "\\(ha").replace("~",
                    "\\(ti").replace("`", "\\(ga");
            escaped.append(escaped.isEmpty() ? "" : "\n").append(safe.startsWith(".") ? "\\&" : "").append(safe);
        });
        return escaped.toString();
    }
}
