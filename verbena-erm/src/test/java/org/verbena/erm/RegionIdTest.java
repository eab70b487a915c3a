// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RegionIdTest {
    @Test
    void idRoundTrips() {
        for (int side = 0; side < 2; side++) {
            for (int index : new int[] {0, 1, 100, RegionId.MAX_INDEX}) {
                for (int generation : new int[] {1, 2, 77, RegionId.MAX_GENERATION}) {
                    int id = RegionId.of(generation, index, side);
                    assertThat(id).isPositive();
                    assertThat(RegionId.isValid(id)).isTrue();
                    assertThat(RegionId.side(id)).isEqualTo(side);
                    assertThat(RegionId.index(id)).isEqualTo(index);
                    assertThat(RegionId.generation(id)).isEqualTo(generation);
                }
            }
        }
        assertThat(RegionId.isValid(0)).isFalse();
        assertThat(RegionId.isValid(-1)).isFalse();
        assertThat(RegionId.isValid(1 << 12)).isFalse();
    }
}
