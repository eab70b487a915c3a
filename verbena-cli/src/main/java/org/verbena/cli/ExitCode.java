package org.verbena.cli;

import java.io.PrintWriter;

/** How the command ends, and where a failure comes from. */
final class ExitCode {
    /** The work failed. */
    static final int FAILURE = 1;

    /** The command line was wrong. */
    static final int USAGE = 2;

    private ExitCode() {}

    /** Prints the stack trace of a failure if {@code VERBENA_DEBUG} is set. */
    static void trace(Exception failure, PrintWriter err) {
        if (System.getenv("VERBENA_DEBUG") != null) {
            failure.printStackTrace(err);
        }
        err.flush();
    }
}
