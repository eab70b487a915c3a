// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.testkit.Jvm;
import org.verbena.tests.NetworkLane;

/** A file that an unchanged program receives by {@code FileChannel.transferFrom} is the one that was sent. */
@NetworkLane
class ReceiveTest {
    private static final int SIZE = 48 << 20;

    @TempDir static Path dir;
    private static Path jar;
    private static Path classes;

    @BeforeAll
    static void prepare() throws Exception {
        jar = AgentJar.in(dir);
        classes = AgentJar.program(dir, "Receive");
    }

    private static void assertReceived(String by, List<String> options) throws Exception {
        List<String> c = Jvm.command("-Xlog:disable");
        c.addAll(options);
        c.addAll(List.of("-cp", classes.toString(), "Receive"));
        assertThat(AgentRun.of(c, dir))
                .isEqualTo(new AgentRun(0, SIZE + 32 + " bytes, intact true, by " + by + "\n", ""));
    }

    @Test
    void withoutTheAgent() throws Exception {
        assertReceived("the JDK", List.of());
    }

    /** From TCP first, as long as the connection has not earned rings; then from these. */
    @Test
    void byRings() throws Exception {
        Path summary = dir.resolve("summary");
        assertReceived("Verbena", List.of("-javaagent:" + jar + "=quiet,stream.patience=60000,summary=" + summary));
        long byRing = 0;
        long byTcp = 0;
        for (String line : Files.readAllLines(summary)) {
            JsonNode all = new ObjectMapper().readTree(line);
            byRing += all.at("/bytes/received_by_ring").longValue();
            byTcp += all.at("/bytes/received_by_tcp").longValue();
        }
        assertThat(byRing + byTcp).isEqualTo(SIZE + 32);
        assertThat(byTcp).isPositive();
        assertThat(byRing).isPositive(); // how much depends on when a busy machine has agreed on rings
    }

    @Test
    void fromAPlainPeer() throws Exception {
        assertReceived("Verbena", List.of("-javaagent:" + jar + "=quiet,rules=use os tcp_client *:*"));
    }
}
