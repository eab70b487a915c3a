// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.rules;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import org.verbena.sockets.rules.Block;
import org.verbena.sockets.rules.RuleWarnings;
import org.verbena.sockets.rules.RulesFile;

/** {@code verbena rules check}: whether a file is valid, and which of its lines are never used. */
@Command(name = "check", description = "Reads a file of rules; warns of those that are never used.")
final class RulesCheckCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "FILE", description = "The file.")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private Path file;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this help message and exit.")
    @SuppressWarnings("UnusedVariable") // picocli looks at it
    private boolean help;

    @Override
    public Integer call() throws IOException {
        List<Block> blocks = RulesFile.read(file);
        PrintWriter out = spec.commandLine().getOut();
        RuleWarnings.of(blocks).forEach(w -> out.println("warning: " + w));
        int rules = blocks.stream().mapToInt(b -> b.rules().size()).sum();
        out.println(file + ": " + count(rules, "rule") + " in " + count(blocks.size(), "block"));
        out.flush();
        return 0;
    }

    private static String count(int n, String what) {
        return n + " " + what + (n == 1 ? "" : "s");
    }
}
