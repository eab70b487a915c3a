// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

/** Checks and sums over one buffer or an array of them. */
final class Buffers {
    private Buffers() {}

    static long remaining(@Nullable ByteBuffer one, ByteBuffer @Nullable [] many, int offset, int length) {
        if (one != null) {
            return one.remaining();
        }
        long sum = 0;
        if (many != null) {
            for (int i = offset; i < offset + length; i++) {
                sum += many[i].remaining();
            }
        }
        return sum;
    }

    /**
     * For buffers of which one stands there more than once, and is sent as often: others with the same bytes, of which no two
     * share a position.
     *
     * @return null if each stands there once
     */
    static ByteBuffer @Nullable [] distinct(ByteBuffer[] from, int offset, int length) {
        for (int i = offset + 1; i < offset + length; i++) {
            for (int k = offset; k < i; k++) {
                if (from[k] == from[i]) {
                    return duplicates(from, offset, length);
                }
            }
        }
        return null;
    }

    private static ByteBuffer[] duplicates(ByteBuffer[] from, int offset, int length) {
        ByteBuffer[] distinct = new ByteBuffer[length];
        for (int i = 0; i < length; i++) {
            distinct[i] = from[offset + i].duplicate();
        }
        return distinct;
    }

    /** Moves buffers on by what was sent of {@link #distinct}; one that stands there twice to where it was sent last, as the JDK. */
    static void moveOn(ByteBuffer[] from, int offset, ByteBuffer[] distinct) {
        int[] starts = new int[distinct.length];
        for (int i = 0; i < distinct.length; i++) {
            starts[i] = from[offset + i].position();
        }
        for (int i = 0; i < distinct.length; i++) {
            if (distinct[i].position() > starts[i]) {
                from[offset + i].position(distinct[i].position());
            }
        }
    }

    static void checkWritable(ByteBuffer buffer) {
        if (buffer.isReadOnly()) {
            throw new IllegalArgumentException("Read-only buffer");
        }
    }

    static void checkWritable(ByteBuffer[] buffers, int offset, int length) {
        for (int i = offset; i < offset + length; i++) {
            checkWritable(buffers[i]);
        }
    }
}
