// SPDX-License-Identifier: Apache-2.0
package org.verbena.telemetry;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;

/**
 * How the numbers of sample points are made: bits 8 to 15 are the object type, bits 0 to 7 the number among the points
 * of that type. Numbers below {@link #SUMS} have the cell of that number, modulo {@link CounterLayout#LARGE_CELLS};
 * others are sums.
 */
public final class SamplePoints {
    /** Numbers with this bit are the provider's own. */
    public static final int PROVIDER = 1 << 30;
    /** From this number on points are sums of cells. */
    public static final int SUMS = 0x80;

    private static final int TYPE_SHIFT = 8;
    private static final int TYPE_MASK = 0xff;
    private static final int NUMBER_MASK = 0xff;

    private SamplePoints() {}

    /** The kind of object that has the point. */
    public static int objectType(int point) {
        return (point & ~PROVIDER) >>> TYPE_SHIFT;
    }

    /**
     * A provider's own point of an object type.
     *
     * @throws IndexOutOfBoundsException for a number that is not less than {@link ObjectKind#providerPoints}
     */
    public static int ofProvider(int objectType, int number) {
        Objects.checkIndex(number, ObjectKinds.of(objectType).providerPoints());
        Objects.checkIndex(objectType, TYPE_MASK + 1);
        return PROVIDER | objectType << TYPE_SHIFT | number;
    }

    /** The name of a point, or its number if it is unknown here. */
    public static String toString(int point) {
        String name = ObjectKinds.of(objectType(point)).pointName(point);
        return name == null ? "0x" + Integer.toHexString(point) : name;
    }

    /**
     * The names of the points of a kind, by point.
     *
     * @param constants a class that has a constant for each, which is public and in an exported package
     * @param prefix what the names of the kind's constants begin with
     */
    public static Map<Integer, String> named(Class<?> constants, int objectType, String prefix) {
        Map<Integer, String> names = new TreeMap<>();
        try {
            for (Field f : constants.getFields()) {
                if (f.getType() == int.class && Modifier.isStatic(f.getModifiers()) && f.getName().startsWith(prefix)) {
                    int point = f.getInt(null);
                    if (objectType(point) == objectType && (point & PROVIDER) == 0) {
                        names.put(point, f.getName());
                    }
                }
            }
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
        return names;
    }

    /**
     * The cells of an object's entry that make up a point, a bit each.
     *
     * @return 0 for an unknown number
     */
    public static long cells(int point) {
        int number = point & NUMBER_MASK;
        int type = objectType(point);
        if (type > TYPE_MASK || point < 0) {
            return 0;
        }
        ObjectKind kind = ObjectKinds.of(type);
        if ((point & PROVIDER) != 0) {
            return number < kind.providerPoints() ? 1L << number + kind.providerCell() : 0;
        }
        if (kind.pointName(point) == null) {
            return 0;
        }
        return number < SUMS ? 1L << number : kind.cellsOfSum(number);
    }

    /**
     * The cells that make up a point of an object which has only some: a sum goes over those that it has.
     *
     * @return 0 if the object has no such point
     */
    public static long cells(int point, long counted) {
        long cells = cells(point);
        boolean sum = (point & PROVIDER) == 0 && (point & NUMBER_MASK) >= SUMS;
        return sum || (cells & counted) == cells ? cells & counted : 0;
    }

    /** The points of an object type that consist of some of these cells only. */
    public static int[] points(int objectType, long cells) {
        if (objectType < 0 || objectType > TYPE_MASK) {
            return new int[0]; // another process says what it likes
        }
        ObjectKind kind = ObjectKinds.of(objectType);
        IntStream standard = StreamSupport.stream(kind.points().spliterator(), false).mapToInt(p -> p);
        IntStream own = IntStream.range(0, kind.providerPoints()).map(n -> ofProvider(objectType, n));
        return IntStream.concat(standard, own).filter(p -> cells(p, cells) != 0).toArray();
    }

    /** Cells of points that have one of their own, a bit each. */
    public static long bits(int... points) {
        long mask = 0;
        for (int p : points) {
            mask |= 1L << p; // the number's low 6 bits
        }
        return mask;
    }

    /** Cells of points from one to another. */
    public static long range(int first, int last) {
        long mask = 0;
        for (int p = first; p <= last; p++) {
            mask |= 1L << p;
        }
        return mask;
    }
}
