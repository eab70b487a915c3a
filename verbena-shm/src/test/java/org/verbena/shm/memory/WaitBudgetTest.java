// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.memory;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import org.verbena.verbs.QueuePairState;

/** A peer cannot make polls wait for it more than once. */
class WaitBudgetTest {
    @Test
    void sumOfWaitsIsLimited() {
        WaitBudget b = new WaitBudget(500);
        assertThat(b.left(QueuePairState.RTS)).isEqualTo(500);
        b.spend(200);
        assertThat(b.left(QueuePairState.RTR)).isEqualTo(300);
        b.spend(301);
        assertThat(b.left(QueuePairState.RTS)).isZero();
        b.refill();
        assertThat(b.left(QueuePairState.SQD)).isEqualTo(500);
    }

    @Test
    void errorStateHasNoBudget() {
        WaitBudget b = new WaitBudget(500);
        assertThat(b.left(QueuePairState.ERR)).isZero();
        assertThat(b.left(QueuePairState.RTS)).isEqualTo(500);
    }
}
