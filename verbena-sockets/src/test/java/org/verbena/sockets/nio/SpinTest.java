// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The budget follows what was seen. */
class SpinTest {
    private static final long LONG_WAIT = 1_000_000_000;

    @Test
    void budgetGrowsWithShortWaitsAndShrinksToZero() {
        Spin spin = new Spin();
        spin.limit(20_000);
        assertThat(spin.budget()).isZero();
        spin.waited(LONG_WAIT);
        assertThat(spin.budget()).isZero();
        spin.waited(90_000); // both ends slept
        assertThat(spin.budget()).isEqualTo(20_000);
        spin.waited(3000);
        assertThat(spin.budget()).isEqualTo(20_000);
        spin.waited(LONG_WAIT);
        assertThat(spin.budget()).isEqualTo(10_000);
        for (int i = 0; i < 10; i++) {
            spin.waited(LONG_WAIT);
        }
        assertThat(spin.budget()).isZero();
        spin.waited(100);
        assertThat(spin.budget()).isEqualTo(20_000);
    }

    @Test
    void zeroLimitNeverSpins() {
        Spin spin = new Spin();
        spin.limit(0);
        spin.waited(0);
        spin.waited(10);
        assertThat(spin.budget()).isZero();
    }
}
