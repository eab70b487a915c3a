// SPDX-License-Identifier: Apache-2.0
package org.verbena.telemetry;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * An entry of a counter file as it was read. Whatever the bytes are, they make some entry or none.
 *
 * @param sequence odd
 * @param changes of an entry in which others add up, see {@link CounterLayout}
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record EntryView(long id, long sequence, int type, int number, int state, long context, long counted,
        long changes,
        long created, long[] attributes, String name, long[] cells) {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

    /** The entries that are in use of a chunk; places rest so long between two objects that none is read half and half. */
    static List<EntryView> ofChunk(MemorySegment chunk, long id) throws CounterFormatException {
        int size = chunk.get(INT, 0);
        if (size == 0) {
            return List.of(); // about to be used
        }
        if (size != CounterLayout.SMALL_ENTRY && size != CounterLayout.LARGE_ENTRY) {
            throw new CounterFormatException("a chunk has entries of " + size + " bytes");
        }
        List<EntryView> all = new ArrayList<>();
        for (long at = size; at + size <= chunk.byteSize(); at += size) {
            MemorySegment entry = chunk.asSlice(at, size);
            if ((entry.get(LONG, CounterLayout.SEQUENCE) & 1) != 0) {
                all.add(of(entry, id + at));
            }
        }
        return all;
    }

    /** An entry read again; null if it is another object's by now. */
    static @Nullable EntryView again(MemorySegment entry, EntryView earlier) {
        EntryView now = of(entry, earlier.id);
        return now.sequence == earlier.sequence && now.type == earlier.type ? now : null;
    }

    /** True if an entry that was read again has not changed hands. */
    static boolean isStill(MemorySegment entry, EntryView earlier) {
        return entry.get(LONG, CounterLayout.SEQUENCE) == earlier.sequence;
    }

    private static EntryView of(MemorySegment e, long id) {
        long[] attributes = new long[CounterLayout.MAX_ATTRIBUTES];
        for (int i = 0; i < attributes.length; i++) {
            attributes[i] = e.get(LONG, CounterLayout.ATTRIBUTES + Long.BYTES * (long) i);
        }
        boolean large = e.byteSize() == CounterLayout.LARGE_ENTRY;
        long[] cells = new long[large ? CounterLayout.LARGE_CELLS : CounterLayout.SMALL_CELLS];
        for (int i = 0; i < cells.length; i++) {
            cells[i] = e.get(LONG, CounterLayout.CELLS + Long.BYTES * (long) i);
        }
        long counted = e.get(LONG, CounterLayout.COUNTED) & (large ? -1 : (1L << CounterLayout.SMALL_CELLS) - 1);
        return new EntryView(id, e.get(LONG, CounterLayout.SEQUENCE), e.get(INT, CounterLayout.TYPE),
                e.get(INT, CounterLayout.NUMBER), e.get(INT, CounterLayout.STATE), e.get(LONG, CounterLayout.CONTEXT),
                counted, e.get(LONG, CounterLayout.CHANGES), e.get(LONG, CounterLayout.CREATED), attributes,
                text(e, CounterLayout.NAME, CounterLayout.MAX_NAME), cells);
    }

    /** A text with its length before it; as much as can be there. */
    static String text(MemorySegment from, long at, int max) {
        int n = Math.clamp(from.get(INT, at), 0, max);
        byte[] bytes = from.asSlice(at + 4, n).toArray(ValueLayout.JAVA_BYTE);
        return new String(bytes, StandardCharsets.UTF_8).replaceAll("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]", "?");
    }

    /** The sum of cells, a bit each. */
    public static long sum(long[] cells, long mask) {
        long sum = 0;
        for (long m = mask; m != 0; m &= m - 1) {
            sum += cells[Long.numberOfTrailingZeros(m)];
        }
        return sum;
    }

    /** The same with the cells of its parts, see {@link ObjectKind#isPart}. */
    EntryView withSums(List<EntryView> ofContext) {
        ObjectKind kind = kind();
        long[] sums = cells.clone();
        for (EntryView part : ofContext) {
            if (kind.isPart(part.type) && part.cells.length == cells.length) {
                for (int i = 0; i < sums.length; i++) {
                    sums[i] += part.cells[i];
                }
            }
        }
        return new EntryView(id, sequence, type, number, state, context, counted, changes, created, attributes, name,
                sums);
    }

    /** Whether other entries add up with this one. */
    boolean hasParts() {
        return kind().partType() >= 0;
    }

    /** What kind of object it is of. */
    public ObjectKind kind() {
        return ObjectKinds.of(type);
    }

    /** Whether this is the same object at another time. */
    public boolean isSame(EntryView other) {
        return other.id == id && other.sequence == sequence;
    }
}
