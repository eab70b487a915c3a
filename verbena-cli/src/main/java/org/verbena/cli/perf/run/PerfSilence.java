// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.run;

import org.verbena.cli.support.CommandException;

/** The peer is there, and nothing has come from it for too long. */
public final class PerfSilence extends CommandException {
    private static final long serialVersionUID = 1L;

    private final long seconds;

    PerfSilence(long seconds) {
        super("the peer has not moved for " + seconds + " seconds");
        this.seconds = seconds;
    }

    /** How long this side has waited. */
    public long seconds() {
        return seconds;
    }
}
