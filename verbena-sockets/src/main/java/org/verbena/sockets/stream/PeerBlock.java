// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

/**
 * The control block of the other end: words are written to it until this end has closed the connection, and where it is mapped
 * it is seen what the peer says of itself there. Guarded by the session's lock, but for what is seen.
 */
final class PeerBlock {
    /** Answers of {@link #hasRead}. */
    static final int UNKNOWN = 0;
    static final int READ = 1;
    static final int NOT_READ = 2;

    private final Link own;
    private final int key;
    private final long address;
    private final int index;
    private final boolean tells;
    /** What the peer says of itself in its own memory; null if it is not seen. */
    private volatile @Nullable MemorySegment view;
    /** Nothing more may be written to the peer's memory: it may serve another connection already. */
    private boolean gone;

    /** @param tells whether the peer says up to where it has read */
    PeerBlock(Link own, Offer peer, boolean tells) {
        this.own = own;
        this.tells = tells;
        key = peer.blockKey();
        address = peer.blockAddress();
        index = peer.index();
    }

    int key() {
        return key;
    }

    long address() {
        return address;
    }

    /** Number of the connection at the peer. */
    int index() {
        return index;
    }

    /** Posts a word, unless this end has said that it writes no more; the session's lock is held. */
    void post(int kind, int word, long value) {
        if (!gone) {
            own.session.postWord(kind, own.index, 0, address + word, key, value);
        }
    }

    /** Says that this end writes no more, nor reads; the session's lock is held. */
    void close(int kind, long how) {
        post(kind, BlockLayout.CLOSED, how);
        gone = true;
    }

    /** Whether it has said so; the session's lock is held. */
    boolean isClosed() {
        return gone;
    }

    /** Finds what the peer says of itself, as soon as its memory is there; the session's lock is held. */
    void find() {
        if (view == null && tells && !gone) {
            view = own.session.view(key, address + BlockLayout.READ, 2L * Long.BYTES);
        }
    }

    /** Whether what the peer says of itself is seen. */
    boolean isSeen() {
        return view != null;
    }

    /** What the peer has said when it closed, even if it did not arrive; 0 if nothing is known of it. */
    long left() {
        MemorySegment seen = view;
        return seen == null ? 0 : BlockLayout.getAcquire(seen, BlockLayout.LEFT - BlockLayout.READ);
    }

    /**
     * Whether the peer's program has read up to a position, as far as is known.
     *
     * @param start of the ring that this end writes: the peer has read up to there, or further
     */
    int hasRead(long position, long start) {
        MemorySegment seen = view;
        if (!tells || seen == null && own.session.isMapped()) {
            return UNKNOWN;
        }
        long read = seen == null
                ? Math.max(BlockLayout.getAcquire(own.block, BlockLayout.CONSUMED), start)
                : BlockLayout.getAcquire(seen, 0);
        return read >= position ? READ : NOT_READ;
    }
}
