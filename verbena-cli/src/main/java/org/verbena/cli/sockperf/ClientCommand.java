// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import org.verbena.cli.support.CommandException;
import org.verbena.cli.support.ExitCode;
import org.verbena.cli.support.StopHook;

/** What the modes of a client share. */
abstract class ClientCommand implements Callable<Integer> {
    private static final int STOP_SECONDS = 10;
    private static final String LOOPBACK = "127.0.0.1";

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Mixin private SocketOptions sockets = new SocketOptions();
    @Mixin private ClientOptions options = new ClientOptions();
    @Mixin private ReportOptions report = new ReportOptions();

    private volatile boolean stopped;

    /** What is to be done. */
    abstract Plan plan() throws IOException;

    @Override
    public final Integer call() throws IOException {
        Plan plan;
        List<Endpoint> servers;
        SocketOptions.Wait wait;
        try {
            sockets.check();
            report.check();
            Affinity.check("--sender-affinity", options.senderCpus);
            Affinity.check("--receiver-affinity", options.receiverCpus);
            plan = plan();
            if (plan.every() == 0) {
                report.requireNone(plan.mode().word);
            }
            servers = sockets.endpoints(LOOPBACK, false);
            if (servers.stream().map(Endpoint::tcp).distinct().count() > 1) {
                throw new CommandException(sockets.file
                        + " has both TCP and UDP, which a client cannot compare: one of them at a time");
            }
            wait = sockets.wait(servers.size());
        } catch (CommandException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
        boolean lossy = !servers.getFirst().tcp();
        if (wait == SocketOptions.Wait.BLOCK && !lossy && plan.burst() > 1) {
            wait = SocketOptions.Wait.SELECT; // answers have to be received while a burst is sent
        }
        report.prepare();
        PrintWriter out = "-".equals(report.json) ? spec.commandLine().getErr() : spec.commandLine().getOut();
        Channels channels = new Channels(sockets);
        List<Link> links = new ArrayList<>();
        Run run;
        try {
            for (Endpoint e : servers) {
                links.add(channels.connect(e, local(), plan.mode() != Plan.Mode.THROUGHPUT));
            }
            out.println("sockperf[CLIENT] send on:");
            for (int i = 0; i < servers.size(); i++) {
                out.printf("[%2d] %s%n", i, servers.get(i));
            }
            out.flush();
            pause();
            try (Client client = new Client(plan, links, lossy, wait, sockets.timeout, channels.provider(),
                    options.skip, options.senderCpus,
                    options.receiverCpus); StopHook _ = new StopHook("sockperf", STOP_SECONDS, () -> {
                        stopped = true;
                        client.stop();
                    })) {
                out.println("sockperf: Starting test...");
                out.flush();
                run = client.run();
                out.println("sockperf: Test ended" + (stopped
                        ? " (interrupted by user)"
                        : run.times().isFull(run.times().sent())
                                ? " early: there is no memory for the times of more messages"
                                : ""));
                new Report(report, run, lossy ? "udp" : "tcp", links.stream().map(Link::peer).toList()).write(spec
                        .commandLine()
                        .getOut());
            }
        } finally {
            links.forEach(Link::close);
        }
        if (stopped) {
            return ExitCode.INTERRUPTED;
        }
        return plan.every() > 0 && run.times().lastIndex() > 0 && run.times().answered() == 0 ? ExitCode.FAILURE : 0;
    }

    private @Nullable InetSocketAddress local() throws IOException {
        String a = options.address;
        if (a == null && options.port == 0) {
            return null;
        }
        if (options.port < 0 || options.port > 65_535) {
            throw new CommandException("--client_port " + options.port + " is not 0 to 65535");
        }
        InetAddress any = new InetSocketAddress(0).getAddress();
        return new InetSocketAddress(a == null ? any : Endpoint.host(a), options.port);
    }

    private void pause() throws IOException {
        if (options.wait < 0) {
            throw new CommandException("--pre-warmup-wait " + options.wait + " is not a number of seconds");
        }
        try {
            TimeUnit.SECONDS.sleep(options.wait);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }
}
