// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.stream.memory.BlockLayout;

/**
 * The control block of the other end: words are written to it until this end has closed the connection, and where it is mapped
 * the peer's own words are read there. Guarded by the session's lock, but for that view.
 */
final class PeerBlock {
    /** Answers of {@link #hasRead}. */
    static final int UNKNOWN = 0;
    static final int READ = 1;
    static final int NOT_READ = 2;

    private static final long VIEW_BYTES = BlockLayout.LEFT + Long.BYTES - BlockLayout.BELL;

    private final Link own;
    private final int key;
    private final long address;
    private final int index;
    private final boolean reportsRead;
    private final boolean readsLap;
    private final boolean ringsBells;
    /** The peer's block from {@link BlockLayout#BELL} on, its own words among it; null if it is not mapped. */
    private volatile @Nullable MemorySegment view;
    private final PeerBell bell;
    /** Nothing more may be written to the peer's memory: it may serve another connection already. */
    private boolean gone;

    /** @param features of the peer, see {@link HandshakeMessage#FEATURES} */
    PeerBlock(Link own, Offer peer, long features) {
        this.own = own;
        reportsRead = (features & HandshakeMessage.READ_POSITION) != 0;
        readsLap = (features & HandshakeMessage.LAPS) != 0;
        ringsBells = (features & HandshakeMessage.BELLS) != 0 && own.session.isMapped();
        if (ringsBells) {
            own.session.ready().peerRings();
        }
        key = peer.blockKey();
        address = peer.blockAddress();
        index = peer.index();
        bell = new PeerBell(own.session, address + BlockLayout.BELL, key);
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

    /** Posts a word, unless this end has closed; the session's lock is held. */
    void post(int kind, int word, long value) {
        if (!gone) {
            own.session.postWord(kind, own.index, 0, address + word, key, value);
        }
    }

    /**
     * Posts the word that this end writes no more, nor reads; the session's lock is held. Where an earlier word has not arrived yet,
     * the peer's bell is not rung for it: TCP's end, which follows, wakes the thread that sleeps there.
     */
    void close(int kind, long how) {
        post(kind, BlockLayout.CLOSED, how);
        gone = true;
    }

    /** Whether this end has closed; the session's lock is held. */
    boolean isClosed() {
        return gone;
    }

    /** Maps the peer's own words, as soon as its memory is there; the session's lock is held. */
    void find() {
        if (view == null && !gone) { // also if it does not report what it reads: it may still sleep at its bell
            view = own.session.view(key, address + BlockLayout.BELL, VIEW_BYTES);
        }
    }

    /** Whether the peer answers arm words with {@link BlockLayout#BELL_QUEUE}. */
    boolean ringsBells() {
        return ringsBells;
    }

    /** Changes the peer's bell; {@link #wake} follows when the word has arrived. The session's lock is held. */
    void ring() {
        if (!gone) {
            bell.change(own.index, 0);
        }
    }

    long rings() {
        return bell.rings();
    }

    /** Wakes the peer's thread that sleeps at its bell; the session's lock is held. */
    void wake() {
        if (!gone || view != null) { // else that memory may serve another connection already
            bell.wake();
        }
    }

    /** Whether the peer's own words are mapped. */
    boolean isMapped() {
        return view != null;
    }

    /** How the peer has closed, even if its word did not arrive; 0 if it has not, or that is unknown. */
    long left() {
        MemorySegment seen = view;
        return seen == null ? 0 : BlockLayout.getAcquire(seen, BlockLayout.LEFT - BlockLayout.BELL);
    }

    /** Whether the peer is known to have read up to a position, and lets a lap begin there. */
    boolean allowsLap(long position) {
        MemorySegment seen = view;
        return readsLap && seen != null && read(seen) == position;
    }

    /**
     * Whether the peer's program has read up to a position, as far as it has reported.
     *
     * @param start of the ring that this end writes: the peer has read up to there, or further
     */
    int hasRead(long position, long start) {
        MemorySegment seen = view;
        if (!reportsRead || seen == null && own.session.isMapped()) {
            return UNKNOWN;
        }
        long read = seen == null
                ? Math.max(BlockLayout.getAcquire(own.block, BlockLayout.CONSUMED), start)
                : read(seen);
        return read >= position ? READ : NOT_READ;
    }

    private static long read(MemorySegment view) {
        return BlockLayout.getAcquire(view, BlockLayout.READ - BlockLayout.BELL);
    }
}
