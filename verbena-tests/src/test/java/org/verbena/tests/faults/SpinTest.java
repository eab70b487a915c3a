// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.nio.file.Path;
import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.testkit.Await;

/** A thread that spins for messages, takes and answers them, makes no system call; strace watches it. */
class SpinTest {
    private static final Duration WATCHED = Duration.ofSeconds(2);
    private static final Duration COMPILED = Duration.ofSeconds(90);
    private static final long FEWEST_ROUNDS = 1000;

    @TempDir Path folder;

    @Test
    void spinningThreadMakesNoSystemCall() throws Exception {
        try (Child child = Child.of(SpinPeer.class).option("-XX:TieredStopAtLevel=4").start()) {
            // two spinning threads come to little on a machine that has no processor for each
            Await.until(COMPILED, () -> child.has("READY") || !child.isAlive(), () -> "it does not get going");
            child.await("READY");
            SystemCalls.ofRounds(child, "spinner", folder, WATCHED, FEWEST_ROUNDS).assertNoneButTheJvms();
        }
    }
}
