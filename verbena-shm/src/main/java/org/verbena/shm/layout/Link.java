// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.layout;

import org.verbena.verbs.AccessFlags;

/**
 * The word by which a queue pair publishes that it accepts requests: {@code connection:48 | access:8 | 0:7 | 1}. 0: it
 * takes none. Each connection of
 * a context has a number of its own, which is never reused: so a message for an earlier connection, of this or
 * another queue pair, never affects a later one.
 */
public final class Link {
    /** The bits that an initiator expects to be unchanged; access may change in between. */
    public static final long IDENTITY = ~0xff00L;

    /**
     * In place of a link that was withdrawn: the owner waits no more for a peer that is inside. It stores this word, passes a full
     * barrier, then reads the lane for the last time; an initiator commits, passes one too, then reads this word. So one of them
     * sees the other: a request that completes with success is received.
     */
    public static final long GIVEN_UP = 2;

    private static final int CONNECTION_SHIFT = 16;
    private static final int FLUSH = AccessFlags.FLUSH_GLOBAL | AccessFlags.FLUSH_PERSISTENT;
    /** The rights to flush lie where those that only a region has would be. */
    private static final int FLUSH_SHIFT = 3;

    private Link() {}

    public static long of(long connection, int access) {
        int rights = access & 0x1f | (access & FLUSH) >> FLUSH_SHIFT;
        return connection << CONNECTION_SHIFT | (long) rights << 8 | 1;
    }

    /** Whether it is a link at all. */
    public static boolean isUp(long link) {
        return (link & 1) != 0;
    }

    /** The rights to read, write and use atomics. */
    public static int access(long link) {
        return (int) (link >>> 8) & 0x1f;
    }

    /** The rights to flush. */
    public static int flushAccess(long link) {
        return (int) (link >>> 8) << FLUSH_SHIFT & FLUSH;
    }
}
