// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import org.junit.jupiter.api.Test;

import org.verbena.micrometer.VerbsMetrics;
import org.verbena.testkit.Await;
import org.verbena.tests.cli.LeavingPeer;
import org.verbena.tests.faults.Child;
import org.verbena.tests.faults.Node;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.RemoteObject;
import org.verbena.verbs.RemoteProcess;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.WorkCompletion;

/** Real traffic between two queue pairs, as a Prometheus server sees it: exact numbers. */
class TrafficMetricsTest {
    private static final int SENDS = 5;
    private static final int BYTES = 100;
    /** The meters of failures. */
    private static final List<String> ERRORS = List.of("port_req_errors", "port_resp_errors", "port_tx_lost",
            "port_rx_lost", "device_peers_lost", "device_rejects", "device_qp_errors");

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

    @Test
    void scrapeMatchesTheTrafficOfQueuePairs() throws Exception {
        try (VerbsMetrics metrics = VerbsMetrics.builder().snapshotLifetime(Duration.ofHours(1))
                .objects(ObjectType.QP, ObjectType.CQ, ObjectType.MR).build();
                Node node = Node.open();
                ConnectionListener l = node.listen()) {
            metrics.bindTo(registry);
            Scrape before = Scrape.of(registry);
            QueuePair a = node.queuePair();
            QueuePair b = node.queuePair();
            MemoryRegion from = node.allocate(4096);
            MemoryRegion to = node.allocate(4096);
            Thread accept = Thread.ofVirtual().start(() -> {
                try {
                    Node.await(l).accept(b, ConnectionParameters.defaults());
                } catch (org.verbena.verbs.VerbsException e) {
                    throw new AssertionError(e);
                }
            });
            node.connect(a, l.localAddress().getPort());
            accept.join();
            for (int i = 0; i < SENDS; i++) {
                assertThat(b.receiveQueue().post(i, to, 0, 1024)).isZero();
                assertThat(a.sendQueue().postSend(i, SendFlags.SIGNALED, from, 0, BYTES)).isZero();
                assertThat(poll(node).status()).isZero();
                assertThat(poll(node).status()).isZero();
            }
            assertThat(a.sendQueue().postWrite(8, SendFlags.SIGNALED, from, 0, 64, to.rkey(), to.address())).isZero();
            assertThat(poll(node).status()).isZero();
            assertThat(a.sendQueue().postRead(9, SendFlags.SIGNALED, from, 0, 32, to.rkey(), to.address())).isZero();
            assertThat(poll(node).status()).isZero();
            assertThat(a.sendQueue().postRead(10, SendFlags.SIGNALED, from, 0, 32, to.rkey() + 1, to.address()))
                    .isZero();
            assertThat(poll(node).status()).isEqualTo(WcStatus.REM_ACCESS_ERR);
            Await.until(Duration.ofSeconds(60), () -> b.state() == QueuePairState.ERR, () -> "it was not told");

            metrics.refresh();
            Scrape s = Scrape.of(registry);
            assertThat(s.value(qp("tx_sends", a))).isEqualTo(SENDS);
            assertThat(s.value(qp("tx_send_bytes", a))).isEqualTo(SENDS * BYTES);
            assertThat(s.value(qp("tx_bytes", a))).isEqualTo(SENDS * BYTES + 64);
            assertThat(s.value(qp("tx_work_requests", a))).isEqualTo(SENDS + 2);
            assertThat(s.value(qp("rx_bytes", a))).isEqualTo(32);
            assertThat(s.value(qp("req_remote_access_errors", a))).isEqualTo(1);
            assertThat(s.value(qp("req_errors", a))).isEqualTo(1);
            assertThat(s.value(qp("rx_receives", b))).isEqualTo(SENDS);
            assertThat(s.value(qp("rx_write_bytes", b))).isEqualTo(64);
            assertThat(s.value(qp("rx_reads", b))).isEqualTo(1);
            assertThat(more(s, before, "port_tx_sends")).isEqualTo(SENDS);
            assertThat(more(s, before, "port_rx_receive_bytes")).isEqualTo(SENDS * BYTES);
            assertThat(more(s, before, "port_tx_write_bytes")).isEqualTo(64);
            assertThat(more(s, before, "port_req_remote_access_errors")).isEqualTo(1);
            assertThat(more(s, before, "device_connections")).isPositive();
            assertAllThere(s);
        }
    }

    @Test
    void peerThatEndsInOrderIsNoErrorAndAKilledOneIs() throws Exception {
        try (VerbsMetrics metrics = VerbsMetrics.builder().snapshotLifetime(Duration.ofHours(1)).build();
                Node node = Node.open();
                ConnectionListener l = node.listen()) {
            metrics.bindTo(registry);
            Scrape before = Scrape.of(registry);
            serve(node, l, p -> {
                p.tell("leave");
                p.awaitExit();
            });
            metrics.refresh();
            Scrape left = Scrape.of(registry);
            assertThat(ERRORS).allSatisfy(m -> assertThat(more(left, before, m)).as(m).isZero());
            assertThat(more(left, before, "port_resp_flushed")).as("of the end of a connection").isPositive();
            serve(node, l, Child::kill);
            Await.until("the lost peer is counted", () -> {
                metrics.refresh();
                return more(Scrape.of(registry), before, "device_peers_lost") == 1;
            });
            Scrape killed = Scrape.of(registry);
            assertThat(more(killed, before, "device_qp_errors")).isEqualTo(1);
            assertThat(ERRORS.stream().mapToLong(m -> more(killed, before, m)).sum()).isEqualTo(2);
        }
    }

    /** How a peer goes. */
    private interface Departure {
        void of(Child peer) throws Exception;
    }

    private static void serve(Node node, ConnectionListener l, Departure departure) throws Exception {
        try (Child peer = Child.start(LeavingPeer.class, l.localAddress().getPort())) {
            CompletableFuture<Void> gone = new CompletableFuture<>();
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    peer.await("SENT");
                    departure.of(peer);
                    gone.complete(null);
                } catch (Exception | Error e) {
                    gone.completeExceptionally(e);
                }
            });
            LeavingPeer.serve(node, l);
            gone.get(120, TimeUnit.SECONDS);
        }
    }

    /** Whatever a process shows of an object is in the scrape. */
    private static void assertAllThere(Scrape s) throws Exception {
        Map<String, Double> expected = new TreeMap<>();
        for (RemoteObject o : RemoteProcess.current().objects(0)) {
            if (o.type() == ObjectType.QP || o.type() == ObjectType.MR) {
                for (int point : o.samplePoints()) {
                    expected.put(name(SamplePoint.toString(point).toLowerCase(Locale.ROOT), o), (double) o.value(
                            point));
                }
            }
        }
        assertThat(expected).hasSizeGreaterThan(80);
        assertThat(s.values()).containsAllEntriesOf(expected);
    }

    private static String name(String metric, RemoteObject o) {
        String type = o.type() == ObjectType.QP ? ",type=\"" + o.attributes().get("type") + "\"" : "";
        return "verbena_" + metric + "_total{context=\"" + o.context() + "\",device=\"shm0\",number=\"0x"
                + Integer.toHexString(o.number()) + "\"" + type + "}";
    }

    private static String qp(String metric, QueuePair qp) throws Exception {
        RemoteObject o = RemoteProcess.current().objects(0).stream()
                .filter(x -> x.type() == ObjectType.QP && x.number() == qp.number()).findFirst().orElseThrow();
        return name("qp_" + metric, o);
    }

    private static long more(Scrape now, Scrape before, String metric) {
        String name = "verbena_" + metric + "_total{device=\"shm0\"" + (metric.startsWith("port") ? ",port=\"1\"" : "")
                + "}";
        return (long) (now.value(name) - before.value(name));
    }

    private static WorkCompletion poll(Node node) {
        WorkCompletion[] one = WorkCompletion.array(1);
        Await.until(Duration.ofSeconds(60), () -> node.cq.poll(one) == 1, () -> "no completion");
        return one[0];
    }
}
