// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import java.io.IOException;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code verbena sockperf throughput}. */
@Command(name = "throughput", aliases = "tp", sortOptions = false, description = {
    "Sends as fast as it can, or at a rate, and measures how much that is. No message is answered."})
final class ThroughputMode extends ClientCommand {
    @Mixin private LoadOptions load = new LoadOptions();

    @Override
    Plan plan() throws IOException {
        return load.plan(Plan.Mode.THROUGHPUT, 0, 0, false);
    }
}
