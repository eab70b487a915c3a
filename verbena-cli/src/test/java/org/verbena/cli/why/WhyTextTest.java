// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.why;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.Help.Ansi;

import org.verbena.cli.doctor.SocketConditions;

class WhyTextTest {
    private static final Instant THEN = Instant.parse("2026-01-02T03:04:05Z");
    private static final String LONG = "[2001:db8:1111:2222:3333:4444:5555:6666]:65535";

    private static WhyConnection connection(String local, String remote, WhyConnection.Carrier carrier, String reason,
            @Nullable WhyRule rule, @Nullable WhyPeer peer) {
        return new WhyConnection(local, remote, "client", "OPEN", carrier, reason, THEN, "", 100, rule, peer);
    }

    private static WhyProcess process(List<WhyConnection> connections) {
        return new WhyProcess(4711, "java -cp x org.example." + "Long".repeat(40) + " word @|red word|@",
                WhyProcess.Presence.ACTIVE, "active, by the agent: channels", "", connections, List.of("127.0.0.1:1"),
                List.of("*:80", LONG), List.of("It is in another network namespace than this command."));
    }

    private static String text(boolean all, WhyProcess... processes) {
        StringWriter out = new StringWriter();
        new WhyText(new PrintWriter(out), Ansi.OFF, all).print(answer(processes));
        assertThat(out.toString().lines()).allSatisfy(l -> assertThat(l.length()).as(l).isLessThanOrEqualTo(80));
        return out.toString();
    }

    private static WhyAnswer answer(WhyProcess... processes) {
        return new WhyAnswer(THEN, 0, List.of(processes), List.of(), List.of(new SocketConditions.Condition("memory",
                "ok", "1 GiB", ""), new SocketConditions.Condition("files 4711", "limited", "5 open of 256",
                        "ulimit -n 4096")));
    }

    @Test
    void everyReasonFitsInEightyColumns() {
        WhyRule rule = new WhyRule("use os tcp_client *:* counter " + "x".repeat(100), "/etc/" + "long/".repeat(20)
                + "x.conf", 3, "the block at /etc/x.conf:1 is the first that matches");
        List<WhyConnection> all = new ArrayList<>();
        WhyAdviceTest.reasons().forEach(r -> all.add(connection(LONG, LONG, WhyConnection.Carrier.TCP, r, rule,
                new WhyPeer(5, 0, "/usr/bin/redis-server *:6379", false, false))));
        String text = text(true, process(all));
        WhyAdviceTest.reasons().forEach(r -> assertThat(text).contains("By TCP (" + r + "): 1 connection"));
        assertThat(text).contains("Listeners that stay plain: 2")
                .contains("limited  files 4711: 5 open of 256").contains("do       ulimit -n 4096");
    }

    @Test
    void thousandConnectionsAreSummarised() {
        List<WhyConnection> all = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            all.add(connection("127.0.0.1:" + (1000 + i), "127.0.0.1:80", WhyConnection.Carrier.RING, "", null, null));
        }
        for (int i = 0; i < 20; i++) {
            all.add(connection("127.0.0.1:" + (3000 + i), "127.0.0.1:" + i, WhyConnection.Carrier.TCP, "plain_peer",
                    null, null));
        }
        String text = text(false, process(all));
        assertThat(text).contains("1020 connections: 1000 by rings, 20 by TCP").contains("By rings: 1000 connections")
                .contains("... and 997 more").contains("and 9 more connections in 9 more kinds: --all");
        assertThat(text.lines().count()).isLessThan(120);
        assertThat(text(true, process(all)).lines().filter(l -> l.contains(" > "))).hasSize(1020);
    }

    @Test
    void manyProcessesAreSummarised() {
        WhyProcess[] many = new WhyProcess[9];
        Arrays.fill(many, process(List.of()));
        assertThat(text(false, many)).contains("and 3 more processes");
        assertThat(text(true, many)).doesNotContain("more processes");
    }

    @Test
    void jsonHasEveryKey() throws Exception {
        JsonNode json = new ObjectMapper().readTree(WhyJson.of(answer(process(List.of(connection("a:1", "b:2",
                WhyConnection.Carrier.TCP, "not_earned", null, null))))));
        assertThat(json.get("port").isNull()).isTrue();
        JsonNode p = json.get("processes").get(0);
        assertThat(p.get("verbena").asText()).isEqualTo("active");
        assertThat(p.get("counts").get("tcp").asInt()).isEqualTo(1);
        JsonNode c = p.get("connections").get(0);
        assertThat(c.get("carrier").asText() + c.get("reason").asText()).isEqualTo("tcpnot_earned");
        assertThat(c.get("since").asText()).isEqualTo(THEN.toString());
        assertThat(c.get("rule").isNull() && c.get("peer").isNull()).isTrue();
        assertThat(c.get("why").asText()).contains("(100 B)");
        assertThat(json.get("host").get(1).get("remedy").asText()).isEqualTo("ulimit -n 4096");
    }
}
