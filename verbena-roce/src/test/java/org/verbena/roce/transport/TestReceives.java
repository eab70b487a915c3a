// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import java.util.ArrayDeque;
import java.util.Deque;

import org.jspecify.annotations.Nullable;

/** A receive queue of a test. */
final class TestReceives implements ReceiveSource {
    private final Deque<ReceiveWqe> posted = new ArrayDeque<>();
    private final Memory memory;
    private final boolean shared;

    TestReceives(Memory memory, boolean shared) {
        this.memory = memory;
        this.shared = shared;
    }

    /** Posts a receive: triples of key, address and length. */
    void post(long wrId, long... elements) {
        ReceiveWqe w = new ReceiveWqe(elements.length / 3);
        w.wrId = wrId;
        for (int i = 0; i < elements.length; i += 3) {
            w.addSge((int) elements[i], elements[i + 1], elements[i + 2]);
        }
        posted.add(w);
    }

    int size() {
        return posted.size();
    }

    @Override
    public @Nullable ReceiveWqe take() {
        return posted.poll();
    }

    @Override
    public void putBack(ReceiveWqe wqe) {
        posted.addFirst(wqe);
    }

    @Override
    public boolean isShared() {
        return shared;
    }

    @Override
    public Memory memory() {
        return memory;
    }
}
