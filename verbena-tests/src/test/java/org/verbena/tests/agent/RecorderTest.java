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
import org.verbena.tests.BesideOthers;

/** The socket events in a recording are the same as with the sockets of the JDK, whatever carries the bytes. */
@BesideOthers
class RecorderTest {
    @TempDir static Path dir;
    private static Path jar;
    private static Path classes;

    @BeforeAll
    static void prepare() throws Exception {
        jar = AgentJar.in(dir);
        classes = AgentJar.program(dir, "Recorder", "25");
    }

    private static String said(List<String> options) throws Exception {
        List<String> c = Jvm.command("-Xlog:disable");
        c.addAll(options);
        c.addAll(List.of("-cp", classes.toString(), "Recorder"));
        AgentRun r = AgentRun.of(c, dir);
        assertThat(r.code()).as(r.err()).isZero();
        assertThat(r.err()).isEmpty();
        return r.out();
    }

    @Test
    void ringTrafficIsRecordedAndDoorbellsAreNot() throws Exception {
        Path summary = dir.resolve("summary");
        String rings = said(List.of("-javaagent:" + jar + "=quiet,stream.earn=0,stream.patience=60000,summary="
                + summary));
        assertThat(rings).isEqualTo(said(List.of()));
        JsonNode all = new ObjectMapper().readTree(Files.readString(summary));
        assertThat(all.at("/connections/stream").intValue()).isEqualTo(all.at("/connections/opened").intValue());
        assertThat(all.at("/bytes/received_by_ring").longValue()).isPositive();
        assertThat(all.at("/wake_ups").longValue()).isPositive();
    }

    @Test
    void tcpTrafficIsRecordedOnce() throws Exception {
        assertThat(said(List.of("-javaagent:" + jar
                + "=quiet,stream.earn=0,rules=use os tcp_client *:*; use os tcp_server *:*")))
                .isEqualTo(said(List.of()));
    }

    /** Without a recording, the replacements of the JDK methods are not looked up. */
    @Test
    void nothingIsLoadedBeforeARecordingStarts() throws Exception {
        Path loaded = dir.resolve("loaded");
        AgentRun r = AgentRun.of(List.of(Jvm.JAVA, "-Xlog:class+load:file=" + loaded, "-javaagent:"
                + jar + "=quiet,stream.earn=0", "-cp", AgentJar.program(Files.createDirectory(dir.resolve("report")))
                        .toString(),
                "Report", "echo"), dir);
        assertThat(r.code()).as(r.err()).isZero();
        assertThat(Files.readString(loaded)).contains("org.verbena.sockets.stream.SocketEvents ")
                .doesNotContain("SocketEvents$");
    }
}
