// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.tests.NetworkLane;

/** The system calls of a thread that waits for bytes, counted by strace, and those of the JDK's channels in the same program. */
@NetworkLane
class SocketSystemCallsTest {
    private static final long WARM_UP = 100;
    /** So many that those which strace sees before they are counted, or after, do not matter. */
    private static final long ROUNDS = 1500;
    private static final long ROUNDS_OF_READY = 100_000;
    /** For a thread that wakes up early, or that the JVM has stopped. */
    private static final double TOLERANCE = 1.2;

    @TempDir Path folder;

    private SystemCalls calls(String by, String what, long warmUp, long fewest) throws Exception {
        Child.Builder program = Child.of(WaitPeer.class).option("-Dverbena.spin=0");
        if (by.equals("verbena")) {
            program.option("-Djava.nio.channels.spi.SelectorProvider=org.verbena.sockets.VerbenaSelectorProvider");
            program.option("--add-exports=java.base/jdk.internal.access=ALL-UNNAMED"); // for a selector beside a listener
        }
        try (Child child = program.start(what)) {
            child.await("READY");
            SystemCalls.awaitCompiled(child, warmUp);
            return SystemCalls.ofRounds(child, "waiter", folder, Duration.ZERO, fewest);
        }
    }

    private double callsPerRound(String by, String what) throws Exception {
        SystemCalls calls = calls(by, what, WARM_UP, ROUNDS);
        double each = (double) calls.countAllButTheJvms() / calls.rounds();
        System.out.printf("SocketSystemCallsTest: %s, %s: %.2f system calls a round trip: %s in %d%n", by, what, each,
                calls, calls.rounds());
        return each;
    }

    /** To sleep at the bell, and to ring that of the peer, where TCP reads and writes. */
    @ParameterizedTest
    @ValueSource(strings = {"blocking", "selector", "listener"})
    void sleepingRoundTripSleepsOnceAndRingsOnce(String what) throws Exception {
        callsPerRound("jdk", what);
        SystemCalls calls = calls("verbena", what, WARM_UP, ROUNDS);
        System.out.printf("SocketSystemCallsTest: verbena, %s: %s in %d%n", what, calls, calls.rounds());
        // a selector asks the kernel ten times a second although a thread watches it
        long others = calls.rounds() / 20 + calls.elapsed().toMillis() / 50;
        assertThat(calls.countAllButTheJvms()).as("%s in %d rounds", calls, calls.rounds()).isLessThan(others);
        // fewer where an end had its bytes before it slept
        long most = (long) (2 * TOLERANCE * calls.rounds());
        assertThat(calls.count("futex")).as("%s in %d rounds", calls, calls.rounds()).isBetween(calls.rounds(), most);
    }

    /** One of many connections has bytes in memory: the selector finds them there, and asks the kernel after the others now and then. */
    @Test
    void selectionOfWhatIsReadyMakesHardlyAnySystemCall() throws Exception {
        SystemCalls calls = calls("verbena", "ready", ROUNDS_OF_READY, ROUNDS_OF_READY);
        assertThat(calls.countAllButTheJvms()).as("%s in %d selections", calls, calls.rounds()).isLessThan(calls
                .rounds() / 5);
    }
}
