// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps.bench;

import java.util.ArrayList;
import java.util.List;

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

    @Override
    public String what() {
        return "Kafka, ProducerPerformance and ConsumerPerformance with records of " + RECORD_BYTES
                + " B; the producer's "
                + (properties.isEmpty() ? "defaults" : String.join(", ", properties));
    }

    @Override
    public void run(Run run) throws Exception {
        try (Broker broker = new Broker(run.scratch(), run.by()); App server = broker.start(run.java())) {
            double start = ProcessorTime.of(server.pid()) + ProcessorTime.ofEnded();
            note(run, " producer", produce(run, broker), start, server);
            double produced = ProcessorTime.of(server.pid()) + ProcessorTime.ofEnded();
            note(run, " consumer", consume(run, broker), produced, server);
            server.terminate(143);
        }
    }

    private void note(Run run, String part, double rate, double before, App server) throws Exception {
        double used = ProcessorTime.of(server.pid()) + ProcessorTime.ofEnded() - before;
        run.note(Metric.rate(name + part, UNIT), rate);
        run.note(Metric.processor(name + part, UNIT), run.length().records() / used);
    }

    private double produce(Run run, Broker broker) throws Exception {
        List<Object> arguments = new ArrayList<>(List.of("--topic", "perf", "--num-records", run.length()
                .records(), "--record-size", RECORD_BYTES, "--throughput", -1, "--bootstrap-server",
                broker.bootstrap()));
        if (!properties.isEmpty()) {
            arguments.add("--command-property");
            arguments.addAll(properties);
        }
        try (App in = run.java().start("org.apache.kafka.tools.ProducerPerformance", arguments.toArray())) {
            String last = in.rest().getLast(); // N records sent, R records/sec (…
            return Double.parseDouble(last.split("records sent, ", -1)[1].split(" ", -1)[0]);
        }
    }

    private static double consume(Run run, Broker broker) throws Exception {
        try (App out = run.java().start("org.apache.kafka.tools.ConsumerPerformance", "--topic", "perf",
                "--num-records", run.length().records(), "--bootstrap-server", broker.bootstrap(), "--timeout",
                30_000)) {
            String[] last = out.rest().getLast().split(", ", -1);
            return Double.parseDouble(last[last.length - 1]); // while fetching
        }
    }
}
