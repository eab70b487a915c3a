// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.testkit.Thorough;
import org.verbena.tests.PerfLane;

/** {@code verbena ucmatose}, {@code udaddy} and {@code rstream} between two processes. */
@PerfLane
class CmToolCommandTest {
    private static final TwoEnded UDADDY = new TwoEnded("udaddy", "");

    private static TwoEnded tool(String name, String device) {
        return new TwoEnded(name + " --device=" + device, "");
    }

    /** The options of the client of a server. */
    private static String to(CommandProcess server) throws IOException {
        return UDADDY.to(server, "-s");
    }

    /** Each tool on each device, with few and with many messages, short and long ones. */
    @ParameterizedTest
    @CsvSource({"ucmatose,roce_lo,-c 3 -C 2000 -S 100", "ucmatose,roce_lo,-c 2 -C 20 -S 100000",
        "ucmatose,shm0,-c 2 -C 0", "udaddy,roce_lo,-c 3 -C 100 -S 1024",
        "rstream,roce_lo,-I 3 -C 2000 -S 100 -B 4096", "rstream,roce_lo,-C 3 -S 1m -T v",
        "rstream,shm0,-I 5 -C 1 -S 50001 -B 5002"})
    void messagesAreEchoed(String tool, String device, String what) throws IOException {
        run(tool, device, what);
    }

    @Thorough
    @ParameterizedTest
    @CsvSource({"ucmatose,shm0,-c 1 -C 10 -S 100", "ucmatose,roce_lo,-C 3 -S 1", "udaddy,roce_lo,-c 1 -C 10 -S 100",
        "udaddy,roce_lo,-C 5 -S 7", "rstream,shm0,-C 1000 -S 1000"})
    void messagesOfMoreLengthsAreEchoed(String tool, String device, String what) throws IOException {
        run(tool, device, what);
    }

    private static void run(String tool, String device, String what) throws IOException {
        try (CommandProcess server = tool(tool, device).server("-p 0 " + what);
                CommandProcess client = tool(tool, device).client(to(server) + "--json " + what)) {
            CommandProcess.Result c = client.end();
            assertThat(c.code()).as(c.err()).isZero();
            JsonNode said = new ObjectMapper().readTree(c.out());
            assertThat(said.get("role").asText()).isEqualTo("client");
            CommandProcess.Result s = server.end();
            assertThat(s.code()).as(s.err()).isZero();
            assertThat(s.out()).contains(said.get("messages").asInt() + " messages of " + said.get("size").asInt()
                    + " bytes each way in ");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ucmatose", "udaddy", "rstream"})
    void missingServerIsReported(String tool) throws IOException {
        try (CommandProcess client = tool(tool, "roce_lo").client("-s 127.0.0.77 -p 7999 --timeout 3")) {
            CommandProcess.Result r = client.end();
            assertThat(r.code()).isEqualTo(1);
            assertThat(r.err()).startsWith("verbena: ").doesNotContain("Exception");
        }
    }

    @Test
    void disagreeingServersAreReported() throws IOException {
        try (CommandProcess server = tool("ucmatose", "shm0").server("-p 0 -S 100 --timeout 5");
                CommandProcess client = tool("ucmatose", "shm0").client(to(server) + "-S 99 --timeout 5")) {
            assertThat(client.end().code()).isEqualTo(1);
            assertThat(server.end().code()).isEqualTo(1);
        }
    }

    /** Without --device: the first one that has datagram services. */
    @Test
    void datagramsNeedADeviceThatHasThem() throws IOException {
        try (CommandProcess server = UDADDY.server("-p 0")) {
            try (CommandProcess client = UDADDY.client(to(server))) {
                CommandProcess.Result c = client.end();
                assertThat(c.code()).as(c.err()).isZero();
                assertThat(server.end().code()).isZero();
            }
        }
    }

    /** According to docs/pingpong.md only the client determines how often. */
    @ParameterizedTest
    @ValueSource(strings = {"shm0", "roce_lo"})
    void serverFollowsTheLengthOfTheClientStream(String device) throws IOException {
        try (CommandProcess server = tool("rstream", device).server("-p 0");
                CommandProcess client = tool("rstream", device).client(to(server) + "-I 2 -C 1000")) {
            CommandProcess.Result c = client.end();
            CommandProcess.Result s = server.end();
            assertThat(c.code()).as(c.err()).isZero();
            assertThat(s.code()).as(s.err()).isZero();
            assertThat(List.of(c.out(), s.out())).allMatch(o -> o.contains(", 2000 messages of 1000 bytes each way"));
        }
    }

    /** Neither end reports success if the other one fails. */
    @Test
    void dataBehindTheEndOfTheStreamAreReported() throws IOException {
        try (CommandProcess server = tool("rstream", "shm0").server("-p 0 -I 1");
                CommandProcess client = tool("rstream", "shm0").client(to(server) + "-I 2")) {
            CommandProcess.Result c = client.end();
            CommandProcess.Result s = server.end();
            assertThat(c.code()).as(c.err()).isEqualTo(1);
            assertThat(s.code()).as(s.err()).isEqualTo(1);
            assertThat(c.err()).contains("the peer ended early: give both ends the same --iterations");
            assertThat(s.err()).contains("the peer sends more than is read here: give both ends the same");
        }
    }

    @ParameterizedTest
    @CsvSource({"-C 10,-C 11", "-I 2,-I 1", "-S 20,-S 19"})
    void disagreeingStreamsAreReported(String one, String other) throws IOException {
        try (CommandProcess server = tool("rstream", "roce_lo").server("-p 0 --timeout 5 " + one);
                CommandProcess client = tool("rstream", "roce_lo").client(to(server) + "--timeout 5 " + other)) {
            CommandProcess.Result c = client.end();
            CommandProcess.Result s = server.end();
            assertThat(List.of(c.code(), s.code())).contains(1);
            assertThat(c.err() + s.err()).startsWith("verbena: ").doesNotContain("Exception");
        }
    }

    /** A program that connects but does not use rsockets. */
    @Test
    void otherProgramIsReported() throws IOException {
        try (CommandProcess server = tool("rstream", "roce_lo").server("-p 0 --timeout 5");
                CommandProcess client = tool("ucmatose", "roce_lo").client(to(server) + "--timeout 5")) {
            assertThat(client.end().code()).isEqualTo(1);
            assertThat(server.end().err()).startsWith("verbena: the peer is no rstream");
        }
    }

    /** Either end is killed: the other one reports it, and ends. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void killedPeerIsReported(boolean serverDies) throws Exception {
        try (CommandProcess server = tool("ucmatose", "roce_lo").start("-p 0 -c 2 --timeout 4");
                CommandProcess client = tool("ucmatose", "roce_lo").start(to(server)
                        + "-c 1 --timeout 4")) {
            Thread.sleep(1500); // one of two is connected, both wait
            (serverDies ? server : client).close();
            CommandProcess.Result r = (serverDies ? client : server).end();
            assertThat(r.code()).isEqualTo(1);
            assertThat(r.err()).startsWith("verbena: ").doesNotContain("Exception");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"-S 0", "-C 20000", "-c 0", "-p 70000", "-s a -b b", "-C 16000 -S 1m"})
    void wrongOptionsAreRefused(String arguments) {
        CommandProcess.Result r = tool("udaddy", "roce_lo").refuse(arguments);
        assertThat(r.code()).isEqualTo(2);
        assertThat(r.err()).startsWith("verbena: ").contains("Try 'verbena udaddy --help'");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-S 0", "-B 4097", "-B 1k", "-T a", "-I 0"})
    void wrongOptionsOfRstreamAreRefused(String arguments) {
        CommandProcess.Result r = tool("rstream", "roce_lo").refuse(arguments);
        assertThat(r.code()).isEqualTo(2);
        assertThat(r.err()).startsWith("verbena: ").contains("Try 'verbena rstream --help'");
    }
}
