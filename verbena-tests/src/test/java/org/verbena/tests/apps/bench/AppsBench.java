// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps.bench;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import org.verbena.linux.CpuAffinity;
import org.verbena.tests.apps.Machine;
import org.verbena.tests.apps.bench.Placement.Processors;

/** Applications under Verbena compared with the same without it, in turn: {@code bench/apps}. */
@Command(name = "bench/apps")
final class AppsBench implements Callable<Integer> {
    private static final int RECORDS = 1_000_000;

    @Spec private CommandSpec spec;

    @Option(names = "--rounds") private int rounds = 5;
    @Option(names = "--only", split = ",") private List<String> only = new ArrayList<>();
    @Option(names = "--list") private boolean list;
    @Option(names = "--records") private @Nullable Integer records;
    @Option(names = "--warm-up") private @Nullable Integer warmUp;
    @Option(names = "--seconds") private @Nullable Integer seconds;
    @Option(names = "--load") private Load load = Load.FULL;
    @Option(names = "--processors") private Processors processors = Processors.ALL;
    @Option(names = "--busy") private int busy;
    @Option(names = "--json") private boolean json;

    private AppsBench() {}

    public static void main(String[] args) {
        System.exit(command().execute(args));
    }

    /** Its errors are one sentence. */
    static CommandLine command() {
        return new CommandLine(new AppsBench()).setCaseInsensitiveEnumValuesAllowed(true).setParameterExceptionHandler((
                e, all) -> {
            e.getCommandLine().getErr().println("bench/apps: " + e.getMessage());
            return CommandLine.ExitCode.USAGE;
        });
    }

    @Override
    public Integer call() throws Exception {
        List<Benchmark> benchmarks;
        Setting setting;
        try {
            benchmarks = Benchmarks.named(only);
            setting = setting();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
        if (list) {
            benchmarks.forEach(b -> System.out.printf("%-20s %s%n", b.name(), b.what()));
            return 0;
        }
        Rounds all = new Rounds(benchmarks, setting);
        try (BusyThreads _ = busy == 0 ? null : BusyThreads.start(busy)) {
            all.run(rounds);
        }
        List<Ratio> ratios = all.ratios();
        if (json) {
            Report.json(ratios, conditions(), System.out);
        } else {
            Report.table(ratios, System.out);
        }
        return judged(ratios, all.failed());
    }

    /** @throws IllegalArgumentException if the options do not fit each other, or the machine: says why */
    Setting setting() throws IOException {
        if (rounds < 1 || warmUp != null && warmUp < 0 || seconds != null && seconds < 1 || records != null
                && records < 1 || busy < 0) {
            throw new IllegalArgumentException("a number is too small");
        }
        if (load == Load.NONE && records != null) {
            throw new IllegalArgumentException("--records has no meaning with --load=none, which sends none");
        }
        Duration before = Duration.ofSeconds(warmUp == null ? load.defaultWarmUp() : warmUp);
        Duration measured = Duration.ofSeconds(seconds == null ? load.defaultSeconds() : seconds);
        Run.Length length = new Run.Length(before, measured, records == null ? RECORDS : records);
        return new Setting(length, load, Placement.of(processors, CpuAffinity.get(), Machine.find("taskset")));
    }

    /** What tells the lines of one run from those of another. */
    private Map<String, Object> conditions() {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("load", load.name().toLowerCase(Locale.ROOT));
        all.put("processors", processors.name().toLowerCase(Locale.ROOT));
        all.put("busy", busy);
        return all;
    }

    private static int judged(List<Ratio> ratios, List<String> failed) {
        List<Ratio> below = ratios.stream().filter(Ratio::isBelowFloor).toList();
        for (Ratio r : below) {
            System.err.printf(Locale.ROOT, "bench/apps: %s, %s: %.2f is below %.2f%n", r.metric().name(), r.metric()
                    .unit(), r.ratio(), r.metric().floor());
        }
        for (String f : failed) {
            System.err.println("bench/apps: " + f + " failed");
        }
        return below.isEmpty() && failed.isEmpty() ? 0 : 1;
    }
}
