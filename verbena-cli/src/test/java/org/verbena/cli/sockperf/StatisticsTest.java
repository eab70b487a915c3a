// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.Seeds;

class StatisticsTest {
    private static final double TINY = 1e-9;

    @Test
    void measuresOfASmallSet() {
        Statistics s = new Statistics(new double[] {9, 1, 2, 4, 4, 4, 5, 7, 5, 3});
        assertThat(s.count()).isEqualTo(10);
        assertThat(s.min()).isEqualTo(1);
        assertThat(s.max()).isEqualTo(9);
        assertThat(s.average()).isEqualTo(4.4, within(TINY));
        assertThat(s.standardDeviation()).isEqualTo(Math.sqrt(48.4 / 10), within(TINY));
        assertThat(s.meanAbsoluteDeviation()).isEqualTo(1.68, within(TINY));
        assertThat(s.medianAbsoluteDeviation()).isEqualTo(1, within(TINY));
        assertThat(s.semiInterquartileRange()).isEqualTo(1, within(TINY));
        assertThat(s.coefficientOfVariation()).isEqualTo(2.2 / 4.4, within(TINY));
        assertThat(s.standardError()).isEqualTo(2.2 / Math.sqrt(10), within(TINY));
        assertThat(s.percentile(50)).isEqualTo(4);
        assertThat(s.percentile(99.999)).isEqualTo(9);
        assertThat(s.between(4, 6)).isEqualTo(5);
        assertThat(s.between(0, Double.POSITIVE_INFINITY)).isEqualTo(10);
    }

    @Test
    void oneObservationIsAllOfThem() {
        Statistics s = new Statistics(new double[] {3});
        assertThat(s.percentile(25)).isEqualTo(3);
        assertThat(s.standardError()).isZero();
        assertThat(s.medianAbsoluteDeviation()).isZero();
    }

    @Test
    void quantilesAreThoseOfTheNormalDistribution() {
        assertThat(Statistics.quantile(0.5)).isEqualTo(0, within(1e-6));
        assertThat(Statistics.quantile(0.975)).isEqualTo(1.959964, within(1e-6));
        assertThat(Statistics.quantile(0.995)).isEqualTo(2.575829, within(1e-6));
    }

    @Test
    void percentilesAndCountsAreThoseOfTheSortedSet() {
        Seeds.each(200, random -> {
            double[] all = random.doubles(random.nextInt(1, 300), 0, 50).toArray();
            double[] sorted = all.clone();
            Arrays.sort(sorted);
            Statistics s = new Statistics(all);
            double percent = random.nextDouble(100);
            long atMost = Arrays.stream(sorted).filter(x -> x <= s.percentile(percent)).count();
            assertThat(atMost / (double) sorted.length * 100).isBetween(percent - 50.1 / sorted.length, 100.0);
            double low = random.nextDouble(50);
            double high = low + random.nextDouble(20);
            assertThat(s.between(low, high)).isEqualTo((int) Arrays.stream(sorted).filter(x -> x >= low && x < high)
                    .count());
        });
    }
}
