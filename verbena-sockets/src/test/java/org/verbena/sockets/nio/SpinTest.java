package org.verbena.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The budget follows what was seen. */
class SpinTest {
    private static final long LONG_WAIT = 1_000_000_000;

    @Test
    void growsWhereWaitsAreShortAndShrinksToNothing() {
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
    void aLimitOfNothingNeverSpins() {
        Spin spin = new Spin();
        spin.limit(0);
        spin.waited(0);
        spin.waited(10);
        assertThat(spin.budget()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "fast", "-1", "1000001", "1.5", "20us"})
    void aPropertyThatMakesNoSenseIsRefused(String text) {
        assertThatThrownBy(() -> Spin.parse(text)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("verbena.spin").hasMessageContaining("'" + text + "'");
        assertThat(Spin.parse(" 7 ")).isEqualTo(7);
    }
}
