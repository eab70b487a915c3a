// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps.bench;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import org.verbena.tests.apps.App;
import org.verbena.tests.apps.Broker;

/**
 * A broker of Kafka, and Kafka's own performance tools.
 *
 * @param properties of the producer, beside its defaults
 */
record Kafka(String name, List<String> properties) implements Benchmark {
    private static final int RECORD_BYTES = 1000;
    private static final String UNIT = "records";
    private static final int LEAST_PER_SECOND = 5000;
    private static final int SPARE_SECONDS = 60;

    @Override
    public String what() {
        return "Kafka, ProducerPerformance and ConsumerPerformance with records of " + RECORD_BYTES
                + " B; the producer's "
                + (properties.isEmpty() ? "defaults" : String.join(", ", properties));
    }

    @Override
    public Optional<String> without(Load load) {
        return load == Load.NONE && !properties.isEmpty()
                ? Optional.of("at rest it is the same as kafka")
                : Optional.empty();
    }

    @Override
    public void run(Run run) throws Exception {
        try (Broker broker = new Broker(run.scratch(), run.by()); App server = broker.start(run.server())) {
            switch (run.load()) {
                case FULL -> full(run, broker, server);
                case LIGHT -> light(run, broker, server);
                case NONE -> rest(run, broker, server);
            }
            server.terminate(143);
        }
    }

    private void full(Run run, Broker broker, App server) throws Exception {
        double start = ProcessorTime.of(server.pid()) + ProcessorTime.ofEnded();
        note(run, " producer", produce(run, broker), start, server);
        double produced = ProcessorTime.of(server.pid()) + ProcessorTime.ofEnded();
        note(run, " consumer", consume(run, broker), produced, server);
    }

    /** A producer that keeps the rate, and a consumer that follows it. Neither comes to its end. */
    private void light(Run run, Broker broker, App server) throws Exception {
        long count = run.perSecond() * (run.length().warmUp().plus(run.length().measured()).toSeconds()
                + SPARE_SECONDS);
        try (App in = producer(run, broker, count, run.perSecond()); App out = consumer(run, broker, count)) {
            Thread.sleep(run.length().warmUp());
            run.measureProcessorTime(name, server, in, out);
        }
    }

    /** A consumer that waits for a record. */
    private void rest(Run run, Broker broker, App server) throws Exception {
        try (App consumer = run.client().start("org.verbena.apps.kafka.IdleConsumer", broker.port())) {
            consumer.await("idle");
            Thread.sleep(run.length().warmUp());
            run.measureProcessorTime(name, server, consumer);
            consumer.end();
        }
    }

    private void note(Run run, String part, double rate, double before, App server) throws Exception {
        double used = ProcessorTime.of(server.pid()) + ProcessorTime.ofEnded() - before;
        run.note(Metric.rate(name + part, UNIT), rate);
        run.note(Metric.processor(name + part, UNIT), run.length().records() / used);
    }

    private double produce(Run run, Broker broker) throws Exception {
        try (App in = producer(run, broker, run.length().records(), -1)) {
            String last = in.rest(longest(run)).getLast(); // N records sent, R records/sec (…
            return Double.parseDouble(last.split("records sent, ", -1)[1].split(" ", -1)[0]);
        }
    }

    private static double consume(Run run, Broker broker) throws Exception {
        try (App out = consumer(run, broker, run.length().records())) {
            String[] last = out.rest(longest(run)).getLast().split(", ", -1);
            return Double.parseDouble(last[last.length - 1]); // while fetching
        }
    }

    /** Reached only by a tool that hangs. */
    private static Duration longest(Run run) {
        return Duration.ofSeconds(run.length().records() / LEAST_PER_SECOND);
    }

    /** Of so many records, a second; -1 for as many as can be. */
    private App producer(Run run, Broker broker, long records, long perSecond) throws IOException {
        List<Object> arguments = new ArrayList<>(List.of("--topic", "perf", "--num-records", records, "--record-size",
                RECORD_BYTES, "--throughput", perSecond, "--bootstrap-server", broker.bootstrap()));
        if (!properties.isEmpty()) {
            arguments.add("--command-property");
            arguments.addAll(properties);
        }
        return run.client().start("org.apache.kafka.tools.ProducerPerformance", arguments.toArray());
    }

    private static App consumer(Run run, Broker broker, long records) throws IOException {
        return run.client().start("org.apache.kafka.tools.ConsumerPerformance", "--topic", "perf", "--num-records",
                records, "--bootstrap-server", broker.bootstrap(), "--timeout", 30_000);
    }
}
