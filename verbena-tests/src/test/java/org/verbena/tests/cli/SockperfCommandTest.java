// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Netlink;
import org.verbena.linux.NetworkLinks;
import org.verbena.linux.NetworkNamespace;
import org.verbena.testkit.Await;
import org.verbena.testkit.Capabilities;
import org.verbena.tests.NetworkLane;

/** {@code verbena sockperf} with Mellanox's sockperf as the other end, in a network namespace, where all ports are free. */
@NetworkLane
class SockperfCommandTest {
    private static final String PROGRAM = "sockperf";
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Pattern LATENCY = Pattern.compile("Summary: Latency is +([0-9.]+) usec");
    private static final Pattern COUNTS = Pattern.compile(
            "# dropped messages = ([0-9]+); # duplicated messages = 0; # out-of-order messages = ([0-9]+)");

    @TempDir static Path folder;

    @BeforeAll
    static void prepare() {
        Capabilities.requireProgram(PROGRAM, PROGRAM);
        CommandProcess.prepare();
    }

    private static void inNamespace(Callable<Void> action) throws Exception {
        Capabilities.require("make a network namespace", Capabilities.NET_ADMIN, Capabilities.SYS_ADMIN);
        NetworkNamespace.callInNew(() -> {
            try (Netlink n = Netlink.open(Netlink.NETLINK_ROUTE)) {
                NetworkLinks.setUp(n, NetworkLinks.index(n, "lo"));
            }
            return action.call();
        });
    }

    /** A process of the original. */
    private static Process original(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(PROGRAM));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(folder.resolve("original").toFile())
                .start();
    }

    /** Runs a client of the original; what it prints. */
    private static String client(String... arguments) throws Exception {
        Process p = original(arguments);
        assertThat(p.waitFor(2, TimeUnit.MINUTES)).isTrue();
        String said = Files.readString(folder.resolve("original")).replaceAll("\033\\[[0-9;]*m", "");
        assertThat(p.exitValue()).as(said).isZero();
        return said;
    }

    private static double latency(String said) {
        Matcher m = LATENCY.matcher(said);
        assertThat(m.find()).as(said).isTrue();
        return Double.parseDouble(m.group(1));
    }

    /** Of the original's server, in /proc/net: UDP and TCP. */
    private static void awaitBound(long pid, String table, int port) throws Exception {
        Path sockets = Path.of("/proc/" + pid + "/net/" + table);
        String wanted = String.format(":%04X ", port);
        Await.until("port " + port + " is bound", () -> Files.readString(sockets).contains(wanted));
    }

    private static CommandProcess server(String... arguments) throws Exception {
        List<String> words = new ArrayList<>(List.of(PROGRAM, "server"));
        words.addAll(List.of(arguments));
        CommandProcess p = CommandProcess.start(words.toArray(String[]::new));
        assertThat(p.line()).isEqualTo("sockperf: [SERVER] listen on:");
        return p;
    }

    private static String stopped(CommandProcess p) throws Exception {
        p.process().toHandle().destroy(); // Process.destroy would close what it prints
        CommandProcess.Result r = p.end();
        assertThat(r.code()).as(r.err()).isIn(130, 143);
        return r.out();
    }

    @Test
    void clientsOfTheOriginalAreAnswered() throws Exception {
        Path file = Files.write(folder.resolve("both"), List.of("U:127.0.0.1:5001", "T:127.0.0.1:5002"));
        inNamespace(() -> {
            try (CommandProcess server = server("--file", file.toString(), "--gap-detection")) {
                assertThat(server.line()).contains("PORT =  5001 # UDP");
                assertThat(server.line()).contains("PORT =  5002 # TCP");
                assertThat(latency(client("ping-pong", "-i", "127.0.0.1", "-p", "5001", "-m", "1000", "-r", "900", "-t",
                        "1",
                        "--data-integrity"))).isPositive();
                assertThat(latency(client("ping-pong", "-i", "127.0.0.1", "-p", "5002", "--tcp", "-m", "5000", "-b",
                        "3", "-t", "1")
                        .replace("Latency of burst of 3 messages", "Latency"))).isPositive();
                String load = client("under-load", "-i", "127.0.0.1", "-p", "5002", "--tcp", "--mps", "5000",
                        "--reply-every", "5",
                        "-t", "1");
                Matcher counts = COUNTS.matcher(load);
                assertThat(counts.find()).as(load).isTrue();
                assertThat(counts.group(1)).isEqualTo("0");
                assertThat(client("throughput", "-i", "127.0.0.1", "-p", "5002", "--tcp", "-m", "1000", "-t", "1"))
                        .contains(
                                "Summary: Message Rate is ");
                assertThat(stopped(server)).containsPattern(
                        "Total [1-9][0-9]+ messages received and handled, [1-9][0-9]+ answered")
                        .contains("0 gaps with 0 messages");
            }
            return null;
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"udp", "tcp"})
    void serversOfTheOriginalAnswer(String protocol) throws Exception {
        boolean tcp = protocol.equals("tcp");
        Path log = folder.resolve("log-" + protocol);
        Path percentiles = folder.resolve("hgrm-" + protocol);
        inNamespace(() -> {
            List<String> words = new ArrayList<>(List.of("server", "-i", "127.0.0.1", "-p", "5003"));
            if (tcp) {
                words.add("--tcp");
            }
            Process server = original(words.toArray(String[]::new));
            try {
                awaitBound(server.pid(), protocol, 5003);
                words = new ArrayList<>(List.of(PROGRAM, tcp ? "under-load" : "ping-pong", "-i", "127.0.0.1", "-p",
                        "5003", "-m",
                        "200", "--json", "-", "--full-log", log.toString(), "--hgrm", percentiles.toString(),
                        "--full-rtt"));
                words.addAll(tcp
                        ? List.of("--tcp", "--mps", "4000", "--reply-every", "4")
                        : List.of("--number-of-packets", "500", "--data-integrity", "--iomux-type", "e"));
                try (CommandProcess p = CommandProcess.start(words.toArray(String[]::new))) {
                    CommandProcess.Result r = p.end();
                    assertThat(r.code()).as(r.err()).isZero();
                    JsonNode tree = JSON.readTree(r.out());
                    assertThat(tree.at("/protocol").asText()).isEqualTo(protocol);
                    assertThat(tree.at("/servers/0").asText()).isEqualTo("127.0.0.1:5003");
                    assertThat(tree.at("/run/received").asInt()).isPositive();
                    assertThat(tree.at("/valid/received").asInt()).isBetween(450, 1_050);
                    assertThat(tree.at("/valid/dropped").asInt()).isZero();
                    assertThat(tree.at("/round_trip_usec/percentiles/50").asDouble()).isBetween(1.0, 1e5);
                    assertThat(tree.has("intended_round_trip_usec")).isEqualTo(tcp);
                    assertThat(r.err()).contains("Starting test");
                    assertThat(Files.readString(log)).contains("packet, txTime(sec), rxTime(sec), round trip(usec)");
                    assertThat(Files.readAllLines(log).stream().filter(l -> l.matches("[0-9]+, .*"))).hasSize(tree.at(
                            "/valid/received").asInt());
                    assertThat(Files.readString(percentiles)).contains("1/(1-Percentile)");
                }
            } finally {
                server.destroyForcibly().waitFor();
            }
            return null;
        });
    }

    /** A group on loopback, by Verbena at both ends; over IPv6 there is no version 3.7 of the original. */
    @Test
    void groupsAndIpv6() throws Exception {
        Path file = Files.write(folder.resolve("groups"), List.of("U:224.4.4.4:5004", "T:[::1]:5005"));
        inNamespace(() -> {
            assertThat(new ProcessBuilder("ip", "route", "add", "224.0.0.0/4", "dev", "lo").inheritIO().start()
                    .waitFor()).isZero();
            String[] group = {"--mc-rx-if", "127.0.0.1", "--mc-tx-if", "127.0.0.1", "--mc-loopback-enable"};
            List<String> words = new ArrayList<>(List.of("--file", file.toString(), "--force-unicast-reply"));
            words.addAll(List.of(group));
            try (CommandProcess server = server(words.toArray(String[]::new))) {
                server.line();
                server.line();
                List<String> client = new ArrayList<>(List.of(PROGRAM, "ping-pong", "-i", "224.4.4.4", "-p", "5004",
                        "-n", "100"));
                client.addAll(List.of(group));
                assertThat(latency(CommandProcess.run(client.toArray(String[]::new)).out())).isPositive();
                assertThat(latency(CommandProcess.run(PROGRAM, "ping-pong", "-i", InetAddress.ofLiteral("::1")
                        .getHostAddress(), "-p",
                        "5005", "--tcp", "-n", "100", "--histogram", "5:0:50", "--nonblocked").out())).isPositive();
            }
            return null;
        });
    }

    @Test
    void aServerThatDiesIsTold() throws Exception {
        inNamespace(() -> {
            try (CommandProcess server = server("--tcp", "-i", "127.0.0.1", "-p", "5006");
                    CommandProcess client = CommandProcess.start(
                            PROGRAM, "ping-pong", "--tcp", "-p", "5006", "--time", "100")) {
                while (!client.line().contains("Starting test")) {
                    // the next line
                }
                server.process().destroyForcibly().waitFor();
                CommandProcess.Result r = client.end();
                assertThat(r.code()).isEqualTo(1);
                assertThat(r.err()).containsAnyOf("has ended the connection", "reset");
            }
            return null;
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "ping-pong --msg-size 13 | --msg-size 13 is not 14 to 65507 bytes",
        "ping-pong -m 14 -r 1 | --range 1 is not such that",
        "ping-pong -b 0 | --burst 0 is not",
        "ping-pong -t 0 | --time 0 is not",
        "ping-pong -t 1 -n 5 | give one of the two",
        "under-load --mps 0 | --mps 0 is not",
        "under-load --reply-every 0 | --reply-every 0 is not",
        "under-load --mps 10000000 -t 36000000 --reply-every 1 | send fewer",
        "throughput -p 0 | --port 0 is not 1 to 65535",
        "ping-pong -F x | --iomux-type x is none of",
        "ping-pong --histogram 0:1:2 | --histogram 0:1:2 is not",
        "ping-pong --ci_sig_level 100 | --ci_sig_level 100",
        "ping-pong --sender-affinity x | --sender-affinity x is not",
        "ping-pong --receiver-affinity 3-1 | --receiver-affinity 3-1",
        "ping-pong --tos 256 | --tos 256 is not",
        "ping-pong --mc-ttl 300 | --mc-ttl 300 is not",
        "throughput --full-rtt | measures no latency",
        "ping-pong -i no.such.host.invalid | there is no host | 1",
        "playback --data-file /nonexistent | /nonexistent | 1",
        "server --threads-num 2 | --threads-num 2 is not",
        "server -i 192.0.2.1 | is not to be had | 1",
        "server --tcp -F r | waits for one socket | 1",
        "| a mode is needed",
        "ping-ping | 'ping-ping'"})
    void wrongUsageIsTold(String row) {
        String[] two = row.split(" ?\\| ", -1);
        List<String> words = new ArrayList<>(List.of(PROGRAM));
        if (!two[0].isEmpty()) {
            words.addAll(List.of(two[0].split(" ", -1)));
        }
        CommandProcess.Result r = CommandProcess.refuse(words.toArray(String[]::new));
        assertThat(r.code()).as(r.err()).isEqualTo(two.length == 3 ? Integer.parseInt(two[2]) : 2);
        assertThat(r.err()).contains(two[1]);
    }
}
