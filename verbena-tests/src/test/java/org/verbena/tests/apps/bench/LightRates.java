// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.verbena.tests.apps.App.By;

/**
 * The rates of a light load: a hundredth of what the plain program reaches, which a short run measures, once. Both sides
 * get the same.
 */
final class LightRates {
    private static final int PART = 100;

    private final Setting setting;
    private final Map<Benchmark, Long> known = new HashMap<>();

    LightRates(Setting setting) {
        this.setting = setting;
    }

    /**
     * Units a second.
     *
     * @param scratch a folder in which it may make one
     */
    long of(Benchmark benchmark, Path scratch) throws Exception {
        Long rate = known.get(benchmark);
        if (rate == null) {
            rate = Math.max(1, Math.round(full(benchmark, Files.createDirectory(scratch.resolve("full"))) / PART));
            System.err.printf(Locale.ROOT, "%s: light load is %,d a second%n", benchmark.name(), rate);
            known.put(benchmark, rate);
        }
        return rate;
    }

    private double full(Benchmark benchmark, Path scratch) throws Exception {
        Run.Length length = new Run.Length(Duration.ofSeconds(Load.FULL.defaultWarmUp()), Duration.ofSeconds(Load.FULL
                .defaultSeconds()),
                setting.length().records());
        List<Double> rates = new ArrayList<>();
        benchmark.run(new Run(scratch, By.PLAIN, new Setting(length, Load.FULL, setting.placement()), 0, (metric,
                value) -> {
            if (metric.counts() == Metric.Counts.CLOCK) {
                rates.add(value);
            }
        }));
        if (rates.isEmpty()) {
            throw new IOException("it has no rate");
        }
        return rates.getFirst();
    }
}
