// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;

import org.junit.jupiter.api.Test;

class GenerationsTest {
    private static final int LAST = RegionId.MAX_GENERATION;

    @Test
    void eachPlaceBeginsWhereItIsToldAndGoesAround() {
        int[] firsts = {LAST - 1, 7};
        int[] asked = {0};
        Generations g = new Generations(2, () -> firsts[asked[0]++]);
        assertThat(new int[] {g.take(1), g.take(1), g.take(1), g.take(1)}).containsExactly(LAST - 1, LAST, 1, 2);
        assertThat(new int[] {g.take(0), g.take(0)}).containsExactly(7, 8);
        for (int generation : new int[] {LAST - 1, LAST, 1, 2}) {
            assertThat(g.has(1, generation)).as("%d", generation).isTrue();
        }
        for (int generation : new int[] {LAST - 2, 3, 7, 1000}) {
            assertThat(g.has(1, generation)).as("%d", generation).isFalse();
        }
        assertThat(g.has(0, 6) || g.has(0, 9) || g.has(0, LAST)).isFalse();
    }

    @Test
    void noneComesTwice() {
        Generations g = new Generations(1, () -> 100_000);
        assertThat(g.has(0, 100_000)).isFalse();
        Set<Integer> all = new HashSet<>();
        while (!g.isUsedUp(0)) {
            int generation = g.take(0);
            assertThat(generation).isBetween(1, LAST);
            assertThat(all.add(generation)).isTrue();
        }
        assertThat(all).hasSize(LAST);
    }
}
