// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.Slots;

/**
 * The keys of a context: regions and windows by the upper 24 bits, of which only few are used at a time; the lower 8
 * change with each use of an entry. Used under the context's lock, except for allocating and freeing keys.
 */
final class KeyTable {
    static final int MAX_KEYS = 1 << 16;

    private final Slots slots = new Slots(MAX_KEYS);
    private final int[] generations = new int[MAX_KEYS];
    private @Nullable Region[] regions = new @Nullable Region[64];
    private @Nullable Window[] windows = new @Nullable Window[16];

    /** Allocates a key that is not in use, and that its index did not have recently. */
    int allocateKey() throws VerbsException {
        int index = slots.take("register memory", "memory regions and windows");
        synchronized (generations) {
            int key = index << 8 | ++generations[index] & 0xff;
            // no key is 0, which many programs take for "none"
            return key != 0 ? key : index << 8 | ++generations[index] & 0xff;
        }
    }

    /** Frees a key of {@link #allocateKey} that refers to nothing any more. */
    void freeKey(int key) {
        slots.give(key >>> 8);
    }

    /** Makes a region known by its key, in place of another one of that key. */
    void put(Region r) {
        int index = r.key >>> 8;
        if (index >= regions.length) {
            @Nullable Region[] more = new @Nullable Region[larger(regions.length, index)];
            System.arraycopy(regions, 0, more, 0, regions.length);
            regions = more;
        }
        regions[index] = r;
    }

    void remove(Region r) {
        regions[r.key >>> 8] = null;
    }

    void put(Window w) {
        int index = w.rkey() >>> 8;
        if (index >= windows.length) {
            @Nullable Window[] more = new @Nullable Window[larger(windows.length, index)];
            System.arraycopy(windows, 0, more, 0, windows.length);
            windows = more;
        }
        windows[index] = w;
    }

    void remove(Window w) {
        windows[w.rkey() >>> 8] = null;
    }

    private static int larger(int length, int index) {
        return Math.min(MAX_KEYS, Math.max(length * 2, Integer.highestOneBit(index) << 1));
    }

    /** The region of a key; null if there is none. */
    @Nullable
    Region find(int key) {
        int index = key >>> 8;
        Region r = index >= regions.length ? null : regions[index];
        return r != null && r.key == key ? r : null;
    }

    /** The window that has, or had, a key of this index; null if there is none. */
    @Nullable
    Window window(int key) {
        int index = key >>> 8;
        return index >= windows.length ? null : windows[index];
    }
}
