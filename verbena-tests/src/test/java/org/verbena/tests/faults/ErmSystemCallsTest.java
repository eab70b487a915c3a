// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Copies, and polls of completions and events, make no system call between memory that Verbena has allocated; strace
 * watches one of two ends that exchange copies. That it sees calls is shown by a copy to registered memory, which the
 * kernel does, and by a thread that sleeps.
 */
@Timeout(300)
class ErmSystemCallsTest {
    private static final Duration WATCHED = Duration.ofSeconds(1);
    private static final long TO_COMPILE = 20_000;
    private static final long FEWEST_ROUNDS = 2000;
    private static final long FEW = 50;

    @TempDir Path folder;

    /** The calls of the client's thread. */
    private SystemCalls calls(String serversMemory, String how, long warmUp, long fewest) throws Exception {
        String[] compiled = {"-XX:TieredStopAtLevel=4"};
        try (ErmEnds ends = ErmEnds.open(ErmEnds.process().option(compiled), ErmEnds.process().option(compiled))) {
            Child client = ends.client();
            Child server = ends.server();
            int here = ErmEnds.region(client, server, "allocate", 4096, 1);
            int there = ErmEnds.region(server, client, serversMemory, 4096, 2);
            server.tell("spin " + there + " " + here + " spins second").await("SPINNING");
            client.tell("spin " + here + " " + there + " " + how + " first").await("SPINNING");
            SystemCalls.awaitCompiled(client, warmUp);
            return SystemCalls.ofRounds(client, "spinner", folder, WATCHED, fewest);
        }
    }

    @Test
    void copiesAndPollsMakeNoSystemCall() throws Exception {
        calls("allocate", "spins", TO_COMPILE, FEWEST_ROUNDS).assertNoneButTheJvms(); // a round polls 100 times and more
    }

    @Test
    void copyToRegisteredMemoryIsOneSystemCall() throws Exception {
        SystemCalls calls = calls("register", "spins", FEW, FEW);
        assertThat(calls.count("process_vm_writev")).as("%d rounds: %s", calls.rounds(), calls)
                .isGreaterThanOrEqualTo(calls.rounds());
    }

    @Test
    void sleepingMakesSystemCalls() throws Exception {
        SystemCalls calls = calls("allocate", "sleeps", FEW, FEW);
        assertThat(calls.count("futex")).as("%d rounds: %s", calls.rounds(), calls).isPositive();
    }
}
