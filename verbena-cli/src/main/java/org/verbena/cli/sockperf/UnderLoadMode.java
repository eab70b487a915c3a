// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import java.io.IOException;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code verbena sockperf under-load}. */
@Command(name = "under-load", aliases = "ul", sortOptions = false, description = {
    "Sends at a rate, and measures how long the answers take that are asked for now and then."})
final class UnderLoadMode extends ClientCommand {
    private static final int RATE = 10_000;

    @Mixin private LoadOptions load = new LoadOptions();
    @Mixin private ReplyOptions reply = new ReplyOptions();

    @Override
    Plan plan() throws IOException {
        return load.plan(Plan.Mode.UNDER_LOAD, reply.every(), RATE, false);
    }
}
