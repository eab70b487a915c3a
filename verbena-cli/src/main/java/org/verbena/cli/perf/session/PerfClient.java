// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.session;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.HdrHistogram.Histogram;

import org.verbena.cli.perf.datagrams.PerfDatagramLoop;
import org.verbena.cli.perf.datagrams.PerfDeviceEnd;
import org.verbena.cli.perf.datagrams.PerfUdp;
import org.verbena.cli.perf.erm.PerfErm;
import org.verbena.cli.perf.limits.PerfLimitLatency;
import org.verbena.cli.perf.limits.PerfLimitMemcpy;
import org.verbena.cli.perf.run.PerfControl;
import org.verbena.cli.perf.run.PerfFields;
import org.verbena.cli.perf.run.PerfJob;
import org.verbena.cli.perf.run.PerfLoop;
import org.verbena.cli.perf.run.PerfPaced;
import org.verbena.cli.perf.run.PerfPacer;
import org.verbena.cli.perf.run.PerfRate;
import org.verbena.cli.perf.run.PerfTest;
import org.verbena.cli.perf.sockets.PerfNio;
import org.verbena.cli.perf.sockets.PerfStackTcp;
import org.verbena.cli.perf.sockets.PerfTcp;
import org.verbena.cli.perf.verbs.PerfEndpoint;
import org.verbena.cli.perf.verbs.PerfReadBandwidth;
import org.verbena.cli.perf.verbs.PerfReadLatency;
import org.verbena.cli.perf.verbs.PerfSendLatency;
import org.verbena.cli.perf.verbs.PerfWriteBandwidth;
import org.verbena.cli.perf.verbs.PerfWriteLatency;
import org.verbena.cli.support.CommandException;
import org.verbena.cli.support.OpenDevices;

/** The side that measures. See {@link PerfServer} for the protocol. */
public final class PerfClient implements AutoCloseable {
    /** An observer of the progress. */
    public interface Watcher {
        /** A test begins. */
        void begins(int index, int count, String title);

        /** A test has ended. */
        void ended(PerfResult result);
    }

    private static final int CONNECT_MILLIS = 5000;
    /** Round trips that are kept before they go into the histogram. */
    private static final int BATCH = 1 << 20;
    /** Round trips at the start of each batch that do not count: the peer has just woken up. */
    private static final int SKIP = 16;
    /** Warm-up continues until this many operations are done and nothing was compiled for a while, but not forever. */
    private static final long WARM_OPERATIONS = 20_000;
    private static final int QUIET_PART = 3;
    private static final int WARM_AT_MOST = 4;
    private static final int COMPILE_MILLIS = 15;
    /** The first batch is small, since the speed of this machine is not known yet. */
    private static final int FIRST = 16;
    private static final long FIRST_BYTES = 64L << 20;
    /** Where time is short, the part of it after which warm-up ends. */
    private static final double WARM_PART = 0.6;
    private static final int DIGITS = 3;
    private static final double SECOND = 1e9;

    private final PerfOptions options;
    private final OpenDevices devices;
    private final PerfControl server;
    private final List<Integer> cpus;
    private final boolean sameHost;
    private final int[] times = new int[BATCH];
    private final Set<PerfTest> warm = EnumSet.noneOf(PerfTest.class);
    private long allowance = Long.MAX_VALUE;
    private long jobBegan;
    /** Nanoseconds per operation of the fastest batch of the last warm-up. */
    private double best;

    public PerfClient(PerfOptions options, OpenDevices devices, InetSocketAddress address) throws IOException {
        this.options = options;
        this.devices = devices;
        this.server = connect(address);
        server.send("HELLO " + PerfServer.hello());
        PerfFields hello = server.expect("HELLO ", PerfServer.ANSWER_SECONDS);
        if (!hello.text("version").equals(PerfServer.VERSION)) {
            throw new CommandException("the listener at " + show(address) + " is another version of verbena perf");
        }
        sameHost = hello.text("host").equals(PerfServer.host());
        cpus = PerfCpus.chosen(options, sameHost);
    }

    private static PerfControl connect(InetSocketAddress address) throws IOException {
        if (address.isUnresolved()) {
            throw new CommandException("the host '" + address.getHostString() + "' is not known");
        }
        Socket socket = new Socket();
        try {
            socket.connect(address, CONNECT_MILLIS);
            return new PerfControl(socket);
        } catch (ConnectException e) {
            socket.close();
            throw new CommandException("no listener at " + show(address) + ": start 'verbena perf --listen="
                    + address.getPort() + "' there first", e);
        } catch (IOException e) {
            socket.close();
            throw new CommandException("cannot connect to " + show(address) + ": " + e.getMessage(), e);
        }
    }

    public static String show(InetSocketAddress address) {
        return address.getHostString() + ":" + address.getPort();
    }

    public List<PerfResult> run(Watcher watcher) throws IOException {
        List<PerfJob> jobs = options.jobs();
        List<PerfResult> results = new ArrayList<>();
        PerfBudget budget = new PerfBudget(options.budgetNanos(), jobs);
        long began = System.nanoTime();
        Set<String> ended = new HashSet<>();
        for (int i = 0; i < jobs.size(); i++) {
            PerfJob job = jobs.get(i);
            jobBegan = System.nanoTime();
            allowance = budget.next(jobBegan - began);
            if (ended.contains(job.series())) {
                continue; // a lower rate was not reached
            }
            watcher.begins(i, jobs.size(), job.toString());
            try {
                PerfResult r = run(job);
                results.add(r);
                watcher.ended(r);
                if (r.rate() != null && !r.rate().isKept()) {
                    ended.add(job.series());
                }
            } catch (IOException e) {
                CommandException better = server.explain(e);
                server.fail(String.valueOf(e.getMessage()));
                throw new CommandException(job + ": " + better.getMessage(), e);
            }
        }
        return results;
    }

    private PerfResult run(PerfJob job) throws IOException {
        if (job.test().needsSameHost() && !sameHost) {
            throw new CommandException("this limit is one of shared memory, and the listener runs on another host");
        }
        try (PerfLoop loop = open(job)) {
            server.expect("STARTED", PerfServer.ANSWER_SECONDS);
            jobBegan = System.nanoTime(); // detecting a plain peer takes seconds, which do not count for the job
            loop.recordInto(times);
            PerfResult result = measure(job, loop);
            server.send("END");
            server.expect("ENDED", PerfServer.ANSWER_SECONDS);
            return result;
        }
    }

    private PerfLoop open(PerfJob job) throws IOException {
        String test = "TEST " + job.line() + " cpu=" + (cpus.isEmpty() ? PerfCpus.ANY : cpus.getLast())
                + (options.cpus().isEmpty() ? "" : " required=1");
        if (job.test().isVerbs()) {
            return openVerbs(job, test);
        }
        if (job.test().isUdp()) {
            return openUdp(job, test);
        }
        if (job.test().isStackTcp()) {
            return PerfStackTcp.connect(job, test, server, job.ends().isStack(true) ? devices.get(job.device()) : null,
                    PerfServer.ANSWER_SECONDS);
        }
        if (job.test().isRaw()) {
            return openRaw(job, test);
        }
        server.send(test);
        PerfFields ready = server.expect("READY", PerfServer.ANSWER_SECONDS);
        if (job.test().isTcp()) {
            return PerfTcp.of(job, server, PerfTcp.connect(address(ready)), true);
        }
        if (job.test().isNio()) {
            return PerfNio.connect(job, server, address(ready));
        }
        if (job.test().isErm()) {
            return PerfErm.connect(job, server, address(ready));
        }
        return job.test() == PerfTest.LIMIT_MEMCPY
                ? new PerfLimitMemcpy(job, server)
                : PerfLimitLatency.initiator(job, server, ready);
    }

    private PerfLoop openUdp(PerfJob job, String test) throws IOException {
        DatagramChannel channel = PerfUdp.bind(server.localAddress());
        try {
            server.send(test + " udp=" + PerfUdp.port(channel));
            PerfFields ready = server.expect("READY", PerfServer.ANSWER_SECONDS);
            return PerfDatagramLoop.of(job, server, PerfUdp.of(job, channel, address(ready)), true);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    private PerfLoop openRaw(PerfJob job, String test) throws IOException {
        PerfDeviceEnd end = PerfDeviceEnd.open(job, true, devices.get(job.device()), server);
        try {
            server.send(test + " " + end.describe());
            end.connect(server.expect("READY", PerfServer.ANSWER_SECONDS));
            return PerfDatagramLoop.of(job, server, end, true);
        } catch (IOException | RuntimeException e) {
            end.close();
            throw e;
        }
    }

    private PerfLoop openVerbs(PerfJob job, String test) throws IOException {
        PerfEndpoint end = PerfEndpoint.open(job, job.test().takesReceives(true), devices.get(job.device()), server);
        try {
            server.send(test + " " + end.describe());
            PerfFields ready = server.expect("READY", PerfServer.ANSWER_SECONDS);
            end.learn(ready);
            end.connect(deviceAddress(ready));
            return switch (job.test()) {
                case WRITE_LAT -> new PerfWriteLatency(end, true);
                case WRITE_IMM_LAT, SEND_LAT -> new PerfSendLatency(end, true);
                case READ_LAT, ATOMIC_LAT -> new PerfReadLatency(end);
                case READ_BW -> new PerfReadBandwidth(end);
                default -> new PerfWriteBandwidth(end);
            };
        } catch (IOException | RuntimeException e) {
            end.closeQuietly();
            throw e;
        }
    }

    /**
     * The address of the peer's device. The device of one host uses that of the control connection, a RoCE device its
     * own.
     */
    private InetSocketAddress deviceAddress(PerfFields ready) throws CommandException {
        String host = ready.text("host");
        InetSocketAddress control = address(ready);
        try {
            InetAddress at = InetAddress.ofLiteral(host);
            // The scope of the peer has no meaning here.
            return at.isAnyLocalAddress() || at.isLinkLocalAddress()
                    ? control
                    : new InetSocketAddress(at, control.getPort());
        } catch (IllegalArgumentException e) {
            throw new CommandException("the peer said host=" + host + ", which is not an address", e);
        }
    }

    private InetSocketAddress address(PerfFields ready) throws CommandException {
        return new InetSocketAddress(server.remoteAddress(), (int) ready.number("port", 1, 65535));
    }

    /**
     * The figures of one batch: its time, bytes allocated on both sides, and the total compile time of both JVMs so
     * far.
     */
    private record Batch(long nanos, long allocated, long compiled) {}

    private Batch batch(PerfLoop loop, long n) throws IOException {
        server.send("GO n=" + n);
        PerfCpus.run(loop, n, cpus.isEmpty() ? PerfCpus.ANY : cpus.getFirst());
        PerfFields done = server.expect("DONE", Math.max(PerfServer.ANSWER_SECONDS, loop.elapsed() / 1_000_000_000));
        // Bytes have arrived when the receiver has seen the last one.
        long nanos = Math.max(loop.elapsed(), done.number("elapsed", 0, Long.MAX_VALUE));
        return new Batch(nanos, loop.allocated() + done.number("allocated", 0, Long.MAX_VALUE),
                PerfLoop.compileMillis() + done.number("compiled", 0, Long.MAX_VALUE));
    }

    /** Messages at fixed times. It warms up as fast as answers come, and at half that speed, so that sending and waiting are compiled. */
    private PerfResult paced(PerfJob job, PerfLoop loop) throws IOException {
        PerfPacer pacer = new PerfPacer((PerfPaced) loop, server, SKIP);
        loop.paceBy(pacer);
        double interval = SECOND / job.rate();
        double each = warmUp(job, loop);
        double slower = 2 * best;
        pacer.interval(slower);
        batch(loop, Math.max(1, (long) (options.warmUpNanos() / (2 * Math.max(slower, each)))));
        letCompilersRun();
        pacer.interval(interval);
        long n = options.iterations() > 0
                ? options.iterations()
                : PerfTrial.messages(interval, measureNanos(),
                        new PerfTrial.Batch() {
                            @Override
                            public long run(long count) throws IOException {
                                return batch(loop, count + SKIP).nanos();
                            }

                            @Override
                            public boolean isKept() {
                                return PerfRate.of(job.rate(), pacer.reached(job.rate())).isKept();
                            }
                        });
        Batch b = batch(loop, n + SKIP);
        return PerfResult.latency(job, n, pacer.histogram(), (double) b.allocated() / n, PerfRate.of(job.rate(), pacer
                .reached(job.rate())));
    }

    private PerfResult measure(PerfJob job, PerfLoop loop) throws IOException {
        if (job.rate() > 0) {
            return paced(job, loop);
        }
        double nanosEach = warmUp(job, loop);
        return job.test().isBandwidth() ? bandwidth(job, loop, nanosEach) : latency(job, loop, nanosEach);
    }

    /** Runs the loop until neither JVM compiles any more; returns nanoseconds per operation. */
    private double warmUp(PerfJob job, PerfLoop loop) throws IOException {
        // The first size of a test compiles what the other sizes run.
        long warmUp = warm.add(job.test()) ? PerfBudget.FIRST_SIZE * options.warmUpNanos() : options.warmUpNanos();
        long quietNanos = options.warmUpNanos() / QUIET_PART;
        long n = Math.clamp(FIRST_BYTES / job.size(), 1, FIRST);
        long spent = 0;
        long quiet = 0;
        long operations = 0;
        long compiled = -1;
        double each;
        best = Double.MAX_VALUE;
        do {
            letCompilersRun();
            Batch b = batch(loop, n);
            long nanos = Math.max(1, b.nanos());
            spent += nanos;
            quiet = b.compiled() == compiled ? quiet + nanos : 0;
            compiled = b.compiled();
            operations += n;
            each = (double) nanos / n;
            best = Math.min(best, each);
            n = Math.clamp((long) (quietNanos / each), 1, Math.min(4 * n, BATCH));
        } while (left() > (1 - WARM_PART) * allowance && (spent < warmUp
                || ((operations < WARM_OPERATIONS || quiet < quietNanos) && spent < WARM_AT_MOST * warmUp)));
        return each;
    }

    /** Nanoseconds that are left for the job; negative if it took too long. */
    private long left() {
        return allowance - (System.nanoTime() - jobBegan);
    }

    /** How long the job is measured. */
    private long measureNanos() {
        return Math.clamp(left(), Math.min(PerfBudget.LEAST_NANOS, options.nanos()), options.nanos());
    }

    /** On a machine with two processors the two spinning loops leave none for the compilers. */
    private static void letCompilersRun() throws CommandException {
        try {
            Thread.sleep(COMPILE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandException("interrupted", e);
        }
    }

    private PerfResult bandwidth(PerfJob job, PerfLoop loop, double nanosEach) throws IOException {
        long n = options.iterations() > 0 ? options.iterations() : Math.max(1, (long) (measureNanos() / nanosEach));
        Batch b = batch(loop, n);
        double perSecond = n * 1e9 / Math.max(1, b.nanos());
        return PerfResult.bandwidth(job, n, perSecond, (double) b.allocated() / n);
    }

    private PerfResult latency(PerfJob job, PerfLoop loop, double nanosEach) throws IOException {
        Histogram histogram = new Histogram(DIGITS);
        long spent = 0;
        long allocated = 0;
        long done = 0;
        double each = nanosEach;
        long nanos = measureNanos();
        do {
            long wanted = options.iterations() > 0
                    ? options.iterations() - done
                    : (long) ((nanos - spent) / each) + 1;
            int n = Math.clamp(wanted, 1, BATCH - SKIP);
            Batch b = batch(loop, n + SKIP);
            for (int i = SKIP; i < n + SKIP; i++) {
                histogram.recordValue(times[i]);
            }
            done += n;
            spent += b.nanos();
            allocated += b.allocated();
            each = Math.max(1, (double) b.nanos() / (n + SKIP));
        } while (options.iterations() > 0 ? done < options.iterations() : spent < nanos * 0.95);
        return PerfResult.latency(job, done, histogram, (double) allocated / done);
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
