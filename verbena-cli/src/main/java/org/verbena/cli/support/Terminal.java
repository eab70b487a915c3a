// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Help.ColorScheme;

/**
 * Which of the standard streams are terminals. Each is checked separately: picocli guesses by {@link System#console()},
 * which treats all of them like standard input and output together.
 */
public enum Terminal {
    /** Standard input. */
    IN(0),
    /** Standard output. */
    OUT(1),
    /** Standard error. */
    ERR(2);

    private final int descriptor;

    Terminal(int descriptor) {
        this.descriptor = descriptor;
    }

    /** Whether the stream goes to a terminal, where a line may be redrawn. */
    public boolean isTerminal() {
        String to = target();
        return to.startsWith("/dev/pts/") || to.startsWith("/dev/tty") || to.equals("/dev/console");
    }

    /** Whether the stream goes to another process, which stops reading when it has seen enough. */
    public boolean isPipe() {
        String to = target();
        return to.startsWith("pipe:") || to.startsWith("socket:");
    }

    /** The target of the stream by its name in the kernel; empty if that is unknown. */
    public String target() {
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).toString();
        } catch (IOException e) {
            return "";
        }
    }

    /** Colours on a terminal, unless {@code NO_COLOR} is set to any value, or the terminal has none. */
    public ColorScheme colours() {
        String no = System.getenv("NO_COLOR");
        boolean wanted = (no == null || no.isEmpty()) && !"dumb".equals(System.getenv("TERM"));
        return Help.defaultColorScheme(wanted && isTerminal() ? Ansi.ON : Ansi.OFF);
    }
}
