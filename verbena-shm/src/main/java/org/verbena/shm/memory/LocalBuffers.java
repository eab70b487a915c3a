// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.memory;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.LaneLayout;

/** The buffers of send work requests: finds their regions and checks rights and bounds. Used by one thread at a time. */
public final class LocalBuffers {
    private final KeyTable keys;
    private final int pd;
    /** Address of memory for a message that does not lie in one piece, see {@link LaneLayout#INLINE}. */
    private final long scratch;
    private @Nullable Region lastRegion;

    public LocalBuffers(KeyTable keys, int pd, long scratch) {
        this.keys = keys;
        this.pd = pd;
        this.scratch = scratch;
    }

    /** The region of a buffer; null if the access is not allowed. */
    @Nullable
    public Region region(int lkey, long at, long bytes, int access) {
        Region r = lastRegion;
        if (r != null && r.key == lkey && r.valid && (r.access & access) == access && r.covers(at, bytes)) {
            return r;
        }
        r = keys.find(lkey, pd, at, bytes, access);
        lastRegion = r;
        return r;
    }

    /** True if the access is allowed to all buffers. */
    public boolean check(WorkRequest w, int access) {
        for (int s = 0; s < w.sgeCount; s++) {
            if (region(w.lkey(s), w.address(s), w.length(s), access) == null) {
                return false;
            }
        }
        return true;
    }

    /** The address of a short message in one piece, or -1 if a buffer is not allowed. */
    public long gather(WorkRequest w, long total) {
        if (w.isInline()) {
            return w.inlineBuffer;
        }
        int n = w.sgeCount;
        if (n == 1) {
            Region r = region(w.lkey(0), w.address(0), total, 0);
            if (r != null && r.isRaw()) {
                return r.local(w.address(0));
            }
        }
        long done = 0;
        for (int s = 0; s < n; s++) {
            long bytes = w.length(s);
            Region r = region(w.lkey(s), w.address(s), bytes, 0);
            if (r == null || !r.copyOut(w.address(s), scratch + done, bytes)) {
                return -1;
            }
            done += bytes;
        }
        return scratch;
    }

    /** Copies a value of 8 bytes, the result of an atomic operation, into the buffers. */
    boolean scatter(WorkRequest w, long value, int access) {
        RawMemory.putLong(scratch, value);
        long done = 0;
        for (int k = 0; k < w.sgeCount; k++) {
            long bytes = w.length(k);
            Region r = region(w.lkey(k), w.address(k), bytes, access);
            if (r == null || !r.copyIn(scratch + done, w.address(k), bytes)) {
                return false;
            }
            done += bytes;
        }
        return true;
    }

    public void reset() {
        lastRegion = null;
    }
}
