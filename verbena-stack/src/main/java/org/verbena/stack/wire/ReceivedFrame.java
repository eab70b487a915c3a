// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.wire;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * A received frame, in the buffers of the device: one or more parts, since a peer on the same host sends packets of up to 64 KiB. Headers are read from the
 * first part only; a frame whose headers reach beyond it looks truncated.
 */
public abstract class ReceivedFrame {
    /** The most parts of a frame of 64 KiB. */
    protected static final int MOST_PARTS = 20;

    private final long[] places = new long[MOST_PARTS];
    private final int[] lengths = new int[MOST_PARTS];
    private int parts;
    private int bytes;
    private boolean checked;
    private boolean own;

    /** For wires. */
    protected ReceivedFrame() {}

    /** The memory that contains all parts. */
    public abstract MemorySegment memory();

    /** Returns the buffers to the device; once for each frame. */
    public abstract void release() throws IOException;

    /** Removes all parts. */
    protected final void clear() {
        parts = 0;
        bytes = 0;
        checked = false;
        own = false;
    }

    /** Adds a part; false if there are too many. */
    protected final boolean add(long at, int length) {
        if (parts == MOST_PARTS) {
            return false;
        }
        places[parts] = at;
        lengths[parts++] = length;
        bytes += length;
        return true;
    }

    /** Marks the checksum of TCP or UDP as verified, or as not computed because the sender is on this host. */
    protected final void setChecked() {
        checked = true;
    }

    /** Whether the checksum of TCP or UDP need not be verified. */
    public final boolean isChecked() {
        return checked;
    }

    /** Marks the frame as sent by this host to itself. */
    protected final void setOwn() {
        own = true;
    }

    /** Whether this host has sent the frame to itself; else it came from the link, whatever its addresses are. */
    public final boolean isOwn() {
        return own;
    }

    /** The offset of the frame in {@link #memory}. */
    public final long at() {
        return places[0];
    }

    /** Bytes of the first part. */
    public final int first() {
        return lengths[0];
    }

    /** Bytes of all parts. */
    public final int bytes() {
        return bytes;
    }

    /** Removes {@code n} bytes at the start of the frame, within its first part. */
    final void skip(int n) {
        places[0] += n;
        lengths[0] -= n;
        bytes -= n;
    }

    /** Copies bytes of the frame, from {@code offset} on; they have to be within it. */
    public final void copyTo(int offset, MemorySegment to, long at, int length) {
        int from = offset;
        int left = length;
        long into = at;
        for (int i = 0; left > 0; i++) {
            int n = Math.min(lengths[i] - from, left);
            if (n > 0) {
                MemorySegment.copy(memory(), places[i] + from, to, into, n);
                into += n;
                left -= n;
            }
            from = Math.max(from - lengths[i], 0);
        }
    }
}
