// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.stream.memory.BlockLayout;
import org.verbena.sockets.stream.memory.Memory;
import org.verbena.verbs.VerbsException;

/**
 * The larger rings that one end of a connection grants its peer, one after the other. Guarded by the session's lock.
 */
final class RingGrants {
    /** Generation of the newest one. */
    private int granted = 1;
    /** Generation of the last one that was refused. */
    private int refused;

    /** Grants the next ring, if the peer wants one and there is memory. */
    void grant(Link own, PeerBlock peer) {
        long lane = BlockLayout.getAcquire(own.block, BlockLayout.LANE);
        if (peer.isClosed() || BlockLayout.getAcquire(own.block, BlockLayout.WANTED) != granted + 1
                || BlockLayout.generation(lane) != (granted & BlockLayout.GENERATION_MASK)) {
            return; // it has no reader, or all that it asked for, or has not entered the last grant yet
        }
        int size = next(own);
        if (size == 0) {
            return; // it has the largest one
        }
        Memory larger = allocate(own, size);
        if (larger == null) {
            if (refused <= granted) { // each is counted once
                refused = granted + 1;
                own.session.arena().refuse();
            }
            return; // perhaps another time
        }
        granted++;
        if (granted == 2) {
            own.firstStart = BlockLayout.start(lane);
        }
        own.next.add(larger, BlockLayout.start(lane));
        peer.post(Session.NOTHING, BlockLayout.GRANT_ADDRESS, larger.address());
        peer.post(Session.NOTHING, BlockLayout.GRANT_SIZE_KEY,
                (long) larger.size() << 32 | Integer.toUnsignedLong(larger.rkey()));
        peer.post(Session.SPACE, BlockLayout.GRANTED, granted);
    }

    /** Bytes of the next ring; 0 if there is none that is larger. */
    private static int next(Link own) {
        int before = own.next.newest(own.ring).size();
        long size = Math.min((long) before * Link.RING_GROWTH, Link.maxRing());
        return size > before ? (int) size : 0;
    }

    private static @Nullable Memory allocate(Link own, int size) {
        if (!own.session.arena().hasAmple(size)) {
            return null;
        }
        try {
            return own.session.arena().allocate(size);
        } catch (VerbsException e) {
            return null; // it goes on with the ring it has
        }
    }
}
