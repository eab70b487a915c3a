// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.rules;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code verbena rules}: the effect of rules for sockets. */
@Command(name = "rules", description = "Says what rules for sockets do; docs/rules.md has the grammar.",
        synopsisSubcommandLabel = "COMMAND", subcommands = {RulesCheckCommand.class, RulesExplainCommand.class})
public final class RulesCommand implements Runnable {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this help message and exit.")
    @SuppressWarnings("UnusedVariable") // picocli looks at it
    private boolean help;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "A command is missing.");
    }
}
