// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.SockDiag;
import org.verbena.testkit.Await;
import org.verbena.testkit.Thorough;
import org.verbena.tests.PerfLane;

/** {@code verbena perf} from the command line. Figures are checked for their form, never for their size. */
@PerfLane
class PerfCommandTest {
    private static final String[] QUICK = Thorough.ON
            ? new String[] {"--duration=5ms", "--warm-up=2ms"}
            : new String[] {"--duration=1ms", "--warm-up=1ms"};
    private static final List<String> LATENCIES = List.of("limit-cacheline", "limit-twoline", "write-lat",
            "write-imm-lat", "send-lat", "read-lat", "atomic-lat", "erm-lat", "erm-reg", "erm-dereg",
            "tcp-lat-spin", "tcp-lat-block",
            "nio-lat-spin",
            "nio-lat-selectnow", "nio-lat-select", "nio-lat-block", "nio-lat-sleep", "nio-connect");
    private static final List<String> BANDWIDTHS = List.of("limit-memcpy", "write-bw", "send-bw", "read-bw", "erm-bw",
            "tcp-bw", "nio-bw", "nio-transfer", "nio-transfer-from");
    /** Long enough for a loaded machine to start three JVMs. */
    private static final Duration STARTED = Duration.ofSeconds(60);
    private static final PerfListener LISTENER = new PerfListener();
    private static final String[] LONG_WRITE = {"write-lat", "--size=8", "--duration=100s"};

    /**
     * Rows of all tests of channels at one size: with Verbena at both ends, or the JDK; in two tests also with Verbena
     * at one end.
     */
    private static final int NIO_ROWS = 9 * 2 + 2;

    private static String[] quick(String... arguments) {
        List<String> all = new ArrayList<>(List.of("perf"));
        all.addAll(Arrays.asList(arguments));
        all.addAll(Arrays.asList(QUICK));
        return all.toArray(String[]::new);
    }

    private static JsonNode json(String... arguments) throws IOException {
        return json(CommandProcess.runHosted(arguments));
    }

    /** As {@link #json(String...)}, in two processes that stay. */
    private static JsonNode hosted(String... arguments) throws IOException {
        return json(inHosts(arguments));
    }

    private static String[] inHosts(String... arguments) throws IOException {
        return Stream.concat(Stream.of(arguments), LISTENER.option().stream()).toArray(String[]::new);
    }

    private static JsonNode json(CommandProcess.Result r) throws IOException {
        assertThat(r.code()).as(r.err()).isZero();
        assertThat(r.err()).isEmpty();
        return new ObjectMapper().readTree(r.out());
    }

    @Test
    void allTestsRunSideBySide() throws IOException {
        List<Integer> sizes = Thorough.ON ? List.of(8, 4096) : List.of(8);
        JsonNode rows = json(quick("--json", "--size=" + commas(sizes)));
        Set<String> seen = new TreeSet<>();
        Map<String, Set<String>> ends = new TreeMap<>();
        for (JsonNode row : rows) {
            String test = row.get("test").asText();
            seen.add(test + " " + row.get("size").asLong());
            assertThat(row.get("iterations").asLong()).as(test).isPositive();
            assertThat(row.get("allocated_bytes_per_op").asDouble()).as(test).isNotNegative();
            if (test.startsWith("nio-")) {
                ends.computeIfAbsent(test, _ -> new TreeSet<>()).add(ends(row));
            } else {
                assertThat(row.get("transport").isNull() && row.get("peer").isNull()).as(test).isTrue();
            }
            if (test.startsWith("limit-") || test.startsWith("nio-")) {
                assertThat(row.get("device").isNull()).as(test).isTrue();
            } else {
                assertThat(row.get("device").asText()).isEqualTo(test.startsWith("tcp-") ? "tcp" : "shm0");
            }
            if (LATENCIES.contains(test)) {
                latency(row);
            } else {
                bandwidth(row);
            }
        }
        Set<String> wanted = new TreeSet<>(List.of("limit-cacheline 8", "limit-twoline 64", "atomic-lat 8",
                "nio-connect 1"));
        for (String test : List.of("limit-memcpy", "write-lat", "send-lat", "read-lat", "write-bw", "send-bw",
                "read-bw",
                "tcp-lat-spin", "tcp-lat-block", "tcp-bw", "nio-lat-spin", "nio-lat-selectnow", "nio-lat-select",
                "nio-lat-block", "nio-lat-sleep", "nio-bw", "nio-transfer", "nio-transfer-from")) {
            for (int size : sizes) {
                wanted.add(test + " " + size);
            }
        }
        assertThat(seen).isEqualTo(wanted);
        assertThat(ends).hasSize(9).allSatisfy((test, two) -> assertThat(two).isEqualTo(wantedEnds(test)));
    }

    @Test
    void remoteMemoryMustBeNamed() throws IOException {
        JsonNode rows = hosted(quick("write-imm-lat", "erm-lat", "erm-reg", "erm-dereg", "erm-bw", "--json",
                "--size=8,4k"));
        Set<String> seen = new TreeSet<>();
        for (JsonNode row : rows) {
            String test = row.get("test").asText();
            seen.add(test + " " + row.get("size").asLong());
            assertThat(row.get("device").asText()).as(test).isEqualTo("shm0");
            if (test.startsWith("erm-")) {
                assertThat(ends(row)).isEqualTo("stream to verbena");
            }
            if (LATENCIES.contains(test)) {
                latency(row);
            } else {
                bandwidth(row);
            }
        }
        assertThat(seen).containsExactly("erm-bw 4096", "erm-bw 8", "erm-dereg 4096", "erm-dereg 8", "erm-lat 4096",
                "erm-lat 8", "erm-reg 4096", "erm-reg 8", "write-imm-lat 4096", "write-imm-lat 8");
    }

    private static String commas(List<Integer> sizes) {
        return sizes.stream().map(String::valueOf).collect(Collectors.joining(","));
    }

    /** The implementation of the channels of a row. */
    private static String ends(JsonNode row) {
        return row.get("transport").asText() + " to " + row.get("peer").asText();
    }

    private static Set<String> wantedEnds(String test) {
        Set<String> wanted = new TreeSet<>(Set.of("stream to verbena", "kernel to plain"));
        if (test.equals("nio-connect") || test.equals("nio-transfer")) {
            wanted.add("stream to plain");
        }
        return wanted;
    }

    private static void latency(JsonNode row) {
        JsonNode rtt = row.get("rtt_ns");
        List<Long> sorted = new ArrayList<>();
        for (String p : List.of("p50", "p90", "p99", "p99_9", "p99_99", "max")) {
            sorted.add(rtt.get(p).asLong());
        }
        assertThat(sorted).as(row.toString()).isSorted().allMatch(v -> v > 0);
        assertThat(rtt.get("min").asLong()).as(row.toString()).isBetween(1L, sorted.getFirst());
        assertThat(rtt.get("p99_999").asLong()).as(row.toString()).isBetween(sorted.get(4), sorted.getLast());
        assertThat(rtt.get("mean").asDouble()).as(row.toString()).isBetween((double) rtt.get("min").asLong(),
                (double) sorted.getLast());
        assertThat(rtt.get("stdev").asDouble()).as(row.toString()).isNotNegative();
        assertThat(row.get("bytes_per_second").isNull()).isTrue();
        assertThat(row.get("messages_per_second").isNull()).isTrue();
    }

    private static void bandwidth(JsonNode row) {
        assertThat(BANDWIDTHS).contains(row.get("test").asText());
        assertThat(row.get("rtt_ns").isNull()).isTrue();
        assertThat(row.get("messages_per_second").asLong()).as(row.toString()).isPositive();
        assertThat(row.get("bytes_per_second").asLong()).as(row.toString())
                .isGreaterThanOrEqualTo(row.get("messages_per_second").asLong());
    }

    /**
     * Named tests accept the given options, at sizes below and above the inline limit; atomics have one size, the
     * first.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "write-imm-lat send-lat read-lat atomic-lat write-bw send-bw read-bw | --events --verify",
        "write-bw send-bw read-bw erm-bw tcp-bw                          | --consume",
        "write-lat write-imm-lat erm-lat erm-bw                          | --verify",
        "write-bw send-bw read-bw                                        | --consume --qps=2",
        "send-lat write-bw                                               | --events --inline=32",
        "send-lat tcp-bw                                                 | --runs=2",
    })
    void optionsAreApplied(String tests, String options) throws IOException {
        runWith(tests, options);
    }

    @Thorough
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "write-imm-lat send-lat read-lat atomic-lat write-bw send-bw read-bw | --events",
        "write-lat send-lat read-lat atomic-lat write-bw send-bw read-bw | --verify",
        "send-lat write-bw send-bw                                       | --events --verify --inline=32",
        "write-lat write-imm-lat send-lat write-bw send-bw               | --inline=64",
        "write-bw send-bw read-bw                                        | --qps=3",
    })
    void singleOptionsAreApplied(String tests, String options) throws IOException {
        runWith(tests, options);
    }

    private static void runWith(String tests, String options) throws IOException {
        List<Integer> sizes = Thorough.ON ? List.of(8, 13, 64, 5000) : List.of(8, 5000);
        List<String> arguments = new ArrayList<>(List.of("--json", "--size=" + commas(sizes)));
        List<String> rows = new ArrayList<>();
        for (String test : tests.split(" ", -1)) {
            arguments.add(test);
            (test.equals("atomic-lat") ? List.of(8) : sizes).forEach(size -> rows.add(test + " " + size));
        }
        arguments.addAll(List.of(options.split(" ")));
        List<String> seen = new ArrayList<>();
        String[] words = quick(arguments.toArray(String[]::new));
        // several runs are several pairs of processes
        (options.startsWith("--runs") ? json(words) : hosted(words)).forEach(row -> seen.add(row.get("test").asText()
                + " " + row
                        .get("size").asInt()));
        assertThat(seen).containsExactlyInAnyOrderElementsOf(rows);
    }

    /** If no test is named, each option applies to those that know it. */
    @Test
    void optionsApplyToAllTests() throws IOException {
        runAllWith("--events --consume --verify --inline=64 --connections=3 --no-pin");
    }

    @Thorough
    @ParameterizedTest
    @ValueSource(strings = {"--events --consume --verify --inline=64 --connections=3", "--no-pin --qps=2"})
    void fewerOptionsApplyToAllTests(String options) throws IOException {
        runAllWith(options);
    }

    private static void runAllWith(String options) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("--json", "--size=13"));
        arguments.addAll(List.of(options.split(" ")));
        assertThat(hosted(quick(arguments.toArray(String[]::new)))).hasSize(13 + NIO_ROWS);
    }

    /** Each test of channels that has connections, over one and over several. */
    @Test
    void connectionsAreMeasured() throws IOException {
        runOver("100,1");
    }

    @Thorough
    @ParameterizedTest
    @ValueSource(strings = {"7,1", "100"})
    void otherConnectionCountsAreMeasured(String numbers) throws IOException {
        runOver(numbers);
    }

    private static void runOver(String numbers) throws IOException {
        List<String> tests = List.of("nio-lat-spin", "nio-lat-selectnow", "nio-lat-select", "nio-lat-block",
                "nio-lat-sleep", "nio-bw", "nio-connect");
        List<String> arguments = new ArrayList<>(tests);
        arguments.addAll(List.of("--json", "--size=5000", "--connections=" + numbers));
        List<String> seen = new ArrayList<>();
        for (JsonNode row : hosted(quick(arguments.toArray(String[]::new)))) {
            String test = row.get("test").asText();
            seen.add(test + " " + ends(row) + " " + row.get("connections").asInt());
            if (LATENCIES.contains(test)) {
                latency(row);
            } else {
                bandwidth(row);
            }
        }
        List<String> wanted = new ArrayList<>();
        for (String test : tests) {
            for (String ends : wantedEnds(test)) {
                for (String number : numbers.split(",", -1)) {
                    wanted.add(test + " " + ends + " " + number);
                }
            }
        }
        assertThat(seen).containsExactlyInAnyOrderElementsOf(wanted);
    }

    @Test
    void iterationsAreExact() throws IOException {
        for (JsonNode row : hosted("perf", "write-lat", "send-bw", "erm-bw", "limit-cacheline", "--json", "--size=8",
                "--iterations=1234",
                "--warm-up=1ms")) {
            assertThat(row.get("iterations").asLong()).as(row.toString()).isEqualTo(1234);
        }
    }

    /** In a JVM that compiles normally, since every byte is written and compared. */
    @Test
    void largeMessagesAreMeasured() throws IOException {
        String[] tests = Thorough.ON
                ? new String[] {"write-lat", "write-imm-lat", "send-lat", "erm-lat", "write-bw", "send-bw", "read-bw",
                    "erm-bw"}
                : new String[] {"send-lat", "write-bw", "read-bw", "erm-bw"};
        List<String> all = new ArrayList<>(List.of("perf"));
        all.addAll(List.of(tests));
        all.addAll(List.of("--verify", "--json", "--size=33m", "--iterations=2", "--warm-up=1ms"));
        try (CommandProcess p = CommandProcess.startWith(List.of("-XX:TieredStopAtLevel=4"), List.of(), all.toArray(
                String[]::new))) {
            assertThat(json(p.end())).hasSize(tests.length);
        }
    }

    @Test
    void tableForPeople() throws IOException {
        CommandProcess.Result r = CommandProcess.runHosted(inHosts(quick("limit-cacheline", "write-lat",
                "limit-memcpy", "write-bw", "tcp-lat-spin", "--size=8")));
        assertThat(r.code()).as(r.err()).isZero();
        assertThat(r.out()).contains("#bytes").contains("#iterations").contains("t_typical").contains("p99.99")
                .contains("BW average").contains("MsgRate").contains("B/op").containsPattern("write-lat +8 .*x +.*x")
                .doesNotContain("\033");
        assertThat(r.err()).isEmpty();
    }

    @Test
    void wrongUsageIsReported() throws IOException {
        CommandProcess.Result r = CommandProcess.runHosted("perf", "nonsense");
        assertThat(r.code()).as(r.err()).isEqualTo(2);
        assertThat(r.err()).contains("unknown test 'nonsense': the tests are limit-cacheline");
        assertThat(r.out()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "write-lat --device=mlx5_9           | open device 'mlx5_9': ENODEV: the devices are shm0",
        "erm-lat --device=roce_lo            | device 'roce_lo' reaches this host alone",
        "write-lat --inline=4000 --size=8    | --inline 4000 is too much: shm0 takes",
        "tcp-bw --cpus=0,4000                | CPU 4000 of --cpus cannot be used: this process may use {",
        "tcp-bw --connect=127.0.0.1:1        | no listener at 127.0.0.1:1",
        "tcp-bw --connect=nowhere.invalid    | the host 'nowhere.invalid' is not known",
    })
    void failuresAreReported(String arguments, String sentence) throws IOException {
        String[] words = ("perf " + arguments).split(" ");
        // one failure in a process that perf has started, and the others where they are reported at once
        boolean fresh = arguments.startsWith("write-lat --device") || arguments.contains("--connect");
        CommandProcess.Result r = CommandProcess.runHosted(fresh ? words : inHosts(words));
        assertThat(r.code()).as(r.out()).isEqualTo(1);
        assertThat(r.err()).contains(sentence).doesNotContain("\tat ");
        assertThat(r.out()).isEmpty();
    }

    @Test
    void missingDeviceIsReported() throws IOException {
        try (CommandProcess p = CommandProcess.startWithout(List.of(), "verbena-(shm|roce)", "perf", "write-lat")) {
            CommandProcess.Result r = p.end();
            assertThat(r.code()).isEqualTo(1);
            assertThat(r.err()).contains("there is no RDMA device to measure");
        }
        try (CommandProcess p = CommandProcess.startWithout(List.of(), "verbena-(shm|roce)", quick(
                "limit-cacheline"))) {
            assertThat(p.end().code()).isZero();
        }
    }

    @Test
    void oneCpuSuffices() throws IOException {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/taskset")),
                "skipped: there is no taskset (package util-linux)");
        try (CommandProcess p = CommandProcess.startWithout(List.of("taskset", "-c", "0"), "", quick("write-lat"))) {
            CommandProcess.Result r = p.end();
            assertThat(r.code()).isEqualTo(1);
            assertThat(r.err()).contains("write-lat needs two CPUs");
        }
        try (CommandProcess p = CommandProcess.startWithout(List.of("taskset", "-c", "0"), "", quick("tcp-bw",
                "--size=8"))) {
            assertThat(p.end().code()).isZero();
        }
    }

    /** TCP connects different users, shared memory does not, and names the owner. */
    @Test
    void listenerOfAnotherUserIsRefused(@TempDir Path dir) throws Exception {
        TestUser.needed("perf against another user's listener");
        TestUser one = TestUser.number(6);
        TestUser another = TestUser.number(7);
        TestUser.run("chmod", "711", dir.toString());
        String modules = CopyProcess.copyModules(Files.createDirectory(dir.resolve("modules")));
        try (CommandProcess listener = CommandProcess.startFrom(modules, one.command(), "perf", "--listen=0")) {
            String connect = "--connect=" + PerfListener.port(listener);
            for (List<String> client : List.of(another.command(), List.<String>of())) {
                String[] write = quick("write-lat", "--size=8", connect);
                try (CommandProcess p = CommandProcess.startFrom(modules, client, write)) {
                    CommandProcess.Result r = p.end();
                    assertThat(r.code()).as(r.err()).isEqualTo(1);
                    assertThat(r.err()).contains("write-lat 8: ").contains("belongs to user " + one.uid())
                            .contains(client.isEmpty() ? "to user 0" : "to user " + another.uid())
                            .doesNotContain("\tat ");
                    assertThat(r.out()).isEmpty();
                }
            }
            String[] limit = quick("limit-cacheline", connect);
            try (CommandProcess p = CommandProcess.startFrom(modules, another.command(), limit)) {
                CommandProcess.Result r = p.end();
                assertThat(r.code()).isEqualTo(1);
                assertThat(r.err()).contains("both must run as the same user");
            }
            String[] tcp = quick("tcp-bw", "--size=8", connect);
            try (CommandProcess p = CommandProcess.startFrom(modules, another.command(), tcp)) {
                assertThat(p.end().code()).isZero();
            }
            String[] verbs = quick("write-lat", "--size=8", connect);
            try (CommandProcess p = CommandProcess.startFrom(modules, one.command(), verbs)) {
                assertThat(p.end().code()).as("the same user is served").isZero();
            }
        }
    }

    @Test
    void listenerAndClientRunInTwoTerminals() throws IOException {
        try (CommandProcess listener = CommandProcess.server("perf", "--listen=0", "--once")) {
            JsonNode rows = json(quick("write-lat", "send-bw", "tcp-bw", "nio-lat-spin", "nio-connect", "--json",
                    "--size=64", "--connect=127.0.0.1:" + PerfListener.port(listener)));
            assertThat(rows).hasSize(3 + 2 + 3);
            CommandProcess.Result r = listener.end();
            assertThat(r.code()).as(r.err()).isZero();
        }
    }

    @Test
    void takenPortIsReported() throws IOException {
        try (CommandProcess listener = CommandProcess.server("perf", "--listen=0")) {
            String port = PerfListener.port(listener);
            CommandProcess.Result r = CommandProcess.runHosted("perf", "--listen=" + port);
            assertThat(r.code()).isEqualTo(1);
            assertThat(r.err()).contains("cannot listen at 127.0.0.1:" + port);
        }
    }

    /** The listener survives foreign and killed clients, and serves the next. */
    @Test
    void listenerServesFurtherClients() throws Exception {
        try (CommandProcess listener = CommandProcess.start("perf", "--listen=0")) {
            String port = PerfListener.port(listener);
            for (String text : List.of("GET / HTTP/1.1\r\n\r\n", "x".repeat(10_000), "",
                    "HELLO version=verbena-perf-2 host=x\nTEST test=write-lat size=-1 cpu=0\n",
                    "HELLO version=verbena-perf-2 host=x\nTEST test=limit-cacheline size=8 device=- inline=0 qps=1 events=0 "
                            + "consume=0 verify=0 connections=1 ends=none rate=0 cpu=0\nGO n=9000000000000000000\n")) {
                try (Socket s = new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(port))) {
                    s.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
                }
            }
            try (CommandProcess client = longWrite(port)) {
                client.process().destroyForcibly();
            }
            assertThat(json(quick("write-lat", "send-bw", "--json", "--size=8", "--connect=" + port))).hasSize(2);
        }
    }

    /** A set-up that fails half-way leaves nothing open at a listener that continues. */
    @Test
    void listenerReleasesAcceptedConnections() throws Exception {
        InetAddress here = InetAddress.getLoopbackAddress();
        try (CommandProcess listener = CommandProcess.server("perf", "--listen=0")) {
            Socket control = new Socket(here, Integer.parseInt(PerfListener.port(listener)));
            control.getOutputStream().write(
                    ("HELLO version=verbena-perf-2 host=x\nTEST test=nio-bw size=64 device=- "
                            + "inline=0 qps=1 events=0 consume=0 verify=0 connections=2 ends=plain rate=0 cpu=0\n")
                            .getBytes(
                                    StandardCharsets.US_ASCII));
            BufferedReader said = new BufferedReader(new InputStreamReader(control.getInputStream(),
                    StandardCharsets.US_ASCII));
            assertThat(said.readLine()).startsWith("HELLO ");
            String ready = said.readLine();
            assertThat(ready).startsWith("READY port=");
            try (Socket first = new Socket(here, Integer.parseInt(ready.substring(ready.indexOf('=') + 1)))) {
                awaitAccepted(first);
                control.close();
                first.setSoTimeout(30_000);
                assertThat(first.getInputStream().read()).isEqualTo(-1);
            }
        }
    }

    /** Until the other end has a descriptor. */
    private static void awaitAccepted(Socket client) throws Exception {
        InetSocketAddress own = (InetSocketAddress) client.getLocalSocketAddress();
        InetSocketAddress other = (InetSocketAddress) client.getRemoteSocketAddress();
        try (SockDiag diag = SockDiag.open()) {
            long end = System.nanoTime() + 60_000_000_000L;
            while (diag.find(other, own).orElseThrow().inode() == 0) {
                assertThat(System.nanoTime()).as("it is accepted").isLessThan(end);
                Thread.sleep(1);
            }
        }
    }

    /** A client that is in the middle of its measurement. */
    private static CommandProcess longWrite(String port) throws Exception {
        return longTest(port, LONG_WRITE);
    }

    private static CommandProcess longTest(String port, String... test) throws Exception {
        List<String> all = new ArrayList<>(List.of("perf", "--connect=" + port));
        all.addAll(Arrays.asList(test));
        CommandProcess client = CommandProcess.start(all.toArray(String[]::new));
        awaitMeasuring(client.process().toHandle());
        return client;
    }

    @ParameterizedTest
    @ValueSource(strings = {"write-lat", "erm-lat", "erm-bw"})
    void killedListenerIsReported(String test) throws Exception {
        try (CommandProcess listener = CommandProcess.start("perf", "--listen=0");
                CommandProcess client = longTest(PerfListener.port(listener), test, "--size=8", "--duration=100s")) {
            listener.process().destroyForcibly();
            CommandProcess.Result r = client.end();
            assertThat(r.code()).isEqualTo(1);
            assertThat(r.err()).contains(test + " 8: ").contains("the peer ended").doesNotContain("\tat ");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"--listen=", "--connect="})
    void killedChildIsReported(String which) throws Exception {
        List<String> all = new ArrayList<>(List.of("perf"));
        all.addAll(Arrays.asList(LONG_WRITE));
        try (CommandProcess parent = CommandProcess.start(all.toArray(String[]::new))) {
            child(parent, which).destroyForcibly();
            CommandProcess.Result r = parent.end();
            assertThat(r.code()).isEqualTo(1);
            assertThat(r.err()).contains("was killed by signal 9").doesNotContain("\tat ");
        }
    }

    @Test
    void childrenEndWithTheirParent() throws Exception {
        List<String> all = new ArrayList<>(List.of("perf"));
        all.addAll(Arrays.asList(LONG_WRITE));
        try (CommandProcess parent = CommandProcess.start(all.toArray(String[]::new))) {
            List<ProcessHandle> children = List.of(child(parent, "--listen="), child(parent, "--connect="));
            parent.process().destroyForcibly();
            for (ProcessHandle c : children) {
                c.onExit().get(180, TimeUnit.SECONDS);
            }
        }
    }

    /** The child with an argument that begins so, when it measures. */
    private static ProcessHandle child(CommandProcess parent, String argument) throws IOException {
        List<ProcessHandle> found = new ArrayList<>();
        Await.until(STARTED, () -> {
            for (ProcessHandle c : parent.process().children().toList()) {
                if (Files.readString(Path.of("/proc/" + c.pid() + "/cmdline")).contains("\0" + argument)) {
                    found.add(c);
                }
            }
            return !found.isEmpty();
        }, () -> "no child with " + argument);
        awaitMeasuring(found.getFirst());
        return found.getFirst();
    }

    /** Waits until a thread may use one CPU only: its own, while it measures. */
    static void awaitMeasuring(ProcessHandle process) throws IOException {
        Await.until(STARTED, () -> {
            assertThat(process.isAlive()).as("process %d runs", process.pid()).isTrue();
            try (Stream<Path> threads = Files.list(Path.of("/proc/" + process.pid() + "/task"))) {
                return threads.anyMatch(t -> PerfCommandTest.cpus(t).matches("\\d+"));
            }
        }, () -> "process " + process.pid() + " does not measure");
    }

    private static String cpus(Path thread) {
        try (Stream<String> lines = Files.lines(thread.resolve("status"))) {
            return lines.filter(l -> l.startsWith("Cpus_allowed_list:")).map(l -> l.substring(18).strip()).findFirst()
                    .orElse("");
        } catch (IOException | UncheckedIOException ended) {
            return "";
        }
    }
}
