package org.verbena.tests.apps;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.tests.apps.App.By;

/** A Kafka broker, its performance tools, and a producer and a consumer that account for each record. */
@Timeout(300)
class KafkaTest {
    private static final String RECORDS = "org.verbena.apps.kafka.KafkaRecords";
    private static final String PRODUCER_PERF = "org.apache.kafka.tools.ProducerPerformance";
    private static final String CONSUMER_PERF = "org.apache.kafka.tools.ConsumerPerformance";
    private static final int COUNT = 20_000;
    private static final int BYTES = 1000;

    /** For the performance tools: what TCP carries before rings do is little beside it, also on a slow machine. */
    private static final int PERF_COUNT = 100_000;
    private static final int PERF_BYTES = 4000;

    @TempDir static Path dir;

    private static App records(By by, String what, Broker broker, String topic, int count) throws Exception {
        return App.java(dir, by).quickStart().start(RECORDS, what, broker.port(), topic, count, BYTES);
    }

    private static App done(App records) throws Exception {
        records.await("done");
        records.awaitExit(0);
        return records;
    }

    private static App produced(By by, Broker broker) throws Exception {
        App perf = App.java(dir, by).start(PRODUCER_PERF, "--topic", "perf", "--num-records", PERF_COUNT,
                "--record-size", PERF_BYTES, "--throughput", -1, "--bootstrap-server", broker.bootstrap(),
                "--transactional-id", "perf");
        assertThat(perf.rest()).last().asString().startsWith(PERF_COUNT + " records sent");
        return perf;
    }

    private static App consumed(By by, Broker broker) throws Exception {
        App perf = App.java(dir, by).start(CONSUMER_PERF, "--topic", "perf", "--num-records", PERF_COUNT,
                "--bootstrap-server", broker.bootstrap(), "--timeout", 20_000);
        List<String> lines = perf.rest();
        long read = Long.parseLong(lines.getLast().split(", ", -1)[4].trim());
        assertThat(read).as("%s", lines).isEqualTo(PERF_COUNT);
        return perf;
    }

    @Test
    void bothEndsByRing() throws Exception {
        Broker broker = new Broker(dir, By.VERBENA);
        try (App server = broker.start(App.java(dir, By.VERBENA))) {
            produced(By.VERBENA, broker).summary().byRing(Reason.CLOSED_EARLY);
            consumed(By.VERBENA, broker).summary().byRing(Reason.CLOSED_EARLY);
            try (App in = records(By.VERBENA, "produce", broker, "t", COUNT)) {
                done(in).summary().byRing(Reason.CLOSED_EARLY);
            }
            try (App out = records(By.VERBENA, "consume", broker, "t", COUNT)) {
                done(out).summary().byRing(Reason.CLOSED_EARLY);
            }
            server.terminate(143);
            // The test that waits for the port is no Verbena.
            server.summary().byRing(Reason.CLOSED_EARLY, Reason.PLAIN_PEER);
        }
    }

    /** Of one broker, for to start one takes long: clients of Verbena's, plain ones, and one that is not Java. */
    @Test
    void clientsThatArePlain() throws Exception {
        Broker broker = new Broker(dir, By.VERBENA);
        try (App server = broker.start()) {
            try (App in = records(By.PLAIN, "produce", broker, "t", COUNT)) {
                done(in);
            }
            try (App out = records(By.PLAIN, "consume", broker, "t", COUNT)) {
                done(out);
            }
            aClientThatIsNotJava(broker);
            server.terminate(143);
        }
    }

    private static void aClientThatIsNotJava(Broker broker) throws Exception {
        Optional<Path> kcat = Machine.need("KafkaTest.clientsThatArePlain", "kcat", "kcat");
        if (kcat.isEmpty()) {
            return;
        }
        try (App in = records(By.VERBENA, "produce", broker, "u", COUNT)) {
            done(in);
        }
        try (App out = App.command(dir, kcat.get().toString(), "-C", "-b", broker.bootstrap(), "-t", "u", "-e", "-q",
                "-f", "%p %S\\n")) {
            assertThat(out.rest()).hasSize(COUNT).allMatch(l -> l.endsWith(" " + BYTES));
        }
    }

    @Test
    void aBrokerThatIsPlain() throws Exception {
        Broker broker = new Broker(dir, By.PLAIN);
        try (App server = broker.start(); App in = records(By.VERBENA, "produce", broker, "t", COUNT)) {
            done(in).summary().byTcp(Reason.PLAIN_PEER, Reason.CLOSED_EARLY);
            try (App out = records(By.VERBENA, "consume", broker, "t", COUNT)) {
                done(out).summary().byTcp(Reason.PLAIN_PEER, Reason.CLOSED_EARLY);
            }
            server.terminate(143);
        }
    }

    /** The producer goes on when the broker is back, and no record that was confirmed is lost or there twice. */
    @Test
    void aBrokerThatIsKilled() throws Exception {
        // Until its session has timed out, the broker that comes back is refused as one that is there already.
        Broker broker = new Broker(dir, By.VERBENA, "broker.session.timeout.ms=3000",
                "broker.heartbeat.interval.ms=500");
        int count = 60_000;
        try (App first = broker.start(); App in = records(By.VERBENA, "produce", broker, "t", count)) {
            in.await("at");
            first.kill();
            try (App second = broker.start()) {
                done(in).summary();
                try (App out = records(By.VERBENA, "consume", broker, "t", count)) {
                    done(out).summary().byRing(Reason.CLOSED_EARLY);
                }
                second.terminate(143);
            }
        }
    }
}
