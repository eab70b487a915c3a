package org.verbena.sockets.stream;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.VerbsException;

/** The larger rings that one end of a connection grants its peer, one after the other. Guarded by the session's lock. */
final class RingGrants {
    /** Generation of the newest one. */
    private int granted = 1;

    /** Grants the next ring, if the peer wants one and there is memory. */
    void grant(Link own, Outbound back) {
        long lane = BlockLayout.getAcquire(own.block, BlockLayout.LANE);
        if (back.isGone() || BlockLayout.getAcquire(own.block, BlockLayout.WANTED) != granted + 1
                || BlockLayout.generation(lane) != (granted & BlockLayout.GENERATION_MASK)) {
            return; // nobody reads it, or it has all that it asked for, or is not even in the last one that it got
        }
        Memory larger = larger(own);
        if (larger == null) {
            return; // perhaps another time
        }
        granted++;
        if (granted == 2) {
            own.firstStart = BlockLayout.start(lane);
        }
        own.next.add(larger, BlockLayout.start(lane));
        back.postWord(Session.NOTHING, BlockLayout.GRANT_ADDRESS, larger.address());
        back.postWord(Session.NOTHING, BlockLayout.GRANT_SIZE_KEY,
                (long) larger.size() << 32 | Integer.toUnsignedLong(larger.rkey()));
        back.postWord(Session.SPACE, BlockLayout.GRANTED, granted);
    }

    private static @Nullable Memory larger(Link own) {
        int before = own.next.newest(own.ring).size();
        long size = Math.min((long) before * Link.RING_GROWTH, Link.maxRing());
        if (size <= before || !own.session.arena().hasAmple((int) size)) {
            return null;
        }
        try {
            return own.session.arena().allocate((int) size);
        } catch (VerbsException e) {
            return null; // it goes on with the ring it has
        }
    }
}
