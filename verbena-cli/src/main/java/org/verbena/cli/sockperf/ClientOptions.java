// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of all clients, but for what they send. */
final class ClientOptions {
    @Option(names = {"--client_ip", "--client_addr"}, paramLabel = "ADDRESS",
            description = "Send from this address.")
    @Nullable String address;

    @Option(names = "--client_port", paramLabel = "PORT", defaultValue = "0",
            description = "Send from this port (default: any).") int port;

    @Option(names = "--sender-affinity", paramLabel = "CPUS",
            description = "Run the sending thread on these processors, such as 0,2-3.")
    @Nullable String senderCpus;

    @Option(names = "--receiver-affinity", paramLabel = "CPUS",
            description = "Run the receiving thread on these processors.")
    @Nullable String receiverCpus;

    @Option(names = "--tcp-skip-blocking-send",
            description = "Leave out messages for which the socket has no room, and count them (with --nonblocked or -F e).") boolean skip;

    @Option(names = "--pre-warmup-wait", paramLabel = "SECONDS", defaultValue = "0",
            description = "Wait before the first message.") int wait;
}
