// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;

import com.fasterxml.jackson.databind.JsonNode;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.verbena.tests.ProgramLane;
import org.verbena.tests.compat.NextAgent;

/**
 * Two unchanged programs of one host, of which one has the agent of a later version: that uses the next version of the
 * handshake, and announces features that this one does not know. Sent data are compared by hash.
 */
@ProgramLane
class MixedVersionsTest {
    private static final int MUCH = 300_000;
    private static final List<String> KINDS = List.of("nio", "classic");

    @TempDir static Path dir;
    private static SocketPrograms programs;
    /** Supports this version too. */
    private static Path later;
    /** Does not support this version any more. */
    private static Path muchLater;

    @BeforeAll
    static void prepare() throws Exception {
        programs = new SocketPrograms(dir);
        later = NextAgent.make(programs.agent(), 1, dir.resolve("later"));
        muchLater = NextAgent.make(programs.agent(), 2, dir.resolve("much-later"));
    }

    private static Child start(Path agent, Path summary) throws Exception {
        return programs.with(agent, "quiet,stream.patience=60000,summary=" + summary).option("-DfirstConnection=false")
                .start();
    }

    private static void assertCarried(Path servers, Path clients, String by, String count) throws Exception {
        Path serversEnd = programs.summary();
        Path clientsEnd = programs.summary();
        try (Child server = start(servers, serversEnd); Child client = start(clients, clientsEnd)) {
            String[] to = server.await("PORTS").split(" ", -1);
            client.await("PORTS");
            server.tell("serve").await("SERVING");
            for (int i = 0; i < KINDS.size(); i++) {
                client.tell("connect it " + KINDS.get(i) + " " + to[i]).await("CONNECTED");
                assertThat(client.tell("agree it").await("AGREED")).isEqualTo(by);
                assertThat(client.tell("talk it " + MUCH).await("TALKED")).isEqualTo(by);
                client.tell("close it").await("CLOSED");
            }
            for (JsonNode end : List.of(SocketPrograms.end(client, clientsEnd), SocketPrograms.end(server,
                    serversEnd))) {
                assertThat(SocketPrograms.count(end, "connections", by)).as(end.toString()).isEqualTo(KINDS.size());
                assertThat(end.get("fallbacks").toString()).isEqualTo(count);
            }
        }
    }

    @ParameterizedTest(name = "the later one serves: {0}")
    @CsvSource({"true", "false"})
    void lowerVersionIsUsedWithoutUnknownFeatures(boolean laterServes) throws Exception {
        assertCarried(laterServes ? later : programs.agent(), laterServes ? programs.agent() : later, "stream", "{}");
    }

    /** Both know the reason why TCP carries it. */
    @ParameterizedTest(name = "the later one serves: {0}")
    @CsvSource({"true", "false"})
    void peerWithoutTheLowerVersionIsRefused(boolean laterServes) throws Exception {
        assertCarried(laterServes ? muchLater : programs.agent(), laterServes ? programs.agent() : muchLater, "kernel",
                "{\"other_version\":2}");
    }
}
