// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps.bench;

import java.util.Optional;

import org.verbena.tests.apps.App;
import org.verbena.tests.apps.Broker;

/** A broker of Kafka, and the mean time from a producer to a consumer, record by record. */
record KafkaLatency(String name) implements Benchmark {
    private static final int RECORD_BYTES = 100;
    private static final int COUNT = 5000;
    private static final String LATENCY = "Avg latency: ";

    @Override
    public String what() {
        return "Kafka, EndToEndLatency with " + COUNT + " records of " + RECORD_BYTES + " B, one after another";
    }

    @Override
    public Optional<String> without(Load load) {
        return load == Load.FULL ? Optional.empty() : Optional.of("its tool has no rate: one record follows another");
    }

    @Override
    public void run(Run run) throws Exception {
        try (Broker broker = new Broker(run.scratch(), run.by()); App server = broker.start(run.server())) {
            double before = ProcessorTime.of(server.pid()) + ProcessorTime.ofEnded();
            try (App tool = run.client().start("org.apache.kafka.tools.EndToEndLatency", "--bootstrap-server", broker
                    .bootstrap(), "--topic", "latency", "--num-records", COUNT, "--producer-acks", "all",
                    "--record-size", RECORD_BYTES)) {
                String mean = tool.rest().stream().filter(l -> l.startsWith(LATENCY)).findFirst().orElseThrow();
                run.note(Metric.latency(name, "ms"), Double.parseDouble(mean.substring(LATENCY.length()).split(" ",
                        -1)[0]));
            }
            run.note(Metric.processor(name, "records"), COUNT / (ProcessorTime.of(server.pid()) + ProcessorTime
                    .ofEnded() - before));
            server.terminate(143);
        }
    }
}
