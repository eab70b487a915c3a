// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.wire;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * A frame where it was received: in one or more parts, since a peer on the same host sends packets of up to 64 KiB. The headers that are looked
 * at are in the first part; of a frame whose headers reach beyond it, less seems to be there.
 */
public abstract class ReceivedFrame {
    /** Parts that a frame of 64 KiB has at most. */
    protected static final int MOST_PARTS = 20;

    private final long[] places = new long[MOST_PARTS];
    private final int[] lengths = new int[MOST_PARTS];
    private int parts;
    private int bytes;
    private boolean checked;
    private boolean own;

    /** For wires. */
    protected ReceivedFrame() {}

    /** The memory that all parts are in. */
    public abstract MemorySegment memory();

    /** Gives the buffers back; each frame once. */
    public abstract void release() throws IOException;

    /** Forgets all parts. */
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

    /** The checksum of TCP or UDP was found right, or was never computed since the sender is on this host. */
    protected final void setChecked() {
        checked = true;
    }

    /** Whether nobody needs to look at the checksum of TCP or UDP. */
    public final boolean isChecked() {
        return checked;
    }

    /** This host has sent it to itself. */
    protected final void setOwn() {
        own = true;
    }

    /** Whether this host has sent it to itself; else its sender is on the link, whatever addresses it has. */
    public final boolean isOwn() {
        return own;
    }

    /** Where the frame begins. */
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

    /** Has the frame begin so many bytes later, within its first part. */
    final void skip(int n) {
        places[0] += n;
        lengths[0] -= n;
        bytes -= n;
    }

    /** Copies bytes of the frame, from {@code offset} on, that are there. */
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
