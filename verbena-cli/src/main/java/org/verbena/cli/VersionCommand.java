// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code verbena version}: the same as {@code --version}. */
@Command(name = "version", description = "Shows the version of Verbena and of Java.")
final class VersionCommand implements Runnable {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Override
    public void run() {
        for (String line : new Main.Version().getVersion()) {
            spec.commandLine().getOut().println(line);
        }
        spec.commandLine().getOut().flush();
    }
}
