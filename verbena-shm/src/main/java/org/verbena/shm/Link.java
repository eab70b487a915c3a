package org.verbena.shm;

import org.verbena.verbs.AccessFlags;

/**
 * The word by which a queue pair says that it takes requests: {@code number:24 | peer's number:24 | access:8 | epoch:7 |
 * 1}. The epoch grows each time the queue pair is connected, so that a request for an earlier connection never lands in
 * a later one.
 */
final class Link {
    /** The bits that an initiator expects to be unchanged; access may change in between. */
    static final long IDENTITY = ~0xff00L;

    private static final int FLUSH = AccessFlags.FLUSH_GLOBAL | AccessFlags.FLUSH_PERSISTENT;
    /** The rights to flush lie where those that only a region has would be. */
    private static final int FLUSH_SHIFT = 3;

    private Link() {}

    static long of(int number, int peerNumber, int access, int epoch) {
        int rights = access & 0x1f | (access & FLUSH) >> FLUSH_SHIFT;
        return (long) (number & 0xffffff) << 40 | (long) (peerNumber & 0xffffff) << 16 | (long) rights << 8
                | (long) (epoch & 0x7f) << 1 | 1;
    }

    static int number(long link) {
        return (int) (link >>> 40) & 0xffffff;
    }

    static int peerNumber(long link) {
        return (int) (link >>> 16) & 0xffffff;
    }

    /** The rights to read, write and use atomics. */
    static int access(long link) {
        return (int) (link >>> 8) & 0x1f;
    }

    /** The rights to flush. */
    static int flushAccess(long link) {
        return (int) (link >>> 8) << FLUSH_SHIFT & FLUSH;
    }
}
