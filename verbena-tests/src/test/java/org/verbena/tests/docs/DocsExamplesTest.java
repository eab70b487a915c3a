// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.cli.example.Examples;
import org.verbena.testkit.Thorough;
import org.verbena.tests.ProgramLane;
import org.verbena.tests.agent.AgentJar;

/** The documents: examples run as described, quotations are in the examples, and links have targets. */
@ProgramLane
class DocsExamplesTest {
    /** The examples that run alone, and the output of each as a regular expression. */
    private static final Map<String, String> PRINTS = new TreeMap<>(Map.ofEntries(
            Map.entry("ByHand", """
                    FETCH_ADD wrId=2 SUCCESS length=8 qp=0x[0-9a-f]+
                    RDMA_READ wrId=3 SUCCESS length=24 qp=0x[0-9a-f]+
                    SEND wrId=4 SUCCESS length=32 qp=0x[0-9a-f]+
                    RECV wrId=7 SUCCESS length=32 qp=0x[0-9a-f]+
                    old value 1, new value 42"""),
            Map.entry("SharedReceives", """
                    receive [01]: 100 bytes
                    receive [01]: 100 bytes
                    SRQ_LIMIT_REACHED"""),
            Map.entry("Counting", """
                    3 writes, 300 bytes, 3 to the region
                    RTS: 300 bytes written"""),
            Map.entry("WriteAndPoll", """
                    message 1 carries 1
                    message 2 carries 4
                    message 3 carries 9
                    message 4 carries 16
                    message 5 carries 25"""),
            Map.entry("Events", """
                    SUCCESS one
                    SUCCESS two
                    WR_FLUSH_ERR -
                    WR_FLUSH_ERR -
                    connection: ESTABLISHED
                    connection: DISCONNECTED"""),
            Map.entry("Queues", """
                    cqe 256
                    event: false
                    event: false
                    event: true
                    write 0 just now
                    write 1 just now
                    write 2 just now"""),
            Map.entry("Datagrams", """
                    received 48 bytes with 42
                    answered: true
                    sent to ff12::4711"""),
            Map.entry("Memory", """
                    RDMA_WRITE wrId=1 SUCCESS length=8 qp=0x[0-9a-f]+
                    at 8: 42
                    ATOMIC_WRITE wrId=3 SUCCESS length=[08] qp=0x[0-9a-f]+
                    on the device: 42, 43
                    BIND_MW wrId=5 SUCCESS length=0 qp=0x[0-9a-f]+
                    SEND wrId=7 SUCCESS length=8 qp=0x[0-9a-f]+
                    WITH_INV true
                    RDMA_WRITE wrId=8 REM_ACCESS_ERR length=8 qp=0x[0-9a-f]+
                    ENOENT"""),
            Map.entry("Errors", """
                    EBUSY \\| close PD 0 of shm0: EBUSY: 1 object still uses it \\(MR 0x[0-9a-f]+ of shm0\\): close what was made from it first
                    ENODEV \\| open device 'mlx5_0': ENODEV: .*
                    in RESET: EINVAL
                    posted: 0
                    RDMA_WRITE wrId=2 REM_ACCESS_ERR length=8 qp=0x[0-9a-f]+
                    RDMA_WRITE wrId=3 WR_FLUSH_ERR length=8 qp=0x[0-9a-f]+
                    ERR: REM_ACCESS_ERR for wrId 2
                    QP_ACCESS_ERR on QP 0x[0-9a-f]+ of shm0: the peer's request was refused: .*
                    ERR: the peer's request was refused: REM_ACCESS_ERR for wrId 2"""),
            Map.entry("Xrc", """
                    SEND wrId=2 SUCCESS length=8 qp=0x[0-9a-f]+
                    RECV wrId=1 SUCCESS length=8 qp=0x[0-9a-f]+
                    received 41
                    SEND wrId=2 SUCCESS length=8 qp=0x[0-9a-f]+
                    RECV wrId=1 SUCCESS length=8 qp=0x[0-9a-f]+
                    received 42"""),
            Map.entry("Packets", """
                    flow: supported false, EOPNOTSUPP
                    rss: supported false, EOPNOTSUPP""")));

    /** The examples that request channels of Verbena, and the output of each. */
    private static final Map<String, String> CHANNELS = Map.of("RingChannels", """
            orders: stream
            out by ring: true, some bytes""", "HandOver", """
            500 messages of 1048576 bytes
            by the stream: [0-9]+\\.[0-9]{2} GB/s
            by remote memory: [0-9]+\\.[0-9]{2} GB/s""", "SelectingServer", "12 orders of 3 clients", "SocketRules", """
            no rule: undecided
            a rule: kernel by rule
            counted: \\{local=1}
            another: undecided
            this thread: kernel by rule
            another thread: undecided""", "ZeroCopyPackets", """
            2 bytes in 1 packet, the first one is 't'
            3 bytes in 1 packet, the first one is 't'
            4 bytes in 1 packet, the first one is 'r'
            still there: hello, held: 1, copied before: true
            - TCP, Offloaded""");

    /** Of the examples that run alone; it ends with this JVM, since its standard input ends then. */
    private static final class Modules {
        static final ExampleProcess HOST;

        static {
            try {
                HOST = ExampleProcess.host();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static Path example(String name) {
        return ExampleProcess.FOLDER.resolve(name + ".java");
    }

    @TestFactory
    Stream<DynamicTest> examplesPrintTheirDocumentedOutput() {
        return PRINTS.entrySet().stream().map(e -> DynamicTest.dynamicTest(e.getKey(), () -> {
            if (Thorough.ON) {
                try (ExampleProcess p = ExampleProcess.onModulePath(example(e.getKey()), 0)) {
                    assertThat(p.rest()).matches(e.getValue());
                    assertThat(p.code()).isZero();
                }
            } else {
                ExampleProcess.Result r = Modules.HOST.run(example(e.getKey()));
                assertThat(r.out()).matches(e.getValue());
                assertThat(r.code()).as(r.out()).isZero();
            }
        }));
    }

    @TestFactory
    Stream<DynamicTest> channelExamplesPrintTheirDocumentedOutput() {
        return CHANNELS.entrySet().stream().map(e -> DynamicTest.dynamicTest(e.getKey(), () -> {
            try (ExampleProcess p = ExampleProcess.withChannels(example(e.getKey()), 0)) {
                assertThat(p.rest()).matches(e.getValue());
                assertThat(p.code()).isZero();
            }
        }));
    }

    /**
     * The agent gives channels of Verbena what they need, without an earlier channel of the JDK: of two examples one by modules and
     * one by the class path, and each by both with {@code -Dthorough}.
     */
    @TestFactory
    Stream<DynamicTest> channelExamplesRunUnderTheAgent(@TempDir Path dir) throws IOException {
        Path agent = AgentJar.in(dir);
        return Stream.of("RingChannels", "HandOver").flatMap(name -> Stream.of(true, false)
                .filter(modules -> Thorough.ON || modules == name.equals("RingChannels"))
                .map(modules -> DynamicTest.dynamicTest(name + (modules ? " by modules" : ""), () -> {
                    try (ExampleProcess p = ExampleProcess.withAgent(example(name), agent, modules)) {
                        assertThat(p.rest()).matches(CHANNELS.get(name));
                        assertThat(p.code()).isZero();
                    }
                })));
    }

    @Test
    void exampleRunsOnTheClassPath() throws IOException {
        try (ExampleProcess p = ExampleProcess.onClassPath(example("ByHand"))) {
            assertThat(p.rest()).matches(PRINTS.get("ByHand"));
            assertThat(p.code()).isZero();
        }
    }

    @Test
    void runtimeWithoutFlightRecorderSuffices() throws IOException {
        try (ExampleProcess p = ExampleProcess.onClassPath(example("ByHand"), ExampleProcess.CORE, "--limit-modules",
                "java.base,jdk.compiler")) {
            assertThat(p.rest()).matches(PRINTS.get("ByHand"));
            assertThat(p.code()).isZero();
        }
    }

    @Test
    void metricsMatchTheMessages() throws IOException {
        String jars = ExampleProcess.CORE + "|.*verbena-micrometer\\b.*|.*/(micrometer|prometheus|HdrHistogram)[^/]*";
        try (ExampleProcess p = ExampleProcess.onClassPath(example("Metrics"), jars)) {
            assertThat(p.rest()).matches("""
                    verbena_cq_completions_total\\{context="\\d+",device="shm0",number="0x0"} 6.0
                    verbena_objects\\{type="CQ"} 1.0
                    verbena_objects\\{type="DEVICE"} 1.0
                    verbena_objects\\{type="MR"} 1.0
                    verbena_objects\\{type="PD"} 1.0
                    verbena_objects\\{type="QP"} 2.0
                    verbena_objects\\{type="SRQ"} 0.0
                    verbena_port_tx_send_bytes_total\\{device="shm0",port="1"} 3000.0
                    verbena_port_tx_sends_total\\{device="shm0",port="1"} 3.0""");
            assertThat(p.code()).isZero();
        }
    }

    @Test
    void servicesAreFoundThroughTheirProvider() throws IOException {
        try (ExampleProcess p = ExampleProcess.onClassPath(example("Services"), ExampleProcess.CORE
                + "|.*verbena-roce\\b.*")) {
            assertThat(p.rest()).isEqualTo("found: true\nreceived 42");
            assertThat(p.code()).isZero();
        }
    }

    /** The port that the process reports. */
    private static int port(ExampleProcess process) throws IOException {
        String listening = process.line();
        assertThat(listening).matches("listening on port [0-9]+");
        return Integer.parseInt(listening.substring(listening.lastIndexOf(' ') + 1));
    }

    @Test
    void firstProgramRunsInTwoProcesses() throws IOException {
        try (ExampleProcess server = ExampleProcess.onModulePath(example("HelloVerbs"), 0, "server")) {
            int port = port(server);
            try (ExampleProcess client = ExampleProcess.onModulePath(example("HelloVerbs"), port, "client")) {
                assertThat(client.rest()).isEqualTo("received: hello from the server");
                assertThat(client.code()).isZero();
            }
            assertThat(server.rest()).matches("received: hello, this is process [0-9]+");
            assertThat(server.code()).isZero();
        }
    }

    @Test
    void smcErmCallsRunInTwoProcesses() throws IOException {
        try (ExampleProcess receiver = ExampleProcess.withChannels(example("SmcErmCalls"), 0, "receiver")) {
            int port = port(receiver);
            try (ExampleProcess sender = ExampleProcess.withChannels(example("SmcErmCalls"), port, "sender")) {
                assertThat(sender.rest()).matches("""
                        memory of 4096 bytes, memid [1-9][0-9]*
                        SMC_ERM_CMD_COPY: done
                        copied back: HELLO, THIS IS PROCESS [0-9]+
                        no memory any more""");
                assertThat(sender.code()).isZero();
            }
            assertThat(receiver.rest()).matches("SMC_ERM_CMD_COPY: [0-9]+ bytes at 64: hello, this is process [0-9]+");
            assertThat(receiver.code()).isZero();
        }
    }

    @Test
    void plainProgramGetsVerbenaChannelsByTheAgentAlone(@TempDir Path dir) throws IOException {
        try (ExampleProcess p = ExampleProcess.plain(example("PlainEcho"))) {
            assertThat(p.rest()).isEqualTo("hello, through EPollSelectorProvider");
        }
        try (ExampleProcess p = ExampleProcess.plain(example("PlainEcho"), "-javaagent:" + AgentJar.in(dir)
                + "=quiet,stream.earn=0")) {
            assertThat(p.rest()).isEqualTo("hello, through VerbenaSelectorProvider");
            assertThat(p.code()).isZero();
        }
    }

    @Test
    void plainProgramGetsVerbenaSocketsByTheAgentAlone(@TempDir Path dir) throws IOException {
        try (ExampleProcess p = ExampleProcess.plain(example("PlainSockets"))) {
            assertThat(p.rest()).isEqualTo("hello, carried by the JDK's own socket");
        }
        try (ExampleProcess p = ExampleProcess.plain(example("PlainSockets"), "-javaagent:" + AgentJar.in(dir)
                + "=quiet,stream.earn=0,stream.patience=60000")) {
            assertThat(p.rest()).isEqualTo("hello, carried by stream");
            assertThat(p.code()).isZero();
        }
    }

    @Test
    void everyExampleIsTestedAndNamedInTheDocuments() throws IOException {
        List<String> names;
        try (Stream<Path> files = Files.list(ExampleProcess.FOLDER)) {
            names = files.map(f -> f.getFileName().toString()).filter(f -> f.endsWith(".java"))
                    .map(f -> f.replace(".java", "")).toList();
        }
        Stream<String> known = Stream.of(List.of("HelloVerbs", "Metrics", "PlainEcho", "PlainSockets", "Services",
                "SmcErmCalls", "StackEcho"),
                PRINTS.keySet(),
                CHANNELS.keySet()).flatMap(Collection::stream);
        assertThat(names).containsExactlyInAnyOrderElementsOf(known.toList());
        assertThat(Examples.in(ExampleProcess.FOLDER).all().keySet()).as("what 'verbena example' knows")
                .containsExactlyInAnyOrderElementsOf(names);
        List<String> links = Markdown.all().stream().flatMap(m -> m.links().stream()).toList();
        assertThat(names).allSatisfy(n -> assertThat(links).contains("examples/" + n + ".java"));
    }

    /** Every kind of object that a program creates and closes is created in some example. */
    @Test
    void everyObjectIsUsedInAnExample() throws IOException {
        String all = sources(ExampleProcess.FOLDER);
        Path api = Markdown.root().resolve("verbena-verbs/src/main/java/org/verbena/verbs");
        try (Stream<Path> files = Files.list(api)) {
            List<String> objects = files.filter(Files::isRegularFile).filter(f -> isObject(f))
                    .map(f -> f.getFileName().toString().replace(".java", "")).filter(n -> !n.equals("VerbsObject"))
                    .toList();
            assertThat(objects).hasSizeGreaterThan(15)
                    .allSatisfy(o -> assertThat(all).containsPattern("\\b" + o + " \\w+ = "));
        }
    }

    private static boolean isObject(Path file) {
        try {
            return Pattern.compile("class \\w+ extends VerbsObject").matcher(Files.readString(file)).find();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** But for the line that names its licence. */
    @Test
    void readmeShowsTheFirstProgramUnchanged() throws IOException {
        String program = Files.readString(example("HelloVerbs"));
        assertThat(Markdown.read(Markdown.root().resolve("README.md")).snippets())
                .contains(program.substring(program.indexOf('\n') + 1));
    }

    @Test
    void snippetsMatchTheExamples() throws IOException {
        String examples = sources(ExampleProcess.FOLDER);
        for (String document : List.of("README.md", "docs/verbs.md", "docs/metrics.md", "docs/channels.md",
                "docs/rules.md")) {
            assertQuotes(document, examples);
        }
        Path root = Markdown.root();
        assertQuotes("docs/extending.md", examples + sources(root.resolve("verbena-verbs/src/main/java"))
                + sources(root.resolve("verbena-tests/src/test/java/org/verbena/tests/compat"))
                + sources(root.resolve("verbena-tests/src/test/resources/compat")));
    }

    private static void assertQuotes(String document, String sources) {
        assertThat(Markdown.read(Markdown.root().resolve(document)).snippets()).as(document).isNotEmpty()
                .allSatisfy(s -> assertThat(sources).contains(flat(s)));
    }

    /** All Java below a folder, without indentation. */
    private static String sources(Path folder) throws IOException {
        StringBuilder all = new StringBuilder();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path f : files.filter(f -> f.toString().endsWith(".java")).toList()) {
                all.append(flat(Files.readString(f)));
            }
        }
        return all.toString();
    }

    /** Without indentation. */
    private static String flat(String code) {
        return code.lines().map(String::strip).collect(Collectors.joining("\n", "", "\n"));
    }

    @TestFactory
    Stream<DynamicTest> linksPointToFilesAndHeadings() throws IOException {
        return Markdown.all().stream().map(m -> DynamicTest.dynamicTest(m.file().getFileName().toString(),
                () -> assertThat(m.brokenLinks()).isEmpty()));
    }
}
