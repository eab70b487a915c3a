package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;

import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Two unchanged programs under the agent, with rings between them. One waits for the other, a classic socket in a read, a
 * channel in a selector; the other is killed.
 */
class KilledSocketPeerTest {
    /** As with TCP; of several, since a machine that runs other tests as well may take longer now and then. */
    private static final long PROMPT_MILLIS = 1000;
    private static final long LONGEST_MILLIS = 60_000;
    private static final int ROUNDS = 5;

    @TempDir Path dir;

    @ParameterizedTest
    @ValueSource(strings = {"classic", "nio"})
    void whoWaitsIsTold(String kind) throws Exception {
        SocketPrograms programs = new SocketPrograms(dir);
        String arguments = "quiet,stream.patience=60000,summary=";
        Path summary = programs.summary();
        try (Child survivor = programs.with(arguments + summary).start()) {
            long shortest = LONGEST_MILLIS;
            survivor.await("PORTS");
            for (int i = 0; i < ROUNDS && shortest >= PROMPT_MILLIS; i++) {
                try (Child victim = programs.with(arguments + programs.summary()).start()) {
                    String[] ports = victim.await("PORTS").split(" ", -1);
                    victim.tell("serve").await("SERVING");
                    survivor.tell("connect it " + kind + " " + ports[kind.equals("nio") ? 0 : 1]).await("CONNECTED");
                    assertThat(survivor.tell("agree it").await("AGREED")).isEqualTo("stream");
                    Path waiting = Path.of("/proc").resolve(survivor.tell("end it").await("WAITING"));
                    Wait.untilAsleep(waiting);
                    long killed = System.nanoTime();
                    victim.kill();
                    assertThat(survivor.await("END")).isIn("-1", "Connection reset");
                    long millis = (System.nanoTime() - killed) / 1_000_000;
                    assertThat(millis).isLessThan(LONGEST_MILLIS);
                    shortest = Math.min(shortest, millis);
                }
            }
            assertThat(shortest).as("milliseconds until it is told").isLessThan(PROMPT_MILLIS);
            assertThat(SocketPrograms.count(SocketPrograms.end(survivor, summary), "connections", "open")).isZero();
        }
    }
}
