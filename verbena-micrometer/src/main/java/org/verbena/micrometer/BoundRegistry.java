// SPDX-License-Identifier: Apache-2.0
package org.verbena.micrometer;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;

import org.verbena.verbs.ObjectType;

/** The meters in one registry. For one thread at a time. */
final class BoundRegistry {
    /** The object types whose number of open objects is a gauge. */
    private static final int[] KINDS = {ObjectType.DEVICE, ObjectType.PD, ObjectType.MR, ObjectType.CQ, ObjectType.SRQ,
        ObjectType.QP};

    private final VerbsMetrics metrics;
    private final MeterRegistry registry;
    private final Tags tags;
    private final List<Meter> always = new ArrayList<>();
    private final Map<Series, List<Meter>> meters = new HashMap<>();

    BoundRegistry(VerbsMetrics metrics, MeterRegistry registry, Tags tags) {
        this.metrics = metrics;
        this.registry = registry;
        this.tags = tags;
        for (int type : KINDS) {
            always.add(Gauge.builder(MetricTable.PREFIX + "objects", metrics, m -> m.open(type))
                    .description("Verbs objects that are open; a DEVICE is a context")
                    .tags(tags.and("type", ObjectType.toString(type))).strongReference(true).register(registry));
        }
    }

    boolean isFor(MeterRegistry other) {
        return registry == other;
    }

    boolean isClosed() {
        return registry.isClosed();
    }

    /** Removes the meters of objects that are gone, adds those of new ones. */
    void update(Map<Series, Counted> snapshot) {
        meters.entrySet().removeIf(e -> {
            boolean gone = !snapshot.containsKey(e.getKey());
            if (gone) {
                e.getValue().forEach(registry::remove);
            }
            return gone;
        });
        snapshot.forEach((series, counted) -> meters.computeIfAbsent(series, s -> register(s, counted)));
    }

    private List<Meter> register(Series series, Counted counted) {
        List<Meter> all = new ArrayList<>();
        for (int point : counted.points()) {
            // The meter refers to the function's object weakly only
            all.add(FunctionCounter.builder(MetricTable.name(point), counted, c -> metrics.value(counted, point))
                    .description(MetricTable.description(point)).baseUnit(MetricTable.unit(point))
                    .tags(tags.and(series.tags())).register(registry));
        }
        return all;
    }

    void removeAll() {
        update(Map.of());
        always.forEach(registry::remove);
        always.clear();
    }
}
