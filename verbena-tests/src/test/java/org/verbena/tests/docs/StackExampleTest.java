// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;

import org.verbena.linux.NetworkNamespace;
import org.verbena.testkit.Await;
import org.verbena.testkit.Finished;
import org.verbena.testkit.LinkState;
import org.verbena.testkit.TapInterface;
import org.verbena.tests.cli.CommandProcess;
import org.verbena.tests.faults.Users;

/** The commands of docs/stack.md, in a network namespace. */
class StackExampleTest {
    private static void done(String... command) throws Exception {
        Finished f = Finished.run(command);
        assertThat(f.code()).as(String.join(" ", command) + ": " + f.output()).isZero();
    }

    @Test
    void stackAnswersPingAndEchoes() throws Exception {
        Users.needsRoot("make network interfaces");
        TapInterface.require();
        CommandProcess.prepare();
        NetworkNamespace.callInNew(() -> {
            TapInterface.addUp("vrb0", "10.9.0.1/24", "user", "root");
            try (ExampleProcess p = ExampleProcess.withStack(ExampleProcess.FOLDER.resolve("StackEcho.java"),
                    "tap_vrb0",
                    "10.9.0.2/24"); DatagramChannel c = DatagramChannel.open()) {
                assertThat(p.line()).isEqualTo("listening at 10.9.0.2");
                LinkState.awaitUp("vrb0");
                done("ping", "-c", "3", "-s", "8000", "-i", "0.01", "-w", "20", "10.9.0.2");
                c.configureBlocking(false);
                ByteBuffer sent = ByteBuffer.wrap(new byte[] {1, 2, 3});
                ByteBuffer got = ByteBuffer.allocate(100);
                c.send(sent.duplicate(), new InetSocketAddress("10.9.0.2", 7));
                Await.until("the datagram is back", () -> c.receive(got) != null);
                assertThat(got.flip()).isEqualTo(sent);
                try (Socket s = new Socket("10.9.0.2", 7)) {
                    s.getOutputStream().write("hello".getBytes(StandardCharsets.US_ASCII));
                    s.shutdownOutput();
                    assertThat(s.getInputStream().readAllBytes()).asString(StandardCharsets.US_ASCII).isEqualTo(
                            "hello");
                }
            }
            return true;
        });
    }

    private static String stat(ExampleProcess p, String... more) throws Exception {
        List<String> words = new ArrayList<>(List.of("stat", Long.toString(p.pid()), "--once"));
        words.addAll(List.of(more));
        CommandProcess.Result r = CommandProcess.run(words.toArray(String[]::new));
        assertThat(r.code()).as(r.err()).isZero();
        return r.out();
    }

    @Test
    void statShowsItsSockets() throws Exception {
        Users.needsRoot("make network interfaces");
        TapInterface.require();
        CommandProcess.prepare();
        NetworkNamespace.callInNew(() -> {
            TapInterface.addUp("vrb0", "10.9.0.1/24", "user", "root");
            try (ExampleProcess p = ExampleProcess.withStack(ExampleProcess.FOLDER.resolve("StackEcho.java"),
                    "tap_vrb0", "10.9.0.2/24")) {
                assertThat(p.line()).isEqualTo("listening at 10.9.0.2");
                LinkState.awaitUp("vrb0");
                try (Socket s = new Socket("10.9.0.2", 7)) {
                    byte[] sent = new byte[50_000];
                    s.getOutputStream().write(sent);
                    assertThat(s.getInputStream().readNBytes(sent.length)).isEqualTo(sent);
                    String ends = "10\\.9\\.0\\.2:7 +10\\.9\\.0\\.1:" + s.getLocalPort();
                    assertThat(stat(p, "--view", "netstat")).containsPattern("stack +0 +0 +" + ends + " +ESTABLISHED")
                            .containsPattern("stack +0 +- +10\\.9\\.0\\.2:7 +LISTEN")
                            .containsPattern(
                                    "process \\d+: stack 10\\.9\\.0\\.2 on tap_vrb0, 1 connection, 2 other sockets; frames in [1-9]");
                    assertThat(stat(p)).containsPattern("tcp:0x\\d+ +ESTABLISHED .*10\\.9\\.0\\.2:7 > 10\\.9\\.0\\.1:"
                            + s
                                    .getLocalPort()
                            + " +queues 0/0 +rtt [1-9]\\d*us +cwnd [1-9]\\d* +mss 1448 +retransmitted \\d")
                            .containsPattern("udp:0x\\d+ .*10\\.9\\.0\\.2:7 +queue 0 +dropped 0")
                            .containsPattern("tcp_listener:0x\\d+ +LISTEN .*10\\.9\\.0\\.2:7 +0 to accept");
                    JsonNode o = new ObjectMapper().readTree(stat(p, "--type", "stack", "--json")).get("objects").get(
                            0);
                    assertThat(o.get("totals").get("STACK_TCP_ACCEPTED").asLong()).isEqualTo(1);
                    assertThat(o.get("totals").get("STACK_TCP_SEGMENTS_IN").asLong()).isGreaterThan(2);
                    assertThat(o.get("attributes").get("address").asText()).isEqualTo("10.9.0.2");
                    s.setSoLinger(true, 0);
                }
                Await.until("it is gone", () -> !stat(p).contains("tcp:0x"));
            }
            return true;
        });
    }
}
