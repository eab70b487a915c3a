// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.MemoryWindow;

/** A memory window: a key for a part of a region. Used under the context's lock. */
final class Window {
    final int type;
    final int pd;
    /** Published for the application, which asks without the lock. */
    private volatile int rkey;
    /** The key that the binding of type 1 that was posted last will have. */
    private int postedKey;
    @Nullable Region region;
    int access;
    /** The first byte as requests name it, and where in the region it lies. */
    long start;
    long offset;
    long length;
    /** The queue pair that alone may use it, for type 2. */
    int owner;

    Window(int rkey, int pd, int type) {
        this.rkey = rkey;
        this.postedKey = rkey;
        this.pd = pd;
        this.type = type;
    }

    int rkey() {
        return rkey;
    }

    void setKey(int key) {
        rkey = key;
    }

    /** A key for one more binding of type 1. */
    synchronized int nextKey() {
        postedKey = MemoryWindow.incrementRkey(postedKey);
        return postedKey;
    }

    /** True if {@code bytes} from {@code at} lie within the window; safe against overflow. */
    boolean covers(long at, long bytes) {
        long offset = at - start;
        return offset >= 0 && bytes >= 0 && offset <= length && bytes <= length - offset;
    }

    /** Nobody reaches anything by it any more. */
    void unbind() {
        Region r = region;
        region = null;
        owner = 0;
        if (r != null) {
            r.windows--;
        }
    }
}
