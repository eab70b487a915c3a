package org.verbena.sockets.stream;

import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.VerbsException;

/**
 * What one end of a connection has in its session: a control block and a first ring of its own, a number, and, once the
 * peer has made its {@link Offer}, the peer's.
 */
final class Link {
    /** Size of the first ring; the next ones are {@link #RING_GROWTH} times as large, up to {@link #maxRing}. */
    static final int FIRST_RING = 4 << 10;
    static final int RING_GROWTH = 16;

    private static final int LARGEST_RING = 64 << 20;

    final Session session;
    final int index;
    final Memory blockMemory;
    final MemorySegment block;
    /** The ring that is read now, or the first one; its owner is {@link Inbound}. */
    Memory ring;
    /** The ring that was granted and is not read yet. */
    @Nullable Memory nextRing;

    private @Nullable Offer peer;

    private Link(Session session, int index, Memory blockMemory, Memory ring) {
        this.session = session;
        this.index = index;
        this.blockMemory = blockMemory;
        this.block = blockMemory.segment();
        this.ring = ring;
    }

    /** @throws VerbsException {@code ENOMEM} if the session is full */
    static Link create(Session session, RingStream stream) throws VerbsException {
        Memory block = session.arena().allocate(Arena.SMALLEST);
        BlockLayout.clear(block.segment());
        Memory ring;
        try {
            ring = session.arena().allocate(FIRST_RING);
        } catch (VerbsException e) {
            session.arena().free(block);
            throw e;
        }
        return new Link(session, session.add(stream), block, ring);
    }

    /** The largest ring that this process grants, {@code -Dverbena.stream.ring} bytes. */
    static int maxRing() {
        return Integer.highestOneBit(
                Math.clamp(Integer.getInteger("verbena.stream.ring", 1 << 20), FIRST_RING, LARGEST_RING));
    }

    /** What the peer needs in order to write. */
    Offer offer() {
        return new Offer(index, blockMemory.rkey(), blockMemory.address(), ring.rkey(), ring.address(), ring.size());
    }

    /** What the peer offered; null before. */
    synchronized @Nullable Offer peer() {
        return peer;
    }

    synchronized void setPeer(Offer offer) {
        peer = offer;
    }

    /** Gives all memory back: the peer writes to it no more. */
    void release() {
        session.remove(index);
        session.arena().free(blockMemory);
        session.arena().free(ring);
        Memory next = nextRing;
        if (next != null) {
            session.arena().free(next);
        }
    }

    /** Whether the peer has said that it writes no more. */
    boolean isLetGo() {
        return BlockLayout.getAcquire(block, BlockLayout.CLOSED) != 0 || session.isFailed();
    }
}
