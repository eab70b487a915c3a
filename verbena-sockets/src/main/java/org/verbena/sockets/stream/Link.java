// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.lang.foreign.MemorySegment;

import org.verbena.sockets.stream.memory.Arena;
import org.verbena.sockets.stream.memory.BlockLayout;
import org.verbena.sockets.stream.memory.GrantedRings;
import org.verbena.sockets.stream.memory.Memory;
import org.verbena.verbs.VerbsException;

/**
 * What one end of a connection has in its session: a control block, a ring and a number.
 */
final class Link {
    /** Size of the first ring; the next ones are {@link #RING_GROWTH} times as large, up to {@link #maxRing}. */
    static final int FIRST_RING = 4 << 10;
    static final int RING_GROWTH = 4;

    private static final int LARGEST_RING = 64 << 20;

    final Session session;
    final int index;
    final Memory blockMemory;
    final MemorySegment block;
    /** The ring that is read now, or the first one; its owner is {@link RingReader}. */
    Memory ring;
    /** Those that come after it. */
    final GrantedRings next = new GrantedRings();
    /** Where the first ring begins, noted before the second is granted. */
    volatile long firstStart = GrantedRings.UNKNOWN;

    /** Bytes of the ring are on their way into a file: it stays, whatever becomes of the connection. */
    volatile boolean isLent;
    /** The program holds packets in the rings: as above. */
    volatile boolean isHeld;

    private Link(Session session, int index, Memory blockMemory, Memory ring) {
        this.session = session;
        this.index = index;
        this.blockMemory = blockMemory;
        this.block = blockMemory.segment();
        this.ring = ring;
    }

    /** @throws VerbsException {@code ENOMEM} if the session is full */
    static Link create(Session session, RingStream stream) throws VerbsException {
        Arena arena = session.arena();
        Memory block = arena.allocate(BlockLayout.BYTES);
        BlockLayout.clear(block.segment());
        Memory ring = null;
        try {
            ring = arena.allocate(FIRST_RING);
            return new Link(session, session.add(stream), block, ring);
        } catch (VerbsException e) {
            arena.free(block);
            if (ring != null) {
                arena.free(ring);
            }
            throw e;
        }
    }

    /** The largest ring that this process grants, {@code -Dverbena.stream.ring} bytes. */
    static int maxRing() {
        return Integer.highestOneBit(
                Math.clamp(Integer.getInteger("verbena.stream.ring", 4 << 20), FIRST_RING, LARGEST_RING));
    }

    /** What the peer needs in order to write. */
    Offer offer() {
        return new Offer(index, blockMemory.rkey(), blockMemory.address(), ring.rkey(), ring.address(), ring.size(),
                session.header().address(), session.header().rkey());
    }

    /** Gives all memory back: the peer writes to it no more. */
    void release() {
        session.remove(index);
        session.arena().free(blockMemory);
        session.arena().free(ring);
        next.free(session.arena());
    }

    /** Whether memory can be given back. */
    boolean isReleasable() {
        return isLetGo() && !isLent && !isHeld;
    }

    /** Whether the peer has reported that it writes no more. */
    boolean isLetGo() {
        return BlockLayout.getAcquire(block, BlockLayout.CLOSED) != 0 || session.isFailed();
    }
}
