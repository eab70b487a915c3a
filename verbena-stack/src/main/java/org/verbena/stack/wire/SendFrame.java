// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.wire;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** A buffer for a frame of a wire's MTU, or for one that the wire {@linkplain #cut cuts} into such frames. */
public final class SendFrame {
    private final MemorySegment memory;
    private final ByteBuffer bytes;
    private final long at;
    private final int number;
    private int headers;
    private int segment;
    private int before;

    /**
     * A buffer.
     *
     * @param memory the memory that contains it
     * @param bytes the same memory, for copies from and to buffers
     * @param at offset of the frame in the memory
     * @param number an identifier of the wire's choice
     */
    public SendFrame(MemorySegment memory, ByteBuffer bytes, long at, int number) {
        this.memory = memory;
        this.bytes = bytes;
        this.at = at;
        this.number = number;
    }

    /** The memory that contains it. */
    public MemorySegment memory() {
        return memory;
    }

    /** The same memory, for copies from and to buffers. */
    public ByteBuffer bytes() {
        return bytes;
    }

    /** The offset of the frame in the memory. */
    public long at() {
        return at;
    }

    /** Has the frame start {@code n} bytes before {@link #at} when it is sent: a tag was written there. */
    void prepend(int n) {
        before = n;
    }

    /** The argument of {@link #prepend}; 0 without it, and after the frame was sent or returned. */
    int before() {
        return before;
    }

    /** Undoes {@link #cut} and {@link #prepend}. */
    void reset() {
        headers = 0;
        segment = 0;
        before = 0;
    }

    /** The wire's identifier of the buffer. */
    public int number() {
        return number;
    }

    /**
     * Has the wire segment the payload of TCP into frames when this is sent, for a buffer from {@link Wire#acquireLong}. The wire sets checksums and lengths.
     *
     * @param headerBytes length of all headers, which each frame begins with
     * @param most bytes of payload in a frame
     */
    public void cut(int headerBytes, int most) {
        headers = headerBytes;
        segment = most;
    }

    /** The length of the headers that {@link #cut} set; 0 if the frame is sent unsegmented. */
    public int headers() {
        return headers;
    }

    /** The bytes of payload in each frame that {@link #cut} set. */
    public int segment() {
        return segment;
    }
}
