// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.junit.jupiter.api.Test;

class NumberMapTest {
    @Test
    void matchesAHashMapAfterEachChange() {
        for (int seed = 0; seed < 100; seed++) {
            Random random = new Random(seed);
            NumberMap<String> map = new NumberMap<>();
            Map<Integer, String> model = new HashMap<>();
            int range = 1 << 1 + random.nextInt(20);
            for (int i = 0; i < 500; i++) {
                int n = random.nextInt(range) - range / 4;
                if (random.nextInt(3) == 0) {
                    map.remove(n);
                    model.remove(n);
                } else {
                    map.put(n, "value " + i);
                    model.put(n, "value " + i);
                }
                int any = random.nextInt(range) - range / 4;
                assertThat(map.get(any)).isEqualTo(model.get(any));
            }
            model.forEach((n, value) -> assertThat(map.get(n)).isEqualTo(value));
            List<String> all = new ArrayList<>();
            map.forEach(all::add);
            assertThat(all).containsExactlyInAnyOrderElementsOf(model.values());
        }
    }

    @Test
    void zeroAndNegativeNumbersAreKeys() {
        NumberMap<String> map = new NumberMap<>();
        assertThat(map.get(0)).isNull();
        map.put(0, "zero");
        map.put(-1, "minus one");
        map.put(Integer.MIN_VALUE, "least");
        assertThat(map.get(0)).isEqualTo("zero");
        assertThat(map.get(-1)).isEqualTo("minus one");
        assertThat(map.get(Integer.MIN_VALUE)).isEqualTo("least");
        map.remove(0);
        assertThat(map.get(0)).isNull();
        assertThat(map.get(-1)).isEqualTo("minus one");
    }
}
