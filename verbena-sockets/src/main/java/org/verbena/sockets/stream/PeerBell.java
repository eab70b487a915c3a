// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Futex;

/** The bell of one of the peer's queues, at which its owner sleeps. Guarded by the session's lock. */
final class PeerBell {
    private final Session session;
    private final long address;
    private final int key;
    private @Nullable MemorySegment view;
    private long rings;
    /** The nap that it was rung for last: once is enough. */
    private long rung;

    PeerBell(Session session, long address, int key) {
        this.session = session;
        this.address = address;
        this.key = key;
    }

    /** Changes it, if that was not done for this nap; {@link #wake} follows when the word has arrived. */
    void ring(RingStream stream, int queue, long nap) {
        if (nap != rung) {
            rung = nap;
            stream.out().woke();
            session.postWord(Session.BELL, stream.index(), queue, address, key, BlockLayout.bellWord(++rings));
        }
    }

    /** Wakes who sleeps there. */
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
