// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import java.io.IOException;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code verbena sockperf ping-pong}. */
@Command(name = "ping-pong", aliases = "pp", sortOptions = false, description = {
    "Sends a burst of messages when the last one is answered, and measures how long that takes."})
final class PingPongMode extends ClientCommand {
    @Mixin private LoadOptions load = new LoadOptions();

    @Option(names = "--data-integrity",
            description = "Compare the answers with what was sent.") private boolean integrity;

    @Override
    Plan plan() throws IOException {
        return load.plan(Plan.Mode.PING_PONG, 1, 0, integrity);
    }
}
