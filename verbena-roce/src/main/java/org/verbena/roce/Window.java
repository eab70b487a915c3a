// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.MemoryWindow;

/** A memory window: a key for a part of a region. Used under the context's lock. */
final class Window {
    final int type;
    final int pd;
    /** Published for the application, which reads it without the lock. */
    private volatile int rkey;
    /** The key of the binding of type 1 that was posted last. */
    private int postedKey;
    @Nullable Region region;
    int access;
    /** Address of the first byte in requests, and its offset in the region. */
    long start;
    long offset;
    long length;
    /** The queue pair that the window is bound to, for type 2. */
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

    /** A key for a further binding of type 1. */
    synchronized int nextKey() {
        postedKey = MemoryWindow.incrementRkey(postedKey);
        return postedKey;
    }

    /** True if {@code bytes} from {@code at} lie within the window; safe against overflow. */
    boolean covers(long at, long bytes) {
        long offset = at - start;
        return offset >= 0 && bytes >= 0 && offset <= length && bytes <= length - offset;
    }

    /** Unbinds it: its key refers to nothing any more. */
    void unbind() {
        Region r = region;
        region = null;
        owner = 0;
        if (r != null) {
            r.windows--;
        }
    }
}
