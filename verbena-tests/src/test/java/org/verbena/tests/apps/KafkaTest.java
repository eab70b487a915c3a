// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.testkit.Thorough;
import org.verbena.tests.AppsLane;
import org.verbena.tests.apps.App.By;

/** A Kafka broker, its performance tools, and a producer and a consumer that account for each record. */
@AppsLane
@Timeout(600)
class KafkaTest {
    private static final String RECORDS = "org.verbena.apps.kafka.KafkaRecords";
    private static final String PRODUCER_PERF = "org.apache.kafka.tools.ProducerPerformance";
    private static final String CONSUMER_PERF = "org.apache.kafka.tools.ConsumerPerformance";
    private static final int COUNT = Thorough.ON ? 20_000 : 10_000;
    private static final int BYTES = 1000;

    /** For the performance tools, which do not pause between their first byte and many. */
    private static final int PERF_COUNT = Thorough.ON ? 100_000 : 10_000;
    private static final int PERF_BYTES = 4000;

    /** Connections of a client that it closes at once. */
    private static final int CLOSED_EARLY = 2;

    @TempDir static Path dir;

    private static App records(By by, String what, Broker broker, String topic, int count) throws Exception {
        return records(App.java(dir, by), what, broker, topic, count);
    }

    private static App records(App.Java how, String what, Broker broker, String topic, int count) throws Exception {
        return how.quickStart().start(RECORDS, what, broker.port(), topic, count, BYTES);
    }

    private static App done(App records, App broker) throws Exception {
        records.go(records, broker).await("done");
        records.awaitExit(0);
        return records;
    }

    private static App produced(By by, Broker broker) throws Exception {
        App perf = App.java(dir, by).fromTheFirstByte().start(PRODUCER_PERF, "--topic", "perf", "--num-records",
                PERF_COUNT,
                "--record-size", PERF_BYTES, "--throughput", -1, "--bootstrap-server", broker.bootstrap(),
                "--transactional-id", "perf");
        assertThat(perf.rest()).last().asString().startsWith(PERF_COUNT + " records sent");
        return perf;
    }

    private static App consumed(By by, Broker broker) throws Exception {
        App perf = App.java(dir, by).fromTheFirstByte().start(CONSUMER_PERF, "--topic", "perf", "--num-records",
                PERF_COUNT,
                "--bootstrap-server", broker.bootstrap(), "--timeout", 60_000);
        List<String> lines = perf.rest();
        long read = Long.parseLong(lines.getLast().split(", ", -1)[4].trim());
        assertThat(read).as("%s", lines).isEqualTo(PERF_COUNT);
        return perf;
    }

    @Test
    void bothEndsUseRings() throws Exception {
        try (Broker broker = new Broker(dir, By.VERBENA); App server = broker.start(App.java(dir, By.VERBENA))) {
            produced(By.VERBENA, broker).summary().byRing(Reason.closedEarly(CLOSED_EARLY));
            consumed(By.VERBENA, broker).summary().byRing(Reason.closedEarly(CLOSED_EARLY));
            try (App in = records(By.VERBENA, "produce", broker, "t", COUNT)) {
                done(in, server).summary().byRing(Reason.closedEarly(CLOSED_EARLY));
            }
            try (App out = records(By.VERBENA, "consume", broker, "t", COUNT)) {
                done(out, server).summary().byRing(Reason.closedEarly(CLOSED_EARLY));
            }
            server.terminate(143);
            // The test that waits for the port is no Verbena.
            server.summary().byRing(Reason.closedEarly(4 * CLOSED_EARLY), Reason.plainPeersUpTo(1));
        }
    }

    @Test
    void plainClientsAreServed() throws Exception {
        // A short timeout is unsuitable for a broker, which on a slow machine would fall back on connections to itself.
        try (Broker broker = new Broker(dir, By.VERBENA);
                App server = broker.start(App.java(dir, By.VERBENA).quickStart().withDefaults())) {
            for (String what : List.of("produce", "consume")) {
                try (App client = records(By.PLAIN, what, broker, "t", COUNT)) {
                    done(client, server);
                }
            }
            server.terminate(143);
            // The connection to itself uses a ring.
            server.summary().byTcpAndRing(2L * COUNT * BYTES, 1, Reason.plainPeers(2), Reason.closedEarly(
                    CLOSED_EARLY));
        }
    }

    /** By default a client outside Java is curl, of other servers. */
    @Thorough
    @Test
    void clientOutsideJavaIsServed() throws Exception {
        Optional<Path> kcat = Machine.need("KafkaTest.clientOutsideJavaIsServed", "kcat", "kcat");
        assumeTrue(kcat.isPresent());
        try (Broker broker = new Broker(dir, By.VERBENA); App server = broker.start()) {
            try (App in = records(By.VERBENA, "produce", broker, "u", COUNT)) {
                done(in, server).summary().byRing(Reason.closedEarly(CLOSED_EARLY));
            }
            Path read = dir.resolve("read");
            try (App out = App.command(dir, "sh", "-c", "exec \"$@\" >" + read, "kcat", kcat.get().toString(), "-C",
                    "-b",
                    broker.bootstrap(), "-t", "u", "-e", "-q", "-f", "%R%s")) {
                out.awaitExit(0);
            }
            KafkaBytes.check(read, COUNT, BYTES);
            Path written = KafkaBytes.write(dir.resolve("written"), COUNT, BYTES);
            try (App in = App.command(dir, kcat.get().toString(), "-P", "-b", broker.bootstrap(), "-t", "v", "-D",
                    KafkaBytes.DELIMITER, "-l", written.toString())) {
                in.awaitExit(0);
            }
            try (App out = records(By.VERBENA, "consume", broker, "v", COUNT)) {
                done(out, server).summary().byRing(Reason.closedEarly(CLOSED_EARLY));
            }
            server.terminate(143);
            // A side of each kind, in and out.
            long half = (long) COUNT * BYTES;
            server.summary().byTcpAndRing(2 * half, 2 * half - half / 10, Reason.plainPeersUpTo(8), Reason.closedEarly(
                    8));
        }
    }

    /** By default a plain server is that of Netty, and of HTTP. */
    @Thorough
    @Test
    void plainBrokerIsReached() throws Exception {
        try (Broker broker = new Broker(dir, By.PLAIN);
                App server = broker.start();
                App in = records(App.java(dir, By.VERBENA).withPlainPeers(), "produce", broker, "t", COUNT)) {
            done(in, server).summary().byTcp(1, CLOSED_EARLY);
            try (App out = records(App.java(dir, By.VERBENA).withPlainPeers(), "consume", broker, "t", COUNT)) {
                done(out, server).summary().byTcp(1, CLOSED_EARLY);
            }
            server.terminate(143);
        }
    }

    /** The producer continues when the broker is back, and no acknowledged record is lost or duplicated. */
    @Test
    void killedBrokerIsNoticed() throws Exception {
        int count = 60_000;
        // Until its session has timed out, the broker that comes back is refused as one that is there already. The producer does
        // not pause when it is back.
        try (Broker broker = new Broker(dir, By.VERBENA, "broker.session.timeout.ms=3000",
                "broker.heartbeat.interval.ms=500");
                App first = broker.start();
                App in = records(App.java(dir, By.VERBENA).fromTheFirstByte(), "produce", broker, "t", count)) {
            in.go(in, first).await("at");
            first.kill();
            try (App second = broker.start()) {
                in.await("done");
                in.awaitExit(0);
                in.summary().byTcpAndRing(0, (long) count * BYTES / 2, Reason.closedEarly(2 * CLOSED_EARLY));
                try (App out = records(By.VERBENA, "consume", broker, "t", count)) {
                    done(out, second).summary().byRing(Reason.closedEarly(CLOSED_EARLY));
                }
                second.terminate(143);
                second.summary().byTcpAndRing(0, (long) count * BYTES, Reason.closedEarly(4 * CLOSED_EARLY),
                        Reason.plainPeersUpTo(1));
            }
        }
    }
}
