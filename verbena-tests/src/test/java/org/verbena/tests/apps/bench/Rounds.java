// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import org.verbena.testkit.Folders;
import org.verbena.tests.apps.App.By;

/** Runs benchmarks without Verbena and under it in turn, and keeps what they note. Progress goes to standard error. */
final class Rounds {
    private final List<Benchmark> benchmarks;
    private final Setting setting;
    private final LightRates light;
    private final Map<Benchmark, Map<Metric, Map<By, List<Double>>>> values = new LinkedHashMap<>();
    private final Set<Benchmark> failed = new LinkedHashSet<>();

    Rounds(List<Benchmark> benchmarks, Setting setting) {
        this.benchmarks = benchmarks;
        this.setting = setting;
        light = new LightRates(setting);
    }

    void run(int rounds) throws Exception {
        List<Benchmark> possible = new ArrayList<>();
        for (Benchmark b : benchmarks) {
            Optional<String> why = b.without(setting.load());
            if (why.isEmpty()) {
                why = b.missing();
            }
            why.ifPresentOrElse(m -> System.err.println(b.name() + ": skipped, " + m), () -> possible.add(b));
        }
        for (int i = 0; i < rounds; i++) {
            // The order alternates, too.
            List<By> turns = i % 2 == 0 ? List.of(By.PLAIN, By.VERBENA) : List.of(By.VERBENA, By.PLAIN);
            for (Benchmark b : possible) {
                if (!failed.contains(b)) {
                    round(b, turns);
                }
            }
        }
    }

    /** What one of its two runs notes counts only if the other one has ended in order, too. */
    private void round(Benchmark benchmark, List<By> turns) throws IOException, InterruptedException {
        Map<Metric, Map<By, Double>> noted = new LinkedHashMap<>();
        for (By by : turns) {
            Path scratch = Files.createTempDirectory("verbena-apps");
            try {
                long rate = setting.load() == Load.LIGHT ? light.of(benchmark, scratch) : 0;
                benchmark.run(new Run(scratch, by, setting, rate, (metric, value) -> {
                    System.err.printf(Locale.ROOT, "%-24s %-34s %-8s %,14.2f%n", metric.name(), metric.unit(), by
                            .toString().toLowerCase(Locale.ROOT), value);
                    noted.computeIfAbsent(metric, m -> new EnumMap<>(By.class)).put(by, value);
                }));
            } catch (InterruptedException e) {
                throw e;
            } catch (Exception | AssertionError e) {
                System.err.println(benchmark.name() + ": failed, " + by + ": " + e);
                failed.add(benchmark);
                values.remove(benchmark); // its earlier rounds
                return;
            } finally {
                remove(scratch);
            }
        }
        Map<Metric, Map<By, List<Double>>> kept = values.computeIfAbsent(benchmark, b -> new LinkedHashMap<>());
        noted.forEach((metric, both) -> both.forEach((by, value) -> kept.computeIfAbsent(metric, m -> new EnumMap<>(
                By.class)).computeIfAbsent(by, b -> new ArrayList<>()).add(value)));
    }

    /** What cannot be removed is said: it spoils no figure. */
    private static void remove(Path folder) {
        try {
            Folders.remove(folder);
        } catch (IOException e) {
            System.err.println("cannot remove " + folder + ": " + e);
        }
    }

    List<Ratio> ratios() {
        return values.values().stream().flatMap(m -> m.entrySet().stream()).map(e -> Ratio.of(e.getKey(), e.getValue()
                .get(By.PLAIN), e.getValue().get(
                        By.VERBENA))).toList();
    }

    /** The names of those that did not end in order. */
    List<String> failed() {
        return failed.stream().map(Benchmark::name).toList();
    }
}
