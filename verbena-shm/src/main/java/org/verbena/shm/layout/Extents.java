// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.layout;

import java.util.Map;
import java.util.TreeMap;

/** First-fit allocation of page-aligned extents in an address range. Safe for use by several threads. */
public final class Extents {
    private static final long PAGE = 4096;

    private final TreeMap<Long, Long> free = new TreeMap<>();

    public Extents(long start, long end) {
        free.put(start, end - start);
    }

    /** Rounded up to whole pages. */
    public static long pages(long bytes) {
        return (bytes + PAGE - 1) & -PAGE;
    }

    /** Takes an extent of at least {@code bytes}; returns its offset, or -1 if there is none. */
    public synchronized long take(long bytes) {
        long need = pages(bytes);
        long at = -1;
        for (Map.Entry<Long, Long> e : free.entrySet()) {
            if (e.getValue() >= need) {
                at = e.getKey();
                break;
            }
        }
        if (at >= 0) {
            Long length = free.remove(at);
            if (length != null && length > need) {
                free.put(at + need, length - need);
            }
        }
        return at;
    }

    /** Releases an extent that {@link #take} returned for the same number of bytes. */
    public synchronized void give(long at, long bytes) {
        long start = at;
        long length = pages(bytes);
        Map.Entry<Long, Long> before = free.floorEntry(at);
        if (before != null && before.getKey() + before.getValue() == at) {
            start = before.getKey();
            length += before.getValue();
        }
        Long after = free.remove(at + pages(bytes));
        if (after != null) {
            length += after;
        }
        free.put(start, length);
    }
}
