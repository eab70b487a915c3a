// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** After polls in vain some waits do not poll; after a poll that finds something all do. */
class SpinBudgetTest {
    private static final long LIMIT = 20_000;
    private static final long SHORT_WAIT = 30_000;

    private final SpinBudget budget = new SpinBudget();

    @BeforeEach
    void seeOneShortWait() {
        budget.waited(SHORT_WAIT, LIMIT);
    }

    /** A wait as channels and selectors do it; answers whether it polled. */
    private boolean wait(boolean found) {
        long most = budget.nanos(LIMIT);
        if (most > 0) {
            budget.polled(found, most);
        }
        budget.waited(SHORT_WAIT, LIMIT);
        return most > 0;
    }

    private int pause() {
        int waits = 0;
        while (budget.nanos(LIMIT) == 0) {
            assertThat(wait(false)).isFalse();
            waits++;
        }
        return waits;
    }

    @Test
    void pollsThatFindSomethingGoOn() {
        for (int i = 0; i < 10_000; i++) {
            assertThat(wait(true)).isTrue();
        }
        assertThat(budget.nanos(LIMIT)).isEqualTo(LIMIT);
    }

    @Test
    void fourPollsInVainAreFollowedByAPause() {
        for (int i = 0; i < 3; i++) {
            assertThat(wait(false)).isTrue();
            assertThat(budget.nanos(LIMIT)).isEqualTo(LIMIT);
        }
        assertThat(wait(false)).isTrue();
        // the wait of the fourth poll is the first of the pause
        assertThat(pause()).isEqualTo(15);
    }

    @Test
    void pollAfterAPauseIsLongEnoughForAPeerThatSleeps() {
        fourInVain();
        assertThat(pause()).isPositive();
        assertThat(budget.nanos(LIMIT)).isEqualTo(5 * LIMIT);
        assertThat(wait(true)).isTrue();
        assertThat(budget.nanos(LIMIT)).isEqualTo(LIMIT);
    }

    @Test
    void pausesDoubleUpToALimit() {
        fourInVain();
        for (int longest = 15; longest < 1023; longest = 2 * longest + 1) {
            assertThat(pause()).isEqualTo(longest);
            assertThat(wait(false)).isTrue();
        }
        for (int i = 0; i < 3; i++) {
            assertThat(pause()).isEqualTo(1023);
            assertThat(wait(false)).isTrue();
        }
    }

    @Test
    void pauseAfterASuccessIsTheShortestAgain() {
        fourInVain();
        for (int i = 0; i < 5; i++) {
            assertThat(pause()).isPositive();
            assertThat(wait(false)).isTrue();
        }
        assertThat(pause()).isPositive();
        assertThat(wait(true)).isTrue();
        fourInVain();
        assertThat(pause()).isEqualTo(15);
    }

    @Test
    void longWaitsEndPollingWithoutAPause() {
        for (int i = 0; i < 40; i++) {
            budget.waited(1_000_000_000, LIMIT);
        }
        assertThat(budget.nanos(LIMIT)).isZero();
        budget.waited(SHORT_WAIT, LIMIT);
        assertThat(budget.nanos(LIMIT)).isEqualTo(LIMIT);
    }

    private void fourInVain() {
        for (int i = 0; i < 4; i++) {
            assertThat(wait(false)).isTrue();
        }
    }
}
