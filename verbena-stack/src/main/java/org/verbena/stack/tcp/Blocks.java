// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;

import org.jspecify.annotations.Nullable;

import org.verbena.stack.model.TcpSettings;

/** Memory for the data of all connections, in blocks of powers of two, within a limit. Blocks that were given back are used again. */
final class Blocks {
    static final int LEAST = 1 << 12;
    static final int MOST = TcpSettings.MOST_BUFFER;

    private static final int FIRST_BITS = Integer.numberOfTrailingZeros(LEAST);
    private static final int SIZES = Integer.numberOfTrailingZeros(MOST) - FIRST_BITS + 1;
    /** Of the limit this part is kept in blocks that nobody has; others are left to the garbage collector. */
    private static final int KEPT_PART = 4;

    /**
     * A block.
     *
     * @param memory all of it
     * @param bytes the same, for copies from and to buffers
     */
    record Block(MemorySegment memory, ByteBuffer bytes) {
        int size() {
            return bytes.capacity();
        }
    }

    private final ArrayDeque<Block>[] free;
    private final long most;
    private long used;
    private long kept;

    @SuppressWarnings({"unchecked", "rawtypes"}) // an array of a generic type
    Blocks(long most) {
        this.most = most;
        free = new ArrayDeque[SIZES];
        for (int i = 0; i < SIZES; i++) {
            free[i] = new ArrayDeque<>();
        }
    }

    /** Bytes that connections have. */
    long used() {
        return used;
    }

    /** More than half of the limit is used. */
    boolean isScarce() {
        return used > most / 2;
    }

    /** A block of at least so many bytes; null if that is more than the limit leaves. */
    @Nullable
    Block take(int bytes) {
        int i = bytes <= LEAST ? 0 : Integer.SIZE - Integer.numberOfLeadingZeros(bytes - 1) - FIRST_BITS;
        int size = LEAST << i;
        if (i >= SIZES || used + size > most) {
            return null;
        }
        Block b = free[i].poll();
        if (b == null) {
            try {
                MemorySegment m = Arena.ofAuto().allocate(size, 64);
                b = new Block(m, m.asByteBuffer());
            } catch (OutOfMemoryError e) { // the JVM's own limit, -XX:MaxDirectMemorySize, is lower
                return null;
            }
        } else {
            kept -= size;
        }
        used += size;
        return b;
    }

    void giveBack(Block b) {
        used -= b.size();
        if (kept + b.size() <= most / KEPT_PART) {
            kept += b.size();
            free[Integer.numberOfTrailingZeros(b.size()) - FIRST_BITS].push(b);
        }
    }
}
