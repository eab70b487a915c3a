// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps.bench;

import java.nio.file.Path;
import java.time.Duration;
import java.util.function.ObjDoubleConsumer;

import org.verbena.tests.apps.App;

/**
 * One run of a benchmark.
 *
 * @param scratch an empty folder, which is removed afterwards
 * @param by what implements the sockets of the JVMs
 * @param setting what is the same for all runs
 * @param perSecond units of work, for a light load
 * @param notes takes what it measures
 */
record Run(Path scratch, App.By by, Setting setting, long perSecond, ObjDoubleConsumer<Metric> notes) {
    private static final String[] JVM = {"-XX:+UseParallelGC", "-Xms1g", "-Xmx1g"};
    /** Connections at rest stay open: RMI's, and those of the JDK's HTTP, would be closed within the measurement. */
    private static final String[] KEEP_OPEN = {"-Dsun.rmi.transport.connectionTimeout=86400000",
        "-Djdk.httpclient.keepalive.timeout=86400", "-Dsun.net.httpserver.idleInterval=86400"};
    /** So that {@link ProcessorTime#withoutCompiler} finds those threads. */
    private static final String KEEP_COMPILER = "-XX:-UseDynamicNumberOfCompilerThreads";
    private static final int MILLIS_A_SECOND = 1000;
    /** A load ends its threads when it has measured, which is nothing that it does at rest. */
    private static final Duration MARGIN = Duration.ofSeconds(1);
    /** A load that did less than this part of its rate was a lighter one. */
    private static final double KEPT = 0.8;

    /**
     * How much a benchmark does.
     *
     * @param warmUp before the measurement
     * @param measured the measurement
     * @param records of Kafka
     */
    record Length(Duration warmUp, Duration measured, int records) {}

    Length length() {
        return setting.length();
    }

    Load load() {
        return setting.load();
    }

    Placement placement() {
        return setting.placement();
    }

    /** A JVM of the application, started as users do. */
    App.Java server() {
        return java().behind(placement().server());
    }

    /** A JVM of its load, started likewise. */
    App.Java client() {
        return java().behind(placement().load());
    }

    private App.Java java() {
        App.Java java = App.java(scratch, by).asUsersDo().jvm(JVM);
        if (load() != Load.FULL) {
            java.option(KEEP_COMPILER);
        }
        return load() == Load.NONE ? java.option(KEEP_OPEN) : java;
    }

    void note(Metric metric, double value) {
        notes.accept(metric, value);
    }

    /**
     * Starts a load that says {@code warm}, {@code rate} and a number, and ends with its input, for the time that is
     * measured. Of full load, notes the rate, and the processor time of its JVM and of the servers' at that rate; of
     * others, that processor time a second.
     *
     * @param unit what the rate counts
     * @param load its main class
     * @param servers those of the application that are JVMs
     */
    void measure(String name, String unit, App[] servers, String load, Object... arguments) throws Exception {
        Object[] all = new Object[arguments.length + 3];
        System.arraycopy(arguments, 0, all, 0, arguments.length);
        all[arguments.length] = length().warmUp().toMillis();
        all[arguments.length + 1] = length().measured().plus(load() == Load.FULL ? Duration.ZERO : MARGIN).toMillis();
        all[arguments.length + 2] = pace();
        try (App client = client().start("org.verbena.apps." + load, all)) {
            client.await("warm", length().warmUp());
            if (load() == Load.FULL) {
                measureRate(name, unit, client, servers);
            } else {
                measureProcessorTime(name, client, servers);
                double rate = Double.parseDouble(client.await("rate"));
                if (rate < KEPT * perSecond) {
                    throw new IllegalStateException(rate + " " + unit + " a second instead of " + perSecond);
                }
            }
            client.end();
        }
    }

    private void measureRate(String name, String unit, App client, App... servers) throws Exception {
        long start = System.nanoTime();
        double before = processorTime(client, servers);
        double rate = Double.parseDouble(client.await("rate", length().measured()));
        double used = processorTime(client, servers) - before;
        double seconds = (System.nanoTime() - start) / 1e9;
        note(Metric.rate(name, unit), rate);
        note(Metric.processor(name, unit), rate * seconds / used);
    }

    private String pace() {
        return load() == Load.FULL ? "full" : Long.toString(perSecond);
    }

    /** Lets JVMs work, or rest, and notes their processor time a second but for that of the compiler. */
    void measureProcessorTime(String name, App first, App... others) throws Exception {
        long start = System.nanoTime();
        double before = withoutCompiler(first, others);
        Thread.sleep(length().measured());
        double used = withoutCompiler(first, others) - before;
        note(Metric.processorTime(name), used * MILLIS_A_SECOND / ((System.nanoTime() - start) / 1e9));
    }

    private static double processorTime(App first, App... others) throws Exception {
        double sum = ProcessorTime.of(first.pid());
        for (App o : others) {
            sum += ProcessorTime.of(o.pid());
        }
        return sum;
    }

    private static double withoutCompiler(App first, App... others) throws Exception {
        double sum = ProcessorTime.withoutCompiler(first.pid());
        for (App o : others) {
            sum += ProcessorTime.withoutCompiler(o.pid());
        }
        return sum;
    }
}
