// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf;

import picocli.CommandLine;

import org.verbena.cli.perf.session.PerfOptions;

/** Command lines of {@code verbena perf} as the options that they are, for tests of what these do. */
public final class PerfCommandLine {
    private PerfCommandLine() {}

    /** The options of a command line, its arguments apart by a space. */
    public static PerfOptions options(String arguments) {
        PerfCommand command = new PerfCommand();
        new CommandLine(command).parseArgs(arguments.split(" "));
        return command.options();
    }
}
