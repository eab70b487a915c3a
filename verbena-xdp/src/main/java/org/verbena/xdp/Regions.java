// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.util.concurrent.atomic.AtomicReferenceArray;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.verbs.VerbsException;

/**
 * The memory regions of a context by key. A key is a place in the table and, in its lowest byte, how often that was used.
 * Reading is safe for all threads and costs no lock.
 */
final class Regions {
    private final AtomicReferenceArray<@Nullable XdpMemoryRegion> table = new AtomicReferenceArray<>(
            XdpLimits.MAX_MR);
    private final byte[] uses = new byte[XdpLimits.MAX_MR];
    private final boolean[] taken = new boolean[XdpLimits.MAX_MR];
    private int next;

    synchronized int take(String verb) throws VerbsException {
        for (int n = 0; n < XdpLimits.MAX_MR; n++) {
            int i = Math.floorMod(next++, XdpLimits.MAX_MR);
            if (!taken[i]) {
                taken[i] = true;
                return i + 1 << 8 | ++uses[i] & 0xff;
            }
        }
        throw new VerbsException(verb, Errno.ENOMEM, "there are " + XdpLimits.MAX_MR
                + " memory regions already, the most there can be");
    }

    synchronized void give(int key) {
        table.set((key >>> 8) - 1, null);
        taken[(key >>> 8) - 1] = false;
    }

    void put(XdpMemoryRegion region) {
        table.set((region.lkey() >>> 8) - 1, region);
    }

    /** The region of a key; null if there is none. */
    @Nullable
    XdpMemoryRegion find(int key) {
        int i = (key >>> 8) - 1;
        if (i < 0 || i >= XdpLimits.MAX_MR) {
            return null;
        }
        XdpMemoryRegion r = table.getAcquire(i);
        return r != null && r.lkey() == key ? r : null;
    }

    /** The region of a key, if it is of that domain; null otherwise. */
    @Nullable
    XdpMemoryRegion find(int key, XdpProtectionDomain pd) {
        XdpMemoryRegion r = find(key);
        return r != null && r.isOf(pd) ? r : null;
    }
}
