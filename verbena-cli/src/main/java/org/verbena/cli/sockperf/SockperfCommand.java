// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code verbena sockperf}: Mellanox's benchmark of sockets, for those of the JDK and of Verbena. */
@Command(name = "sockperf", sortOptions = false, synopsisSubcommandLabel = "MODE", subcommands = {PingPongMode.class,
    UnderLoadMode.class, ThroughputMode.class, PlaybackMode.class, ServerMode.class}, description = {
        "Measures latency and throughput of sockets with the modes, options and output of Mellanox's sockperf.",
        "Either end may be the original: 'sockperf server' or 'sockperf ping-pong' in C."})
public final class SockperfCommand implements Runnable {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(),
                "a mode is needed: ping-pong, under-load, throughput, playback or server");
    }
}
