// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.tests.CommandLane;
import org.verbena.tests.agent.TalkProcess;
import org.verbena.tests.faults.Child;

/** The view of {@code verbena stat} on the sockets of programs that know nothing of Verbena, down to the byte. */
@CommandLane
class StatSocketsTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int MESSAGE = 1000;
    private static final int FIRST_RING = 4096;
    private static final long LONGEST_NANOS = 60_000_000_000L;

    @TempDir static Path dir;
    private static TalkProcess.Program talk;

    private ObservedTalk talks;

    @BeforeAll
    static void prepare() throws Exception {
        talk = new TalkProcess.Program(dir);
    }

    @BeforeEach
    void open() throws Exception {
        talks = new ObservedTalk(talk, dir);
    }

    @AfterEach
    void endAll() {
        talks.close();
    }

    private TalkProcess start(String more, String... words) throws IOException {
        return talks.start("stream.patience=60000" + (more.isEmpty() ? "" : "," + more), words);
    }

    private CommandProcess command(String... arguments) throws IOException {
        return CommandProcess.statistics(talks.folder(), arguments);
    }

    private CommandProcess.Result run(String... arguments) throws IOException {
        try (CommandProcess p = command(arguments)) {
            return p.end();
        }
    }

    private String text(String... arguments) throws IOException {
        CommandProcess.Result r = run(arguments);
        assertThat(r.code()).as(r.err()).isZero();
        assertThat(r.err()).isEmpty();
        return r.out();
    }

    /** The view on a process with open connections; it publishes them a while after the first. */
    private JsonNode look(TalkProcess p) throws Exception {
        return until(p, picture -> of(picture, "SOCKETS").stream().anyMatch(s -> attribute(s, "open").matches(
                "[1-9].*")));
    }

    private static List<JsonNode> of(JsonNode picture, String type) {
        List<JsonNode> found = new ArrayList<>();
        for (JsonNode o : picture.path("objects")) {
            if (o.get("type").asText().equals(type)) {
                found.add(o);
            }
        }
        return found;
    }

    private static JsonNode one(JsonNode picture, String type) {
        assertThat(of(picture, type)).as(type + " in " + picture).hasSize(1);
        return of(picture, type).getFirst();
    }

    private static String attribute(JsonNode object, String name) {
        return object.get("attributes").path(name).asText();
    }

    private static long total(JsonNode object, String point) {
        return object.get("totals").get(object.get("type").asText() + "_" + point).asLong();
    }

    /**
     * Samples until it sees that, since the other process works asynchronously. A process that has just started shows
     * nothing.
     */
    private JsonNode until(TalkProcess p, Predicate<JsonNode> wanted) throws Exception {
        return ObservedTalk.until(() -> {
            CommandProcess.Result r = run("stat", String.valueOf(p.pid()), "--once", "--json", "--view", "full");
            assertThat(r.code() == 0 || r.err().contains("shows no objects")).as(r.err()).isTrue();
            return JSON.readTree(r.out());
        }, wanted);
    }

    @Test
    void bothEndsOfAConnectionShowTheSameBytes() throws Exception {
        TalkProcess server = start("rules=use stream tcp_server *:* counter mine", "serve", "1");
        String port = server.line();
        TalkProcess client = start("", "hold", port, "300", "5");
        assertThat(client.line()).isEqualTo("0");
        JsonNode mine = one(look(client), "CONNECTION");
        JsonNode picture = look(server);
        JsonNode theirs = one(picture, "CONNECTION");
        assertThat(mine.get("state").asText()).isEqualTo("OPEN");
        assertThat(attribute(mine, "remote")).isEqualTo("127.0.0.1:" + port);
        assertThat(attribute(mine, "local")).isEqualTo(attribute(theirs, "remote"));
        assertThat(attribute(theirs, "local")).isEqualTo("127.0.0.1:" + port);
        assertThat(attribute(mine, "role") + attribute(theirs, "role")).isEqualTo("clientserver");
        for (JsonNode end : List.of(mine, theirs)) {
            assertThat(attribute(end, "inBy") + attribute(end, "outBy")).isEqualTo("ringring");
            assertThat(attribute(end, "byTcpFor")).isEmpty();
            assertThat(attribute(end, "outRing") + attribute(end, "inRing")).isEqualTo("40964096");
            assertThat(total(end, "STALLS") + total(end, "GROWTHS")).isZero();
        }
        assertThat(total(mine, "TX_RING_BYTES")).isPositive().isEqualTo(total(theirs, "RX_RING_BYTES"));
        assertThat(total(mine, "TX_TCP_BYTES")).isEqualTo(total(theirs, "RX_TCP_BYTES"));
        assertThat(total(mine, "TX_RING_BYTES") + total(mine, "TX_TCP_BYTES")).isEqualTo(300L * MESSAGE);
        assertThat(total(theirs, "TX_RING_BYTES") + total(theirs, "TX_TCP_BYTES")).isEqualTo(300L * MESSAGE);
        // the rule, its counter, the listener
        JsonNode rule = one(picture, "RULE");
        assertThat(attribute(rule, "text")).isEqualTo("use stream tcp_server *:* counter mine");
        assertThat(total(rule, "SOCKETS")).isEqualTo(1);
        assertThat(attribute(theirs, "rule")).isEqualTo(rule.get("id").asText());
        assertThat(attribute(one(picture, "RULE_COUNTER"), "name")).isEqualTo("mine");
        assertThat(total(one(picture, "RULE_COUNTER"), "SOCKETS")).isEqualTo(1);
        assertThat(one(picture, "LISTENER").get("state").asText()).isEqualTo("LISTEN");
        assertThat(attribute(one(picture, "LISTENER"), "local")).isEqualTo("127.0.0.1:" + port);
        assertThat(total(one(picture, "LISTENER"), "ACCEPTED")).isEqualTo(1);
        // monitor sees a counter of it
        JsonNode monitored = JSON.readTree(text("monitor", String.valueOf(client.pid()), mine.get("object").asText(),
                "tx-bytes", "-n", "1", "-i", "10ms", "--json"));
        assertThat(monitored.get("total").asLong()).isEqualTo(300L * MESSAGE);
        client.end();
        server.end();
    }

    /** The end that has the property measures, for each message that a ring carries there, how long its echo takes. */
    @Test
    void responseTimesAreCountedWhereTheyAreSwitchedOn() throws Exception {
        TalkProcess server = start("", "serve", "1");
        TalkProcess client = start("latency=on", "hold", server.line(), "300", "1");
        assertThat(client.line()).isEqualTo("0");
        JsonNode mine = one(look(client), "CONNECTION");
        JsonNode times = mine.get("response_ns");
        assertThat(times.get("count").asLong()).as("%s", mine).isPositive().isLessThanOrEqualTo(
                (total(mine, "TX_RING_BYTES") + MESSAGE - 1) / MESSAGE);
        assertThat(text("stat", String.valueOf(client.pid()), "--view", "full", "--once")).containsPattern(
                times.get("count").asText() + " responses: p50 [<>] [0-9.]+ [num]?s").containsPattern(
                        "responses_[0-9]+[num]?s +[0-9]+ +#+");
        JsonNode theirs = one(look(server), "CONNECTION");
        assertThat(theirs.get("response_ns").isNull()).as("%s", theirs).isTrue();
        assertThat(theirs.get("totals").has("CONNECTION_RESPONSES_256NS")).isFalse();
        client.end();
        server.end();
    }

    /** Of 20,000 waits for an answer some are so short that the next one polls. */
    @Test
    void pollsOfWaitingThreadsAreCounted() throws Exception {
        TalkProcess server = start("", "serve", "1");
        TalkProcess client = start("", "hold", server.line(), "20000", "0");
        assertThat(client.line()).isEqualTo("0");
        JsonNode sockets = one(look(client), "SOCKETS");
        assertThat(total(sockets, "POLLS_FOUND") + total(sockets, "POLLS_IN_VAIN")).as("%s", sockets).isPositive();
        assertThat(total(sockets, "POLL_NANOS")).as("%s", sockets).isPositive();
        assertThat(text("stat", String.valueOf(client.pid()), "--view", "netstat", "--once")).contains("process "
                + client.pid()
                + ": before they slept, waits polled memory ");
        client.end();
        server.end();
    }

    @Test
    void connectionLeftByThePeerIsOpenUntilClosed() throws Exception {
        TalkProcess server = start("", "crowded", "2");
        String port = server.line();
        start("", "talk", port, "0", "0").end();
        TalkProcess client = start("", "hold", port, "0", "0");
        assertThat(server.line()).isEqualTo("2");
        client.end();
        JsonNode all = one(until(server, p -> of(p, "SOCKETS").stream().anyMatch(o -> total(o, "OPENED") == 2)),
                "SOCKETS");
        assertThat(attribute(all, "open")).isEqualTo("2"); // the program has closed neither
        assertThat(attribute(all, "listening")).isEqualTo("1");
    }

    @Test
    void stoppedReaderLeavesAFullRing() throws Exception {
        String small = "stream.ring=" + FIRST_RING; // a writer that repeatedly finds no room gets a larger ring otherwise
        TalkProcess server = start(small, "sink", "300");
        TalkProcess client = start(small, "fill", server.line(), "300", "5");
        int filled = Integer.parseInt(client.line()); // bytes that were read of the last quarter are not reported
        assertThat(filled).isBetween(FIRST_RING * 3 / 4 + 1, FIRST_RING);
        JsonNode writer = one(look(client), "CONNECTION");
        assertThat(attribute(writer, "outOccupied")).isEqualTo(String.valueOf(FIRST_RING));
        assertThat(attribute(writer, "outRing")).isEqualTo(String.valueOf(FIRST_RING));
        assertThat(total(writer, "STALLS")).isGreaterThanOrEqualTo(50);
        assertThat(total(writer, "TX_RING_BYTES") + total(writer, "TX_TCP_BYTES")).isEqualTo(300L * MESSAGE + filled);
        JsonNode reader = one(look(server), "CONNECTION");
        assertThat(attribute(reader, "inOccupied")).isEqualTo(String.valueOf(filled));
        assertThat(total(reader, "RX_RING_BYTES") + total(reader, "RX_TCP_BYTES")).isEqualTo(300L * MESSAGE);
        String queue = text("stat", "--view", "queue", "--once");
        assertThat(queue.lines().filter(l -> l.contains("4096/4096") || l.contains(filled + "/4096"))).hasSize(2);
        assertThat(text("stat", "--view", "netstat", "--once").lines().filter(l -> l.matches("ring +" + filled
                + " +\\d+ .*") || l.matches("ring +0 +4096 .*"))).hasSize(2); // not all bytes that were read are reported to the writer
    }

    @Test
    void plainPeerIsShownAsPlain() throws Exception {
        TalkProcess server = talks.plain("sink", "20"); // keeps its end open
        TalkProcess client = start("stream.patience=100", "half", server.line(), "20", "0");
        assertThat(client.line()).isEqualTo("0");
        JsonNode picture = until(client, p -> of(p, "CONNECTION").stream().anyMatch(c -> !attribute(c, "byTcpFor")
                .isEmpty()));
        JsonNode c = one(picture, "CONNECTION");
        assertThat(attribute(c, "byTcpFor")).isEqualTo("plain_peer");
        assertThat(attribute(c, "inBy") + attribute(c, "outBy")).isEqualTo("tcptcp");
        assertThat(c.get("state").asText()).isEqualTo("OUTPUT_ENDED");
        assertThat(total(c, "TX_TCP_BYTES")).isEqualTo(20L * MESSAGE);
        assertThat(total(c, "RX_TCP_BYTES")).isEqualTo(20L * MESSAGE);
        assertThat(total(one(picture, "SOCKETS"), "BY_TCP_PLAIN_PEER")).isEqualTo(1);
        assertThat(picture.get("connections").toString()).isEqualTo("{\"ring\":0,\"tcp\":1,\"undecided\":0}");
        assertThat(text("stat", "--view", "sockets", "--once").lines().filter(l -> l.matches(" *" + client.pid()
                + "  127\\.0\\.0\\.1:\\d+ +127\\.0\\.0\\.1:\\d+ +tcp plain_peer +20000 +20000 .*"))).hasSize(1);
        assertThat(text("stat", "--view", "netstat", "--once")).containsPattern(
                "\ntcp +- +- +127\\.0\\.0\\.1:\\d+ +127\\.0\\.0\\.1:\\d+ +OUTPUT_ENDED +plain_peer +" + client.pid());
        assertThat(text("stat", "--view", "basic", "--once")).contains("1 by TCP: plain_peer");
        client.end();
    }

    @Test
    void connectionWaitingForItsPeerIsConnecting() throws Exception {
        try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            List<Socket> queued = new ArrayList<>();
            try {
                for (int i = 0; i < 2; i++) { // as many as a queue of 1 takes
                    queued.add(new Socket(InetAddress.getLoopbackAddress(), full.getLocalPort()));
                }
                TalkProcess client = start("", "pending", String.valueOf(full.getLocalPort()));
                assertThat(client.line()).isEqualTo("false");
                String remote = "127.0.0.1:" + full.getLocalPort();
                JsonNode c = one(until(client, p -> of(p, "CONNECTION").stream()
                        .anyMatch(o -> attribute(o, "remote").equals(remote))), "CONNECTION");
                assertThat(c.get("state").asText()).isEqualTo("CONNECTING");
            } finally {
                for (Socket s : queued) {
                    s.close();
                }
            }
        }
    }

    @Test
    void manySocketsAreShownAndOverflowIsCounted() throws Exception {
        int connections = 2000;
        TalkProcess server = start("", "crowded", String.valueOf(connections));
        TalkProcess client = start("counters.sockets=100", "crowd", server.line(), String.valueOf(connections));
        assertThat(client.line()).isEqualTo(String.valueOf(connections));
        assertThat(server.line()).isEqualTo(String.valueOf(connections));
        JsonNode shown = until(server, p -> of(p, "CONNECTION").stream().filter(c -> attribute(c, "outBy").equals(
                "ring")).count() == connections);
        assertThat(of(shown, "CONNECTION")).hasSize(connections);
        assertThat(of(shown, "CONNECTION").stream().map(c -> attribute(c, "remote")).distinct()).hasSize(connections);
        assertThat(total(one(shown, "SOCKETS"), "HANDSHAKES")).isEqualTo(connections);
        assertThat(attribute(one(shown, "SOCKETS"), "notShown")).isEqualTo("0");
        JsonNode cut = look(client);
        assertThat(of(cut, "CONNECTION")).hasSize(100);
        assertThat(attribute(one(cut, "SOCKETS"), "notShown")).isEqualTo(String.valueOf(connections - 100));
        assertThat(attribute(one(cut, "SOCKETS"), "open")).isEqualTo(String.valueOf(connections));
        assertThat(text("stat", "--view", "basic", "--once"))
                .contains("process " + client.pid() + ": " + (connections - 100) + " of its sockets are not shown");
    }

    /** All objects, unless a line says that the process has not answered. */
    @Test
    void firstSampleHasAllOfManySockets() throws Exception {
        int connections = 2500;
        TalkProcess server = start("", "crowded", String.valueOf(connections));
        String port = server.line();
        TalkProcess client = start("", "crowd", port, String.valueOf(connections));
        assertThat(client.line()).isEqualTo(String.valueOf(connections));
        assertThat(server.line()).isEqualTo(String.valueOf(connections));
        String lines = "does not answer";
        for (long end = System.nanoTime() + LONGEST_NANOS; lines.contains("does not answer") && System.nanoTime()
                - end < 0;) {
            lines = text("stat", String.valueOf(client.pid()), "--view", "netstat", "--once");
        }
        assertThat(lines.lines().filter(l -> l.contains(" 127.0.0.1:" + port + " ")).map(l -> l.split(" +", -1)[3])
                .distinct().count()).isEqualTo(connections);
        assertThat(lines).doesNotContain("not shown");
    }

    @Test
    void omissionsOfNetstatAreShown() throws Exception {
        TalkProcess server = start("counters.sockets=3", "crowded", "5");
        TalkProcess client = start("", "crowd", server.line(), "5");
        assertThat(client.line()).isEqualTo("5");
        assertThat(server.line()).isEqualTo("5");
        look(server);
        String lines = text("stat", String.valueOf(server.pid()), "--view", "netstat", "--once");
        assertThat(lines.lines().filter(l -> l.contains(" " + server.pid() + " ") && l.contains("127.0.0.1:")))
                .hasSize(3);
        assertThat(lines).contains("process " + server.pid() + ": 3 of its sockets are not shown");
    }

    @Test
    void closedSocketDisappears() throws Exception {
        TalkProcess server = start("", "serve", "2"); // waits for another one when the first is gone
        String port = server.line();
        TalkProcess client = start("", "hold", port, "3", "0");
        assertThat(client.line()).isEqualTo("0");
        String address = attribute(one(look(client), "CONNECTION"), "local");
        until(server, p -> !of(p, "CONNECTION").isEmpty());
        assertThat(text("stat", "--view", "netstat", "--once").lines().filter(l -> l.contains(address))).hasSize(2);
        client.end();
        until(server, p -> of(p, "CONNECTION").isEmpty());
        String after = text("stat", "--view", "netstat", "--once");
        assertThat(after).doesNotContain(address).contains(" 127.0.0.1:" + port + " ");
    }

    @Test
    void ipv6AddressesAreCanonical() throws Exception {
        if (!Files.exists(Path.of("/proc/net/if_inet6"))) {
            System.out.println("SKIPPED: StatSocketsTest.ipv6AddressesAreCanonical, this kernel has no IPv6");
            return;
        }
        List<String> ipv6 = List.of("-Djava.net.preferIPv6Addresses=true", "-javaagent:" + talk.agent()
                + "=quiet,stream.earn=0,counters.directory=" + talks.folder());
        TalkProcess server = talks.start(ipv6, "serve", "1");
        String port = server.line();
        TalkProcess client = talks.start(ipv6, "hold", port, "1", "0");
        assertThat(client.line()).isEqualTo("0");
        JsonNode c = one(look(client), "CONNECTION");
        assertThat(attribute(c, "remote")).isEqualTo("[::1]:" + port);
        assertThat(attribute(c, "local")).matches("\\[::1]:\\d+");
        until(server, p -> !of(p, "CONNECTION").isEmpty());
        assertThat(text("stat", "--view", "netstat", "--once")).containsPattern("\\[::1]:" + port
                + " +\\[::1]:\\d+ ").containsPattern("\\[::1]:\\d+ +\\[::1]:" + port + " ");
    }

    @Test
    void killedProcessDisappears() throws Exception {
        TalkProcess server = start("", "crowded", "2");
        String port = server.line();
        TalkProcess client = start("", "hold", port, "0", "0");
        assertThat(client.line()).isEqualTo("0");
        until(client, p -> of(p, "CONNECTION").stream().anyMatch(c -> attribute(c, "outBy").equals("ring")));
        client.kill();
        TalkProcess next = start("", "hold", port, "0", "0");
        assertThat(next.line()).isEqualTo("0");
        until(next, p -> !of(p, "CONNECTION").isEmpty());
        String all = text("stat", "--view", "netstat", "--once");
        assertThat(all).contains(" " + next.pid() + " ").doesNotContain(" " + client.pid() + " ");
        assertThat(run("stat", String.valueOf(client.pid()), "--view", "basic", "--once").code()).isEqualTo(1);
        assertThat(attribute(one(look(server), "SOCKETS"), "open")).isEqualTo("2");
    }

    @Test
    void nothingIsShownWithCountersOff() throws Exception {
        TalkProcess server = start("counters=off,rules=use os tcp_server *:*", "crowded", "1");
        server.line();
        assertThat(run("stat", String.valueOf(server.pid()), "--view", "basic", "--once").code()).isEqualTo(1);
    }

    @Test
    void invalidViewsAreRefused() throws Exception {
        assertThat(run("stat", "--view", "basic,full").err()).contains("--view takes one of totals and rates");
        assertThat(run("stat", "--view", "totals,rates").code()).isEqualTo(2);
        assertThat(run("stat", "--view", "netstat", "--type", "qp").err()).contains("--view netstat shows sockets");
        assertThat(run("stat", "--view", "basic", "--sort", "nothing", "--once").err()).contains("rx-ring");
    }

    @Test
    void samplingAllocatesNothingInTheProcess() throws Exception {
        try (Child peer = Child.of(SampledPeer.class).option("-XX:TieredStopAtLevel=4").start()) {
            assertThat(Long.parseLong(peer.await("GARBAGE"))).as("bytes").isLessThan(SampledPeer.MESSAGES / 10);
        }
    }

    @Test
    void ratesCoverTheTimeBetweenTwoSamples() throws Exception {
        TalkProcess server = start("", "serve", "1");
        TalkProcess client = start("", "talk", server.line(), "100000", "1");
        until(client, p -> of(p, "CONNECTION").stream().anyMatch(c -> attribute(c, "outBy").equals("ring")));
        try (CommandProcess stat = command("stat", String.valueOf(client.pid()), "--view", "basic,rates", "-i",
                "500ms", "--json")) {
            JsonNode before = JSON.readTree(stat.line());
            JsonNode last = JSON.readTree(stat.line());
            while (!isKnown(before) || rate(last) == 0) { // one of the two programs was not scheduled meanwhile
                before = isKnown(last) ? last : before;
                last = JSON.readTree(stat.line());
            }
            long sent = total(one(last, "CONNECTION"), "TX_RING_BYTES") - total(one(before, "CONNECTION"),
                    "TX_RING_BYTES");
            assertThat(Math.round(rate(last) * last.get("seconds").asDouble() / MESSAGE)).isEqualTo(sent / MESSAGE);
        }
    }

    /** True unless the process has not answered. */
    private static boolean isKnown(JsonNode picture) {
        return !one(picture, "CONNECTION").get("rates").isNull();
    }

    private static double rate(JsonNode picture) {
        return one(picture, "CONNECTION").get("rates").path("CONNECTION_TX_RING_BYTES").asDouble();
    }
}
