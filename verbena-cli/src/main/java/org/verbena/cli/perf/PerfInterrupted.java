// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf;

import java.io.IOException;

/** A person has stopped the measurement: a terminal sends the signal to the measuring processes as well. */
final class PerfInterrupted extends IOException {
    private static final long serialVersionUID = 1L;

    PerfInterrupted(Throwable cause) {
        super("interrupted", cause);
    }
}
