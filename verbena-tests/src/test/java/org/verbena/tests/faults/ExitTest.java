// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A program that has read everything ends, and leaves its connections to the kernel: the other end sees end of stream.
 */
class ExitTest {
    private static Child start(Object... arguments) throws Exception {
        return Child.of(ExitPeer.class).option("-Dverbena.stream.patience=60000", "-Dverbena.spin=0").start(
                arguments);
    }

    @ParameterizedTest
    @ValueSource(strings = {"exit", "return"})
    void exitIsEndOfStreamAndNoReset(String how) throws Exception {
        try (Child answers = start("answer"); Child asks = start("ask", answers.await("port"), how)) {
            assertThat(answers.await("end")).isEqualTo("orderly");
            assertThat(answers.await("by")).isEqualTo("ring");
        }
    }
}
