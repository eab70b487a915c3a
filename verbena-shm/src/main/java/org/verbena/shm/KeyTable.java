package org.verbena.shm;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.VerbsException;

/** The memory regions of a context: as objects for its own data path, as key table entries for its peers. */
final class KeyTable {
    private static final long VALID = 1;
    private static final long SHARED = 2;

    private final Adapter adapter;
    private final AtomicReferenceArray<@Nullable Region> regions = new AtomicReferenceArray<>(AdapterLayout.MAX_KEYS);
    private final int[] generations = new int[AdapterLayout.MAX_KEYS];

    KeyTable(Adapter adapter) {
        this.adapter = adapter;
    }

    /** Publishes a region under a new key. */
    Region add(int pd, int access, MemorySegment segment, @Nullable Allocation allocation) throws VerbsException {
        int index = adapter.takeKey();
        int generation;
        synchronized (generations) {
            generation = ++generations[index];
        }
        // no key is 0, which many programs take for "none"
        int key = index << 8 | generation & 0xff;
        if (key == 0) {
            synchronized (generations) {
                generation = ++generations[index];
            }
            key = index << 8 | generation & 0xff;
        }
        Region r = new Region(this, key, pd, access, segment, allocation);
        regions.set(index, r);
        long e = adapter.base() + AdapterLayout.keyEntry(key);
        RawMemory.putLong(e + AdapterLayout.KEY_ADDRESS, r.address);
        RawMemory.putLong(e + AdapterLayout.KEY_LENGTH, r.length);
        RawMemory.putLong(e + AdapterLayout.KEY_MEMORY, allocation == null ? 0 : allocation.id);
        RawMemory.putLong(e + AdapterLayout.KEY_MEMORY_OFFSET,
                allocation == null ? 0 : r.address - allocation.mapping.address());
        RawMemory.putLongRelease(e + AdapterLayout.KEY_WORD, VALID | (allocation == null ? 0 : SHARED)
                | (long) (access & 0xff) << 8 | (long) (pd & 0xffff) << 16 | (long) generation << 32);
        return r;
    }

    /** Takes the key away from peers and from this process's own work requests; the entry is not reused yet. */
    void invalidate(Region r) {
        r.valid = false;
        RawMemory.putLongRelease(adapter.base() + AdapterLayout.keyEntry(r.key) + AdapterLayout.KEY_WORD, 0);
    }

    /** Undoes {@link #invalidate} for a region that could not be given up. */
    void restore(Region r) {
        int generation;
        synchronized (generations) {
            generation = generations[r.key >>> 8];
        }
        RawMemory.putLongRelease(adapter.base() + AdapterLayout.keyEntry(r.key) + AdapterLayout.KEY_WORD,
                VALID | (r.allocation == null ? 0 : SHARED) | (long) (r.access & 0xff) << 8
                        | (long) (r.pd & 0xffff) << 16 | (long) generation << 32);
        r.valid = true;
    }

    /** Lets the entry be used again. */
    void remove(Region r) {
        regions.set(r.key >>> 8, null);
        adapter.giveKey(r.key >>> 8);
    }

    /** The region of a key if {@code bytes} from {@code at} and {@code access} are allowed to {@code pd}, else null. */
    @Nullable
    Region find(int key, int pd, long at, long bytes, int access) {
        int index = key >>> 8;
        if (index >= AdapterLayout.MAX_KEYS) {
            return null;
        }
        Region r = regions.getAcquire(index);
        return r != null && r.key == key && r.valid && r.pd == pd && (r.access & access) == access && r.covers(at,
                bytes)
                        ? r
                        : null;
    }

    /** A snapshot of all regions. */
    List<Region> all() {
        List<Region> list = new ArrayList<>();
        for (int i = 0; i < regions.length(); i++) {
            Region r = regions.get(i);
            if (r != null) {
                list.add(r);
            }
        }
        return list;
    }

    static boolean isValid(long word) {
        return (word & VALID) != 0;
    }

    static boolean isShared(long word) {
        return (word & SHARED) != 0;
    }

    static int access(long word) {
        return (int) (word >>> 8) & 0xff;
    }

    static int pd(long word) {
        return (int) (word >>> 16) & 0xffff;
    }

    /** True if the word's generation is the one of the key. */
    static boolean fits(long word, int key) {
        return ((int) (word >>> 32) & 0xff) == (key & 0xff);
    }
}
