// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Applications under Verbena compared with the same without it, in turn: {@code bench/apps}. */
@Command(name = "bench/apps")
final class AppsBench implements Callable<Integer> {
    /** Below it, Verbena costs time: two runs of the same program differ by less, on a quiet machine. */
    private static final double FLOOR = 0.97;
    private static final int WARM_UP_MILLIS = 3000;

    @Spec private CommandSpec spec;

    @Option(names = "--rounds") private int rounds = 5;

    @Option(names = "--only", split = ",") private List<String> only = new ArrayList<>();

    @Option(names = "--list") private boolean list;

    @Option(names = "--records") private int records = 1_000_000;

    @Option(names = "--seconds") private int seconds = 4;

    @Option(names = "--json") private boolean json;

    private AppsBench() {}

    public static void main(String[] args) {
        System.exit(new CommandLine(new AppsBench()).setParameterExceptionHandler((e, all) -> {
            System.err.println("bench/apps: " + e.getMessage());
            return CommandLine.ExitCode.USAGE;
        }).execute(args));
    }

    @Override
    public Integer call() throws Exception {
        List<Benchmark> benchmarks;
        try {
            benchmarks = Benchmarks.named(only);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
        if (list) {
            benchmarks.forEach(b -> System.out.printf("%-20s %s%n", b.name(), b.what()));
            return 0;
        }
        Rounds all = new Rounds(benchmarks, new Run.Length(WARM_UP_MILLIS, seconds * 1000, records));
        all.run(rounds);
        List<Ratio> ratios = all.ratios();
        if (json) {
            Report.json(ratios, System.out);
        } else {
            Report.table(ratios, System.out);
        }
        return judged(ratios, all.failed());
    }

    private static int judged(List<Ratio> ratios, List<String> failed) {
        List<Ratio> below = ratios.stream().filter(r -> r.isBelow(FLOOR)).toList();
        for (Ratio r : below) {
            System.err.printf(Locale.ROOT, "bench/apps: %s, %s: %.2f is below %.2f%n", r.metric().name(), r.metric()
                    .unit(), r.ratio(), FLOOR);
        }
        for (String f : failed) {
            System.err.println("bench/apps: " + f + " failed");
        }
        return below.isEmpty() && failed.isEmpty() ? 0 : 1;
    }
}
