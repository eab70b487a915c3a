// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import org.verbena.cli.perf.erm.PerfErm;
import org.verbena.cli.perf.report.PerfBaseline;
import org.verbena.cli.perf.report.PerfFiles;
import org.verbena.cli.perf.report.PerfMachine;
import org.verbena.cli.perf.report.PerfProgress;
import org.verbena.cli.perf.report.PerfReport;
import org.verbena.cli.perf.run.PerfJob;
import org.verbena.cli.perf.run.PerfRates;
import org.verbena.cli.perf.run.PerfTest;
import org.verbena.cli.perf.session.PerfBudget;
import org.verbena.cli.perf.session.PerfClient;
import org.verbena.cli.perf.session.PerfCpus;
import org.verbena.cli.perf.session.PerfOptions;
import org.verbena.cli.perf.session.PerfServer;
import org.verbena.cli.support.CommandException;
import org.verbena.cli.support.ExitCode;
import org.verbena.cli.support.HumanText;
import org.verbena.cli.support.OpenDevices;
import org.verbena.cli.support.Terminal;
import org.verbena.cli.support.Units;

/** {@code verbena perf}: measures the machine's limits, verbs, remote memory and TCP side by side. */
@Command(name = "perf", sortOptions = false,
        description = "Measures the machine's limits, verbs, remote memory and TCP over loopback side by side, between "
                + "two processes that it starts itself.",
        footer = {"",
            "Tests: limit-cacheline, limit-twoline, limit-memcpy, write-lat, write-imm-lat, send-lat, read-lat, "
                    + "atomic-lat, erm-lat, erm-reg, erm-dereg, write-bw, send-bw, read-bw, erm-bw, "
                    + "raw-lat, raw-rate, raw-bw, stack-lat, stack-udp-lat, stack-bw, stack-connect, udp-lat-spin, udp-rate, tcp-lat-spin, "
                    + "tcp-lat-block, tcp-bw, nio-lat-spin, nio-lat-selectnow, "
                    + "nio-lat-select, nio-lat-block, nio-lat-sleep, nio-bw, nio-transfer, nio-transfer-from, nio-connect. All of them if none is named, udp-lat-spin with a device roce_… only.",
            "",
            "In two terminals: 'verbena perf --listen' in one, 'verbena perf --connect HOST:PORT TEST…' in the other."})
public final class PerfCommand implements Callable<Integer> {
    /** perftest's port. */
    private static final String DEFAULT_PORT = "18515";
    private static final long DURATION = 200_000_000;
    private static final long PACED_DURATION = 1_000_000_000;
    private static final List<Long> PACED_SIZES = List.of(64L);
    private static final long WARM_UP = 120_000_000;
    private static final int MAX_RUNS = 1000;
    private static final long MAX_ITERATIONS = 1_000_000_000_000L;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Parameters(paramLabel = "TEST", arity = "0..*", completionCandidates = PerfTest.Titles.class,
            description = "What to measure.") private List<String> names = new ArrayList<>();

    private List<PerfTest> tests = List.of();

    @Option(names = {"-d", "--device"}, paramLabel = "NAME",
            description = "Verbs device (default: the first; with --listen: the one that the client names).") private String device = "";

    @Option(names = {"-s", "--size"}, paramLabel = "BYTES", split = ",", converter = Units.Size.class,
            description = "Message sizes, for instance 8,4k,1m (default: 8,32,64,4k,64k,1m; with a rate: 64).") private @Nullable List<Long> sizes;

    @Option(names = {"-n", "--iterations"}, paramLabel = "N",
            description = "Operations of each test (default: by time).") private @Nullable Long iterations;

    @Option(names = {"-D", "--duration"}, paramLabel = "TIME", converter = Units.Time.class,
            description = "Time of each test and size, for instance 2s or 100ms (default: 200ms; with a rate: 1s).") private @Nullable Long duration;

    @Option(names = "--rate", paramLabel = "N", converter = PerfRates.One.class,
            description = "Send this many messages per second, for instance 50k, and count each round trip from when its "
                    + "message was to be sent; tests of round trips.") private @Nullable Long rate;

    @Option(names = "--rates", paramLabel = "A-B+STEP", converter = PerfRates.Several.class,
            description = "The same for each of these rates until one is not reached: 10k-100k+10k, 1k-1m*2 or 10k,50k.") private PerfRates.@Nullable Sweep rates;

    @Option(names = "--warm-up", paramLabel = "TIME", converter = Units.Time.class,
            description = "Time to warm up before each (default: 120ms).") private @Nullable Long warmUp;

    @Option(names = {"-I", "--inline"}, paramLabel = "BYTES", converter = Units.Bytes.class, defaultValue = "0",
            description = "Post messages up to this size inline (default: none).") private long inline;

    @Option(names = {"-q", "--qps"}, paramLabel = "N", defaultValue = "1",
            description = "Queue pairs of bandwidth tests (default: ${DEFAULT-VALUE}).") private int qps;

    @Option(names = {"-C", "--connections"}, paramLabel = "N", split = ",", defaultValue = "1",
            description = "Connections of the tests of channels, for instance 1,100,1000 (default: ${DEFAULT-VALUE}).") private List<Integer> connections = List
                    .of(1);

    @Option(names = {"-e", "--events"},
            description = "Sleep in the completion channel instead of spinning.") private boolean events;

    @Option(names = "--consume",
            description = "In bandwidth tests the consumer reads every byte.") private boolean consume;

    @Option(names = "--verify",
            description = "Compare the contents of every message; the figures then mean little.") private boolean verify;

    @Option(names = "--counters",
            description = "Show what counting costs: each test of verbs, remote memory, or channels by rings, with"
                    + " it and without, in turn.") private boolean counters;

    @Option(names = "--runs", paramLabel = "N", defaultValue = "1",
            description = "Fresh pairs of processes; medians are reported (default: ${DEFAULT-VALUE}).") private int runs;

    @Option(names = "--no-pin",
            description = "Do not bind the two measuring threads to two CPUs.") private boolean noPin;

    @Option(names = "--cpus", paramLabel = "A,B", split = ",",
            description = "CPU of the measuring thread and of its peer's (default: two that share no core).") private List<Integer> cpus = List
                    .of();

    @Option(names = {"-l", "--listen"}, paramLabel = "PORT", arity = "0..1", fallbackValue = DEFAULT_PORT,
            description = "Only be measured against: wait for --connect (default port: " + DEFAULT_PORT
                    + "; HOST:PORT to listen elsewhere than on 127.0.0.1).") private @Nullable String listen;

    @Option(names = "--once", description = "With --listen: end after one session.") private boolean once;

    @Option(names = {"-c", "--connect"}, paramLabel = "HOST:PORT",
            description = "Measure against a process that listens.") private @Nullable String connect;

    @Option(names = "--json", description = "Print JSON.") private boolean json;

    @Option(names = "--csv", description = "Print comma-separated values.") private boolean csv;

    @Option(names = "--histogram", description = "Draw the round trips under the table.") private boolean histogram;

    @Option(names = "--hlog", paramLabel = "FILE",
            description = "Write the round trips as a log of HdrHistogram.") private @Nullable Path hlog;

    @Option(names = "--hgrm", paramLabel = "FILE",
            description = "Write the percentiles as HdrHistogram prints them; for several rows a file each.") private @Nullable Path hgrm;

    @Option(names = "--baseline", paramLabel = "FILE",
            description = "Compare with an earlier run, which --json has written.") private @Nullable Path baseline;

    @Option(names = "--worker", hidden = true) private boolean worker;

    @Option(names = "--budget", hidden = true, converter = Units.Time.class) private @Nullable Long budget;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this help message and exit.")
    @SuppressWarnings("UnusedVariable") // picocli looks at it
    private boolean help;

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        if (worker) {
            PerfWorker.endWithParent();
        }
        if (listen != null) {
            return listen(out, listen);
        }
        PerfOptions options = options();
        InetSocketAddress listener = connect == null ? null : address(connect, "--connect");
        boolean oneHost = listener == null || isHere(listener);
        if (oneHost) {
            requireCpus(options);
        }
        PerfCpus.require(oneHost || cpus.isEmpty() ? cpus : cpus.subList(0, 1));
        if (counters) {
            return compareCounting(options, out);
        }
        if (worker && listener != null) {
            return PerfWorker.measure(options, listener, out);
        }
        return measure(options, listener, PerfMachine.here(options, oneHost), out);
    }

    private int measure(PerfOptions options, @Nullable InetSocketAddress listener, PerfMachine machine,
            PrintWriter out) throws IOException {
        PrintWriter err = spec.commandLine().getErr();
        PerfReport.Form form = new PerfReport.Form(machine, json
                ? PerfReport.Style.JSON
                : csv ? PerfReport.Style.CSV : PerfReport.Style.TABLE, Terminal.OUT.isTerminal(), Terminal.OUT
                        .columns(),
                spec.commandLine().getColorScheme().ansi(), histogram, new PerfFiles(hlog, hgrm), baseline == null
                        ? null
                        : PerfBaseline.read(baseline));
        form.files().require();
        try (PerfReport report = new PerfReport(options, form, runs, new PerfProgress(err, options), out, err)) {
            try {
                if (listener == null) {
                    for (int i = 1; i <= runs; i++) {
                        report.run(i);
                        PerfPair.run(options, report);
                    }
                } else {
                    connect(options, listener, report);
                }
            } catch (PerfInterrupted e) {
                report.interrupted();
                return ExitCode.INTERRUPTED;
            } catch (IOException e) {
                if (report.isInterrupted()) {
                    return ExitCode.INTERRUPTED; // the failure is a consequence
                }
                throw e;
            }
            report.print();
        }
        return 0;
    }

    private int compareCounting(PerfOptions options, PrintWriter out) throws IOException {
        List<PerfCounting.Row> rows;
        try (PerfProgress progress = new PerfProgress(spec.commandLine().getErr(), options)) {
            rows = PerfCounting.measure(options, runs, progress);
        }
        PerfCounting.print(rows, runs, json, out);
        out.flush();
        return 0;
    }

    private static void connect(PerfOptions options, InetSocketAddress listener, PerfReport report)
            throws IOException {
        try (OpenDevices devices = new OpenDevices();
                PerfClient client = new PerfClient(options, devices, listener)) {
            client.run(report);
        }
    }

    private int listen(PrintWriter out, String where) throws IOException {
        List<String> tooMuch = spec.commandLine().getParseResult().matchedArgs().stream()
                .map(a -> a.isOption() ? ((picocli.CommandLine.Model.OptionSpec) a).longestName() : "TEST")
                .filter(n -> !List.of("--listen", "--once", "--device", "--worker").contains(n)).toList();
        if (!tooMuch.isEmpty()) {
            throw usage("--listen goes with --once and --device only, the tests and options come from the client: drop "
                    + tooMuch
                            .getFirst());
        }
        InetSocketAddress address = address(where, "--listen");
        try (ServerSocket socket = new ServerSocket(); OpenDevices devices = new OpenDevices(device)) {
            try {
                socket.bind(address);
            } catch (BindException e) {
                throw new CommandException("cannot listen at " + PerfClient.show(address) + ": " + e.getMessage(), e);
            }
            if (worker) {
                PerfPair.Reporter.listening(out, socket.getLocalPort());
            } else {
                out.println("listening at " + address.getHostString() + ":" + socket.getLocalPort());
                out.flush();
            }
            return new PerfServer(devices, spec.commandLine().getErr()).serve(socket, once) ? 0 : ExitCode.FAILURE;
        }
    }

    /** {@code PORT}, {@code HOST} or {@code HOST:PORT}. */
    private InetSocketAddress address(String text, String option) {
        String digits = "[0-9]+";
        int colon = text.lastIndexOf(':');
        String host = colon >= 0 ? text.substring(0, colon) : text.matches(digits) ? "" : text;
        String port = colon >= 0 ? text.substring(colon + 1) : text.matches(digits) ? text : DEFAULT_PORT;
        try {
            InetSocketAddress a = host.isEmpty()
                    ? new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), Integer.parseInt(port))
                    : new InetSocketAddress(host, Integer.parseInt(port));
            if (!a.isUnresolved() || option.equals("--connect")) {
                return a;
            }
        } catch (IllegalArgumentException e) {
            // falls through
        }
        throw usage(option + " " + text + ": not a PORT or HOST:PORT");
    }

    private static List<PerfTest> tests(List<String> names) throws CommandException {
        List<PerfTest> tests = new ArrayList<>();
        for (String n : names) {
            tests.add(PerfTest.of(n));
        }
        return tests;
    }

    /** The options of the command line. */
    PerfOptions options() {
        try {
            tests = tests(names);
        } catch (CommandException e) {
            throw usage(String.valueOf(e.getMessage()));
        }
        if (once) {
            throw usage("--once goes with --listen only");
        }
        if (iterations != null && duration != null) {
            throw usage("--iterations and --duration exclude each other");
        }
        if (runs != 1 && connect != null) {
            throw usage("--runs starts processes itself and does not go with --connect");
        }
        if (counters && connect != null) {
            throw usage("--counters starts processes itself and does not go with --connect");
        }
        if (counters && !tests.stream().allMatch(PerfTest::isCounted)) {
            throw usage(
                    "--counters is for tests of verbs, remote memory and channels: nothing is counted in the others");
        }
        range("--runs", runs, 1, MAX_RUNS);
        range("--qps", qps, 1, PerfJob.MAX_QPS);
        range("--inline", inline, 0, PerfJob.MAX_INLINE);
        range("--iterations", iterations == null ? 1 : iterations, 1, MAX_ITERATIONS);
        checkForms();
        if (!cpus.isEmpty()) {
            checkCpus();
        }
        if (verify && qps > 1) {
            throw usage("--verify works with one queue pair only");
        }
        must(events, "--events", PerfTest::takesEvents);
        must(consume, "--consume", PerfTest::takesConsume);
        must(verify, "--verify", PerfTest::takesVerify);
        must(qps > 1, "--qps", PerfTest::takesQps);
        must(inline > 0, "--inline", PerfTest::takesInline);
        List<Long> perSecond = rate != null ? List.of(rate) : rates != null ? rates.rates() : List.of();
        boolean paced = !perSecond.isEmpty();
        must(paced, rate != null ? "--rate" : "--rates", PerfTest::takesRate);
        List<Long> given = sizes;
        if (given != null && !worker) {
            checkSizes(given);
        }
        connections.forEach(n -> range("--connections", n, 1, PerfJob.MAX_CONNECTIONS));
        must(!connections.equals(List.of(1)), "--connections", PerfTest::takesConnections);
        checkRaw();
        if (PerfErm.needsRule(device) && tests.stream().anyMatch(PerfTest::isErm)
                && tests.stream().anyMatch(PerfTest::isVerbs)) {
            throw usage("a process has " + device + " once, for verbs or for streams: measure remote memory by it, and"
                    + " verbs, one after the other");
        }
        if (!device.isEmpty() && !worker && !tests.isEmpty() && tests.stream().noneMatch(t -> t.takesDevice() || t
                .isUdp())) {
            throw usage("--device is for tests of verbs and remote memory, and " + tests.getFirst().title()
                    + " is none: drop it");
        }
        if (device.chars().anyMatch(c -> c <= ' ' || c > '~')) {
            throw usage("--device '" + device + "' is not the name of a device");
        }
        return new PerfOptions(tests.isEmpty()
                ? counters ? PerfCounting.tests() : all(paced)
                : tests.stream().distinct().sorted().toList(),
                sizes == null
                        ? paced ? PACED_SIZES : PerfOptions.DEFAULT_SIZES
                        : sizes.stream().distinct().sorted().toList(),
                device, iterations == null ? 0 : iterations, duration == null
                        ? paced ? PACED_DURATION : DURATION
                        : duration,
                warmUp == null ? WARM_UP : warmUp, budget(), (int) inline, qps, events, consume, verify, !noPin, cpus,
                connections.stream().distinct().sorted().toList(), perSecond);
    }

    /** What a run without named tests measures. */
    private List<PerfTest> all(boolean paced) {
        return PerfTest.everything(device.startsWith("roce_")).stream().filter(t -> !paced || t.takesRate()).toList();
    }

    private void checkForms() {
        List<String> ofRoundTrips = new ArrayList<>();
        if (histogram) {
            ofRoundTrips.add("--histogram");
        }
        if (hlog != null) {
            ofRoundTrips.add("--hlog");
        }
        if (hgrm != null) {
            ofRoundTrips.add("--hgrm");
        }
        if (!ofRoundTrips.isEmpty() && !tests.isEmpty() && tests.stream().allMatch(PerfTest::isBandwidth)) {
            throw usage(ofRoundTrips.getFirst() + " is for tests of round trips, and " + tests.getFirst().title()
                    + " is none");
        }
        if (histogram && (json || csv)) {
            throw usage("--histogram goes under the table, so it does not go with --json and --csv");
        }
        if (rate != null && rates != null) {
            throw usage("--rate and --rates exclude each other");
        }
        if (counters && (rate != null || rates != null || baseline != null)) {
            throw usage("--counters compares runs of its own, without a rate: drop " + (baseline != null
                    ? "--baseline"
                    : rate != null ? "--rate" : "--rates"));
        }
        if (json && csv) {
            throw usage("--json and --csv exclude each other");
        }
        if (counters && (csv || !ofRoundTrips.isEmpty())) {
            throw usage("--counters has ratios only: drop " + (csv ? "--csv" : ofRoundTrips.getFirst()));
        }
    }

    /** Tests of raw packets have interfaces of their own at both ends, and processes that may be in namespaces of their own. */
    private void checkRaw() {
        PerfTest raw = tests.stream().filter(PerfTest::isRaw).findFirst().orElse(null);
        if (raw == null || worker) {
            return;
        }
        tests.stream().filter(t -> !t.goesWithRaw()).findFirst().ifPresent(t -> {
            throw usage(raw + " goes with tests of UDP, TCP and limits only: measure " + t + " by itself");
        });
        if (connect == null && !device.isEmpty()) {
            throw usage(raw
                    + " has two ends: without --device it makes a veth pair for them; with it, one is measured by"
                    + " --connect and the other one listens");
        }
        if (connect != null && device.isEmpty()) {
            throw usage(raw + " with --connect needs --device xdp_NAME, the interface that leads to the listener");
        }
    }

    private void checkCpus() {
        if (noPin) {
            throw usage("--cpus and --no-pin exclude each other");
        }
        cpus.forEach(n -> range("--cpus", n, 0, Short.MAX_VALUE));
        if (cpus.size() != 2 || cpus.getFirst().equals(cpus.getLast())) {
            throw usage("--cpus " + cpus.stream().map(String::valueOf).collect(Collectors.joining(","))
                    + ": must be two different CPUs, of the measuring thread and of its peer's, for instance 0,1");
        }
    }

    /** A size that no named test takes is refused; a test of one size is allowed beside others as their reference. */
    private void checkSizes(List<Long> given) {
        for (PerfTest t : tests) {
            if (t.fixedSize != 0 && !given.contains(t.fixedSize) && tests.stream().noneMatch(o -> o.fixedSize == 0)) {
                throw usage("--size is not for " + t.title() + ", which is measured with "
                        + HumanText.count(t.fixedSize, "byte"));
            }
        }
    }

    /** A run of everything takes at most a minute; a run with given tests or a given time takes what it needs. */
    private long budget() {
        if (budget != null) {
            return budget;
        }
        boolean said = !tests.isEmpty() || sizes != null || iterations != null || duration != null || warmUp != null
                || rate != null || rates != null;
        return said || worker ? PerfBudget.NONE : PerfBudget.MINUTE_NANOS;
    }

    /** An option that a named test does not know is refused; if no test is named, it applies to those that know it. */
    private void must(boolean given, String option, Predicate<PerfTest> knows) {
        for (PerfTest t : tests) {
            if (given && !knows.test(t) && !worker) {
                throw usage(t.title() + " does not take " + option + ": it is for " + Arrays.stream(PerfTest.values())
                        .filter(knows).map(PerfTest::title).collect(Collectors.joining(", ")));
            }
        }
    }

    private void range(String option, long value, long min, long max) {
        if (value < min || value > max) {
            throw usage(option + " " + value + ": must be " + min + " to " + max);
        }
    }

    /** Whether the other process is on this host. */
    private static boolean isHere(InetSocketAddress listener) throws IOException {
        return !listener.isUnresolved() && NetworkInterface.getByInetAddress(listener.getAddress()) != null;
    }

    private static void requireCpus(PerfOptions options) throws CommandException {
        var cpus = PerfCpus.allowed();
        if (cpus.cardinality() < 2) {
            for (PerfTest t : options.tests()) {
                if (t.spins(options.events())) {
                    throw new CommandException(t.title()
                            + " needs two CPUs, one for each process, but this process may use CPU "
                            + cpus + " only: see taskset and the container's CPU set");
                }
            }
        }
    }

    private ParameterException usage(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
