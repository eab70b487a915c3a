// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Callable;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import org.verbena.cli.support.ConnectionRequests;
import org.verbena.cli.support.ExitCode;
import org.verbena.cli.support.HostPort;
import org.verbena.cli.support.Json;
import org.verbena.cli.support.OpenDevices;
import org.verbena.cli.support.OwnAddresses;
import org.verbena.cli.support.PeerException;
import org.verbena.cli.support.Terminal;
import org.verbena.cli.support.Units;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.Context;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;

/** {@code verbena rping}: {@code rping} of librdmacm, over the connection manager of any device. */
@Command(name = "rping", sortOptions = false,
        description = {"Reads and writes a text between two queue pairs, which the connection manager connects.",
            "Either end may be rping of librdmacm, with the same options; what comes back is always compared."},
        customSynopsis = {"verbena rping -s [-P] [OPTIONS]", "       verbena rping -c -a HOST [OPTIONS]"})
public final class RpingCommand implements Callable<Integer> {
    /** The longest text, the same as in librdmacm's rping. */
    static final int MAX_SIZE = 64 * 1024 - 1;

    private static final int MIN_SIZE = 26;
    private static final int DEFAULT_PORT = 7174;
    private static final Duration SLICE = Duration.ofHours(1);

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @ArgGroup(exclusive = true, multiplicity = "1")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private Role role;

    /** Which end this is. */
    static final class Role {
        @Option(names = {"-s", "--server"}, required = true, description = "Answer.") private boolean server;

        @Option(names = {"-c", "--client"}, required = true, description = "Ask.") private boolean client;
    }

    @Option(names = {"-a", "--address"}, paramLabel = "HOST",
            description = "The server's address; of a server, where to listen (everywhere).") private @Nullable String address;

    @Option(names = {"-p", "--port"}, paramLabel = "N",
            description = "Its port (${DEFAULT-VALUE}; a server's may be 0: any).") private int port = DEFAULT_PORT;

    @Option(names = "--device", paramLabel = "NAME",
            description = "The RDMA device (default: the first).") private String device = "";

    @Option(names = {"-S", "--size"}, paramLabel = "BYTES", converter = Units.Bytes.class, defaultValue = "64",
            description = "Size of the text (${DEFAULT-VALUE}; a server takes any).") private long size;

    @Option(names = {"-C", "--count"}, paramLabel = "N",
            description = "How many pings (0: until it is ended).") private int count;

    @Option(names = {"-v", "--verbose"}, description = "Print the texts.") private boolean verbose;

    @Option(names = {"-V", "--validate"}, description = "Taken as rping takes it; texts are always compared.")
    @SuppressWarnings("UnusedVariable") // picocli takes it
    private boolean validate;

    @Option(names = {"-P", "--persistent"},
            description = "With -s: serve any number of clients, several at a time.") private boolean persistent;

    @Option(names = "--timeout", paramLabel = "SECONDS",
            description = "When a silent peer counts as dead (${DEFAULT-VALUE}).") private int timeout = 60;

    @Option(names = "--json", description = "Print JSON.") private boolean json;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this help message and exit.")
    @SuppressWarnings("UnusedVariable") // picocli looks at it
    private boolean help;

    @Override
    public Integer call() throws IOException {
        if (persistent && !role.server) {
            throw usage("--persistent belongs to --server");
        }
        if (role.client && address == null) {
            throw usage("--client needs the server's address: -a HOST");
        }
        if (verbose && json) {
            throw usage("--verbose and --json exclude each other");
        }
        range("--port", port, role.server ? 0 : 1, 65535);
        range("--size", size, MIN_SIZE, MAX_SIZE);
        range("--count", count, 0, Integer.MAX_VALUE);
        range("--timeout", timeout, 1, 86_400);
        String name = device.isEmpty() ? OpenDevices.first() : device;
        if (role.client) {
            OwnAddresses.check(name, socketAddress());
        }
        try (Context context = Verbs.open(name)) {
            if (role.server) {
                serve(context);
            } else {
                ask(context);
            }
        }
        return 0;
    }

    private InetSocketAddress socketAddress() throws PeerException {
        String host = address;
        InetSocketAddress a = host == null ? new InetSocketAddress(port) : new InetSocketAddress(host, port);
        if (a.isUnresolved()) {
            throw new PeerException("the host '" + host + "' is not known");
        }
        return a;
    }

    private void ask(Context context) throws IOException {
        InetSocketAddress to = socketAddress();
        long start;
        int n = 0;
        try (RpingEndpoint end = RpingEndpoint.connect(context, to, (int) size, limit())) {
            RpingClient client = new RpingClient(end, (int) size, texts());
            start = System.nanoTime();
            for (; count == 0 || n < count; n++) {
                client.ping(n);
            }
        } catch (VerbsException e) {
            throw PeerException.orNobody(e, to, "rping -s");
        }
        report("client", n, System.nanoTime() - start);
    }

    private void serve(Context context) throws IOException {
        try (ConnectionListener listener = context.connectionManager().listen(socketAddress())) {
            if (!json) {
                say("listening on " + HostPort.text(listener.localAddress()));
            }
            do {
                ConnectionRequest request = ConnectionRequests.await(listener, SLICE);
                while (request == null) {
                    request = ConnectionRequests.await(listener, SLICE);
                }
                if (!persistent) {
                    session(context, request);
                } else {
                    ConnectionRequest r = request;
                    Thread.ofPlatform().daemon().name("rping").start(() -> persistentSession(context, r));
                }
            } while (persistent);
        }
    }

    /** The end of one client is not the end of the others. */
    private void persistentSession(Context context, ConnectionRequest request) {
        try {
            session(context, request);
        } catch (IOException e) {
            PrintWriter err = spec.commandLine().getErr();
            err.println(Terminal.ERR.colours().errorText("verbena: " + request.peer() + ": " + e.getMessage()));
            ExitCode.trace(e, err);
        }
    }

    private void session(Context context, ConnectionRequest request) throws IOException {
        try (RpingEndpoint end = RpingEndpoint.accept(context, request, MAX_SIZE, limit())) {
            long start = System.nanoTime();
            report("server", new RpingServer(end, texts()).serve(), System.nanoTime() - start);
        }
    }

    private Duration limit() {
        return Duration.ofSeconds(timeout);
    }

    private @Nullable PrintWriter texts() {
        return verbose ? spec.commandLine().getOut() : null;
    }

    private synchronized void report(String end, long pings, long nanos) throws IOException {
        double seconds = Math.max(nanos, 1) / 1e9;
        if (json) {
            say(Json.text(JsonNodeFactory.instance.objectNode().put("role", end).put("pings", pings)
                    .put("seconds", Json.seconds(seconds))
                    .put("usec_per_ping", Json.rate(pings == 0 ? 0 : seconds * 1e6 / pings))));
        } else {
            say(String.format(Locale.ROOT, "%d pings in %.2f seconds = %.2f usec/ping", pings, seconds,
                    pings == 0 ? 0 : seconds * 1e6 / pings));
        }
    }

    private void say(String line) {
        PrintWriter out = spec.commandLine().getOut();
        out.println(line);
        out.flush();
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
