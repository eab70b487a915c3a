// SPDX-License-Identifier: Apache-2.0
package org.verbena.bench.jmh;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Proves that no call of the data path allocates: runs {@link DataPath}, {@link QueuePairKinds}, {@link
 * ManyQueuePairs}, {@link ChannelPath}, {@link PacketPath}, {@link ResponseTimesPath}, {@link RemoteMemoryPath}, {@link WaitingPath}, {@link
 * RdmaPath}, {@link RocePath} and {@link RoceEnginePath} for a short time with {@link MeasuredAllocation} and fails if a benchmark allocates more
 * than {@value #LIMIT} bytes per operation, or, where one takes longer than a microsecond, for each microsecond. A
 * benchmark that fails, for instance because the machine was too busy to compile in time, or because the JVM has other
 * callers of the same code, is measured again in a separate JVM, with longer warm-up each time.
 *
 * <pre>
 * .ci/steps/allocation
 * </pre>
 */
public final class AllocationCheck {
    /**
     * Bytes per operation, or per microsecond of an operation that takes longer: periodic threads allocate a few bytes
     * then, which are divided among few operations there, and among fewer on a busy machine.
     */
    private static final double LIMIT = 0.1;
    /** The smallest object has 16 bytes. */
    private static final double MOST = 2;
    /** In an iteration of this many operations the bytes of JMH itself, some thousand, are few for each. */
    private static final int ENOUGH = 10_000;

    private AllocationCheck() {}

    /**
     * Exit code 0: nothing allocates. Its argument is one of the groups {@code calls}, {@code waits} and {@code plain}, which need
     * different properties that are read once in a JVM.
     */
    public static void main(String[] args) throws RunnerException {
        // in this JVM, since starting one takes longer than measuring
        List<RunResult> results = new ArrayList<>();
        switch (args.length == 1 ? args[0] : "") {
            case "calls" -> {
                RdmaEnds.load(); // before the others list devices
                results.addAll(run(0, all(DataPath.class, ManyQueuePairs.class, QueuePairKinds.class, ChannelPath.class,
                        PacketPath.class, RemoteMemoryPath.class, RocePath.class, RdmaPath.class), 200, 100));
                results.addAll(run(1, all(ResponseTimesPath.class), 200, 100)); // with a property of its own
            }
            // these are slow, so few in a while
            case "waits" -> {
                asInJvmsOfTheirOwn();
                results.addAll(run(0, all(WaitingPath.class, RoceEnginePath.class), 500, 500, WaitingPath.RING,
                        WaitingPath.BY_RULE));
            }
            case "plain" -> {
                asInJvmsOfTheirOwn();
                results.addAll(run(0, all(WaitingPath.class), 500, 500, WaitingPath.PLAIN));
            }
            default -> throw new IllegalArgumentException("usage: AllocationCheck calls|waits|plain");
        }
        Map<String, RunResult> last = new LinkedHashMap<>();
        results.forEach(r -> last.put(r.getParams().id(), r));
        for (int warmUp : new int[] {1000, 10_000}) {
            Map<String, Double> suspects = new LinkedHashMap<>(); // by name, nanoseconds of an operation
            last.values().stream().filter(r -> !isGood(r)).forEach(r -> suspects.merge(pattern(r), nanos(r),
                    Math::max));
            for (Map.Entry<String, Double> s : suspects.entrySet()) {
                int millis = Math.clamp((long) (s.getValue() * ENOUGH / 1e6), 1000, 30_000);
                run(1, List.of(s.getKey()), warmUp, millis).forEach(r -> last.merge(r.getParams().id(), r,
                        (earlier, later) -> isGood(earlier) ? earlier : later));
            }
        }
        List<String> failed = new ArrayList<>();
        for (RunResult r : last.values()) {
            String line = String.format(Locale.ROOT, "%-20s %10.4f B/op %8.0f ns", name(r), bytes(r), nanos(r));
            System.out.println(line);
            if (!isGood(r)) {
                failed.add(line);
            }
        }
        failed.forEach(line -> System.out.println("ALLOCATES: " + line)); // once more, where they are seen
        System.out.printf(Locale.ROOT, "%d passed, %d failed%n", results.size() - failed.size(), failed.size());
        if (!failed.isEmpty() || results.isEmpty()) {
            System.exit(1);
        }
    }

    /** What the annotations of {@link WaitingPath} and {@link RoceEnginePath} say. */
    private static void asInJvmsOfTheirOwn() {
        System.setProperty("verbena.spin", "0");
        System.setProperty("verbena.roce.progress", "engine");
    }

    private static List<String> all(Class<?>... benchmarks) {
        return Arrays.stream(benchmarks).map(c -> Pattern.quote(c.getName()) + "\\..*").toList();
    }

    private static Collection<RunResult> run(int forks, List<String> benchmarks, int warmUpMillis, int millis,
            String... carriers) throws RunnerException {
        OptionsBuilder o = new OptionsBuilder();
        benchmarks.forEach(o::include);
        if (carriers.length > 0) {
            o.param("carrier", carriers);
        }
        o.forks(forks).warmupIterations(2).warmupTime(TimeValue.milliseconds(warmUpMillis)).measurementIterations(2)
                .measurementTime(TimeValue.milliseconds(millis)).addProfiler(MeasuredAllocation.class)
                .shouldFailOnError(true)
                .verbosity(VerboseMode.SILENT);
        return new Runner(o.build()).run();
    }

    private static double nanos(RunResult r) {
        return r.getPrimaryResult().getScore();
    }

    private static boolean isGood(RunResult r) {
        double micros = nanos(r) / 1000;
        return bytes(r) <= Math.min(LIMIT * Math.max(1, micros), MOST); // false if it was not measured
    }

    /**
     * The minimum of all iterations: a call that allocates does so in each, but the last one also counts allocations of
     * JMH and of closing the context.
     */
    private static double bytes(RunResult r) {
        double least = Double.NaN;
        for (BenchmarkResult b : r.getBenchmarkResults()) {
            for (IterationResult i : b.getIterationResults()) {
                Result<?> allocated = i.getSecondaryResults().get(MeasuredAllocation.BYTES);
                least = allocated == null || allocated.getScore() > least ? least : allocated.getScore();
            }
        }
        return least;
    }

    private static String pattern(RunResult r) {
        return Pattern.quote(r.getParams().getBenchmark()) + "$";
    }

    private static String name(RunResult r) {
        String b = r.getParams().getBenchmark();
        String queuePairs = r.getParams().getParam("queuePairs");
        String variant = Stream.of("kind", "memory", "carrier", "bytes").map(r.getParams()::getParam).filter(
                Objects::nonNull)
                .findFirst().map(v -> " " + v).orElse("");
        if (b.startsWith(RoceEnginePath.class.getName())) {
            variant += " engine";
        } else if (b.startsWith(ResponseTimesPath.class.getName())) {
            variant += " timed";
        }
        return b.substring(b.lastIndexOf('.') + 1) + (queuePairs == null ? "" : " of " + queuePairs) + variant;
    }
}
