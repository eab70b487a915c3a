// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.UdpSocket;
import org.verbena.testkit.Thorough;
import org.verbena.tests.NetworkLane;

/** The command on {@code roce_<netdev>} from the command line. */
@NetworkLane
class RoceCommandTest {
    private static final int ROCE_PORT = 4791;
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final PerfListener LISTENER = new PerfListener();
    /** Of each row, between spaces. */
    private static final String SHORT = Thorough.ON
            ? " --duration=20ms --warm-up=5ms "
            : " --duration=2ms --warm-up=2ms ";

    private static JsonNode json(CommandProcess.Result r) throws IOException {
        assertThat(r.code()).as(r.err()).isZero();
        assertThat(r.err()).isEmpty();
        return JSON.readTree(r.out());
    }

    private static JsonNode run(String arguments) throws IOException {
        try (CommandProcess p = CommandProcess.start(arguments.split(" "))) {
            return json(p.end());
        }
    }

    /** In the network namespace of all tests, and against the listener that stays there. */
    private static CommandProcess.Result perf(String arguments) throws IOException {
        List<String> words = new ArrayList<>(List.of(arguments.split(" ")));
        words.addFirst("perf");
        words.addAll(LISTENER.option());
        return CommandProcess.runHosted(words.toArray(String[]::new));
    }

    private static void moved(JsonNode rows, String device, int count) {
        assertThat(rows).hasSize(count);
        for (JsonNode row : rows) {
            assertThat(row.get("device").asText()).isEqualTo(device);
            assertThat(row.get("iterations").asLong()).as(row.toString()).isPositive();
        }
    }

    @Test
    void roceDevicesAreListedAfterShm0() throws IOException {
        List<String> names = new ArrayList<>();
        JsonNode loopback = null;
        for (JsonNode d : json(CommandProcess.runHosted("devices", "--json"))) {
            names.add(d.get("hca_id").asText());
            loopback = d.get("hca_id").asText().equals("roce_lo") ? d : loopback;
        }
        assertThat(names).startsWith("shm0").contains("roce_lo");
        assertThat(loopback).isNotNull();
        JsonNode port = loopback.get("ports").get(0);
        assertThat(port.get("active_mtu").asInt()).isEqualTo(4096);
        assertThat(port.get("gids").get(0).asText()).startsWith("::ffff:");
    }

    /** Contents are compared at both ends. */
    @Test
    void everyVerbsTestRunsBetweenTwoProcesses() throws IOException {
        moved(run(
                "perf --json --device=roce_lo --verify" + SHORT + "--size=8,5000,65536 write-lat"
                        + " write-imm-lat send-lat read-lat write-bw send-bw read-bw"), "roce_lo", 21);
        moved(json(perf("--json --device=roce_lo" + SHORT + "--size=8 --events write-imm-lat send-lat"
                + " read-lat atomic-lat")), "roce_lo", 4);
    }

    /** A datagram takes up to 65507 bytes: there is no row for more. */
    @Test
    void perfComparesWithUdp() throws IOException {
        String arguments = "--device=roce_lo --duration=20ms --warm-up=5ms --size=8,1m write-lat udp-lat-spin";
        List<String> rows = new ArrayList<>();
        for (JsonNode row : json(perf(arguments + " --json"))) {
            rows.add(row.get("test").asText() + " " + row.get("size") + " " + row.get("device").asText());
            assertThat(row.get("rtt_ns").get("p50").asLong()).isPositive();
        }
        assertThat(rows).containsExactlyInAnyOrder("write-lat 8 roce_lo", "write-lat 1048576 roce_lo",
                "udp-lat-spin 8 udp");
        assertThat(perf(arguments).out()).contains("vs udp", "multiple of the round trip of udp-lat-spin");
        CommandProcess.Result r = CommandProcess.runHosted("perf", "udp-lat-spin", "--size=1m");
        assertThat(r.code()).isEqualTo(1);
        assertThat(r.err()).contains("a datagram has 65507 bytes at most");
    }

    @ParameterizedTest
    @ValueSource(strings = {"write-lat", "write-bw"})
    void killedListenerIsNoticed(String test) throws Exception {
        try (CommandProcess listener = CommandProcess.start("perf", "--listen=0");
                CommandProcess client = CommandProcess.start("perf", "--device=roce_lo", "--connect=" + port(listener),
                        test, "--size=4096", "--duration=100s")) {
            PerfCommandTest.awaitMeasuring(client.process().toHandle());
            listener.process().destroyForcibly();
            CommandProcess.Result r = client.end();
            assertThat(r.code()).isEqualTo(1);
            assertThat(r.err()).startsWith("verbena: " + test + " 4096: ").contains("the peer ended").doesNotContain(
                    "\tat ");
        }
    }

    @Test
    void killedClientIsNoticedAndTheNextIsServed() throws Exception {
        try (CommandProcess listener = CommandProcess.start("perf", "--listen=0")) {
            String port = port(listener);
            try (CommandProcess client = CommandProcess.start("perf", "--device=roce_lo", "--connect=" + port,
                    "write-lat", "--size=8", "--duration=100s")) {
                PerfCommandTest.awaitMeasuring(client.process().toHandle());
                client.process().destroyForcibly();
            }
            moved(json(CommandProcess.runHosted("perf", "--json", "--device=roce_lo", "--duration=20ms",
                    "--warm-up=5ms",
                    "--size=8", "--connect=" + port, "write-lat")), "roce_lo", 1);
        }
    }

    static String port(CommandProcess listener) throws IOException {
        String line = listener.line();
        assertThat(line).startsWith("listening at ");
        return line.substring(line.lastIndexOf(':') + 1);
    }

    @Test
    void listenerWithoutTheDeviceIsReported() throws Exception {
        RoceNamespaces.with(() -> CommandProcess.start("perf", "--listen=" + RoceNamespaces.ADDRESS_B + ":0"),
                listener -> {
                    CommandProcess.Result r = CommandProcess.run("perf", "--device=" + RoceNamespaces.DEVICE_A,
                            "--connect=" + RoceNamespaces.ADDRESS_B + ":" + port(listener), "write-lat");
                    assertThat(r.code()).isEqualTo(1);
                    assertThat(r.err()).contains("verbena perf --listen --device NAME", RoceNamespaces.DEVICE_B);
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {RoceNamespaces.ADDRESS_B, "[" + RoceNamespaces.ADDRESS6_B + "]"})
    void perfRunsBetweenTwoNetworkNamespaces(String host) throws Exception {
        RoceNamespaces.with(() -> CommandProcess.start("perf", "--listen=" + host + ":0", "--device="
                + RoceNamespaces.DEVICE_B), listener -> {
                    String connect = " --connect=" + host + ":" + port(listener);
                    moved(run("perf --json --verify" + SHORT + "--size=8,65536 --device="
                            + RoceNamespaces.DEVICE_A + connect + " write-lat send-lat write-bw read-bw"),
                            RoceNamespaces.DEVICE_A, 8);
                });
    }

    /**
     * The streams of the two ends open the device, and keep it; the listener, which had it open for verbs, has closed
     * it.
     */
    @Test
    void remoteMemoryWorksBetweenTwoNetworkNamespaces() throws Exception {
        String host = "[" + RoceNamespaces.ADDRESS6_B + "]";
        RoceNamespaces.with(() -> CommandProcess.start("perf", "--listen=" + host + ":0", "--device="
                + RoceNamespaces.DEVICE_B), listener -> {
                    String connect = " --connect=" + host + ":" + port(listener) + " --device="
                            + RoceNamespaces.DEVICE_A;
                    String perf = "perf --json --verify" + SHORT + "--size=8,65536" + connect;
                    moved(run(perf + " write-lat"), RoceNamespaces.DEVICE_A, 2);
                    JsonNode rows = run(perf + " erm-lat erm-bw");
                    moved(rows, RoceNamespaces.DEVICE_A, 4);
                    assertThat(rows.get(0).get("transport").asText()).isEqualTo("stream");
                    try (CommandProcess p = CommandProcess.start((perf + " write-lat").split(" "))) {
                        CommandProcess.Result r = p.end();
                        assertThat(r.code()).isEqualTo(1);
                        assertThat(r.err()).contains("the peer says: the streams of this process have "
                                + RoceNamespaces.DEVICE_B);
                    }
                });
    }

    @Test
    void takenPortIsReported() throws Exception {
        RoceNamespaces.with(() -> CommandProcess.start("perf", "--listen=" + RoceNamespaces.ADDRESS_B + ":0"),
                listener -> {
                    try (UdpSocket _ = UdpSocket.bind(InetAddress.ofLiteral("0.0.0.0"), 0, ROCE_PORT)) {
                        taken(json(CommandProcess.run("devices", "--json")));
                        CommandProcess.Result perf = CommandProcess.run("perf", "--device=" + RoceNamespaces.DEVICE_A,
                                "--connect=" + RoceNamespaces.ADDRESS_B + ":" + port(listener), "write-lat");
                        assertThat(perf.code()).isEqualTo(1);
                        assertThat(perf.err()).contains("EADDRINUSE", "rdma_rxe").doesNotContain("\tat ");
                        CommandProcess.Result doctor = CommandProcess.run("doctor", "--json");
                        assertThat(doctor.code()).as(doctor.err()).isZero();
                        for (JsonNode line : JSON.readTree(doctor.out())) {
                            if (line.get("check").asText().equals("roce")) {
                                assertThat(line.get("verdict").asText()).isEqualTo("no");
                                assertThat(line.get("remedy").asText()).contains("ss -aulpn", "rdma link del");
                            }
                        }
                    }
                });
    }

    private static void taken(JsonNode devices) {
        List<String> names = new ArrayList<>();
        for (JsonNode d : devices) {
            names.add(d.get("hca_id").asText());
            if (d.get("provider").asText().equals("roce")) {
                assertThat(d.get("not_opened").asText()).contains("EADDRINUSE", "UDP port 4791", "rdma_rxe");
            }
        }
        assertThat(names).startsWith("shm0").contains("roce_lo", RoceNamespaces.DEVICE_A);
    }
}
