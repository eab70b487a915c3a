// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.testkit.Jvm;
import org.verbena.testkit.Thorough;
import org.verbena.tests.NetworkLane;
import org.verbena.tests.cli.RoceNamespaces;

/** Programs that know nothing of Verbena, with the agent, in two network namespaces: connections by RoCE, and by TCP. */
@NetworkLane
@Timeout(300)
class RemoteStreamTest {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final long PIECE = 1 << 20;
    private static final String HASH_BYTES = "32";
    private static final String SERVER = "rules=use stream tcp_server *:* device " + RoceNamespaces.DEVICE_B;
    private static final String CLIENT = "rules=use stream tcp_client *:* device " + RoceNamespaces.DEVICE_A;
    /** Each byte is carried by the transport that the ends agree on. */
    private static final String WAITS = ",stream.delay=0,stream.wait=60000";
    private static final String PATIENT = ",stream.patience=60000" + WAITS;
    private static final String IMPATIENT = ",stream.patience=1000" + WAITS;

    @TempDir static Path dir;
    private static TalkProcess.Program talk;

    @BeforeAll
    static void prepare() throws Exception {
        talk = new TalkProcess.Program(dir, "RemoteTalk");
    }

    private static JsonNode summary(String file) throws IOException {
        return MAPPER.readTree(Files.readString(dir.resolve(file)));
    }

    private static String to(String file) {
        return ",summary=" + dir.resolve(file);
    }

    private static TalkProcess send(String arguments, String port, int pieces, int connections) throws IOException {
        return send(arguments, RoceNamespaces.ADDRESS_B, port, pieces, connections);
    }

    private static TalkProcess send(String arguments, String host, String port, int pieces, int connections)
            throws IOException {
        return talk.start(arguments, "send", host, port, "" + pieces, "" + connections);
    }

    private static void allArrives(TalkProcess server, TalkProcess client, int connections, long pieces)
            throws Exception {
        for (int i = 0; i < connections; i++) {
            assertThat(client.line()).isEqualTo("begun");
            assertThat(server.line()).isEqualTo("begun");
            assertThat(client.line()).isEqualTo("same");
            assertThat(server.line()).isEqualTo("whole " + pieces * PIECE);
        }
        client.end();
        server.end();
    }

    private static void carried(JsonNode summary, int byRing, String fallbacks, String sent, String received) {
        assertThat(summary.get("connections").get("stream").intValue()).as(summary.toString()).isEqualTo(byRing);
        assertThat(summary.get("fallbacks").toString()).isEqualTo(fallbacks);
        String carrier = byRing > 0 ? "ring" : "tcp";
        String other = byRing > 0 ? "tcp" : "ring";
        JsonNode bytes = summary.get("bytes");
        assertThat(bytes.get("sent_by_" + carrier).asText()).isEqualTo(sent);
        assertThat(bytes.get("received_by_" + carrier).asText()).isEqualTo(received);
        assertThat(bytes.get("sent_by_" + other).asText()).isEqualTo("0");
        assertThat(bytes.get("received_by_" + other).asText()).isEqualTo("0");
    }

    @Test
    void ringsCarryAllBytesIfBothEndsHaveTheRule() throws Exception {
        RoceNamespaces.with(() -> talk.start(SERVER + PATIENT + to("server"), "serve", "3"), server -> {
            TalkProcess client = send(CLIENT + PATIENT + to("client"), server.line(), 16, 3);
            allArrives(server, client, 3, 16);
        });
        carried(summary("client"), 3, "{}", "" + 48 * PIECE, "96");
        carried(summary("server"), 3, "{}", "96", "" + 48 * PIECE);
    }

    /** Sessions belong to addresses: the same two processes have one for each pair. */
    @Test
    void connectionsOverIpv4AndIpv6UseRingsSimultaneously() throws Exception {
        RoceNamespaces.with(() -> talk.start(SERVER + PATIENT + to("both-server"), "serve", "2"), server -> {
            String port = server.line();
            TalkProcess client = talk.start(CLIENT + PATIENT + to("both-client"), "send", RoceNamespaces.ADDRESS_B
                    + "," + RoceNamespaces.ADDRESS6_B, port, "4", "2");
            allArrives(server, client, 2, 4);
        });
        carried(summary("both-client"), 2, "{}", "" + 8 * PIECE, "64");
        carried(summary("both-server"), 2, "{}", "64", "" + 8 * PIECE);
    }

    /** The first connection waits for its timeout, the others start no handshake. */
    @Test
    void peerWithoutVerbenaIsReachedByTcp() throws Exception {
        RoceNamespaces.with(() -> talk.start(List.of(), "serve", "2"), server -> {
            TalkProcess client = send(CLIENT + IMPATIENT + to("plain"), server.line(), 2, 2);
            allArrives(server, client, 2, 2);
        });
        carried(summary("plain"), 0, "{\"plain_peer\":2}", "" + 4 * PIECE, "64");
    }

    @Test
    void peerWithoutTheRuleIsReachedByTcp() throws Exception {
        RoceNamespaces.with(() -> talk.start("stream.patience=1000" + WAITS + to("unruled"), "serve", "1"),
                server -> {
                    TalkProcess client = send(CLIENT + IMPATIENT + to("ruled"), RoceNamespaces.ADDRESS6_B, server
                            .line(), 2, 1);
                    allArrives(server, client, 1, 2);
                });
        carried(summary("ruled"), 0, "{\"plain_peer\":1}", "" + 2 * PIECE, HASH_BYTES);
        carried(summary("unruled"), 0, "{\"remote_peer\":1}", HASH_BYTES, "" + 2 * PIECE);
    }

    @Test
    void serverUsesTcpForClientsWithoutTheRule() throws Exception {
        RoceNamespaces.with(() -> talk.start(SERVER + IMPATIENT + to("waiting"), "serve", "1"), server -> {
            TalkProcess client = send("stream.patience=1000" + WAITS + to("silent"), server.line(), 2, 1);
            allArrives(server, client, 1, 2);
        });
        carried(summary("waiting"), 0, "{\"plain_peer\":1}", HASH_BYTES, "" + 2 * PIECE);
        carried(summary("silent"), 0, "{\"remote_peer\":1}", "" + 2 * PIECE, HASH_BYTES);
    }

    @Test
    void killedServerIsNoticed() throws Exception {
        RoceNamespaces.with(() -> talk.start(SERVER + PATIENT, "serve", "1"), server -> {
            TalkProcess client = send(CLIENT + PATIENT + to("left"), RoceNamespaces.ADDRESS6_B, server.line(), 0, 1);
            assertThat(client.line()).isEqualTo("begun");
            assertThat(server.line()).isEqualTo("begun");
            server.kill();
            assertThat(client.line()).startsWith("broken ");
            client.end();
        });
        assertThat(summary("left").get("connections").get("stream").intValue()).isOne();
    }

    /**
     * Like with TCP: bytes that have arrived are read, then the end or a reset. By default {@code EndingsTest} kills clients on
     * another host.
     */
    @Thorough
    @Test
    void killedClientIsNoticed() throws Exception {
        RoceNamespaces.with(() -> talk.start(SERVER + PATIENT + to("stays"), "serve", "1"), server -> {
            TalkProcess client = send(CLIENT + PATIENT, server.line(), 0, 1);
            assertThat(client.line()).isEqualTo("begun");
            assertThat(server.line()).isEqualTo("begun");
            client.kill();
            assertThat(server.line()).matches("broken .*|whole \\d+");
            server.end();
        });
        assertThat(summary("stays").get("connections").get("stream").intValue()).isOne();
    }

    @Test
    void missingDeviceIsRefused() throws Exception {
        AgentRun r = AgentRun.of(List.of(Jvm.JAVA, "-javaagent:" + talk.agent()
                + "=rules=use stream tcp_server *:* device roce_nosuch0", "-cp", talk.classes().toString(),
                "RemoteTalk",
                "serve", "1"), dir);
        assertThat(r.code()).isEqualTo(1);
        assertThat(r.err()).startsWith("verbena: verbena.rules, line 1: there is no device 'roce_nosuch0'");
        assertThat(r.err().lines()).hasSize(1);
    }
}
