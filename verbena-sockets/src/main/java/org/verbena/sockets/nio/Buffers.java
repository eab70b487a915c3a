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
