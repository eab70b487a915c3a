// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

import org.verbena.stack.wire.ReceivedFrame;

/** Bytes of a stream by their sequence numbers. It has no memory while it holds none, and grows as it is needed. */
final class ByteRing {
    private final Blocks blocks;
    private Blocks.@Nullable Block block;

    ByteRing(Blocks blocks) {
        this.blocks = blocks;
    }

    /** So much memory is used that none should be taken for what may not be needed. */
    boolean isScarce() {
        return blocks.isScarce();
    }

    int capacity() {
        Blocks.Block b = block;
        return b == null ? 0 : b.size();
    }

    /**
     * Makes room for the bytes from a sequence number on.
     *
     * @param first the first that is held, or that will be
     * @param held bytes that are held from there on, gaps included
     * @param length bytes that are to have room
     * @return false if there is no memory: all is as it was
     */
    boolean reserve(int first, int held, int length) {
        Blocks.Block old = block;
        if (old != null && length <= old.size()) {
            return true;
        }
        Blocks.Block b = blocks.take(length);
        if (b == null) {
            return false;
        }
        block = b;
        if (old != null) {
            for (int done = 0; done < held;) {
                int from = first + done & old.size() - 1;
                int n = Math.min(held - done, old.size() - from);
                put(first + done, old.memory(), from, n);
                done += n;
            }
            blocks.giveBack(old);
        }
        return true;
    }

    private Blocks.Block block() {
        Blocks.Block b = block;
        if (b == null) {
            throw new IllegalStateException("nothing is held");
        }
        return b;
    }

    void put(int sequence, MemorySegment from, long at, int length) {
        Blocks.Block b = block();
        int to = sequence & b.size() - 1;
        int n = Math.min(length, b.size() - to);
        MemorySegment.copy(from, at, b.memory(), to, n);
        if (n < length) {
            MemorySegment.copy(from, at + n, b.memory(), 0, length - n);
        }
    }

    /** Puts bytes of a frame, from an offset on. */
    void put(int sequence, ReceivedFrame from, int offset, int length) {
        Blocks.Block b = block();
        int to = sequence & b.size() - 1;
        int n = Math.min(length, b.size() - to);
        from.copyTo(offset, b.memory(), to, n);
        if (n < length) {
            from.copyTo(offset + n, b.memory(), 0, length - n);
        }
    }

    /** Puts the next bytes of a buffer, whose position stays. */
    void put(int sequence, ByteBuffer from, int length) {
        Blocks.Block b = block();
        int to = sequence & b.size() - 1;
        int n = Math.min(length, b.size() - to);
        b.bytes().put(to, from, from.position(), n);
        if (n < length) {
            b.bytes().put(0, from, from.position() + n, length - n);
        }
    }

    void get(int sequence, MemorySegment to, long at, int length) {
        Blocks.Block b = block();
        int from = sequence & b.size() - 1;
        int n = Math.min(length, b.size() - from);
        MemorySegment.copy(b.memory(), from, to, at, n);
        if (n < length) {
            MemorySegment.copy(b.memory(), 0, to, at + n, length - n);
        }
    }

    /** Copies bytes to where a buffer's position is, which stays. */
    void get(int sequence, ByteBuffer to, int length) {
        Blocks.Block b = block();
        int from = sequence & b.size() - 1;
        int n = Math.min(length, b.size() - from);
        to.put(to.position(), b.bytes(), from, n);
        if (n < length) {
            to.put(to.position() + n, b.bytes(), 0, length - n);
        }
    }

    /** Gives the memory back. */
    void clear() {
        Blocks.Block b = block;
        block = null;
        if (b != null) {
            blocks.giveBack(b);
        }
    }
}
