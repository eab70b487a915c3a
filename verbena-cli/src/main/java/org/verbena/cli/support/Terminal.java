// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.jline.terminal.TerminalBuilder;
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

    /** The columns of what is no terminal. */
    public static final int UNLIMITED = Integer.MAX_VALUE;
    private static final int USUAL_COLUMNS = 80;

    private final int descriptor;

    Terminal(int descriptor) {
        this.descriptor = descriptor;
    }

    /** Whether the stream goes to a terminal, where a line may be redrawn. */
    public boolean isTerminal() {
        String to = target();
        return to.startsWith("/dev/pts/") || to.startsWith("/dev/tty") || to.equals("/dev/console");
    }

    /** The columns: {@code COLUMNS}, or what the terminal says; {@link #UNLIMITED} where the stream is none. */
    public int columns() {
        if (!isTerminal()) {
            return UNLIMITED;
        }
        String said = System.getenv("COLUMNS");
        if (said != null && said.matches("[1-9][0-9]{0,5}")) {
            return Integer.parseInt(said);
        }
        if (!IN.isTerminal() || !OUT.isTerminal()) { // JLine has a terminal of both only
            return USUAL_COLUMNS;
        }
        try (org.jline.terminal.Terminal terminal = TerminalBuilder.builder().system(true).providers("ffm,exec")
                .dumb(true).nativeSignals(false).graphemeCluster(false).build()) {
            int columns = terminal.getSize().getColumns();
            return columns > 0 ? columns : USUAL_COLUMNS;
        } catch (IOException | RuntimeException unknown) {
            return USUAL_COLUMNS;
        }
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
