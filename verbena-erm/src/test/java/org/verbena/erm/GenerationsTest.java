// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;

import org.junit.jupiter.api.Test;

class GenerationsTest {
    private static final int LAST = RegionId.MAX_GENERATION;

    @Test
    void generationsStartAtFirstAndWrap() {
        int[] firsts = {LAST - 1, 7};
        int[] asked = {0};
        Generations g = new Generations(2, () -> firsts[asked[0]++]);
        assertThat(new int[] {g.next(1), g.next(1), g.next(1), g.next(1)}).containsExactly(LAST - 1, LAST, 1, 2);
        assertThat(new int[] {g.next(0), g.next(0)}).containsExactly(7, 8);
        for (int generation : new int[] {LAST - 1, LAST, 1, 2}) {
            assertThat(g.wasUsed(1, generation)).as("%d", generation).isTrue();
        }
        for (int generation : new int[] {LAST - 2, 3, 7, 1000}) {
            assertThat(g.wasUsed(1, generation)).as("%d", generation).isFalse();
        }
        assertThat(g.wasUsed(0, 6) || g.wasUsed(0, 9) || g.wasUsed(0, LAST)).isFalse();
    }

    @Test
    void generationsAreUnique() {
        Generations g = new Generations(1, () -> 100_000);
        assertThat(g.wasUsed(0, 100_000)).isFalse();
        Set<Integer> all = new HashSet<>();
        while (!g.isExhausted(0)) {
            int generation = g.next(0);
            assertThat(generation).isBetween(1, LAST);
            assertThat(all.add(generation)).isTrue();
        }
        assertThat(all).hasSize(LAST);
    }
}
