// SPDX-License-Identifier: Apache-2.0
package org.verbena.telemetry;

import java.nio.charset.StandardCharsets;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.RawMemory;

/**
 * What a process publishes of one object, an entry of the {@link CounterFile}: its description, and a cell for each
 * counter. Cells are plain words in mapped memory with one writer each, which stores a new value at each event:
 * counting costs one store. An entry stays mapped until the process ends, and is reused for another object after {@link
 * #close()}.
 */
public final class CounterEntry {
    private final CounterFile file;
    private final long id;
    private final long address;
    private final int cells;
    private final int type;
    private final long context;
    /** In which this one's counts are kept when it is closed; null if they are lost. Under the file's lock. */
    private @Nullable CounterEntry total;
    private boolean closed;

    CounterEntry(CounterFile file, long id, long address, int cells, int type, long context) {
        this.file = file;
        this.id = id;
        this.address = address;
        this.cells = cells;
        this.type = type;
        this.context = context == 0 ? id : context;
    }

    /** The entry's offset in the file, by which other entries and other processes name it; unique while it is open. */
    public long id() {
        return id;
    }

    /** Kind of the object, see {@link ObjectKind}. */
    public int type() {
        return type;
    }

    /** Whether other processes can see it. */
    public boolean isVisible() {
        return id < CounterFile.PRIVATE;
    }

    /** The entry of the object's context; its own if it is a context. */
    public long context() {
        return context;
    }

    /**
     * Where a cell lies, for {@link RawMemory}: good until {@link #close()}.
     *
     * @param cell its index
     */
    public long cell(int cell) {
        return address + CounterLayout.CELLS + Long.BYTES * (long) Objects.checkIndex(cell, cells);
    }

    /** Adds to a cell; for what happens seldom, from any thread. */
    public void add(int cell, long n) {
        RawMemory.getAndAddLong(cell(cell), n);
    }

    /** Stores a number that was gathered, unless the cell is beyond it: cells never fall. One thread at a time. */
    public void raise(int cell, long value) {
        long at = cell(cell);
        if (value - RawMemory.getLong(at) > 0) {
            RawMemory.putLong(at, value);
        }
    }

    /** The sum of some cells, a bit each; any thread may ask. */
    public long sum(long mask) {
        long sum = 0;
        for (long m = mask; m != 0; m &= m - 1) {
            sum += RawMemory.getLongOpaque(cell(Long.numberOfTrailingZeros(m)));
        }
        return sum;
    }

    /** The cells that are counted, a bit each. */
    public long counted() {
        return RawMemory.getLongOpaque(address + CounterLayout.COUNTED);
    }

    /** Sets the object's state, as its type counts states. */
    public void setState(int state) {
        RawMemory.putIntRelease(address + CounterLayout.STATE, state);
    }

    /** Sets an attribute; which one means what is the type's. */
    public void setAttribute(int index, long value) {
        RawMemory.putLongRelease(address + CounterLayout.ATTRIBUTES
                + Long.BYTES * (long) Objects.checkIndex(index, CounterLayout.MAX_ATTRIBUTES), value);
    }

    /**
     * Has what is counted here added to another entry of the context when this one is closed, as a {@linkplain
     * ObjectKind#partType part}'s to the whole.
     */
    public void addUpIn(CounterEntry whole) {
        synchronized (file) {
            total = whole;
        }
    }

    /** See {@link #addUpIn}; under the file's lock. */
    @Nullable
    CounterEntry total() {
        return total;
    }

    boolean isClosed() {
        return closed;
    }

    boolean isLarge() {
        return cells == CounterLayout.LARGE_CELLS;
    }

    long address() {
        return address;
    }

    /** Makes the entry an object's; under the file's lock. */
    void begin(int number, String name, long counted, long created) {
        RawMemory.fill(address + 8, CounterLayout.CELLS - 8 + (long) Long.BYTES * cells, (byte) 0);
        RawMemory.putInt(address + CounterLayout.TYPE, type);
        RawMemory.putInt(address + CounterLayout.NUMBER, number);
        RawMemory.putLong(address + CounterLayout.CONTEXT, context);
        RawMemory.putLong(address + CounterLayout.COUNTED, counted);
        RawMemory.putLong(address + CounterLayout.CREATED, created);
        putText(address + CounterLayout.NAME, name, CounterLayout.MAX_NAME);
        RawMemory.putLongRelease(address + CounterLayout.SEQUENCE, RawMemory.getLong(address) + 1);
    }

    /** Frees the entry; under the file's lock. */
    void end() {
        RawMemory.putLongVolatile(address + CounterLayout.SEQUENCE, RawMemory.getLong(address) + 1);
    }

    /** Stores a length and as much of a text as fits. */
    static void putText(long at, String text, int max) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int n = Math.min(bytes.length, max);
        while (n > 0 && n < bytes.length && (bytes[n] & 0xc0) == 0x80) {
            n--; // not in the middle of a character
        }
        RawMemory.putInt(at, n);
        for (int i = 0; i < n; i++) {
            RawMemory.putByte(at + 4 + i, bytes[i]);
        }
    }

    /** The object is no more. What it counted is added first to the entry that it {@linkplain #addUpIn adds up in}. */
    public void close() {
        synchronized (file) {
            if (!closed) {
                closed = true;
                file.give(this);
            }
        }
    }
}
