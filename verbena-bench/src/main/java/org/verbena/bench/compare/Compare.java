// SPDX-License-Identifier: Apache-2.0
package org.verbena.bench.compare;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.verbena.linux.CpuAffinity;
import org.verbena.linux.LinuxException;

/**
 * Measures the machine's limits, Verbena, Aeron IPC and UCX side by side in one run, and reports which targets are met.
 *
 * <pre>
 * bench/compare [--starts N] [--json] [--percentiles] [--only verbena|aeron|ucx|limits …]
 * </pre>
 *
 * Each contestant gets fresh processes in each of N starts (5 unless said otherwise), the order of the contestants
 * rotates from start to start, and the median and the best of the starts are printed. All spin, pinned to the same two
 * processors; all JVMs have the same flags. {@code --percentiles} adds the tails of round trips of 64 bytes. The figures are meaningful only on a machine without other load: the load
 * is printed.
 */
public final class Compare {
    private static final List<Target> TARGETS = List.of(
            Target.atMost("verbena-write-8-rtt", "limit-cacheline-rtt", 1.2),
            Target.atMost("verbena-send-32-rtt", "limit-cacheline-rtt", 1.25),
            Target.atMost("verbena-send-64-rtt", "limit-twoline-rtt", 1.15),
            Target.atMost("verbena-send-64-rtt", "aeron-64-rtt", 1.0),
            Target.atLeast("verbena-send-64-rate", "aeron-64-rate", 0.8),
            Target.atLeast("verbena-write-1m-bw", "limit-memcpy-bw", 0.9),
            Target.atLeast("verbena-write-1m-consumed-bw", "limit-memcpy-bw", 0.5),
            Target.none("verbena-write-8-rtt", "ucx-put-8-rtt"), Target.none("verbena-send-64-rtt", "ucx-tag-64-rtt"),
            Target.none("verbena-send-64-rate", "ucx-tag-64-rate"), Target.none("verbena-write-1m-bw", "ucx-put-1m-bw"),
            Target.none("verbena-write-1m-consumed-bw", "ucx-tag-1m-bw"));

    /** A contestant that is measured with its own processes. */
    private interface Contestant {
        Sample run() throws IOException;
    }

    private Compare() {}

    /** See the class. */
    public static void main(String[] args) throws IOException {
        int starts = 5;
        boolean json = false;
        boolean percentiles = false;
        List<String> only = new ArrayList<>();
        for (int i = 0; i < args.length; i++) {
            switch (args[i]) {
                case "--json" -> json = true;
                case "--percentiles" -> percentiles = true;
                case "--starts" -> starts = i + 1 < args.length ? positive(args[++i]) : usage();
                case "--only" -> {
                    while (i + 1 < args.length && !args[i + 1].startsWith("--")) {
                        only.add(args[++i]);
                    }
                }
                default -> usage();
            }
        }
        Map<String, Contestant> contestants = contestants(only, percentiles);
        List<Sample> samples = new ArrayList<>();
        List<String> order = new ArrayList<>(contestants.keySet());
        double load = load();
        for (int n = 1; n <= starts; n++) {
            Sample s = new Sample();
            for (String name : order) {
                System.err.printf("start %d of %d: %s%n", n, starts, name);
                s.putAll(contestants.get(name).run());
            }
            samples.add(s);
            Collections.rotate(order, contestants.size() / 2 + 1);
        }
        Sample median = Sample.median(samples);
        List<Target> targets = TARGETS.stream().filter(t -> !Double.isNaN(t.ratio(median))).toList();
        Report report = new Report(median, Sample.best(samples), targets, starts, load);
        System.out.print(json ? report.json() : report.table());
    }

    private static Map<String, Contestant> contestants(List<String> only, boolean percentiles)
            throws IOException {
        int[] cpus = cpus();
        AeronRuns aeron = new AeronRuns(cpus, percentiles);
        UcxRuns ucx = new UcxRuns(cpus);
        Map<String, Contestant> all = new LinkedHashMap<>();
        all.put("limits: one and two cache lines", VerbenaRuns::limits);
        all.put("verbena: write 8", VerbenaRuns::write8);
        all.put("verbena: send 32, 64", VerbenaRuns::send);
        all.put("aeron: ping-pong and rate 64", aeron::run);
        all.put("verbena: rate 64", VerbenaRuns::sendRate);
        all.put("ucx: latencies", ucx::latencies);
        all.put("limits: memcpy", VerbenaRuns::memcpy);
        all.put("verbena: write 1m", VerbenaRuns::write1m);
        all.put("verbena: write 1m, consumed", VerbenaRuns::write1mConsumed);
        all.put("ucx: rate and bandwidths", ucx::bandwidths);
        if (percentiles) {
            all.put("verbena: percentiles", VerbenaRuns::percentiles);
            all.put("ucx: percentiles", ucx::percentiles);
        }
        if (!UcxRuns.isInstalled()) {
            System.err.println("ucx_perftest is skipped: it is not installed (Debian: apt-get install ucx-utils)");
            all.keySet().removeIf(k -> k.startsWith("ucx"));
        }
        if (!only.isEmpty()) {
            all.keySet().removeIf(k -> !only.contains(k.substring(0, k.indexOf(':'))));
        }
        return all;
    }

    /** Two processors that share no core, if possible: the same two that {@code verbena perf} uses. */
    private static int[] cpus() throws IOException {
        BitSet allowed;
        try {
            allowed = CpuAffinity.get();
        } catch (LinuxException e) {
            throw new IOException("cannot see which CPUs may be used", e);
        }
        if (allowed.cardinality() < 2) {
            throw new IOException("two processors are needed, one for each process, but only CPU " + allowed
                    + " may be used");
        }
        int first = allowed.nextSetBit(0);
        BitSet others = (BitSet) allowed.clone();
        others.clear(first);
        int second = others.nextSetBit(0);
        Path siblings = Path.of("/sys/devices/system/cpu/cpu" + first + "/topology/thread_siblings_list");
        if (Files.isReadable(siblings)) {
            for (String range : Files.readString(siblings).strip().split(",", -1)) {
                String[] ends = range.split("-", -1);
                others.clear(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]) + 1);
            }
        }
        return new int[] {first, others.isEmpty() ? second : others.nextSetBit(0)};
    }

    static double load() {
        return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    }

    private static int positive(String text) {
        try {
            int n = Integer.parseInt(text);
            return n > 0 ? n : usage();
        } catch (NumberFormatException e) {
            return usage();
        }
    }

    private static int usage() {
        System.err.println(
                "usage: bench/compare [--starts N] [--json] [--percentiles] [--only verbena|aeron|ucx|limits ...]");
        System.exit(2);
        return 0;
    }
}
