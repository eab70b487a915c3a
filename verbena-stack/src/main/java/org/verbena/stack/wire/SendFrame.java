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
     * @param memory what it is in
     * @param bytes the same memory, for copies from and to buffers
     * @param at where its frame begins
     * @param number the wire's own
     */
    public SendFrame(MemorySegment memory, ByteBuffer bytes, long at, int number) {
        this.memory = memory;
        this.bytes = bytes;
        this.at = at;
        this.number = number;
    }

    /** What it is in. */
    public MemorySegment memory() {
        return memory;
    }

    /** The same memory, for copies from and to buffers. */
    public ByteBuffer bytes() {
        return bytes;
    }

    /** Where its frame begins. */
    public long at() {
        return at;
    }

    /** Has this begin so many bytes before {@link #at} when it is sent: a tag was put there. */
    void prepend(int n) {
        before = n;
    }

    /** What {@link #prepend} said; 0 without it, and after the frame was sent or given back. */
    int before() {
        return before;
    }

    /** Forgets {@link #cut} and {@link #prepend}. */
    void reset() {
        headers = 0;
        segment = 0;
        before = 0;
    }

    /** The wire's own number. */
    public int number() {
        return number;
    }

    /**
     * Has the wire cut the payload of TCP into frames when this is sent, of one that {@link Wire#acquireLong} has answered. It fills in checksums and lengths.
     *
     * @param headerBytes length of all headers, which each frame begins with
     * @param most bytes of payload in a frame
     */
    public void cut(int headerBytes, int most) {
        headers = headerBytes;
        segment = most;
    }

    /** What {@link #cut} said; 0 if it is sent as it is. */
    public int headers() {
        return headers;
    }

    /** What {@link #cut} said. */
    public int segment() {
        return segment;
    }
}
