// SPDX-License-Identifier: Apache-2.0
package org.verbena.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.verbena.erm.RemoteMemorySamplePoint;
import org.verbena.sockets.SocketObjectType;
import org.verbena.sockets.SocketSamplePoint;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.SamplePoint;

class MetricTableTest {
    /** A sample point that is added to the API needs a line here too. */
    @Test
    void everySamplePointHasADescription() throws IllegalAccessException {
        List<String> without = new ArrayList<>();
        int known = 0;
        List<Field> all = Stream.of(SamplePoint.class, SocketSamplePoint.class, RemoteMemorySamplePoint.class)
                .flatMap(c -> Stream.of(c.getFields())).filter(f -> !f.getName().equals("OBJECT_TYPE")).toList();
        for (Field f : all) {
            int point = f.getInt(null);
            boolean one = Set.of(SocketObjectType.CONNECTION, SocketObjectType.LISTENER, SocketObjectType.RULE,
                    SocketObjectType.RULE_COUNTER)
                    .contains(SamplePoint.objectType(point)); // which have no metrics
            if (f.getName().contains("_") && !one) { // not those of flows, nor PORT and PROVIDER
                known++;
                if (!MetricTable.knows(point)) {
                    without.add(f.getName());
                }
            }
        }
        assertThat(known).isGreaterThan(60);
        assertThat(without).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"0x181, verbena.qp.tx.bytes, bytes", "0x581, verbena.port.tx.bytes, bytes",
        "0x500, verbena.port.tx.sends, ", "0x605, verbena.device.qp.errors, ", "0x203, verbena.cq.events, ",
        "0x401, verbena.mr.remote.write.bytes, bytes", "0x40000203, verbena.cq.provider.3, ",
        "0x40000502, verbena.port.provider.2, ", "0x17f, verbena.qp.point.127, "})
    void nameIsThatOfTheSamplePoint(String point, String name, String unit) {
        int p = Integer.decode(point);
        assertThat(MetricTable.name(p)).isEqualTo(name);
        assertThat(MetricTable.unit(p)).isEqualTo(unit);
    }

    @Test
    void portPointHasDescriptionOfQueuePairPoint() {
        assertThat(MetricTable.description(SamplePoint.PORT + SamplePoint.QP_TX_BYTES))
                .isEqualTo(MetricTable.description(SamplePoint.QP_TX_BYTES)).startsWith("Outgoing bytes");
        assertThat(MetricTable.description(SamplePoint.ofProvider(ObjectType.PORT, 2))).isEqualTo(
                "Sample point 0x40000502");
    }
}
