// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FileGateTest {
    @Test
    void filesAreSentOneAfterTheOther() {
        FileGate gate = new FileGate(true);
        for (int i = 0; i < 3; i++) {
            assertThat(gate.enter()).isTrue();
            gate.leave();
        }
    }

    @Test
    void nothingIsSentAfterItIsClosed() {
        FileGate gate = new FileGate(true);
        assertThat(gate.close()).isTrue();
        assertThat(gate.enter()).isFalse();
        assertThat(gate.close()).isTrue();
        assertThat(new FileGate(false).enter()).isFalse();
    }

    @Test
    void fileUnderWayIsTheLastOne() {
        FileGate gate = new FileGate(true);
        assertThat(gate.enter()).isTrue();
        assertThat(gate.close()).as("a file is being sent").isFalse();
        assertThat(gate.close()).isFalse();
        gate.leave();
        assertThat(gate.enter()).isFalse();
        assertThat(gate.close()).isTrue();
    }
}
