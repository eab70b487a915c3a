// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.linux.Fd;
import org.verbena.linux.PosixFile;
import org.verbena.telemetry.CounterFolder;
import org.verbena.telemetry.CounterLayout;
import org.verbena.testkit.Finished;
import org.verbena.tests.CommandLane;
import org.verbena.tests.faults.Child;
import org.verbena.tests.faults.Users;

/** {@code verbena stat} and {@code verbena monitor} without a terminal, against a process that reports what it does. */
@CommandLane
class StatCommandTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Child peer;
    private String pid;
    private int sender;
    private int receiver;

    /** Other builds on this machine have processes of their own. */
    @TempDir private Path folder;

    @BeforeEach
    void startPeer() throws Exception {
        startPeerWith(property());
    }

    private void startPeerWith(String... options) throws Exception {
        peer = Child.of(StatPeer.class).option(options).start();
        String[] numbers = peer.await("QPS").split(" ", -1);
        sender = Integer.parseInt(numbers[0]);
        receiver = Integer.parseInt(numbers[1]);
        pid = String.valueOf(peer.pid());
    }

    private String property() {
        return "-D" + CounterFolder.PROPERTY + "=" + folder;
    }

    private CommandProcess start(String... arguments) throws IOException {
        return CommandProcess.statistics(folder, arguments);
    }

    private CommandProcess.Result run(String... arguments) throws IOException {
        try (CommandProcess p = start(arguments)) {
            return p.end();
        }
    }

    @AfterEach
    void closePeer() throws Exception {
        peer.close();
    }

    private void send(int messages, int bytes) throws Exception {
        peer.tell("send " + messages + " " + bytes).await("SENT");
    }

    private JsonNode well(String... arguments) throws IOException {
        CommandProcess.Result r = run(arguments);
        assertThat(r.code()).as(r.err()).isZero();
        assertThat(r.err()).isEmpty();
        return JSON.readTree(r.out());
    }

    private static JsonNode object(JsonNode picture, String name) {
        for (JsonNode o : picture.get("objects")) {
            if (o.get("object").asText().equals(name)) {
                return o;
            }
        }
        throw new AssertionError(name + " is not in " + picture);
    }

    private static String qp(int number) {
        return "qp:0x" + Integer.toHexString(number);
    }

    @Test
    void countersMatchTheTraffic() throws Exception {
        send(7, 100);
        send(2, 3000);
        JsonNode p = well("stat", pid, "--once", "--json");
        assertThat(p.get("pid").asLong()).isEqualTo(peer.pid());
        assertThat(p.get("command").asText()).contains("StatPeer");
        assertThat(p.get("answers").asBoolean()).isTrue();
        assertThat(p.get("cached").asBoolean()).isFalse();
        assertThat(p.get("totals").get("tx_bytes").asLong()).isEqualTo(6700);
        assertThat(p.get("rates").isNull()).isTrue();
        assertThat(p.get("connections").isNull()).isTrue();
        JsonNode from = object(p, qp(sender));
        assertThat(from.get("state").asText()).isEqualTo("RTS");
        assertThat(from.get("attributes").get("type").asText()).isEqualTo("RC");
        assertThat(from.get("attributes").get("peerQp").asInt()).isEqualTo(receiver);
        assertThat(from.get("totals").get("QP_TX_SENDS").asLong()).isEqualTo(9);
        assertThat(from.get("totals").get("QP_TX_SEND_BYTES").asLong()).isEqualTo(6700);
        assertThat(from.get("totals").get("QP_REQ_ERRORS").asLong()).isZero();
        assertThat(from.get("rates").isNull()).isTrue();
        JsonNode to = object(p, qp(receiver));
        assertThat(to.get("totals").get("QP_RX_RECEIVES").asLong()).isEqualTo(9);
        assertThat(to.get("totals").get("QP_RX_RECEIVE_BYTES").asLong()).isEqualTo(6700);
        JsonNode port = object(p, "port:1");
        assertThat(port.get("totals").get("PORT_TX_SENDS").asLong()).isEqualTo(9);
        JsonNode all = well("stat", "--once", "--json");
        assertThat(process(all).get("objects").get("qp").asInt()).isEqualTo(2);
        assertThat(process(all).get("totals").get("tx").asLong()).isEqualTo(9);
        assertThat(process(all).get("totals").get("tx_bytes").asLong()).isEqualTo(6700);
        assertThat(all.get("totals").get("tx_bytes").asLong()).as("of all").isEqualTo(6700);
    }

    private JsonNode process(JsonNode all) {
        for (JsonNode p : all.get("processes")) {
            if (p.get("pid").asLong() == peer.pid()) {
                return p;
            }
        }
        throw new AssertionError(pid + " is not in " + all);
    }

    @Test
    void ratesAddUpToTheTraffic() throws Exception {
        send(3, 10);
        try (CommandProcess stat = start("stat", pid, "--json", "-i", "50ms", "--type=qp")) {
            JsonNode n = object(JSON.readTree(stat.line()), qp(sender));
            assertThat(n.get("totals").get("QP_TX_SENDS").asLong()).isEqualTo(3);
            peer.tell("send 1000 64");
            double sum = 0;
            while (n.get("rates").isNull() || n.get("totals").get("QP_TX_SENDS").asLong() < 1003) {
                JsonNode p = JSON.readTree(stat.line());
                n = object(p, qp(sender));
                sum += n.get("rates").path("QP_TX_SENDS").asDouble() * p.get("seconds").asDouble();
            }
            assertThat(Math.round(sum)).isEqualTo(1000);
            assertThat(peer.await("SENT")).isEmpty();
        }
    }

    @Test
    void textIsSortedAndFiltered() throws Exception {
        send(4, 10);
        CommandProcess.Result r = run("stat", "--once");
        assertThat(r.code()).isZero();
        assertThat(r.out()).contains("  totals\n").contains("     PID   QP  CQ SRQ   MR CONN      TX    TX-B").contains(
                pid)
                .contains("StatPeer").doesNotContain("\033");
        r = run("stat", pid, "--once", "--type", "QP", "--sort", "tx", "--reverse");
        List<String> lines = r.out().lines().toList();
        assertThat(lines).hasSize(4);
        assertThat(lines.get(1)).startsWith("OBJECT        STATE      TX    TX-B");
        assertThat(lines.get(2)).startsWith(qp(receiver));
        assertThat(lines.get(3)).startsWith(qp(sender)).contains("  RTS         4      40").endsWith(
                "RC to 0x" + Integer.toHexString(receiver) + " of process " + pid);
        r = run("stat", pid, "-1", "-f", "MR:");
        assertThat(r.out().lines().toList()).hasSize(3).last().asString().startsWith("mr:0x");
        r = run("stat", pid, "-n", "2", "-i", "0.1", "-v", "rates", "-t", "qp");
        assertThat(r.out().lines().toList()).hasSize(9).anyMatch(l -> l.matches(
                ".*rates over 0\\.[0-9]{3} s|.*rates over [0-9]+\\.[0-9]{3} s"));
        assertThat(r.out()).contains("TX/s").doesNotContain(" - ");
    }

    @Test
    void missingProcessOrObjectIsReported() throws Exception {
        expect(1, "there is no such process", "stat", "4000000");
        expect(1, "shows no objects", "stat", String.valueOf(startSleep().pid()));
        expect(1, "has no object qp:0x77: it has shm0, port:1", "monitor", pid, "qp:0x77", "tx");
        expect(1, "has no sample point nix: it has ", "monitor", pid, qp(sender), "nix");
        expect(2, "'x' is not the number of a process", "stat", "x");
        expect(2, "'-1' is not the number of a process", "stat", "--", "-1");
        expect(2, "there is no column 'x': pid, ", "stat", "--sort", "x");
        expect(2, "there is no column 'pid': object, ", "stat", pid, "--sort", "pid");
        expect(2, "there is no type of objects 'x'", "stat", "--type", "x");
        expect(2, "--interval must be 10ms or more", "stat", "-i", "1ms");
        expect(2, "--count must be 1 or more", "stat", "-n", "0");
        expect(2, "--type chooses among the objects of a process", "stat", "--once", "--type", "qp");
        expect(2, "--type chooses among the objects of a process", "stat", "--json", "--type", "qp");
        expect(2, "exclude each other", "stat", "--once", "-n", "2");
        expect(2, "Missing required parameters", "monitor", pid);
    }

    private final List<Process> sleeps = new ArrayList<>();

    private Process startSleep() throws IOException {
        Process p = new ProcessBuilder("sleep", "100").start();
        sleeps.add(p);
        return p;
    }

    @AfterEach
    void endSleeps() {
        sleeps.forEach(Process::destroyForcibly);
    }

    private void expect(int code, String sentence, String... arguments) throws IOException {
        CommandProcess.Result r = run(arguments);
        assertThat(r.code()).as(r.err()).isEqualTo(code);
        assertThat(r.err()).startsWith("verbena: ").contains(sentence).doesNotContain("Exception");
        assertThat(r.out()).isEmpty();
    }

    @Test
    void otherUsersHaveNoAccess(@TempDir Path dir) throws Exception {
        TestUser.needed("look at processes of others");
        closePeer();
        startPeerWith(); // where everybody's are
        Files.setPosixFilePermissions(dir, java.nio.file.attribute.PosixFilePermissions.fromString("rwxr-xr-x"));
        String modules = CopyProcess.copyModules(dir);
        List<String> other = TestUser.number(1).command();
        try (CommandProcess stat = CommandProcess.startFrom(modules, other, "stat", pid)) {
            CommandProcess.Result r = stat.end();
            assertThat(r.code()).isEqualTo(1);
            assertThat(r.err()).contains("EACCES", "belongs to user root", "look as that user, or as root");
        }
        try (CommandProcess stat = CommandProcess.startFrom(modules, other, "stat", "--once")) {
            CommandProcess.Result r = stat.end();
            assertThat(r.code()).isZero();
            assertThat(r.out()).contains("no process that you may look at uses Verbena");
        }
    }

    @Test
    void endOfAProcessIsReported() throws Exception {
        try (CommandProcess stat = start("stat", pid, "--json", "-i", "50ms");
                CommandProcess counted = start("stat", pid, "-i", "50ms", "-n", "1000000");
                CommandProcess monitor = start("monitor", pid, qp(sender), "tx", "-i", "50ms")) {
            assertThat(stat.line()).contains(pid);
            assertThat(counted.line()).contains(pid);
            assertThat(monitor.line()).contains("RATE/s");
            peer.kill();
            CommandProcess.Result r = stat.end();
            assertThat(r.code()).as(r.err()).isZero();
            assertThat(r.err()).isEqualTo("verbena: process " + pid + " has ended");
            r = counted.end();
            assertThat(r.code()).isEqualTo(1);
            assertThat(r.err()).isEqualTo("verbena: process " + pid + " has ended");
            r = monitor.end();
            assertThat(r.code()).as(r.err()).isZero();
            assertThat(r.err()).isEqualTo("verbena: process " + pid + " has ended");
        }
        expect(1, "there is no such process", "stat", pid);
    }

    @Test
    void closedObjectIsReported() throws Exception {
        try (CommandProcess monitor = start("monitor", pid, qp(sender), "tx", "-i", "50ms")) {
            assertThat(monitor.line()).contains("RATE/s");
            peer.tell("close").await("CLOSED");
            CommandProcess.Result r = monitor.end();
            assertThat(r.code()).as(r.err()).isZero();
            assertThat(r.err()).isEqualTo("verbena: " + qp(sender) + " of process " + pid + " was closed");
        }
    }

    @Test
    void stoppedProcessShowsItsLastCounters() throws Exception {
        send(5, 10);
        assertThat(object(well("stat", pid, "--once", "--json"), qp(sender)).get("totals").get("QP_TX_SENDS").asLong())
                .isEqualTo(5);
        peer.stop();
        JsonNode p = well("stat", pid, "--once", "--json");
        assertThat(p.get("answers").asBoolean()).isFalse();
        assertThat(p.get("cached").asBoolean()).isTrue();
        assertThat(object(p, qp(sender)).get("totals").get("QP_TX_SENDS").asLong()).isEqualTo(5);
        CommandProcess.Result r = run("stat", pid, "--once");
        assertThat(r.out()).contains("process " + pid
                + " does not answer (stopped? another network namespace?): these are the values at hand");
        assertThat(run("stat", "--once").out()).contains("(does not answer) ");
        JsonNode cached = well("stat", pid, "--once", "--json", "--cached");
        assertThat(cached.get("answers").isNull()).isTrue();
        CommandProcess.Result m = run("monitor", pid, qp(sender), "tx", "-n", "1", "-i", "10ms");
        assertThat(m.code()).isZero();
        assertThat(m.err()).contains("does not answer");
        peer.proceed();
        assertThat(well("stat", pid, "--once", "--json").get("answers").asBoolean()).isTrue();
    }

    /** Like a container, seen from its host: names of doorbells belong to a network namespace. */
    @Test
    void processInAnotherNetworkNamespaceShowsItsLastCounters() throws Exception {
        Users.needsRoot("make a network namespace");
        send(5, 10);
        List<String> elsewhere = List.of("unshare", "--net");
        try (CommandProcess stat = CommandProcess.startWith(List.of(property()), elsewhere, "stat", pid, "--once",
                "--json")) {
            CommandProcess.Result r = stat.end();
            assertThat(r.code()).as(r.err()).isZero();
            JsonNode p = JSON.readTree(r.out());
            assertThat(p.get("answers").asBoolean()).isFalse();
            assertThat(object(p, qp(sender)).get("totals").get("QP_TX_SENDS").asLong()).isEqualTo(5);
        }
    }

    @Test
    void invalidFilesAreNamedAndHideNoOthers() throws Exception {
        long own = startSleep().pid();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment header = arena.allocate(CounterLayout.HEADER, 8);
            header.fill((byte) 'x');
            broken(own, header, "EBADMSG", "is not a counter file");
            header.fill((byte) 0);
            header.set(ValueLayout.JAVA_LONG, CounterLayout.HEADER_MAGIC, CounterLayout.MAGIC);
            header.set(ValueLayout.JAVA_INT, CounterLayout.HEADER_VERSION, 99);
            broken(own, header, "EPROTONOSUPPORT", "version 99");
            broken(own, header.asSlice(0, 100), "EBADMSG", "is too short");
        }
    }

    private void broken(long ofPid, MemorySegment content, String errno, String sentence)
            throws Exception {
        Path file = folder.resolve(ofPid + "-0badf11e");
        Files.write(file, content.toArray(ValueLayout.JAVA_BYTE));
        try (Fd fd = PosixFile.open(file, PosixFile.O_RDWR, 0)) {
            assertThat(PosixFile.tryLock(fd)).isTrue(); // as if its process lived
            CommandProcess.Result r = run("stat", "-n", "2", "-i", "10ms");
            assertThat(r.code()).isZero();
            assertThat(r.err()).as("once").isEqualTo(r.err().lines().findFirst().orElse("")).contains(errno, sentence);
            assertThat(r.out()).contains(pid);
            assertThat(well2("stat", "--once", "--json").get("problems").get(0).asText()).contains(sentence);
            expect(1, sentence, "stat", String.valueOf(ofPid));
        } finally {
            Files.deleteIfExists(file);
        }
    }

    private JsonNode well2(String... arguments) throws IOException {
        CommandProcess.Result r = run(arguments);
        assertThat(r.code()).as(r.err()).isZero();
        return JSON.readTree(r.out());
    }

    private String verbena() {
        return TerminalTest.verbena(List.of(property()));
    }

    @Test
    void failedWriteIsAFailure() throws Exception {
        for (String command : List.of("stat --once --json", "stat " + pid + " -i 0.01", "monitor " + pid
                + " port:1 tx -i 0.01", "devices", "doctor --json")) {
            Process p = new ProcessBuilder("bash", "-c", verbena() + command + " 2>&1 >/dev/full").start();
            String said = new String(p.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
            assertThat(p.waitFor(240, TimeUnit.SECONDS)).isTrue();
            assertThat(p.exitValue()).as(command).isEqualTo(1);
            assertThat(said).as(command).startsWith("verbena: standard output (/dev/full) cannot be written")
                    .hasLineCount(
                            1);
        }
    }

    @Test
    void endsWhenTheReaderCloses() throws Exception {
        for (String command : List.of("stat -i 0.01", "stat " + pid + " --json -i 0.01", "monitor " + pid
                + " port:1 tx -i 0.01")) {
            Finished p = Finished.run("bash", "-c", verbena() + command
                    + " | head -n 1 >/dev/null; exit ${PIPESTATUS[0]}");
            assertThat(p.code()).as(p.output()).isZero();
            assertThat(p.output()).isEmpty();
        }
    }

    @Test
    void monitorDrawsAPlot() throws Exception {
        peer.tell("flow").await("FLOWING");
        String line = "[0-9:]{8} +[0-9.]+ +[0-9]+  ";
        try (CommandProcess m = monitor("C.UTF-8", qp(sender), "TX-sends")) {
            assertThat(m.line()).contains("TIME         RATE/s                TOTAL  0 ─");
            for (int i = 0; i < 3; i++) {
                awaitLine(m, line + "█.*");
            }
        }
        try (CommandProcess m = monitor("C", "port:1", "tx-bytes")) {
            assertThat(m.line()).contains("0 ---").matches("\\p{ASCII}*");
            awaitLine(m, "\\p{ASCII}* #\\p{ASCII}*");
        }
        try (CommandProcess m = monitor("C", qp(receiver), "QP_RX_RECEIVES", "--json")) {
            JsonNode before = JSON.readTree(m.line());
            JsonNode n = JSON.readTree(m.line());
            while (before.get("rate").isNull() || n.get("rate").asDouble() == 0) { // it stood still meanwhile
                before = n.get("rate").isNull() ? before : n;
                n = JSON.readTree(m.line());
            }
            assertThat(n.get("points").get(0).asText()).isEqualTo("QP_RX_RECEIVES");
            double added = n.get("rate").asDouble() * n.get("seconds").asDouble();
            assertThat(Math.round(added)).isEqualTo(n.get("total").asLong() - before.get("total").asLong());
        }
    }

    /** Skips lines of times when the process was not scheduled, which may happen to any. */
    private static void awaitLine(CommandProcess m, String regex) throws IOException {
        for (String line = m.line(); !line.matches(regex);) {
            line = m.line();
        }
    }

    private CommandProcess monitor(String locale, String object, String point, String... more) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("monitor", pid, object, point, "-i", "0.4"));
        arguments.addAll(List.of(more));
        return CommandProcess.startWith(List.of(property()), List.of("env", "LC_ALL=" + locale),
                arguments.toArray(String[]::new));
    }

    /** Not in a folder of the test's own. */
    @Test
    void processesInOtherPidNamespacesAreSeen() throws Exception {
        closePeer();
        startPeerWith();
        send(3, 10);
        CommandProcess.Result all = CommandProcess.runHosted("stat", "--once", "--json");
        assertThat(all.code()).isZero();
        assertThat(process(JSON.readTree(all.out())).get("totals").get("tx").asLong()).isEqualTo(3);
        assertThat(CommandProcess.runHosted("stat", pid, "--once").out()).contains(qp(sender));
    }

    @Test
    void stoppedProcessHasNoRates() throws Exception {
        send(5, 10);
        try (CommandProcess stat = start("stat", pid, "--json", "-i", "50ms", "--view", "rates", "--type", "qp")) {
            assertThat(object(JSON.readTree(stat.line()), qp(sender)).get("rates").isNull()).isFalse();
            peer.stop();
            JsonNode p = JSON.readTree(stat.line());
            while (p.get("answers").asBoolean()) {
                p = JSON.readTree(stat.line());
            }
            assertThat(p.get("seconds").isNull()).isTrue();
            assertThat(object(p, qp(sender)).get("rates").isNull()).isTrue();
            peer.proceed();
            while (!p.get("answers").asBoolean()) {
                p = JSON.readTree(stat.line());
            }
            assertThat(p.get("seconds").asDouble()).as("since it answered last").isPositive();
        }
    }

    @Test
    void thousandsOfObjectsAreShown() throws Exception {
        assertThat(peer.tell("regions 5000").await("HAVE")).isEqualTo("5000");
        JsonNode p = well("stat", pid, "--once", "--json", "-t", "mr");
        assertThat(p.get("objects")).hasSize(5001);
        assertThat(run("stat", pid, "--once").out().lines().filter(l -> l.startsWith("mr:0x"))).hasSize(
                5001);
    }
}
