// SPDX-License-Identifier: Apache-2.0
package org.verbena.micrometer;

import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.verbena.telemetry.ObjectKinds;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.RemoteObject;

/**
 * The sums of devices, ports and the sockets of the process, over all contexts that the process has or had open: they
 * never decrease. A closed context contributes its last counts seen. For one thread at a time.
 */
final class Totals {
    /** A device or port of one context; or the sockets that one Verbena of the process publishes. */
    private record Part(Series series, long id, Instant created) {}

    private final Map<Part, Map<Integer, Long>> open = new HashMap<>();
    private final Map<Series, Map<Integer, Long>> closed = new HashMap<>();

    /** The sums, with the current objects of the process. */
    Map<Series, Map<Integer, Long>> with(List<RemoteObject> objects) {
        Set<Part> gone = new HashSet<>(open.keySet());
        for (RemoteObject o : objects) {
            if (has(o.type())) {
                Part p = new Part(Series.of(o), o.id(), o.created());
                open.put(p, Counted.values(o));
                gone.remove(p);
            }
        }
        for (Part p : gone) {
            Map<Integer, Long> last = open.remove(p);
            if (last != null) {
                add(closed, p.series, last);
            }
        }
        Map<Series, Map<Integer, Long>> sums = new HashMap<>();
        closed.forEach((s, values) -> add(sums, s, values));
        open.forEach((p, values) -> add(sums, p.series, values));
        return sums;
    }

    /** Whether objects of this type are summed up, and always have meters. */
    static boolean has(int type) {
        return type == ObjectType.DEVICE || type == ObjectType.PORT || ObjectKinds.of(type).isOfProcess();
    }

    private static void add(Map<Series, Map<Integer, Long>> to, Series series, Map<Integer, Long> values) {
        Map<Integer, Long> sum = to.computeIfAbsent(series, s -> new HashMap<>());
        values.forEach((point, v) -> sum.merge(point, v, Long::sum));
    }
}
