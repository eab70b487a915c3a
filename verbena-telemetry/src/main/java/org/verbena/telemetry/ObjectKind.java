// SPDX-License-Identifier: Apache-2.0
package org.verbena.telemetry;

import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

/**
 * A kind of object in counter files: its number and name, the sample points that it may have, and what the numbers in its
 * entries mean. A subclass overrides what is different for its kind. Immutable.
 *
 * <p>Numbers of kinds are those of the file's format, and given once: see {@code docs/counters.md}.
 */
public class ObjectKind {
    private static final int LARGE_PROVIDER_CELLS = 48;
    private static final int SMALL_PROVIDER_CELLS = 24;

    private final int type;
    private final String name;
    private final NavigableMap<Integer, String> points;

    /**
     * A kind.
     *
     * @param type its number, 0 to 255
     * @param points the names of its sample points, see {@link SamplePoints#named}
     */
    public ObjectKind(int type, String name, Map<Integer, String> points) {
        this.type = type;
        this.name = name;
        this.points = new TreeMap<>(points);
    }

    /** Its number. */
    public final int type() {
        return type;
    }

    /** Its name, for instance {@code "QP"}. */
    public final String name() {
        return name;
    }

    /** The sample points that it may have, without those that are a provider's own, in their order. */
    final Iterable<Integer> points() {
        return points.keySet();
    }

    /** The name of a sample point; null for one that the kind does not have. */
    public final @Nullable String pointName(int point) {
        return points.get(point);
    }

    /** What is counted at a sample point, for people; null if the name has to do. */
    public @Nullable String describePoint(int point) {
        return null;
    }

    /** Whether entries have {@link CounterLayout#LARGE_CELLS} cells. */
    public boolean isLarge() {
        return false;
    }

    /** How many sample points of their own providers may have. */
    public int providerPoints() {
        return 8;
    }

    /** The cell of a provider's first point. */
    final int providerCell() {
        return isLarge() ? LARGE_PROVIDER_CELLS : SMALL_PROVIDER_CELLS;
    }

    /**
     * The cells that a sum consists of, a bit each.
     *
     * @param number of a sample point, from {@link SamplePoints#SUMS} on
     */
    protected long cellsOfSum(int number) {
        return 0;
    }

    /** The kind of the objects of the same context whose cells add up with those of this one; -1 if there is none. */
    public int partType() {
        return -1;
    }

    /** Whether cells of the objects of a kind add up with those of this one, if they are of the same context. */
    public boolean isPart(int objectType) {
        return objectType == partType();
    }

    /** Whether there is one such object in a process, or for all it has of something: its values are the whole process's. */
    public boolean isOfProcess() {
        return false;
    }

    /** Whether the Flight Recorder gets its values from time to time; not if there may be thousands. */
    public boolean isRecorded() {
        return true;
    }

    /** The name of a state; empty for a kind that has none. */
    public String state(int state) {
        return "";
    }

    /** What an entry's attributes mean, by name. */
    public Map<String, Object> attributes(EntryView e) {
        return Map.of();
    }

    /**
     * What the object belongs to, mostly a device.
     *
     * @param entryName the name in the entry
     */
    public String device(String entryName) {
        return entryName;
    }

    /** What an object is called in messages. */
    public String describe(int number, String device) {
        return name + " 0x" + Integer.toHexString(number) + " of " + device;
    }

    @Override
    public final String toString() {
        return name;
    }
}
