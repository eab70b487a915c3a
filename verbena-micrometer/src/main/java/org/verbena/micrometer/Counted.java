// SPDX-License-Identifier: Apache-2.0
package org.verbena.micrometer;

import java.util.HashMap;
import java.util.Map;

import org.verbena.verbs.RemoteObject;

/** What was counted of a {@link Series} when it was looked at last; of an object that is closed, what was seen of it. */
final class Counted {
    private volatile Map<Integer, Long> values;

    Counted(Map<Integer, Long> values) {
        this.values = values;
    }

    /** What an object says. */
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

    /** The sample points that it has. */
    int[] points() {
        return values.keySet().stream().mapToInt(p -> p).sorted().toArray();
    }

    /** An unsigned number of 64 bits, as well as a double can say it. */
    double value(int point) {
        long v = values.getOrDefault(point, 0L);
        return v >= 0 ? v : (v >>> 1) * 2.0 + (v & 1);
    }
}
