// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.copy;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import org.verbena.cli.support.ExitCode;
import org.verbena.cli.support.HostPort;
import org.verbena.cli.support.HumanText;
import org.verbena.cli.support.OwnAddresses;
import org.verbena.cli.support.StopHook;
import org.verbena.cli.support.Terminal;
import org.verbena.linux.Errno;
import org.verbena.verbs.ConnectionRejectedException;
import org.verbena.verbs.Context;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;

/**
 * {@code verbena copy}: files from one process to another by RDMA WRITE straight into the mapped destination.
 *
 * <p>Exit codes: 0 everything was copied (what was skipped is listed); 1 something failed that has no code of its own;
 * 2 wrong usage; 3 no listener; 4 the peer died, disconnected or does not answer; 5 no space at the listener; 6 a
 * file could not be verified, or changed while it was copied. If there are several failures, the code is that of the
 * first, or of the one that ended the connection. A listener without {@code --once} ends by a signal only.
 */
@Command(name = "copy", mixinStandardHelpOptions = true, sortOptions = false,
        description = {"Copies files and directories to a listener, verified by SHA-256.",
            "The old file stays until the new one is whole. A copy that was interrupted continues when it is started"
                    + " again; what has arrived so far lies in DIR/.verbena-copy."},
        customSynopsis = {"verbena copy [OPTIONS] FILE|DIR... [HOST:PORT]",
            "       verbena copy --listen DIR [OPTIONS]"},
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:everything was copied", "1:something else failed", "2:wrong usage", "3:no listener",
            "4:the peer died or does not answer", "5:no space at the listener",
            "6:a file could not be verified, or changed while it was copied"})
public final class CopyCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Parameters(arity = "0..*", paramLabel = "FILE|DIR... [HOST:PORT]",
            description = "What to copy, directories with all that is in them; symbolic links in them are skipped. Last,"
                    + " where to: a listener's address; without one, the only listener of this user on this host (a file"
                    + " of such a name is written ./NAME).") private List<String> arguments = new ArrayList<>();

    @Option(names = "--listen", paramLabel = "DIR",
            description = "Receive: write below this directory, never outside.") private @Nullable Path listen;

    @Option(names = "--once",
            description = "With --listen: end after the first sender, with its exit code.") private boolean once;

    @Option(names = "--port", paramLabel = "N",
            description = "The listener's port (" + HostPort.DEFAULT_PORT
                    + "; a sender finds it); 0: any.") private @Nullable Integer port;

    @Option(names = "--device", paramLabel = "NAME",
            description = "The RDMA device (${DEFAULT-VALUE}).") private String device = "shm0";

    @Option(names = "--timeout", paramLabel = "SECONDS",
            description = "When a silent peer counts as dead (${DEFAULT-VALUE}; at least 5).") private int timeout = 60;

    @Option(names = {"-q", "--quiet"}, description = "Print failures only.") private boolean quiet;

    @Option(names = "--json",
            description = "Print an array of all files at the end; a listener after each sender.") private boolean json;

    @Override
    public Integer call() throws IOException {
        if (timeout < 5) {
            throw usage("--timeout must be at least 5 seconds.");
        }
        Integer p = port;
        if (p != null && (p < 0 || p > 65535 || (p == 0 && listen == null))) {
            throw usage("--port must be " + (listen == null ? 1 : 0) + " to 65535.");
        }
        PrintWriter err = spec.commandLine().getErr();
        CopyProgress progress = new CopyProgress(err, quiet, Terminal.ERR.isTerminal() && listen == null);
        try {
            Path directory = listen;
            return directory != null ? listen(directory, progress) : send(progress);
        } catch (CopyFailure e) {
            progress.failed(e.sentence());
            ExitCode.trace(e, err);
            return e.status().exitCode();
        }
    }

    private ParameterException usage(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    private int listen(Path directory, CopyProgress progress) throws IOException {
        if (!arguments.isEmpty()) {
            throw usage("--listen takes one directory and no other argument: " + arguments.getFirst());
        }
        if (!Files.isDirectory(directory)) {
            throw usage(directory + " is not a directory.");
        }
        try (Context context = Verbs.open(device)) {
            CopyListener l = new CopyListener(context, new CopyTree(directory), Duration.ofSeconds(timeout), json,
                    spec.commandLine().getOut(), progress);
            try (StopHook _ = new StopHook("copy", 5, l::stop)) {
                Integer p = port;
                return l.run(HostPort.loopback(p == null ? HostPort.DEFAULT_PORT : p), once);
            }
        }
    }

    private int send(CopyProgress progress) {
        if (once) {
            throw usage("--once belongs to --listen.");
        }
        HostPort to = takeAddress();
        CopyPlan plan;
        try {
            plan = CopyPlan.of(paths());
        } catch (CopyFailure e) {
            throw usage(e.sentence());
        }
        CopyReport report = new CopyReport();
        for (CopyPlan.Omission o : plan.skipped()) {
            report.addSkipped(o);
            progress.line("skipped " + o.name() + ": " + o.reason());
        }
        for (CopyPlan.Omission o : plan.failed()) {
            CopyReport.Outcome outcome = new CopyReport.Outcome(o.name(), false, 0, 0, null, 0, o.status(), o.reason());
            report.add(outcome);
            progress.ended(outcome);
        }
        if (!plan.entries().isEmpty()) {
            transfer(plan, to, progress, report);
        }
        progress.clear();
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            report.printJson(out);
        } else if (!quiet) {
            out.println(report.summary());
            out.flush();
        }
        return report.exitCode();
    }

    /** The address at the end of the arguments, if there is one, which is removed. */
    private @Nullable HostPort takeAddress() {
        HostPort to = arguments.isEmpty() ? null : address(arguments.getLast());
        if (to != null) {
            if (port != null) {
                throw usage("--port and an address exclude each other: drop --port.");
            }
            arguments = arguments.subList(0, arguments.size() - 1);
        }
        if (arguments.isEmpty()) {
            throw usage("Name the files to copy, or --listen DIR to receive them.");
        }
        return to;
    }

    /** What an argument means as an address; null if it is a file. */
    private @Nullable HostPort address(String argument) {
        if (!HostPort.resembles(argument)) {
            return null;
        }
        boolean isFile = Files.exists(path(argument), LinkOption.NOFOLLOW_LINKS);
        String shown = HumanText.printable(argument);
        HostPort address;
        try {
            address = HostPort.parse(argument);
        } catch (IllegalArgumentException e) {
            if (isFile) {
                return null;
            }
            throw usage(shown + " is neither a file here nor an address HOST:PORT: " + e.getMessage() + ".");
        }
        if (isFile) {
            throw usage(shown + " is a file, and looks like an address: write ./" + shown + " for the file.");
        }
        return address;
    }

    /** The address to send to: the given one, else that of the listener of this user on this host. */
    private InetSocketAddress target(@Nullable HostPort named) throws CopyFailure {
        Integer p = port;
        if (named != null || p != null) {
            InetSocketAddress to = named != null ? resolve(named) : HostPort.loopback(Objects.requireNonNull(p));
            if (!OwnAddresses.isUnassigned(device, to)) {
                return to;
            }
            return theOnly(CopyBeacon.listeners(device).stream().filter(a -> a.getPort() == to.getPort()).toList(), to);
        }
        return theOnly(CopyBeacon.listeners(device), HostPort.loopback(HostPort.DEFAULT_PORT));
    }

    private static InetSocketAddress resolve(HostPort address) throws CopyFailure {
        try {
            return address.resolve();
        } catch (UnknownHostException e) {
            throw new CopyFailure(CopyStatus.NO_LISTENER, "unknown host \"" + HumanText.printable(address.host())
                    + "\"",
                    e);
        }
    }

    /** The listener, or the address where an invisible one may be. */
    private InetSocketAddress theOnly(List<InetSocketAddress> listeners, InetSocketAddress otherwise)
            throws CopyFailure {
        if (listeners.size() > 1) {
            throw new CopyFailure(CopyStatus.FAILED, "several listeners of this user are on " + device + ", at "
                    + listeners.stream().map(HostPort::text).collect(Collectors.joining(" and "))
                    + ": name one of them behind the files");
        }
        if (listeners.isEmpty() && OwnAddresses.isUnassigned(device, otherwise)) {
            throw new CopyFailure(CopyStatus.NO_LISTENER, "no listener of this user is on port " + otherwise.getPort()
                    + " of " + device + ": start 'verbena copy --device " + device
                    + " --listen DIR', and name the address"
                    + " that it prints if it is another user's");
        }
        return listeners.isEmpty() ? otherwise : listeners.getFirst();
    }

    private List<Path> paths() {
        return arguments.stream().map(this::path).toList();
    }

    private Path path(String argument) {
        try {
            return Path.of(argument);
        } catch (InvalidPathException e) {
            throw usage("Not a path: " + HumanText.printable(argument) + " (" + e.getReason() + ")");
        }
    }

    private void transfer(CopyPlan plan, @Nullable HostPort to, CopyProgress progress, CopyReport report) {
        boolean begun = false;
        try (Context context = Verbs.open(device);
                CopyChannel channel = new CopyChannel(connect(context, target(to)), Duration.ofSeconds(timeout));
                StopHook _ = new StopHook("copy", 5, channel::stop)) {
            channel.allocateChunks((int) Math.min(CopyProtocol.CHUNKS_AHEAD, 1 + plan.bytes() / CopyProtocol.CHUNK));
            progress.start(plan.bytes());
            begun = true;
            new CopySender(channel, plan, progress, report).run();
        } catch (IOException e) {
            CopyFailure f = e instanceof CopyFailure known
                    ? known
                    : new CopyFailure(CopyStatus.FAILED, Objects.requireNonNullElse(e.getMessage(), e.toString()), e);
            if (!begun) { // or the sender has reported every file
                plan.entries().forEach(entry -> report.add(CopyReport.Outcome.notCopied(entry, f)));
            }
            report.fail(f.status());
            progress.failed(f.sentence() + (f.status() == CopyStatus.PEER_DIED
                    ? "; what has arrived is kept: the same command continues"
                    : ""));
            ExitCode.trace(f, spec.commandLine().getErr());
        }
    }

    private CopyEndpoint connect(Context context, InetSocketAddress to) throws VerbsException, CopyFailure {
        String where = HostPort.text(to) + " of " + device;
        try {
            return CopyEndpoint.connect(context, to);
        } catch (ConnectionRejectedException e) {
            if (e.reason() == ConnectionRejectedException.CONSUMER_DEFINED) {
                throw new CopyFailure(CopyStatus.FAILED, "the listener on " + where + " refuses: "
                        + HumanText.printable(new String(e.privateData(), StandardCharsets.UTF_8)), e);
            }
            throw noListener(where, e);
        } catch (VerbsException e) {
            if (e.errno() == Errno.ECONNREFUSED || e.errno() == Errno.EHOSTUNREACH) {
                throw noListener(where, e);
            }
            if (e.errno() == Errno.ETIMEDOUT || e.errno() == Errno.ECONNRESET) {
                throw new CopyFailure(CopyStatus.PEER_DIED, "the listener on " + where + " does not answer ("
                        + e.getMessage() + ")", e);
            }
            throw e;
        }
    }

    private static CopyFailure noListener(String where, VerbsException e) {
        return new CopyFailure(CopyStatus.NO_LISTENER,
                "no listener on " + where + ": start 'verbena copy --listen DIR' there (" + e.getMessage() + ")", e);
    }
}
