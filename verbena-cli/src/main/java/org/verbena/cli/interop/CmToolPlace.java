// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.time.Duration;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import org.verbena.cli.support.HostPort;
import org.verbena.cli.support.OpenDevices;
import org.verbena.cli.support.OwnAddresses;
import org.verbena.cli.support.PeerException;

/** The addresses of the two ends of librdmacm's programs, and their output. */
abstract class CmToolPlace {
    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Option(names = {"-s", "--server"}, paramLabel = "HOST",
            description = "The server's address; without it this is the server.") private @Nullable String server;

    @Option(names = {"-b", "--bind"}, paramLabel = "HOST",
            description = "Of a server: where to listen (everywhere).") private @Nullable String bind;

    @Option(names = {"-p", "--port"}, paramLabel = "N",
            description = "The server's port (default: that of librdmacm's program; a server's may be 0: any).") private @Nullable Integer port;

    @Option(names = "--device", paramLabel = "NAME",
            description = "The RDMA device (default: the first that can do it).") private String device = "";

    @Option(names = "--timeout", paramLabel = "SECONDS",
            description = "When a silent peer counts as dead (${DEFAULT-VALUE}).") private int timeout = 60;

    @Option(names = "--json", description = "Print JSON.") private boolean json;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this help message and exit.")
    @SuppressWarnings("UnusedVariable") // picocli looks at it
    private boolean help;

    /** Refuses values out of range. */
    final void checkPlace() {
        if (server != null && bind != null) {
            throw usage("--bind belongs to a server, which has no --server");
        }
        Integer p = port;
        if (p != null) {
            range("--port", p, isServer() ? 0 : 1, 65535);
        }
        range("--timeout", timeout, 1, 86_400);
    }

    final void range(String option, long value, long min, long max) {
        if (value < min || value > max) {
            throw usage(option + " " + value + ": must be " + min + " to " + max);
        }
    }

    final ParameterException usage(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    final boolean isServer() {
        return server == null;
    }

    /** The address of the server, or its future address, on a device. */
    final InetSocketAddress address(int usualPort, String device) throws PeerException {
        Integer p = port;
        int number = p == null ? usualPort : p;
        String host = server == null ? bind : server;
        InetSocketAddress a = host == null ? new InetSocketAddress(number) : new InetSocketAddress(host, number);
        if (a.isUnresolved()) {
            throw new PeerException("the host '" + host + "' is not known");
        }
        if (!isServer()) {
            OwnAddresses.check(device, a);
        }
        return a;
    }

    /** The named device, else the first that has a feature; an empty name means any. */
    final String device(String feature) throws IOException {
        return device.isEmpty() ? OpenDevices.first(feature) : device;
    }

    final Duration timeout() {
        return Duration.ofSeconds(timeout);
    }

    /** Prints the address of a server, which a client may need. */
    final void sayListening(InetSocketAddress at) {
        if (!json) {
            say("listening on " + HostPort.text(at));
        }
    }

    /** Reports what was done, in the given nanoseconds. */
    final void report(int connections, long count, long size, long nanos) {
        double seconds = Math.max(nanos, 1) / 1e9;
        if (json) {
            say(CmToolReport.json(isServer(), connections, count, size, seconds));
        } else {
            say(CmToolReport.text(connections, count, size, seconds));
        }
    }

    private void say(String line) {
        PrintWriter out = spec.commandLine().getOut();
        out.println(line);
        out.flush();
    }
}
