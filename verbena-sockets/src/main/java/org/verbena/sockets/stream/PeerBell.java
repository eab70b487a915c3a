// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Futex;
import org.verbena.sockets.stream.memory.BlockLayout;

/** A bell in the peer's memory, at which one of its threads sleeps. Guarded by the session's lock. */
final class PeerBell {
    private final Session session;
    private final long address;
    private final int key;
    private @Nullable MemorySegment view;
    private long rings;

    PeerBell(Session session, long address, int key) {
        this.session = session;
        this.address = address;
        this.key = key;
    }

    /**
     * Changes it; {@link #wake} follows when the word has arrived, by {@link ReadyRings#bellArrived}.
     *
     * @param index of the connection that rings
     * @param queue of the peer whose bell it is, 0 for that of the connection
     */
    void change(int index, int queue) {
        session.postWord(Session.BELL, index, queue, address, key, BlockLayout.bellWord(++rings));
    }

    /** Times it was changed. */
    long rings() {
        return rings;
    }

    /** Wakes the thread that sleeps there. */
    void wake() {
        MemorySegment seen = view;
        if (seen == null) {
            seen = session.view(key, address, Long.BYTES);
            view = seen;
        }
        if (seen != null) { // else the peer is gone
            Futex.wake(seen, 0, Integer.MAX_VALUE);
        }
    }
}
