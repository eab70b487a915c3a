// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import org.verbena.cli.support.CommandException;
import org.verbena.cli.support.ExitCode;
import org.verbena.cli.support.StopHook;

/** {@code verbena sockperf server}. */
@Command(name = "server", aliases = "sr", sortOptions = false,
        description = "Answers the messages of clients, until it is stopped.")
final class ServerMode implements Callable<Integer> {
    private static final int STOP_SECONDS = 4;
    private static final int MOST_THREADS = 1_024;
    private static final String ANY = "0.0.0.0";

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Mixin private SocketOptions sockets = new SocketOptions();

    @Option(names = "--threads-num", paramLabel = "N", defaultValue = "1",
            description = "Threads that share the sockets of --file (default: ${DEFAULT-VALUE}).") private int threads = 1;

    @Option(names = "--cpu-affinity", paramLabel = "CPUS",
            description = "Run the threads on these processors, such as 0,2-3.") private @Nullable String cpus;

    @Option(names = "--force-unicast-reply",
            description = "Answer to the sender alone what was sent to a group.") private boolean answersOne;

    @Option(names = "--dont-reply", description = "Answer nothing.") private boolean silent;

    @Option(names = {"-g", "--gap-detection"},
            description = "Count the messages that have not arrived, and say at the end.") private boolean gaps;

    @Override
    public Integer call() throws IOException {
        List<Endpoint> endpoints;
        try {
            sockets.check();
            Affinity.check("--cpu-affinity", cpus);
            endpoints = sockets.endpoints(ANY, true);
            if (threads < 1 || threads > MOST_THREADS || threads > endpoints.size()) {
                throw new CommandException("--threads-num " + threads + " is not 1 to the number of sockets, "
                        + endpoints.size());
            }
        } catch (CommandException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
        PrintWriter out = spec.commandLine().getOut();
        Server server = new Server(new Server.Settings(!silent, answersOne, gaps, threads, cpus), sockets, endpoints,
                out);
        boolean[] stopped = new boolean[1];
        try (StopHook _ = new StopHook("sockperf", STOP_SECONDS, () -> {
            stopped[0] = true;
            server.stop();
        })) {
            out.println("sockperf: [SERVER] listen on:");
            for (int i = 0; i < endpoints.size(); i++) {
                out.printf("[%2d] %s%n", i, server.bound().get(i));
            }
            out.flush();
            server.run();
        }
        return stopped[0] ? ExitCode.INTERRUPTED : 0;
    }
}
