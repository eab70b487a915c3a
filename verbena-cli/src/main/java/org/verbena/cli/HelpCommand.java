// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli;

import java.util.Iterator;
import java.util.List;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import org.verbena.cli.support.Nearest;
import org.verbena.cli.support.Terminal;

/** {@code verbena help}: the same as {@code --help}, for people who are used to it. */
@Command(name = "help", helpCommand = true, description = "Shows the commands, or the help of one.")
final class HelpCommand implements Runnable {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Parameters(paramLabel = "COMMAND", arity = "0..*", completionCandidates = Names.class,
            description = "The command.") private List<String> words = List.of();

    /** The commands, for what completes their names. */
    static final class Names implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return Main.names().iterator();
        }
    }

    @Override
    public void run() {
        CommandLine of = spec.parent().commandLine();
        for (String word : words) {
            CommandLine next = of.getSubcommands().get(word);
            if (next == null) {
                String question = Nearest.question(word, of.getSubcommands().keySet());
                throw new ParameterException(of, "there is no command '" + word + "'" + (question.isEmpty()
                        ? ""
                        : ": " + question));
            }
            of = next;
        }
        of.usage(spec.commandLine().getOut(), Terminal.OUT.colours());
        spec.commandLine().getOut().flush();
    }
}
