// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.support;

import java.io.PrintWriter;

/** The exit codes of the command, and the stack trace of a failure. */
public final class ExitCode {
    /** The work failed. */
    public static final int FAILURE = 1;

    /** The command line was wrong. */
    public static final int USAGE = 2;

    /** A person stopped it: 128 and the number of SIGINT, as for any process that the signal ends. */
    public static final int INTERRUPTED = 130;

    private ExitCode() {}

    /** Prints the stack trace of a failure if {@code VERBENA_DEBUG} is set. */
    public static void trace(Exception failure, PrintWriter err) {
        if (System.getenv("VERBENA_DEBUG") != null) {
            failure.printStackTrace(err);
        }
        err.flush();
    }
}
