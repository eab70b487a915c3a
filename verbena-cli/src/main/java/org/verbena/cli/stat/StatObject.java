// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.time.Instant;
import java.util.Arrays;
import java.util.Map;

import org.verbena.verbs.RemoteObject;

/**
 * A verbs object of a sample. Immutable.
 *
 * @param id as {@link RemoteObject#id()}
 * @param name for people, see {@link StatNames}; no other object of the sample has it
 * @param points the sample points that are counted for it, ascending
 * @param values the count at each, unsigned
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record StatObject(long id, String name, int type, int number, long context, String device, String state,
        Instant created, Map<String, Object> attributes, int[] points, long[] values) {

    /** Identifies the same object in another sample. */
    record Key(long id, int type, int number, Instant created) {}

    Key key() {
        return new Key(id, type, number, created);
    }

    /** Whether this sample point is counted for it. */
    boolean has(int point) {
        return Arrays.binarySearch(points, point) >= 0;
    }

    /** The count at a sample point, unsigned; 0 if that is not counted. */
    public long value(int point) {
        int i = Arrays.binarySearch(points, point);
        return i < 0 ? 0 : values[i];
    }

    /** Whether any sample point of a figure is counted for it. */
    boolean has(StatFigure figure) {
        for (int point : figure.points(type)) {
            if (has(point)) {
                return true;
            }
        }
        return false;
    }

    /** The sum of a figure's points, unsigned. */
    long figure(StatFigure figure) {
        long sum = 0;
        for (int point : figure.points(type)) { // asked for each of thousands of objects
            sum += value(point);
        }
        return sum;
    }
}
