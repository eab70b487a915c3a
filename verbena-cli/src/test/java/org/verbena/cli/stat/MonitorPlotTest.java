// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The bars of {@code verbena monitor}. */
class MonitorPlotTest {
    @Test
    void scaleIsRounded() {
        assertThat(MonitorPlot.round(0)).isEqualTo(1);
        assertThat(MonitorPlot.round(1.5)).isEqualTo(2);
        assertThat(MonitorPlot.round(4999)).isEqualTo(5000);
        assertThat(MonitorPlot.round(1.9e19)).isEqualTo(2e19);
    }

    @Test
    void scaleNeverShrinks() {
        MonitorPlot p = new MonitorPlot(40, true);
        assertThat(p.fit(30)).isTrue();
        assertThat(p.scale()).isEqualTo(50);
        assertThat(p.fit(50)).isFalse();
        assertThat(p.fit(51)).isTrue();
        assertThat(p.fit(Double.NaN)).isFalse();
        assertThat(p.scale()).isEqualTo(100);
        assertThat(p.axis()).hasSize(40).startsWith("0 ─").endsWith("─ 100");
    }

    @Test
    void valuesAreDrawnAsBars() {
        MonitorPlot blocks = new MonitorPlot(10, true);
        assertThat(blocks.fit(100)).isTrue();
        assertThat(blocks.bar(100)).isEqualTo("██████████");
        assertThat(blocks.bar(25)).isEqualTo("██▌");
        assertThat(blocks.bar(0.001)).as("more than nothing").isEqualTo("▏");
        assertThat(blocks.bar(0)).isEmpty();
        assertThat(blocks.bar(Double.NaN)).isEmpty();
        MonitorPlot plain = new MonitorPlot(10, false);
        assertThat(plain.fit(100)).isTrue();
        assertThat(plain.bar(100)).isEqualTo("##########");
        assertThat(plain.bar(0.001)).isEqualTo("#");
        assertThat(plain.axis()).isEqualTo("0 ---- 100");
    }
}
