// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli;

import java.io.PrintWriter;
import java.lang.module.ModuleDescriptor;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.ColorScheme;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.RunLast;
import picocli.CommandLine.Spec;

import org.verbena.cli.copy.CopyCommand;
import org.verbena.cli.doctor.DoctorCommand;
import org.verbena.cli.example.ExampleCommand;
import org.verbena.cli.interop.CmatoseCommand;
import org.verbena.cli.interop.PerftestCommand;
import org.verbena.cli.interop.PingPongCommand;
import org.verbena.cli.interop.RpingCommand;
import org.verbena.cli.interop.RstreamCommand;
import org.verbena.cli.interop.UdaddyCommand;
import org.verbena.cli.netcat.NetcatCommand;
import org.verbena.cli.perf.PerfCommand;
import org.verbena.cli.rules.RulesCommand;
import org.verbena.cli.sockperf.SockperfCommand;
import org.verbena.cli.stat.MonitorCommand;
import org.verbena.cli.stat.StatCommand;
import org.verbena.cli.support.ExitCode;
import org.verbena.cli.support.Terminal;
import org.verbena.cli.support.Typography;
import org.verbena.cli.support.WrongUsage;
import org.verbena.cli.why.WhyCommand;

/** Entry point of the {@code verbena} command. */
@Command(name = "verbena", description = "RDMA verbs for the JVM.", mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class, synopsisSubcommandLabel = "COMMAND")
public final class Main implements Runnable {
    private static final List<Class<?>> COMMANDS = List.of(
            // One line per command.
            AttachCommand.class,
            CopyCommand.class,
            DevicesCommand.class,
            DoctorCommand.class,
            ExampleCommand.class,
            HelpCommand.class,
            MonitorCommand.class,
            NetcatCommand.class,
            PerfCommand.class,
            PerftestCommand.class,
            PingPongCommand.class,
            RpingCommand.class,
            RstreamCommand.class,
            RulesCommand.class,
            RunCommand.class,
            SockperfCommand.class,
            StatCommand.class,
            CmatoseCommand.class,
            UdaddyCommand.class,
            VersionCommand.class,
            WhyCommand.class);

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    /** Runs the command and ends the JVM with its exit code. */
    public static void main(String[] args) {
        System.exit(commandLine(args).setOut(Typography.writer(System.out, System.out.charset()))
                .setErr(Typography.writer(System.err, System.err.charset())).execute(args));
    }

    /**
     * The command with its subcommands, also for tests. If the first argument names a subcommand, only that one is
     * loaded (except for {@code help}): reading the options of all of them takes a tenth of the time of {@code verbena
     * devices}.
     */
    public static CommandLine commandLine(String... words) {
        CommandLine main = new CommandLine(new Main());
        List<Class<?>> named = COMMANDS.stream().filter(c -> words.length > 0 && name(c).equals(words[0])
                && c != HelpCommand.class).toList();
        (named.isEmpty() ? COMMANDS : named).forEach(main::addSubcommand);
        return main.setColorScheme(Terminal.OUT.colours())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionStrategy(Main::execute)
                .setParameterExceptionHandler((wrong, args) -> usage(wrong))
                .setExecutionExceptionHandler((failure, command, parsed) -> report(failure, command));
    }

    /** The commands, in the order of the help. */
    static List<String> names() {
        return COMMANDS.stream().map(Main::name).toList();
    }

    private static String name(Class<?> command) {
        return command.getAnnotation(Command.class).name();
    }

    /** Runs the command; output that could not be written is a failure, unless the reader has closed its end. */
    private static int execute(ParseResult parsed) {
        int code = new RunLast().execute(parsed);
        // the stream does not report that a write failed; for a pipe the reason is that there is no reader
        if (!System.out.checkError() || Terminal.OUT.isPipe()) {
            return code;
        }
        PrintWriter err = parsed.commandSpec().commandLine().getErr();
        String to = Terminal.OUT.target();
        err.println(Terminal.ERR.colours().errorText("verbena: standard output " + (to.isEmpty() ? "" : "(" + to + ") ")
                + "cannot be written, some of it is lost: make room there, or write it elsewhere"));
        err.flush();
        return code == 0 ? ExitCode.FAILURE : code;
    }

    @Override
    public void run() {
        throw new MissingCommand(spec.commandLine());
    }

    /** There are no arguments at all, so the full list hides no error message. */
    private static final class MissingCommand extends ParameterException {
        private static final long serialVersionUID = 1L;

        MissingCommand(CommandLine command) {
            super(command, "A command is missing.");
        }
    }

    /** One sentence, and where to read more. */
    private static int usage(ParameterException wrong) {
        CommandLine command = wrong.getCommandLine();
        PrintWriter err = command.getErr();
        ColorScheme colours = Terminal.ERR.colours();
        if (wrong instanceof MissingCommand) {
            command.usage(err, colours);
        }
        err.println(colours.errorText("verbena: " + WrongUsage.sentence(wrong)));
        err.println("Try '" + command.getCommandSpec().qualifiedName() + " --help'.");
        err.flush();
        return ExitCode.USAGE;
    }

    /** One sentence for people. */
    private static int report(Exception failure, CommandLine command) {
        PrintWriter err = command.getErr();
        String message = Objects.requireNonNullElse(failure.getMessage(), failure.toString());
        err.println(Terminal.ERR.colours().errorText("verbena: " + message));
        ExitCode.trace(failure, err);
        return ExitCode.FAILURE;
    }

    /** The version that the build wrote into the module descriptor. */
    static final class Version implements CommandLine.IVersionProvider {
        @Override
        public String[] getVersion() {
            String version = Optional.ofNullable(Main.class.getModule().getDescriptor())
                    .flatMap(ModuleDescriptor::rawVersion)
                    .orElse("(development)");
            return new String[] {"verbena " + version + ", Java " + Runtime.version()};
        }
    }
}
