// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

/** What one selection has found ready so far. */
final class FoundKeys {
    private final KeyList keys = new KeyList();

    /** Adds operations that are ready, of which some are wanted. */
    void add(SelectorKey key, int ops) {
        if (key.found == 0) {
            keys.add(key);
        }
        key.found |= ops;
    }

    boolean isEmpty() {
        return keys.size() == 0;
    }

    int size() {
        return keys.size();
    }

    SelectorKey get(int i) {
        return keys.get(i);
    }

    /** Forgets what is cancelled or no longer wanted. */
    void sift() {
        int kept = 0;
        for (int i = 0; i < keys.size(); i++) {
            SelectorKey k = keys.get(i);
            k.found &= k.isValid() ? k.interest() : 0;
            if (k.found != 0) {
                keys.set(kept++, k);
            }
        }
        keys.truncate(kept);
    }

    void clear() {
        for (int i = 0; i < keys.size(); i++) {
            keys.get(i).found = 0;
        }
        keys.truncate(0);
    }
}
