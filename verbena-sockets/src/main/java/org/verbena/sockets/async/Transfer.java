// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.async;

import java.io.IOException;
import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.memory.MemoryHold;

/** Reading or writing, of one buffer or of many: the result of one is an {@link Integer}, that of many a {@link Long}. */
abstract class Transfer extends Slot<Number> {
    private @Nullable ByteBuffer one;
    private ByteBuffer @Nullable [] many;
    private boolean taken;
    private @Nullable MemoryHold held;

    Transfer(Membership member, int op) {
        super(member, op);
    }

    /** As a channel that does not block. */
    abstract int move(ByteBuffer buffer) throws IOException;

    /** As a channel that does not block. */
    abstract long move(ByteBuffer[] buffers) throws IOException;

    /** What the next operation is about; the slot is taken. */
    final void set(@Nullable ByteBuffer buffer, ByteBuffer @Nullable [] buffers) {
        one = buffer;
        many = buffers;
    }

    /** A result, for one buffer or for many. */
    static Number result(boolean scattered, long n) {
        if (scattered) {
            return n;
        }
        return (int) n; // no conditional expression, which would make a long of it
    }

    @Override
    final Object attempt() throws IOException {
        ByteBuffer[] buffers = many;
        if (!taken) { // until the operation is forgotten, and in the group's threads
            held = MemoryHold.takeForOthers(one, buffers);
            taken = true;
        }
        long n = 0;
        if (buffers != null) {
            n = move(buffers);
        } else if (one != null) {
            n = move(one);
        }
        return n == 0 && hasRemaining() ? NOT_READY : result(buffers != null, n);
    }

    private boolean hasRemaining() {
        ByteBuffer[] buffers = many;
        if (buffers == null) {
            return one != null && one.hasRemaining();
        }
        for (ByteBuffer b : buffers) {
            if (b.hasRemaining()) {
                return true;
            }
        }
        return false;
    }

    @Override
    final void forget() {
        one = null;
        many = null;
        MemoryHold.release(held);
        held = null;
        taken = false;
    }
}
