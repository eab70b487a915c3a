// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;

import com.fasterxml.jackson.databind.JsonNode;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.SockDiag;
import org.verbena.testkit.KernelThread;
import org.verbena.testkit.Thorough;
import org.verbena.tests.NetworkLane;
import org.verbena.tests.faults.KillRounds.Ends;

/**
 * Two unchanged programs under the agent, with connections by classic sockets, channels and a selector between them.
 * Either of them is killed before the handshake of the two ends, during it, and when rings carry everything; the other
 * one notices.
 */
@NetworkLane
class KilledSocketPeerTest {
    private static final String CONTROL = FlowPeer.CONTROL_ADDRESS;
    private static final String ARGUMENTS = "quiet,stream.patience=60000,rules=use os tcp_server " + CONTROL
            + ":*; use os tcp_client " + CONTROL + ":*,";
    /** A minute: the handshake does not begin during the test. */
    private static final String NOT_YET = "stream.delay=60000000,";
    private static final int ROUNDS = 3;
    private static final int KINDS = KillRounds.KINDS.size();

    @TempDir Path dir;
    private SocketPrograms programs;
    private Path summary;

    @BeforeEach
    void prepare() throws Exception {
        programs = new SocketPrograms(dir, FlowPeer.class, Flow.class);
        summary = programs.summary();
    }

    /** The first one that is started survives. */
    private KillRounds killing(String victim, String arguments) {
        Path[] next = {summary};
        return new KillRounds(victim, () -> {
            Path file = next[0];
            next[0] = programs.summary();
            return programs.with(ARGUMENTS + arguments + "summary=" + file).start();
        });
    }

    /** Closes the survivor, and returns the summary of its connections. */
    private JsonNode end(Child survivor) throws Exception {
        try (survivor) {
            JsonNode sum = SocketPrograms.end(survivor, summary);
            assertThat(SocketPrograms.count(sum, "connections", "open")).isZero();
            return sum;
        }
    }

    private static void connect(Ends ends, String clientDoes, String serverDoes) throws Exception {
        for (String kind : KillRounds.KINDS) {
            ends.connect(kind, clientDoes);
            ends.accept(kind, serverDoes);
        }
    }

    /** The survivor reads, writes, and does both, in a round each. */
    @ParameterizedTest
    @ValueSource(strings = {"client", "server"})
    void killedPeerIsReportedToSenderAndReceiver(String victim) throws Exception {
        kill(victim, "w r", "r w", "rw rw");
    }

    @Thorough
    @ParameterizedTest
    @CsvSource({"client, w r", "client, r w", "client, rw rw", "server, w r", "server, r w", "server, rw rw"})
    void killIsReportedInMostRounds(String victim, String does) throws Exception {
        kill(victim, does, does, does);
    }

    /** @param does what the client and the server do in each round */
    private void kill(String victim, String... does) throws Exception {
        JsonNode sum = end(killing(victim, "").run(ROUNDS, (ends, number) -> {
            String[] both = does[number].split(" ", -1);
            connect(ends, both[0], both[1]);
            assertThat(ends.survivor().tell("decide").await("DECIDED")).isEqualTo("stream stream stream");
            ends.survivor().tell("flow").await("FLOWING");
        }));
        assertThat(SocketPrograms.count(sum, "connections", "stream")).isEqualTo((long) ROUNDS * KINDS);
    }

    @Test
    void killedClientIsReportedToASleepingThread() throws Exception {
        killBesideSleepers("client");
    }

    @Thorough
    @Test
    void killedServerIsReportedToASleepingThread() throws Exception {
        killBesideSleepers("server");
    }

    private void killBesideSleepers(String victim) throws Exception {
        JsonNode sum = end(killing(victim, "").run(ROUNDS, (ends, _) -> {
            connect(ends, "r", "r");
            for (Child c : new Child[] {ends.survivor(), ends.victim()}) {
                assertThat(c.tell("decide").await("DECIDED")).isEqualTo("stream stream stream");
            }
            ends.survivor().tell("idle");
            ends.victim().tell("idle").await("IDLE");
            ends.survivor().await("IDLE");
            for (String thread : ends.survivor().tell("threads").await("THREADS").split(" ", -1)) {
                KernelThread.awaitAsleep(Path.of("/proc").resolve(thread));
            }
        }));
        assertThat(SocketPrograms.count(sum, "connections", "stream")).isEqualTo((long) ROUNDS * KINDS);
    }

    @Test
    void killOfTheServerBeforeTheHandshakeIsReported() throws Exception {
        killBeforeTheHandshake("server");
    }

    @Thorough
    @Test
    void killOfTheClientBeforeTheHandshakeIsReported() throws Exception {
        killBeforeTheHandshake("client");
    }

    private void killBeforeTheHandshake(String victim) throws Exception {
        JsonNode sum = end(killing(victim, NOT_YET).run(ROUNDS, (ends, _) -> {
            connect(ends, "rw", "rw");
            assertThat(ends.survivor().tell("flow").await("FLOWING")).isEqualTo("undecided undecided undecided");
        }));
        assertThat(SocketPrograms.count(sum, "connections", "stream")).isZero();
    }

    /** One waits for the other, which has not accepted the connection, or is stopped. */
    @ParameterizedTest
    @ValueSource(strings = {"client", "server"})
    void killDuringTheHandshakeIsReported(String victim) throws Exception {
        JsonNode sum = end(killing(victim, "stream.delay=0,").run(KINDS, (ends, number) -> {
            String kind = KillRounds.KINDS.get(number);
            try (SockDiag diag = Meeting.open(ends.port(kind))) {
                Meeting meeting = Meeting.of(diag, ends.connect(kind, "rw"), ends.port(kind));
                meeting.awaitListener();
                if (victim.equals("client")) {
                    ends.victim().stop();
                    ends.accept(kind, "rw");
                    meeting.awaitBoth();
                }
            }
            assertThat(ends.survivor().tell("transports").await("BY")).isEqualTo("undecided");
        }));
        assertThat(SocketPrograms.count(sum, "connections", "stream")).isZero();
    }
}
