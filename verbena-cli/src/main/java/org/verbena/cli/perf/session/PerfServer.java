// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.session;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.verbena.cli.perf.datagrams.PerfDatagramLoop;
import org.verbena.cli.perf.datagrams.PerfDeviceEnd;
import org.verbena.cli.perf.datagrams.PerfUdp;
import org.verbena.cli.perf.erm.PerfErm;
import org.verbena.cli.perf.limits.PerfLimitLatency;
import org.verbena.cli.perf.run.PerfControl;
import org.verbena.cli.perf.run.PerfFields;
import org.verbena.cli.perf.run.PerfJob;
import org.verbena.cli.perf.run.PerfLoop;
import org.verbena.cli.perf.run.PerfTest;
import org.verbena.cli.perf.sockets.PerfNio;
import org.verbena.cli.perf.sockets.PerfStackTcp;
import org.verbena.cli.perf.sockets.PerfTcp;
import org.verbena.cli.perf.verbs.PerfEndpoint;
import org.verbena.cli.perf.verbs.PerfReadLatency;
import org.verbena.cli.perf.verbs.PerfReceiveBandwidth;
import org.verbena.cli.perf.verbs.PerfSendLatency;
import org.verbena.cli.perf.verbs.PerfWriteBandwidth;
import org.verbena.cli.perf.verbs.PerfWriteLatency;
import org.verbena.cli.support.CommandException;
import org.verbena.cli.support.OpenDevices;
import org.verbena.linux.Errno;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.Context;
import org.verbena.verbs.VerbsException;

/**
 * The side that is measured against: serves one session after the other. A session is this exchange, with the lines of
 * the client on the left:
 *
 * <pre>
 * HELLO version host            HELLO version host
 * TEST job, buffers             READY port, buffers or memory file
 *   (queue pairs or sockets connect)
 * START                         STARTED
 * GO n (both run n operations)  DONE elapsed, allocated, compiled
 * GO …
 * END                           ENDED
 * TEST …
 * </pre>
 *
 * Either side may say {@code ERROR reason} at any time.
 */
public final class PerfServer {
    static final String VERSION = "verbena-perf-2";
    static final int ANSWER_SECONDS = 60;
    private static final long LONGEST_SECONDS = 24L * 3600;

    private final OpenDevices devices;
    private final PrintWriter err;

    public PerfServer(OpenDevices devices, PrintWriter err) {
        this.devices = devices;
        this.err = err;
    }

    /** The first word of both sides. */
    static String hello() {
        return "version=" + VERSION + " host=" + host();
    }

    /** Identifies the running kernel, which processes that can share memory have in common. */
    static String host() {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
        } catch (IOException e) {
            return "unknown";
        }
    }

    /** Serves until interrupted, or one session only; true if the last session ended well. */
    public boolean serve(ServerSocket listener, boolean once) throws IOException {
        boolean well;
        do {
            Socket socket = listener.accept();
            try (PerfControl client = new PerfControl(socket)) {
                well = session(client);
            } catch (SocketException e) {
                well = false;
            }
        } while (!once);
        return well;
    }

    private boolean session(PerfControl client) {
        try {
            if (!client.expect("HELLO ", ANSWER_SECONDS).text("version").equals(VERSION)) {
                throw new CommandException("the client is another version of verbena perf");
            }
            client.send("HELLO " + hello());
            for (String line = client.next(LONGEST_SECONDS); line != null; line = client.next(LONGEST_SECONDS)) {
                if (!line.startsWith("TEST ")) {
                    throw new CommandException("unexpected line '" + line + "'");
                }
                test(client, new PerfFields(line.substring(5)));
            }
            return true;
        } catch (IOException e) {
            client.fail(e.getMessage() == null ? e.toString() : e.getMessage());
            err.println("verbena: a session failed: " + client.explain(e).getMessage());
            return false;
        }
    }

    private void test(PerfControl client, PerfFields test) throws IOException {
        PerfJob job = PerfJob.of(test);
        int cpu = (int) test.number("cpu", PerfCpus.ANY, Short.MAX_VALUE);
        if (test.has("required")) {
            PerfCpus.require(List.of(cpu));
        }
        try (PerfLoop loop = open(client, job, test)) {
            client.send("STARTED");
            String line = client.next(LONGEST_SECONDS);
            while (line != null && line.startsWith("GO ")) {
                PerfCpus.run(loop, new PerfFields(line).number("n", 1, Long.MAX_VALUE), cpu);
                client.send("DONE elapsed=" + loop.elapsed() + " allocated=" + loop.allocated()
                        + " compiled=" + PerfLoop.compileMillis());
                line = client.next(LONGEST_SECONDS);
            }
            if (line == null) {
                throw new CommandException("the client ended in the middle of " + job);
            }
            if (!line.equals("END")) {
                throw new CommandException("unexpected line '" + line + "'");
            }
        }
        client.send("ENDED");
    }

    private PerfLoop open(PerfControl client, PerfJob job, PerfFields test) throws IOException {
        if (job.test().isVerbs()) {
            return openVerbs(client, job, test);
        }
        if (job.test().isUdp()) {
            return openUdp(client, job, test);
        }
        if (job.test().isStackTcp()) {
            return PerfStackTcp.serve(job, client, job.ends().isStack(false) ? device(job) : null);
        }
        if (job.test().isRaw()) {
            return openRaw(client, job, test);
        }
        if (job.test().isTcp()) {
            try (ServerSocketChannel listener = ServerSocketChannel.open()) {
                listener.bind(new InetSocketAddress(client.localAddress(), 0));
                client.send("READY port=" + ((InetSocketAddress) listener.getLocalAddress()).getPort());
                return PerfTcp.of(job, client, PerfTcp.accept(listener, client), false);
            }
        }
        if (job.test().isNio()) {
            return PerfNio.serve(job, client);
        }
        if (job.test().isErm()) {
            return PerfErm.serve(job, client, devices);
        }
        if (job.test() == PerfTest.LIMIT_MEMCPY) {
            client.send("READY");
            return new PerfLoop.Idle(client);
        }
        PerfLimitLatency loop = PerfLimitLatency.target(job, client);
        client.send("READY " + loop.describe());
        return loop;
    }

    private Context device(PerfJob job) throws IOException {
        try {
            return devices.get(job.device());
        } catch (VerbsException e) {
            if (e.errno() != Errno.ENODEV) {
                throw e;
            }
            throw new CommandException(
                    "the listener has no such device; say which one it is to take, verbena perf --listen"
                            + " --device NAME: " + e.getMessage(), e);
        }
    }

    /** Listens at the address of the control connection, or, if the device does not have that, at its own. */
    private static ConnectionListener listen(Context context, InetAddress control) throws VerbsException {
        try {
            return context.connectionManager().listen(new InetSocketAddress(control, 0));
        } catch (VerbsException e) {
            if (e.errno() != Errno.EADDRNOTAVAIL) {
                throw e;
            }
            return context.connectionManager().listen(new InetSocketAddress(0));
        }
    }

    private static PerfLoop openUdp(PerfControl client, PerfJob job, PerfFields test) throws IOException {
        DatagramChannel channel = PerfUdp.bind(client.localAddress());
        try {
            PerfLoop loop = PerfDatagramLoop.of(job, client, PerfUdp.of(job, channel, new InetSocketAddress(client
                    .remoteAddress(), (int) test.number("udp", 1, 65535))), false);
            client.send("READY port=" + PerfUdp.port(channel));
            return loop;
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    private PerfLoop openRaw(PerfControl client, PerfJob job, PerfFields test) throws IOException {
        PerfDeviceEnd end = PerfDeviceEnd.open(job, false, device(job), client);
        try {
            end.connect(test);
            client.send("READY " + end.describe());
            return PerfDatagramLoop.of(job, client, end, false);
        } catch (IOException | RuntimeException e) {
            end.close();
            throw e;
        }
    }

    private PerfLoop openVerbs(PerfControl client, PerfJob job, PerfFields test) throws IOException {
        Context context = device(job);
        PerfEndpoint end = PerfEndpoint.open(job, job.test().takesReceives(false), context, client);
        try {
            end.learn(test);
            try (ConnectionListener listener = listen(context, client.localAddress())) {
                InetSocketAddress at = listener.localAddress();
                client.send("READY host=" + at.getAddress().getHostAddress() + " port=" + at.getPort() + " "
                        + end.describe());
                end.accept(listener);
            }
            return switch (job.test()) {
                case WRITE_LAT -> new PerfWriteLatency(end, false);
                case WRITE_IMM_LAT, SEND_LAT -> new PerfSendLatency(end, false);
                case WRITE_BW -> job.followed()
                        ? new PerfWriteBandwidth.Follower(end)
                        : new PerfReadLatency.Target(end);
                case SEND_BW -> new PerfReceiveBandwidth(end);
                default -> new PerfReadLatency.Target(end);
            };
        } catch (IOException | RuntimeException e) {
            end.closeQuietly();
            throw e;
        }
    }
}
