// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

import org.jspecify.annotations.Nullable;

/**
 * The changes between two samples of a process, as rates. An object that appeared in between has counted from 0; one
 * that disappeared is not in the later sample. Immutable.
 */
final class StatDelta {
    private static final double SECOND = 1e9;

    private final StatProcess now;
    private final @Nullable StatProcess before;
    private final Map<StatObject.Key, StatObject> earlier = new HashMap<>();

    private final boolean isOld;

    private StatDelta(StatProcess now, @Nullable StatProcess before, boolean isOld) {
        this.now = now;
        this.before = before;
        this.isOld = isOld;
        if (before != null) {
            before.objects().forEach(o -> earlier.put(o.key(), o));
        }
    }

    /**
     * Changes since an earlier sample; without rates if there is none, the process is not in it, or it does not answer:
     * counters that were not gathered do not mean a rate of 0.
     */
    static StatDelta of(StatProcess now, @Nullable StatSnapshot before) {
        StatProcess same = now.silent() ? null : StatSnapshot.earlier(before, now).orElse(null);
        return new StatDelta(now, same != null && same.nanos() != now.nanos() ? same : null, false);
    }

    /** No changes. */
    static StatDelta none() {
        return new StatDelta(new StatProcess(0, "", Instant.EPOCH, 0, false, false, Map.of(), List.of()), null, false);
    }

    /**
     * What stands for the process in a sum while it does not answer: its last figures, and at the first such look its last
     * rates. Later ones do not have them: it may have stopped.
     */
    StatDelta standIn() {
        return new StatDelta(now, isOld ? null : before, true);
    }

    StatProcess process() {
        return now;
    }

    /** Whether there are rates. */
    boolean isKnown() {
        return before != null;
    }

    /** The time between the two samples; not a number if there was only one. */
    double seconds() {
        return before == null ? Double.NaN : (now.nanos() - before.nanos()) / SECOND;
    }

    /** The counts per second of a sample point of an object; not a number if that is unknown. */
    double rate(StatObject o, int point) {
        return rate(o, x -> x.value(point));
    }

    /** The same for a figure. */
    double rate(StatObject o, StatFigure figure) {
        return rate(o, x -> x.figure(figure));
    }

    /** The same for any count of an object. */
    double rate(StatObject o, ToLongFunction<StatObject> value) {
        return change(o, value) / seconds();
    }

    private double change(StatObject o, ToLongFunction<StatObject> value) {
        StatObject old = earlier.get(o.key());
        return change(value.applyAsLong(o), old == null ? 0 : value.applyAsLong(old));
    }

    /** The same for the whole process: the increase of its ports and devices. A closed one does not reduce it. */
    double rate(StatFigure figure) {
        return now.counted(figure).mapToDouble(o -> change(o, x -> x.figure(figure))).sum() / seconds();
    }

    /**
     * The increase of a counter, which wraps from 2^64-1 to 0. No counter adds half of that between two samples: one
     * that seems to did decrease, which sums may do for a moment while they are read.
     */
    static double change(long now, long before) {
        return Math.max(0, now - before);
    }
}
