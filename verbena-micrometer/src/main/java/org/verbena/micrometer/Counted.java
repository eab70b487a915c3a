// SPDX-License-Identifier: Apache-2.0
package org.verbena.micrometer;

import java.util.HashMap;
import java.util.Map;

import org.verbena.verbs.RemoteObject;

/** The counts of a {@link Series} when it was read last; of a closed object, the last counts seen. */
final class Counted {
    private volatile Map<Integer, Long> values;

    Counted(Map<Integer, Long> values) {
        this.values = values;
    }

    /** The values of an object. */
    static Map<Integer, Long> values(RemoteObject o) {
        Map<Integer, Long> values = new HashMap<>();
        for (int point : o.samplePoints()) {
            values.put(point, o.value(point));
        }
        return values;
    }

    void set(Map<Integer, Long> newer) {
        values = newer;
    }

    /** Its sample points. */
    int[] points() {
        return values.keySet().stream().mapToInt(p -> p).sorted().toArray();
    }

    /** An unsigned number of 64 bits, as precisely as a double can represent it. */
    double value(int point) {
        long v = values.getOrDefault(point, 0L);
        return v >= 0 ? v : (v >>> 1) * 2.0 + (v & 1);
    }
}
