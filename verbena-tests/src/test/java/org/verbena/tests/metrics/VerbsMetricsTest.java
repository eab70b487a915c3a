// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.verbena.micrometer.VerbsMetrics;
import org.verbena.telemetry.CounterEntry;
import org.verbena.telemetry.CounterFile;
import org.verbena.testkit.Await;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.SamplePoint;

/** The counters of this process as meters, seen in the response of a Prometheus registry. */
class VerbsMetricsTest {
    private static final int[] OBJECTS = {ObjectType.QP, ObjectType.CQ, ObjectType.SRQ, ObjectType.MR};

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

    @AfterEach
    void close() {
        registry.close();
    }

    /** Never samples on its own while a test runs. */
    private static VerbsMetrics.Builder still() {
        return VerbsMetrics.builder().snapshotLifetime(Duration.ofHours(1));
    }

    private Scrape scrape(VerbsMetrics metrics) {
        metrics.refresh();
        return Scrape.of(registry);
    }

    @Test
    void devicesAndPortsAreShownByDefault() {
        try (Shown a = new Shown("a0"); VerbsMetrics metrics = new VerbsMetrics()) {
            CounterEntry qp = a.object(ObjectType.QP, 0x11, SamplePoint.QP_TX_SEND_BYTES);
            Shown.count(a.device, SamplePoint.DEVICE_PEERS, 3);
            Shown.count(a.port, SamplePoint.QP_TX_SENDS, 7);
            Shown.count(a.port, SamplePoint.QP_TX_SEND_BYTES, 700);
            Shown.count(qp, SamplePoint.QP_TX_SEND_BYTES, 11);
            metrics.bindTo(registry);

            Scrape s = scrape(metrics);
            assertThat(s.value("verbena_device_peers_total{device=\"a0\"}")).isEqualTo(3);
            assertThat(s.value("verbena_device_wake_ups_total{device=\"a0\"}")).isZero();
            assertThat(s.value("verbena_port_tx_sends_total{device=\"a0\",port=\"1\"}")).isEqualTo(7);
            assertThat(s.value("verbena_port_tx_send_bytes_total{device=\"a0\",port=\"1\"}")).isEqualTo(711);
            assertThat(s.value("verbena_objects{type=\"QP\"}")).isEqualTo(1);
            assertThat(s.values().keySet()).noneMatch(n -> n.startsWith("verbena_qp_"));
            assertThat(s.types()).containsEntry("verbena_port_tx_send_bytes_total", "counter").containsEntry(
                    "verbena_objects", "gauge");
            assertThat(s.help()).containsEntry("verbena_port_tx_send_bytes_total", "Bytes of SENDs and datagrams")
                    .containsEntry("verbena_device_peers_total", "Peers that a connection was set up with");
        }
    }

    @Test
    void objectsAreShownOnRequestWhileTheyExist() {
        try (Shown a = new Shown("a0"); VerbsMetrics metrics = still().objects(OBJECTS).build()) {
            metrics.bindTo(registry);
            String of = "{context=\"" + a.device.id() + "\",device=\"a0\",number=\"0x11\"}";
            String qpOf = "{context=\"" + a.device.id() + "\",device=\"a0\",number=\"0x11\",type=\"RC\"}";
            CounterEntry qp = a.object(ObjectType.QP, 0x11, SamplePoint.QP_TX_RNR_WAITS);
            qp.setAttribute(0, org.verbena.verbs.QueuePairType.RC);
            CounterEntry cq = a.object(ObjectType.CQ, 0x11, SamplePoint.CQ_COMPLETIONS);
            CounterEntry srq = a.object(ObjectType.SRQ, 0x11, SamplePoint.SRQ_POSTED);
            CounterEntry mr = a.object(ObjectType.MR, 0x11, SamplePoint.MR_REMOTE_READ_BYTES);
            Shown.count(qp, SamplePoint.QP_TX_RNR_WAITS, 1);
            Shown.count(cq, SamplePoint.CQ_COMPLETIONS, 2);
            Shown.count(srq, SamplePoint.SRQ_POSTED, 3);
            Shown.count(mr, SamplePoint.MR_REMOTE_READ_BYTES, 4);

            Scrape s = scrape(metrics);
            assertThat(s.value("verbena_qp_tx_rnr_waits_total" + qpOf)).isEqualTo(1);
            assertThat(s.value("verbena_cq_completions_total" + of)).isEqualTo(2);
            assertThat(s.value("verbena_srq_posted_total" + of)).isEqualTo(3);
            assertThat(s.value("verbena_mr_remote_read_bytes_total" + of)).isEqualTo(4);
            assertThat(s.value("verbena_objects{type=\"SRQ\"}")).isEqualTo(1);

            cq.close();
            mr.close();
            s = scrape(metrics);
            assertThat(s.values().keySet()).noneMatch(n -> n.startsWith("verbena_cq_") || n.startsWith("verbena_mr_"));
            assertThat(s.value("verbena_qp_tx_rnr_waits_total" + qpOf)).isEqualTo(1);
            assertThat(s.value("verbena_objects{type=\"CQ\"}")).isZero();
        }
    }

    /** The place and the number of an object that was closed are used again: the meter is not the old one. */
    @Test
    void objectReusingANumberStartsAtZero() {
        try (Shown a = new Shown("a0"); VerbsMetrics metrics = still().objects(ObjectType.CQ).build()) {
            metrics.bindTo(registry);
            for (double n = 5; n > 2; n--) {
                double expected = n;
                CounterEntry cq = a.object(ObjectType.CQ, 1, SamplePoint.CQ_EVENTS);
                Shown.count(cq, SamplePoint.CQ_EVENTS, (long) n);
                assertThat(scrape(metrics).values().entrySet())
                        .filteredOn(e -> e.getKey().startsWith("verbena_cq_events_total")).hasSize(1)
                        .allSatisfy(e -> assertThat(e.getValue()).isEqualTo(expected));
                cq.close();
            }
        }
    }

    @Test
    void contextsOfADeviceAddUpAndTheirSumNeverDecreases() {
        String sends = "verbena_port_tx_sends_total{device=\"a0\",port=\"1\"}";
        try (VerbsMetrics metrics = still().build(); Shown b = new Shown("a0")) {
            metrics.bindTo(registry);
            try (Shown a = new Shown("a0")) {
                Shown.count(a.port, SamplePoint.QP_TX_SENDS, 100);
                Shown.count(b.port, SamplePoint.QP_TX_SENDS, 1);
                assertThat(scrape(metrics).value(sends)).isEqualTo(101);
            }
            assertThat(scrape(metrics).value(sends)).isEqualTo(101);
            Shown.count(b.port, SamplePoint.QP_TX_SENDS, 1);
            try (Shown c = new Shown("a0")) {
                Shown.count(c.port, SamplePoint.QP_TX_SENDS, 1000);
                assertThat(scrape(metrics).value(sends)).isEqualTo(1102);
            }
            assertThat(scrape(metrics).value(sends)).isEqualTo(1102);
        }
    }

    @Test
    void valuesAreUnsigned() {
        try (Shown a = new Shown("a0"); VerbsMetrics metrics = new VerbsMetrics()) {
            metrics.bindTo(registry);
            Shown.count(a.device, SamplePoint.DEVICE_PEERS, -1);
            assertThat(scrape(metrics).value("verbena_device_peers_total{device=\"a0\"}")).isEqualTo(0x1p64);
        }
    }

    @Test
    void allMetersShareOneSample() {
        AtomicInteger looks = new AtomicInteger();
        Runnable end = CounterFile.own().onGather(looks::incrementAndGet);
        try (Shown a = new Shown("a0"); VerbsMetrics metrics = still().objects(OBJECTS).build()) {
            for (int i = 0; i < 50; i++) {
                a.object(ObjectType.QP, i, SamplePoint.QP_TX_SENDS);
            }
            metrics.bindTo(registry);
            assertThat(looks).hasValue(1);
            assertThat(Scrape.of(registry).values()).hasSizeGreaterThan(50);
            assertThat(looks).hasValue(1);
            metrics.refresh();
            assertThat(looks).hasValue(2);
        } finally {
            end.run();
        }
    }

    @Test
    void expiredSampleIsRefreshedOnRequest() {
        try (Shown a = new Shown("a0");
                VerbsMetrics metrics = VerbsMetrics.builder().snapshotLifetime(Duration.ZERO).build()) {
            metrics.bindTo(registry);
            for (int i = 1; i <= 3; i++) {
                Shown.count(a.device, SamplePoint.DEVICE_PEERS, 2);
                assertThat(Scrape.of(registry).value("verbena_device_peers_total{device=\"a0\"}")).isEqualTo(2 * i);
            }
            try (Shown b = new Shown("b0")) {
                Shown.count(b.device, SamplePoint.DEVICE_PEERS, 1);
                Await.until(Duration.ofSeconds(60), () -> Scrape.of(registry).values()
                        .containsKey("verbena_device_peers_total{device=\"b0\"}"), () -> "b0 does not appear");
            }
        }
    }

    @Test
    void closingTheBinderRemovesItsMetersOnly() {
        MeterRegistry simple = new SimpleMeterRegistry();
        try (Shown a = new Shown("a0"); VerbsMetrics other = still().tags(Tags.of("part", "x")).build()) {
            Shown.count(a.device, SamplePoint.DEVICE_PEERS, 9);
            other.bindTo(simple);
            VerbsMetrics metrics = still().build();
            metrics.bindTo(registry);
            metrics.bindTo(registry);
            metrics.bindTo(simple);
            assertThat(registry.getMeters()).isNotEmpty();
            int all = simple.getMeters().size();
            metrics.close();
            metrics.close();
            assertThat(registry.getMeters()).isEmpty();
            assertThat(simple.getMeters()).hasSize(all / 2);
            assertThat(simple.get("verbena.device.peers").tag("part", "x").functionCounter().count()).isEqualTo(9);
            metrics.bindTo(registry);
            assertThat(registry.get("verbena.device.peers").functionCounter().count()).isEqualTo(9);
            metrics.close();
        }
    }

    @Test
    void unreferencedBinderLivesAsLongAsItsRegistry() {
        try (Shown a = new Shown("a0")) {
            WeakReference<VerbsMetrics> metrics = bound();
            for (int i = 0; i < 3; i++) {
                System.gc();
            }
            assertThat(metrics.get()).isNotNull();
            Shown.count(a.device, SamplePoint.DEVICE_PEERS, 4);
            assertThat(Scrape.of(registry).value("verbena_device_peers_total{device=\"a0\"}")).isEqualTo(4);
        }
    }

    private WeakReference<VerbsMetrics> bound() {
        VerbsMetrics metrics = VerbsMetrics.builder().snapshotLifetime(Duration.ZERO).build();
        metrics.bindTo(registry);
        return new WeakReference<>(metrics);
    }

    @Test
    void closedRegistryIsReleased() {
        try (Shown a = new Shown("a0"); VerbsMetrics metrics = still().objects(OBJECTS).build()) {
            SimpleMeterRegistry closed = new SimpleMeterRegistry();
            metrics.bindTo(closed);
            closed.close();
            metrics.refresh();
            int before = closed.getMeters().size();
            a.object(ObjectType.QP, 1, SamplePoint.QP_TX_SENDS);
            metrics.refresh();
            assertThat(closed.getMeters()).hasSize(before);
        }
    }

    /** Objects are created and closed, several threads scrape and bind: each scrape is complete. */
    @Test
    void scrapesMayRunWhileObjectsAreCreatedAndClosed() {
        try (Shown a = new Shown("a0");
                VerbsMetrics metrics = VerbsMetrics.builder().snapshotLifetime(Duration.ZERO).objects(OBJECTS)
                        .build()) {
            metrics.bindTo(registry);
            List<CompletableFuture<Void>> all = List.of(
                    task(() -> {
                        for (int i = 0; i < 20_000; i++) {
                            CounterEntry qp = a.object(ObjectType.QP, i % 7, SamplePoint.QP_TX_SENDS);
                            Shown.count(qp, SamplePoint.QP_TX_SENDS, 1);
                            Shown.count(a.port, SamplePoint.QP_TX_SEND_BYTES, 1);
                            qp.close();
                        }
                    }), task(() -> scrapeOften()), task(() -> scrapeOften()), task(() -> {
                        for (int i = 0; i < 20; i++) {
                            SimpleMeterRegistry another = new SimpleMeterRegistry();
                            metrics.bindTo(another);
                            another.close();
                        }
                    }));
            all.forEach(CompletableFuture::join);
            Scrape s = scrape(metrics);
            assertThat(s.value("verbena_port_tx_sends_total{device=\"a0\",port=\"1\"}")).isEqualTo(20_000);
            assertThat(s.value("verbena_port_tx_send_bytes_total{device=\"a0\",port=\"1\"}")).isEqualTo(20_000);
            assertThat(s.values().keySet()).noneMatch(n -> n.startsWith("verbena_qp_"));
        }
    }

    private static CompletableFuture<Void> task(Runnable r) {
        return CompletableFuture.runAsync(r, t -> Thread.ofPlatform().daemon().start(t));
    }

    private void scrapeOften() {
        String sends = "verbena_port_tx_sends_total{device=\"a0\",port=\"1\"}";
        double last = 0;
        for (int i = 0; i < 40; i++) {
            double now = Scrape.of(registry).value(sends);
            assertThat(now).isGreaterThanOrEqualTo(last);
            last = now;
        }
    }

    @Test
    void invalidArgumentsAreRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> VerbsMetrics.builder().objects(ObjectType.PD))
                .withMessageContaining("PD").withMessageContaining("QP, CQ, SRQ and MR");
        assertThatIllegalArgumentException().isThrownBy(() -> VerbsMetrics.builder().snapshotLifetime(Duration.ofNanos(
                -1)));
    }
}
