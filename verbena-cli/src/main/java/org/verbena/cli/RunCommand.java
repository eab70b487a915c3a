// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli;

import java.util.List;
import java.util.concurrent.Callable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code verbena run}: the help only. The launcher does the work before any JVM starts, since only then the shell can
 * become the command, so that signals, exit status and process id are those of the command.
 */
@Command(name = "run", description = {"Runs a command; every Java program below it gets Verbena's sockets.",
    "Other programs are left alone. What is in JDK_JAVA_OPTIONS is kept."},
        exitCodeListHeading = "%nExit codes:%n", exitCodeList = {"2:wrong command line, or no such JDK or agent",
            "126:the command cannot be executed", "127:there is no such command", "other:that of the command"},
        customSynopsis = "verbena run [--every-jvm] [--quiet] [--summary[=PATH]] [--set KEY=VALUE]… [--] COMMAND [ARGUMENT…]")
final class RunCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Option(names = "--every-jvm", description = "By JAVA_TOOL_OPTIONS: embedded JVMs and tools too.")
    @SuppressWarnings("UnusedVariable") // the launcher looks at it
    private boolean everyJvm;

    @Option(names = "--quiet", description = "The agent prints nothing.")
    @SuppressWarnings("UnusedVariable") // the launcher looks at it
    private boolean quiet;

    @Option(names = "--summary", paramLabel = "PATH", arity = "0..1", description = {
        "Each Java program writes at its end what its connections have come to, a line of JSON:",
        "to standard error, or to the end of a file."})
    @SuppressWarnings("UnusedVariable") // the launcher looks at it
    private String summary = "";

    @Option(names = "--set", paramLabel = "KEY=VALUE", description = "A property verbena.KEY; may be repeated.")
    @SuppressWarnings("UnusedVariable") // the launcher looks at it
    private List<String> settings = List.of();

    @Parameters(paramLabel = "COMMAND", arity = "0..*", description = "The command and its arguments.")
    @SuppressWarnings("UnusedVariable") // the launcher looks at it
    private List<String> command = List.of();

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this help message and exit.")
    @SuppressWarnings("UnusedVariable") // picocli looks at it
    private boolean help;

    @Override
    public Integer call() {
        throw new ParameterException(spec.commandLine(),
                "run is the work of the launcher ./verbena, and this is the JVM that it would have started: call that");
    }
}
