// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps.bench;

import java.nio.file.Path;
import java.util.function.ObjDoubleConsumer;

import org.verbena.tests.apps.App;

/**
 * One run of a benchmark.
 *
 * @param scratch an empty folder, which is removed afterwards
 * @param by what implements the sockets of the JVMs
 * @param length how long it runs
 * @param notes takes what it measures
 */
record Run(Path scratch, App.By by, Length length, ObjDoubleConsumer<Metric> notes) {
    private static final String[] JVM = {"-XX:+UseParallelGC", "-Xms1g", "-Xmx1g"};

    /**
     * How much a benchmark does.
     *
     * @param warmUpMillis before the measurement
     * @param millis of the measurement
     * @param records of Kafka
     */
    record Length(int warmUpMillis, int millis, int records) {}

    /** A JVM of the application or of its load, started as users do. */
    App.Java java() {
        return App.java(scratch, by).asUsersDo().jvm(JVM);
    }

    void note(Metric metric, double value) {
        notes.accept(metric, value);
    }

    /**
     * Starts a load that says {@code warm}, {@code rate} and a number, and ends with its input, for the time that is
     * measured; notes the rate, and the processor time of its JVM and of the servers' at that rate.
     *
     * @param unit what the rate counts
     * @param load its main class
     * @param servers those of the application that are JVMs
     */
    void measure(String name, String unit, App[] servers, String load, Object... arguments) throws Exception {
        Object[] all = new Object[arguments.length + 2];
        System.arraycopy(arguments, 0, all, 0, arguments.length);
        all[arguments.length] = length.warmUpMillis();
        all[arguments.length + 1] = length.millis();
        try (App client = java().start("org.verbena.apps." + load, all)) {
            client.await("warm");
            long start = System.nanoTime();
            double before = processorTime(client, servers);
            double rate = Double.parseDouble(client.await("rate"));
            double used = processorTime(client, servers) - before;
            double seconds = (System.nanoTime() - start) / 1e9;
            client.end();
            note(Metric.rate(name, unit), rate);
            note(Metric.processor(name, unit), rate * seconds / used);
        }
    }

    private static double processorTime(App client, App... servers) throws Exception {
        double sum = ProcessorTime.of(client.pid());
        for (App s : servers) {
            sum += ProcessorTime.of(s.pid());
        }
        return sum;
    }
}
