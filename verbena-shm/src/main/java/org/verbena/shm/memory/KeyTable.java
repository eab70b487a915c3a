// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.memory;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.Adapter;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.verbs.VerbsException;

/** The memory regions of a context: as objects for its own data path, as key table entries for its peers. */
public final class KeyTable {
    private static final long VALID = 1;
    private static final long SHARED = 2;
    private static final long NULL_REGION = 4;
    private static final long WINDOW = 8;
    /** Rights beyond the eight of the word's second byte, and how far they lie from their place in the first. */
    private static final int FLUSH = 0x300;
    private static final int FLUSH_SHIFT = 4;

    private final Adapter adapter;
    private final AtomicReferenceArray<@Nullable Region> regions = new AtomicReferenceArray<>(AdapterLayout.MAX_KEYS);
    /** By the key's index; null until there is a window. */
    private volatile @Nullable AtomicReferenceArray<@Nullable Window> windows;
    private final int[] generations = new int[AdapterLayout.MAX_KEYS];

    public KeyTable(Adapter adapter) {
        this.adapter = adapter;
    }

    /** Publishes a region under a new key. */
    public Region add(int pd, int access, MemorySegment segment, @Nullable Allocation allocation)
            throws VerbsException {
        return add(pd, access, Backing.of(segment, allocation, segment.address()));
    }

    /** Publishes a region under a new key. */
    Region add(int pd, int access, Backing backing) throws VerbsException {
        Region r = new Region(this, takeKey(), pd, access, backing);
        publish(r);
        return r;
    }

    /** A key that no region has, and that its index did not have lately. */
    int takeKey() throws VerbsException {
        int index = adapter.takeKey();
        synchronized (generations) {
            int key = index << 8 | ++generations[index] & 0xff;
            // no key is 0, which many programs take for "none"
            return key != 0 ? key : index << 8 | ++generations[index] & 0xff;
        }
    }

    /** Puts another region under the key of one that was {@linkplain #invalidate invalidated}. */
    Region replace(Region old, int pd, int access, Backing backing) {
        Region r = new Region(this, old.key, pd, access, backing);
        publish(r);
        return r;
    }

    private void publish(Region r) {
        regions.set(r.key >>> 8, r);
        long e = adapter.base() + AdapterLayout.keyEntry(r.key);
        Allocation a = r.allocation;
        RawMemory.putLong(e + AdapterLayout.KEY_ADDRESS, r.iova);
        RawMemory.putLong(e + AdapterLayout.KEY_LENGTH, r.length);
        RawMemory.putLong(e + AdapterLayout.KEY_MEMORY, a == null ? 0 : a.id);
        RawMemory.putLong(e + AdapterLayout.KEY_MEMORY_OFFSET, a == null ? r.address : r.address - a.mapping.address());
        RawMemory.putInt(e + AdapterLayout.KEY_OWNER, 0);
        RawMemory.putLongRelease(e + AdapterLayout.KEY_WORD, word(r, nextGeneration(r.key)));
    }

    // ---- memory windows

    /** Makes a window that is bound to nothing. */
    public Window addWindow(int pd, int type) throws VerbsException {
        int key = takeKey();
        Window w = new Window(this, key, pd, type);
        windows().set(key >>> 8, w);
        return w;
    }

    private AtomicReferenceArray<@Nullable Window> windows() {
        AtomicReferenceArray<@Nullable Window> all = windows;
        if (all == null) {
            synchronized (generations) {
                all = windows;
                if (all == null) {
                    all = new AtomicReferenceArray<>(AdapterLayout.MAX_KEYS);
                    windows = all;
                }
            }
        }
        return all;
    }

    /** The window that has, or had, a key of this index; null if there is none. */
    @Nullable
    Window window(int key) {
        AtomicReferenceArray<@Nullable Window> all = windows;
        int index = key >>> 8;
        return all == null || index >= AdapterLayout.MAX_KEYS ? null : all.getAcquire(index);
    }

    /** A snapshot of the windows that are bound, or were and still hold their region. */
    List<Window> boundWindows() {
        List<Window> list = new ArrayList<>();
        AtomicReferenceArray<@Nullable Window> all = windows;
        for (int i = 0; all != null && i < all.length(); i++) {
            Window w = all.get(i);
            if (w != null && w.region() != null) {
                list.add(w);
            }
        }
        return list;
    }

    public void remove(Window w) {
        int index = w.rkey() >>> 8;
        windows().set(index, null);
        adapter.giveKey(index);
    }

    /** Address of a key's entry. */
    long entry(int key) {
        return adapter.base() + AdapterLayout.keyEntry(key);
    }

    /** Publishes a window: a part of a region from {@code offset}, whose first byte requests name by {@code start}. */
    void publish(int key, int pd, int access, Region r, long offset, long start, long length, int owner) {
        long e = entry(key);
        Allocation a = r.allocation;
        RawMemory.putLong(e + AdapterLayout.KEY_ADDRESS, start);
        RawMemory.putLong(e + AdapterLayout.KEY_LENGTH, length);
        RawMemory.putLong(e + AdapterLayout.KEY_MEMORY, a == null ? 0 : a.id);
        RawMemory.putLong(e + AdapterLayout.KEY_MEMORY_OFFSET,
                r.address + offset - (a == null ? 0 : a.mapping.address()));
        RawMemory.putInt(e + AdapterLayout.KEY_OWNER, owner);
        long w = VALID | WINDOW | (a == null ? 0 : SHARED) | (r.nullRegion ? NULL_REGION : 0) | rights(pd, access)
                | (long) nextGeneration(key) << 32;
        RawMemory.putLong(e + AdapterLayout.KEY_LATEST, w);
        RawMemory.putLongRelease(e + AdapterLayout.KEY_WORD, w);
    }

    /** Publishes a window again as it was. */
    void republish(int key) {
        long e = entry(key);
        RawMemory.putLongRelease(e + AdapterLayout.KEY_WORD, RawMemory.getLong(e + AdapterLayout.KEY_LATEST));
    }

    private static long word(Region r, int generation) {
        return VALID | (r.allocation == null ? 0 : SHARED) | (r.nullRegion ? NULL_REGION : 0) | rights(r.pd, r.access)
                | (long) generation << 32;
    }

    private static long rights(int pd, int access) {
        return (long) (access & 0xff) << 8 | (long) (access & FLUSH) >> FLUSH_SHIFT | (long) (pd & 0xffff) << 16;
    }

    /** A generation that fits the key and that no word of this entry had lately. */
    private int nextGeneration(int key) {
        int index = key >>> 8;
        synchronized (generations) {
            int g = (generations[index] & ~0xff) + 0x100 | key & 0xff;
            generations[index] = g;
            return g;
        }
    }

    /** Takes the key away from peers and from this process's own work requests; the entry is not reused yet. */
    public void invalidate(Region r) {
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
                word(r, generation));
        r.valid = true;
    }

    /** Lets the entry be used again. */
    public void remove(Region r) {
        regions.set(r.key >>> 8, null);
        adapter.giveKey(r.key >>> 8);
    }

    /** The region of a key, without checks of rights; null if there is none. */
    @Nullable
    Region find(int key) {
        int index = key >>> 8;
        Region r = index >= AdapterLayout.MAX_KEYS ? null : regions.getAcquire(index);
        return r != null && r.key == key && r.valid ? r : null;
    }

    /** The region of a key if {@code bytes} from {@code at} and {@code access} are allowed to {@code pd}, else null. */
    @Nullable
    public Region find(int key, int pd, long at, long bytes, int access) {
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

    public static boolean isValid(long word) {
        return (word & VALID) != 0;
    }

    public static boolean isShared(long word) {
        return (word & SHARED) != 0;
    }

    /** True if there is no memory behind the key. */
    static boolean isNullRegion(long word) {
        return (word & NULL_REGION) != 0;
    }

    static boolean isWindow(long word) {
        return (word & WINDOW) != 0;
    }

    /** The rights to flush. */
    static int flushAccess(long word) {
        return (int) word << FLUSH_SHIFT & FLUSH;
    }

    /** The rights of the first eight bits; the others have methods of their own. */
    static int access(long word) {
        return (int) (word >>> 8) & 0xff;
    }

    static int pd(long word) {
        return (int) (word >>> 16) & 0xffff;
    }

    /** True if the word's generation is the one of the key. */
    public static boolean fits(long word, int key) {
        return ((int) (word >>> 32) & 0xff) == (key & 0xff);
    }
}
