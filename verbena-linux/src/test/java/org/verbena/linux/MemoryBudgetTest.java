// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

class MemoryBudgetTest {
    private int queries;
    private long memory = 1 << 20;
    private long now = Long.MAX_VALUE - 5; // nanoTime may wrap
    private final MemoryBudget budget = new MemoryBudget(() -> {
        queries++;
        return memory;
    }, () -> now);

    private void assertQueries(long needed, int expectedQueries) {
        queries = 0;
        assertThat(budget.availableFor(needed)).isEqualTo(memory);
        assertThat(queries).isEqualTo(expectedQueries);
    }

    @Test
    void smallRequestsShareAQuery() {
        assertQueries(1000, 1);
        assertQueries(20, 0);
        assertQueries(4, 0);
        assertQueries(1, 1); // 1024 are shared
        assertQueries(1023, 0);
        assertQueries(0, 0);
    }

    @Test
    void largeRequestAndItsSuccessorQuery() {
        assertQueries(1025, 1);
        assertQueries(1, 1);
        assertQueries(1, 0);
        assertQueries(memory - 1, 1);
        memory = 10; // it was used up
        assertQueries(5, 1);
        assertQueries(0, 1);
        assertQueries(0, 0);
    }

    @Test
    void queryExpiresAfterTenthOfASecond() {
        assertQueries(1, 1);
        now += TimeUnit.MILLISECONDS.toNanos(99);
        assertQueries(1, 0);
        now += TimeUnit.MILLISECONDS.toNanos(1);
        assertQueries(1, 1);
    }
}
