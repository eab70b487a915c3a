// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.nio.channels.SelectionKey;
import java.util.AbstractSet;
import java.util.Arrays;
import java.util.Collection;
import java.util.ConcurrentModificationException;
import java.util.Iterator;
import java.util.NoSuchElementException;

import org.jspecify.annotations.Nullable;

/**
 * The selected-key set that programs see: they may remove keys, the selector alone adds. An array in which each key has
 * its place, so that nothing is allocated for a key that is selected, seen and removed.
 */
final class SelectedKeys extends AbstractSet<SelectionKey> {
    private static final int FIRST_LENGTH = 32;

    private @Nullable SelectorKey[] keys = new @Nullable SelectorKey[FIRST_LENGTH];
    private int size;
    private int changes;

    /** Adds a key that is not in the set. */
    void insert(SelectorKey key) {
        if (size == keys.length) {
            keys = Arrays.copyOf(keys, 2 * size);
        }
        key.selectedAt = size;
        keys[size++] = key;
        changes++;
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public boolean contains(Object o) {
        return o instanceof SelectorKey k && isAt(k, k.selectedAt);
    }

    private boolean isAt(SelectorKey key, int place) {
        return place >= 0 && place < size && keys[place] == key;
    }

    @Override
    public boolean remove(Object o) {
        if (o instanceof SelectorKey k && isAt(k, k.selectedAt)) {
            removeAt(k.selectedAt, k);
            return true;
        }
        return false;
    }

    private void removeAt(int place, SelectorKey key) {
        SelectorKey last = keys[--size];
        keys[size] = null;
        if (last != null && last != key) {
            keys[place] = last;
            last.selectedAt = place;
        }
        key.selectedAt = -1;
        changes++;
    }

    @Override
    public void clear() {
        for (int i = 0; i < size; i++) {
            SelectorKey k = keys[i];
            if (k != null) {
                k.selectedAt = -1;
            }
            keys[i] = null;
        }
        size = 0;
        changes++;
    }

    /** Refused even if there is nothing to add; add(key) is refused by the class above. */
    @Override
    public boolean addAll(Collection<? extends SelectionKey> more) {
        throw new UnsupportedOperationException("only the selector adds selected keys");
    }

    @Override
    public Iterator<SelectionKey> iterator() {
        return new Iterating();
    }

    /** Fails fast, as the interface of selectors asks. */
    private final class Iterating implements Iterator<SelectionKey> {
        private int place;
        private int expected = changes;
        private @Nullable SelectorKey current;

        @Override
        public boolean hasNext() {
            return place < size;
        }

        @Override
        public SelectionKey next() {
            check();
            if (place >= size) {
                throw new NoSuchElementException();
            }
            SelectorKey k = keys[place++];
            if (k == null) {
                throw new ConcurrentModificationException();
            }
            current = k;
            return k;
        }

        @Override
        public void remove() {
            SelectorKey k = current;
            if (k == null) {
                throw new IllegalStateException("no key to remove: next() comes first");
            }
            check();
            // the last key takes its place and is the next to be seen
            removeAt(--place, k);
            current = null;
            expected = changes;
        }

        private void check() {
            if (expected != changes) {
                throw new ConcurrentModificationException();
            }
        }
    }
}
