// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;

import org.verbena.testkit.Thorough;

/**
 * A {@code verbena perf --listen} in a process that stays, for tests of what does not depend on two fresh JVMs for each
 * measurement. With {@code -Dthorough} there is none, and they have these.
 */
final class PerfListener {
    private String port = "";

    /** The option that makes {@code perf} measure against it; starts it if it does not run yet. */
    synchronized List<String> option() throws IOException {
        if (Thorough.ON) {
            return List.of();
        }
        if (port.isEmpty()) {
            port = port(CommandProcess.server("perf", "--listen=0")); // until the process ends
        }
        return List.of("--connect=127.0.0.1:" + port);
    }

    /** The port that a listener prints. */
    static String port(CommandProcess listener) throws IOException {
        String line = listener.line();
        assertThat(line).startsWith("listening at 127.0.0.1:");
        return line.substring(line.lastIndexOf(':') + 1);
    }
}
