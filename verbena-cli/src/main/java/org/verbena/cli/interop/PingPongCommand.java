// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import org.verbena.cli.support.CommandException;
import org.verbena.cli.support.OpenDevices;
import org.verbena.cli.support.PeerException;
import org.verbena.cli.support.Units;

/** {@code verbena pingpong}: {@code ibv_rc_pingpong}, {@code uc}, {@code ud} and {@code srq} of rdma-core. */
@Command(name = "pingpong", mixinStandardHelpOptions = true, sortOptions = false,
        description = {"Sends messages to and fro between two queue pairs, on any device.",
            "Without HOST it waits for one client. Either end may be ibv_rc_pingpong, ibv_uc_pingpong, ibv_ud_pingpong"
                    + " or ibv_srq_pingpong of rdma-core, with the same options."},
        footer = {"", "Nothing is warmed up, so short runs show the JVM's start: for figures take 'verbena perf'."})
public final class PingPongCommand implements Callable<Integer> {
    /** That of the programs in C. */
    static final int DEFAULT_PORT = 18515;

    private static final List<Integer> MTUS = List.of(256, 512, 1024, 2048, 4096);
    private static final int DEFAULT_MTU = 1024;
    private static final int DEFAULT_QPS = 16;
    private static final int MAX_QPS = 255;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Parameters(paramLabel = "HOST", arity = "0..1",
            description = "Where the server is.") private @Nullable String host;

    @Option(names = {"-t", "--type"}, paramLabel = "TYPE",
            description = "rc, uc, ud or srq (${DEFAULT-VALUE}).") private PingPongType type = PingPongType.RC;

    @Option(names = {"-d", "--device", "--ib-dev"}, paramLabel = "NAME",
            description = "The RDMA device (default: the first).") private String device = "";

    @Option(names = {"-i", "--ib-port"}, paramLabel = "N",
            description = "Port of the device (${DEFAULT-VALUE}).") private int ibPort = 1;

    @Option(names = {"-p", "--port"}, paramLabel = "N", description = "TCP port to tell each other the addresses by"
            + " (${DEFAULT-VALUE}; a server's may be 0: any).") private int port = DEFAULT_PORT;

    @Option(names = {"-s", "--size"}, paramLabel = "BYTES", converter = Units.Size.class,
            description = "Size of a message, for instance 64 or 4k (4096; ud 1024).") private @Nullable Long size;

    @Option(names = {"-m", "--mtu"}, paramLabel = "BYTES",
            description = "Path MTU: 256, 512, 1024, 2048 or 4096 (1024; not for ud).") private @Nullable Integer mtu;

    @Option(names = {"-r", "--rx-depth"}, paramLabel = "N",
            description = "Receives to post at a time (500, or what the device has).") private @Nullable Integer rxDepth;

    @Option(names = {"-n", "--iterations", "--iters"}, paramLabel = "N",
            description = "Messages in each direction (${DEFAULT-VALUE}).") private int iterations = 1000;

    @Option(names = {"-l", "--sl"}, paramLabel = "N",
            description = "Service level (${DEFAULT-VALUE}).") private int serviceLevel;

    @Option(names = {"-e", "--events"},
            description = "Sleep in the completion channel instead of spinning.") private boolean events;

    @Option(names = {"-g", "--gid-index", "--gid-idx"}, paramLabel = "N", description = "Index of the own GID (default:"
            + " the first of IPv4, else of RoCEv2, else any; none on InfiniBand).") private @Nullable Integer gidIndex;

    @Option(names = {"-q", "--num-qp"}, paramLabel = "N",
            description = "Queue pairs (16; for srq only).") private @Nullable Integer queuePairs;

    @Option(names = {"-c", "--check", "--chk"},
            description = "Check the contents of all messages; to be given at both ends.") private boolean check;

    @Option(names = "--timeout", paramLabel = "SECONDS",
            description = "When a silent peer counts as dead (${DEFAULT-VALUE}).") private int timeout = 60;

    @Option(names = "--json", description = "Print JSON.") private boolean json;

    @Override
    public Integer call() throws IOException {
        PingPongOptions options = options();
        String to = host;
        try (PingPongEndpoint end = PingPongEndpoint.open(options, to != null)) {
            end.local.forEach(a -> say("  local address:  " + a));
            if (to == null) {
                serve(end);
            } else {
                try (PingPongExchange exchange = PingPongExchange.connect(to, port, type, options.timeout())) {
                    end.connect(exchange.ask(end.local));
                }
            }
            end.remote().forEach(a -> say("  remote address: " + a));
            PingPongResult result = new PingPongRun(end, to != null).run();
            PrintWriter out = spec.commandLine().getOut();
            if (json) {
                result.printJson(out);
            } else {
                result.print(out);
            }
        }
        return 0;
    }

    private void serve(PingPongEndpoint end) throws IOException {
        PingPongExchange client;
        try (ServerSocket listener = new ServerSocket()) {
            listener.setReuseAddress(true);
            listener.bind(new InetSocketAddress(port));
            say("  listening on port " + listener.getLocalPort());
            client = PingPongExchange.accept(listener, type, end.options.timeout());
        } catch (BindException e) {
            throw new PeerException("port " + port + " is taken: give another one (-p), or end its listener", e);
        }
        try (client) {
            end.connect(client.learn());
            client.tell(end.local);
        }
    }

    private void say(String line) {
        if (!json) {
            PrintWriter out = spec.commandLine().getOut();
            out.println(line);
            out.flush();
        }
    }

    private PingPongOptions options() throws CommandException {
        boolean shared = type == PingPongType.SRQ;
        if (queuePairs != null && !shared) {
            throw usage("--num-qp is for --type srq: the others have one queue pair");
        }
        if (mtu != null && type == PingPongType.UD) {
            throw usage("--mtu is not for --type ud: a datagram is one packet");
        }
        range("--port", port, host == null ? 0 : 1, 65535);
        range("--ib-port", ibPort, 1, 255);
        range("--rx-depth", rxDepth == null ? 1 : rxDepth, 1, Integer.MAX_VALUE);
        range("--iterations", iterations, 1, Integer.MAX_VALUE);
        range("--sl", serviceLevel, 0, 15);
        range("--gid-index", gidIndex == null ? 0 : gidIndex, 0, Integer.MAX_VALUE);
        range("--num-qp", queuePairs == null ? 1 : queuePairs, 1, MAX_QPS);
        range("--timeout", timeout, 1, 86_400);
        int qps = !shared ? 1 : queuePairs == null ? DEFAULT_QPS : queuePairs;
        if (rxDepth != null && rxDepth < qps) {
            throw usage("--rx-depth " + rxDepth + " is too small: each of " + qps + " queue pairs needs a receive");
        }
        if (mtu != null && !MTUS.contains(mtu)) {
            throw usage("--mtu " + mtu + ": must be 256, 512, 1024, 2048 or 4096");
        }
        long bytes = size == null ? type.defaultSize : size;
        return new PingPongOptions(type, device.isEmpty() ? OpenDevices.first() : device, ibPort, (int) bytes,
                mtu == null ? DEFAULT_MTU : mtu, rxDepth == null ? 0 : rxDepth, iterations, serviceLevel, events,
                gidIndex == null ? PingPongOptions.ANY_GID : gidIndex, qps, check, Duration.ofSeconds(timeout));
    }

    private void range(String option, long value, long min, long max) {
        if (value < min || value > max) {
            throw usage(option + " " + value + ": must be " + min + " to " + max);
        }
    }

    private ParameterException usage(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
