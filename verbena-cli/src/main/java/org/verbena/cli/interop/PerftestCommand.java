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
import org.verbena.cli.support.HostPort;
import org.verbena.cli.support.OpenDevices;
import org.verbena.cli.support.PeerException;
import org.verbena.cli.support.Units;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.Context;
import org.verbena.verbs.Verbs;

/** {@code verbena perftest}: {@code ib_write_bw} and the other programs of perftest. */
@Command(name = "perftest", mixinStandardHelpOptions = true, sortOptions = false,
        description = {"Measures messages between queue pairs of type RC, on any device.",
            "Without HOST it waits for one client. Either end may be ib_write_bw, ib_read_bw, ib_send_bw, ib_atomic_bw"
                    + " or one of the same with _lat of perftest, with the same options."},
        footer = {"", "Nothing is warmed up, so short runs show the JVM's start: for figures take 'verbena perf'."})
public final class PerftestCommand implements Callable<Integer> {
    private static final List<Integer> MTUS = List.of(256, 512, 1024, 2048, 4096);

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "TEST", description = "${COMPLETION-CANDIDATES}.")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private PerftestType type;

    @Parameters(index = "1", paramLabel = "HOST", arity = "0..1",
            description = "Where the server is.") private @Nullable String host;

    @Option(names = {"-d", "--device", "--ib-dev"}, paramLabel = "NAME",
            description = "The RDMA device (default: the first).") private String device = "";

    @Option(names = {"-i", "--ib-port"}, paramLabel = "N",
            description = "Port of the device (${DEFAULT-VALUE}).") private int ibPort = 1;

    @Option(names = {"-p", "--port"}, paramLabel = "N", description = "TCP port to agree by (${DEFAULT-VALUE}; a"
            + " server's may be 0: any).") private int port = PingPongCommand.DEFAULT_PORT;

    @Option(names = {"-s", "--size"}, paramLabel = "BYTES", converter = Units.Size.class,
            description = "Size of a message (65536; of latency 2; of atomics always 8).") private @Nullable Long size;

    @Option(names = {"-n", "--iterations", "--iters"}, paramLabel = "N",
            description = "Messages (1000; of write_bw 5000).") private @Nullable Integer iterations;

    @Option(names = {"-m", "--mtu"}, paramLabel = "BYTES",
            description = "Path MTU: 256, 512, 1024, 2048 or 4096 (the port's).") private @Nullable Integer mtu;

    @Option(names = {"-t", "--tx-depth"}, paramLabel = "N",
            description = "Requests outstanding (${DEFAULT-VALUE}).") private int txDepth = 128;

    @Option(names = {"-u", "--qp-timeout"}, paramLabel = "N", description = "How long to wait for an ACK:"
            + " 4.096 µs * 2^N (${DEFAULT-VALUE}: 67 ms).") private int retryTimeout = 14;

    @Option(names = {"-x", "--gid-index"}, paramLabel = "N", description = "Index of the own GID (default: the first of"
            + " IPv4, else of RoCEv2, else any).") private @Nullable Integer gidIndex;

    @Option(names = {"-e", "--events"},
            description = "Sleep in the completion channel instead of spinning.") private boolean events;

    @Option(names = {"-q", "--qp"}, paramLabel = "N",
            description = "Queue pairs, of bandwidth tests (${DEFAULT-VALUE}).") private int queuePairs = 1;

    @Option(names = {"-a", "--all"},
            description = "All sizes from 2 bytes to 8 MiB, one after the other.") private boolean allSizes;

    @Option(names = {"-b", "--bidirectional"},
            description = "Both ends measure at the same time; of bandwidth tests.") private boolean bothWays;

    @Option(names = {"-R", "--rdma_cm"}, description = "Connect by the connection manager, over which the ends also"
            + " agree.") private boolean manager;

    @Option(names = {"-F", "--CPU-freq"}, description = "Is taken and changes nothing: no time is read from a"
            + " processor's clock.")
    @SuppressWarnings("UnusedVariable") // for command lines of the programs in C
    private boolean frequency;

    @Option(names = "--timeout", paramLabel = "SECONDS",
            description = "When a silent peer counts as dead (${DEFAULT-VALUE}).") private int timeout = 60;

    @Override
    public Integer call() throws IOException {
        PerftestOptions options = options();
        try (Context context = Verbs.open(options.device());
                PerftestLink link = options.manager() ? messages(context, options) : socket(options);
                PerftestExchange exchange = new PerftestExchange(link)) {
            PerftestEndpoint end = new PerftestEndpoint(options, exchange, link, context);
            end.locals().forEach(a -> say(" local address: " + a));
            end.remotes().forEach(a -> say(" remote address: " + a));
            new PerftestRun(end, exchange, host != null, spec.commandLine().getOut()).run();
        }
        return 0;
    }

    private PerftestLink messages(Context context, PerftestOptions options) throws IOException {
        String to = host;
        if (to != null) {
            InetSocketAddress address = new InetSocketAddress(to, port);
            if (address.isUnresolved()) {
                throw new PeerException("the host '" + to + "' is not known");
            }
            return PerftestMessages.connect(context, address, options);
        }
        ConnectionListener listener = context.connectionManager().listen(new InetSocketAddress(port));
        say(" listening on " + HostPort.text(listener.localAddress()));
        return PerftestMessages.accept(context, listener, options);
    }

    private PerftestLink socket(PerftestOptions options) throws IOException {
        String to = host;
        if (to != null) {
            return PerftestSocket.connect(to, port, type, options.timeout());
        }
        try (ServerSocket listener = new ServerSocket()) {
            listener.setReuseAddress(true);
            listener.bind(new InetSocketAddress(port));
            say(" listening on port " + listener.getLocalPort());
            return PerftestSocket.accept(listener, options.timeout());
        } catch (BindException e) {
            throw new PeerException("port " + port + " is taken: give another one (-p), or end its listener", e);
        }
    }

    private void say(String line) {
        PrintWriter out = spec.commandLine().getOut();
        out.println(line);
        out.flush();
    }

    private PerftestOptions options() throws CommandException {
        if (type.atomic() && size != null && size != PerftestType.ATOMIC_BYTES) {
            throw usage("--size is not for " + type + ": an atomic has 8 bytes");
        }
        if (events && type == PerftestType.WRITE_LAT) {
            throw usage("--events is not for write_lat: the target of writes has no completion to sleep for");
        }
        if (allSizes && (size != null || type.atomic())) {
            throw usage("--all is not for " + (type.atomic() ? type + ": an atomic has 8 bytes" : "a --size"));
        }
        if (type.latency && (queuePairs != 1 || bothWays)) {
            throw usage((bothWays ? "--bidirectional" : "--qp") + " is not for " + type
                    + ": one message is on its way at a time");
        }
        int n = iterations == null ? type.defaultIterations() : iterations;
        range("--port", port, host == null ? 0 : 1, 65535);
        range("--ib-port", ibPort, 1, 255);
        range("--iterations", n, type.latency ? 2 : 1, type.latency ? 10_000_000 : Integer.MAX_VALUE);
        range("--qp", queuePairs, 1, 16_384);
        range("--tx-depth", txDepth, 1, 1 << 16);
        range("--qp-timeout", retryTimeout, 1, 31);
        range("--gid-index", gidIndex == null ? 0 : gidIndex, 0, Integer.MAX_VALUE);
        range("--timeout", timeout, 1, 86_400);
        if (mtu != null && !MTUS.contains(mtu)) {
            throw usage("--mtu " + mtu + ": must be 256, 512, 1024, 2048 or 4096");
        }
        int bytes = allSizes
                ? PerftestOptions.LARGEST
                : size == null ? type.defaultSize() : Math.toIntExact(size);
        return new PerftestOptions(type, device.isEmpty() ? OpenDevices.first() : device, ibPort, bytes, allSizes,
                mtu == null ? 0 : mtu, n, queuePairs, bothWays, manager, txDepth, retryTimeout, events,
                gidIndex == null ? PingPongOptions.ANY_GID : gidIndex, Duration.ofSeconds(timeout));
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
