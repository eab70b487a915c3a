// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/** A growing array of keys that is used again and again. */
final class KeyList {
    private static final int FIRST_LENGTH = 32;

    private @Nullable SelectorKey[] keys = new @Nullable SelectorKey[FIRST_LENGTH];
    private int size;

    void add(SelectorKey key) {
        if (size == keys.length) {
            keys = Arrays.copyOf(keys, 2 * size);
        }
        keys[size++] = key;
    }

    int size() {
        return size;
    }

    SelectorKey get(int i) {
        SelectorKey k = keys[i];
        if (k == null) {
            throw new AssertionError(i);
        }
        return k;
    }

    void set(int i, SelectorKey key) {
        keys[i] = key;
    }

    /** Forgets all keys from {@code newSize} on. */
    void truncate(int newSize) {
        Arrays.fill(keys, newSize, size, null);
        size = newSize;
    }
}
