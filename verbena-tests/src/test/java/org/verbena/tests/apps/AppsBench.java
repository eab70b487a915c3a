// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.verbena.tests.apps.App.By;

/**
 * Applications under Verbena compared with the same without it, alternating: {@code bench/apps [--rounds=3]
 * [--only=netty|kafka] [--records=1000000]}, started as users do. Prints the median of each and their ratio.
 */
final class AppsBench {
    private static final String[] JVM = {"-XX:+UseParallelGC", "-Xms1g", "-Xmx1g"};
    private static final int[] CONNECTIONS = {1, 100};
    private static final int ECHO_BYTES = 64;
    private static final int WARM_UP_MILLIS = 5000;
    private static final int MEASURED_MILLIS = 5000;
    private static final int RECORD_BYTES = 1000;

    private final Path scratch;
    private final int records;
    private final Map<String, Map<By, List<Double>>> rates = new LinkedHashMap<>();

    private AppsBench(Path scratch, int records) {
        this.scratch = scratch;
        this.records = records;
    }

    public static void main(String[] args) throws Exception {
        Map<String, String> options = Arrays.stream(args).map(a -> a.split("=", 2)).collect(Collectors.toMap(
                a -> a[0], a -> a.length > 1 ? a[1] : ""));
        for (String o : options.keySet()) {
            if (!List.of("--rounds", "--only", "--records").contains(o)) {
                System.err.println("bench/apps: unknown option " + o
                        + "; there are --rounds=N, --only=netty|kafka and --records=N");
                System.exit(2);
            }
        }
        Path scratch = Files.createTempDirectory("verbena-apps");
        try {
            AppsBench bench = new AppsBench(scratch, Integer.parseInt(options.getOrDefault("--records", "1000000")));
            int rounds = Integer.parseInt(options.getOrDefault("--rounds", "3"));
            for (int i = 0; i < rounds; i++) {
                bench.round(options.getOrDefault("--only", ""), i);
            }
            bench.print();
        } finally {
            try (Stream<Path> files = Files.walk(scratch)) {
                files.sorted(Comparator.reverseOrder()).forEach(f -> f.toFile().delete());
            }
        }
    }

    private void round(String only, int number) throws Exception {
        // The order alternates, too.
        List<By> turns = number % 2 == 0 ? List.of(By.PLAIN, By.VERBENA) : List.of(By.VERBENA, By.PLAIN);
        if (!only.equals("kafka")) {
            for (int connections : CONNECTIONS) {
                for (By by : turns) {
                    echo(by, connections);
                }
            }
        }
        if (!only.equals("netty")) {
            for (By by : turns) {
                kafka(by);
            }
        }
    }

    private App.Java java(By by) {
        return App.java(scratch, by).asUsersDo().jvm(JVM);
    }

    private void echo(By by, int connections) throws Exception {
        try (App server = java(by).option("-Dthreads=1").start("org.verbena.apps.netty.EchoServer");
                App client = java(by).start("org.verbena.apps.netty.EchoBench", server.awaitInt("port"), connections,
                        ECHO_BYTES, WARM_UP_MILLIS, MEASURED_MILLIS)) {
            double rate = Double.parseDouble(client.await("rate"));
            client.awaitExit(0);
            server.end();
            note("Netty echo of " + ECHO_BYTES + " B, " + connections + " connection" + (connections == 1 ? "" : "s")
                    + ", requests/s", by, rate);
        }
    }

    private void kafka(By by) throws Exception {
        Broker broker = new Broker(scratch, by);
        try (App server = broker.start(java(by))) {
            double before = ProcessorTime.of(server.pid()) + ProcessorTime.ofEnded();
            try (App in = java(by).start("org.apache.kafka.tools.ProducerPerformance", "--topic", "perf",
                    "--num-records", records, "--record-size", RECORD_BYTES, "--throughput", -1, "--bootstrap-server",
                    broker.bootstrap())) {
                String last = in.rest().getLast(); // N records sent, R records/sec (…
                note("Kafka producer, records/s", by, Double.parseDouble(last.split("records sent, ", -1)[1].split(" ",
                        -1)[0]));
            }
            double produced = ProcessorTime.of(server.pid()) + ProcessorTime.ofEnded();
            note("Kafka producer and broker, records/s of processor time", by, records / (produced - before));
            try (App out = java(by).start("org.apache.kafka.tools.ConsumerPerformance", "--topic", "perf",
                    "--num-records", records, "--bootstrap-server", broker.bootstrap(), "--timeout", 30_000)) {
                String[] last = out.rest().getLast().split(", ", -1);
                note("Kafka consumer, records/s while fetching", by, Double.parseDouble(last[last.length - 1]));
            }
            note("Kafka consumer and broker, records/s of processor time", by, records / (ProcessorTime.of(server.pid())
                    + ProcessorTime.ofEnded() - produced));
            server.terminate(143);
        }
        try (Stream<Path> files = Files.walk(scratch)) {
            files.sorted(Comparator.reverseOrder()).filter(f -> !f.equals(scratch)).forEach(f -> f.toFile().delete());
        }
    }

    private void note(String what, By by, double rate) {
        System.out.printf(Locale.ROOT, "%-55s %-8s %,15.0f%n", what, by.toString().toLowerCase(Locale.ROOT), rate);
        rates.computeIfAbsent(what, w -> new EnumMap<>(By.class)).computeIfAbsent(by, b -> new ArrayList<>()).add(rate);
    }

    private static double median(List<Double> all) {
        List<Double> sorted = all.stream().sorted().toList();
        int half = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(half) : (sorted.get(half - 1) + sorted.get(half)) / 2;
    }

    private void print() throws IOException {
        System.out.printf("%n%-55s %15s %15s %7s%n", "median", "plain", "verbena", "ratio");
        rates.forEach((what, by) -> {
            double plain = median(by.get(By.PLAIN));
            double verbena = median(by.get(By.VERBENA));
            System.out.printf(Locale.ROOT, "%-55s %,15.0f %,15.0f %7.2f%n", what, plain, verbena, verbena / plain);
        });
    }
}
