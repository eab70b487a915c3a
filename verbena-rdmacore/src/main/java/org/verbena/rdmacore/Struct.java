// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

import org.verbena.verbs.Gid;

/**
 * A C structure that is passed to a call of the control path: zeros at first, with bounds. Not safe for use by several
 * threads.
 */
final class Struct {
    private static final ValueLayout.OfLong BIG_LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(
            ByteOrder.BIG_ENDIAN);

    private final MemorySegment memory;

    Struct(Arena arena, long bytes) {
        this(arena.allocate(bytes, Long.BYTES));
    }

    private Struct(MemorySegment memory) {
        this.memory = memory;
    }

    /** A structure within this one. */
    Struct at(int offset) {
        return new Struct(memory.asSlice(offset));
    }

    long address() {
        return memory.address();
    }

    void putLong(int offset, long v) {
        memory.set(ValueLayout.JAVA_LONG, offset, v);
    }

    void putInt(int offset, int v) {
        memory.set(ValueLayout.JAVA_INT, offset, v);
    }

    void putShort(int offset, int v) {
        memory.set(ValueLayout.JAVA_SHORT, offset, (short) v);
    }

    void putByte(int offset, int v) {
        memory.set(ValueLayout.JAVA_BYTE, offset, (byte) v);
    }

    void putGid(int offset, Gid gid) {
        memory.set(BIG_LONG, offset, gid.high());
        memory.set(BIG_LONG, offset + 8, gid.low());
    }

    long getLong(int offset) {
        return memory.get(ValueLayout.JAVA_LONG, offset);
    }

    /** An integer in network order. */
    long getBigLong(int offset) {
        return memory.get(BIG_LONG, offset);
    }

    int getInt(int offset) {
        return memory.get(ValueLayout.JAVA_INT, offset);
    }

    int getShort(int offset) {
        return memory.get(ValueLayout.JAVA_SHORT, offset) & 0xffff;
    }

    int getByte(int offset) {
        return memory.get(ValueLayout.JAVA_BYTE, offset) & 0xff;
    }

    Gid getGid(int offset) {
        return new Gid(getBigLong(offset), getBigLong(offset + 8));
    }

    /** A text of {@code bytes} bytes at most, which ends with NUL if it is shorter. */
    String getText(int offset, int bytes) {
        byte[] all = memory.asSlice(offset, bytes).toArray(ValueLayout.JAVA_BYTE);
        int n = 0;
        while (n < bytes && all[n] != 0) {
            n++;
        }
        return new String(all, 0, n, StandardCharsets.UTF_8);
    }
}
