// SPDX-License-Identifier: Apache-2.0
package org.verbena.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

import org.verbena.sockets.SocketObjectType;
import org.verbena.sockets.SocketSamplePoint;
import org.verbena.telemetry.CounterEntry;
import org.verbena.telemetry.CounterFile;
import org.verbena.telemetry.CounterLayout;

/** The sockets of a process as meters: the test itself publishes them. */
class SocketMetricsTest {
    private static final String SENT = "verbena.sockets.tx.ring.bytes";

    private static CounterEntry sockets() {
        return CounterFile.own().take(SocketObjectType.SOCKETS, 0, "sockets", 0, CounterLayout.SMALL_CELLS,
                1L << cell(SocketSamplePoint.SOCKETS_OPENED) | 1L << cell(SocketSamplePoint.SOCKETS_TX_RING_BYTES)
                        | 1L << cell(SocketSamplePoint.SOCKETS_BY_TCP_RULE));
    }

    private static int cell(int point) {
        return point & 0xff;
    }

    @Test
    void processSocketsHaveNoTags() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        try (VerbsMetrics metrics = VerbsMetrics.builder().snapshotLifetime(Duration.ofHours(1)).build()) {
            metrics.bindTo(registry);
            assertThat(registry.find(SENT).meters()).isEmpty();
            CounterEntry one = sockets();
            CounterEntry other = sockets();
            one.add(cell(SocketSamplePoint.SOCKETS_TX_RING_BYTES), 700);
            other.add(cell(SocketSamplePoint.SOCKETS_TX_RING_BYTES), 11);
            one.add(cell(SocketSamplePoint.SOCKETS_BY_TCP_RULE), 3);
            metrics.refresh();
            assertThat(registry.get(SENT).functionCounter().count()).isEqualTo(711);
            assertThat(registry.get("verbena.sockets.by.tcp.rule").functionCounter().count()).isEqualTo(3);
            assertThat(registry.get("verbena.sockets.opened").functionCounter().count()).isZero();
            one.close();
            other.close();
            metrics.refresh();
            Meter.Id id = registry.get(SENT).functionCounter().getId();
            assertThat(registry.get(SENT).functionCounter().count()).as("closed sockets").isEqualTo(711);
            assertThat(id.getTags()).isEmpty();
            assertThat(id.getBaseUnit()).isEqualTo("bytes");
            assertThat(id.getDescription()).isEqualTo("Bytes that programs sent and rings carried");
        }
    }
}
