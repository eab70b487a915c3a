// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Futex;
import org.verbena.sockets.stream.memory.BlockLayout;
import org.verbena.sockets.stream.memory.Memory;
import org.verbena.verbs.VerbsException;

/**
 * The ready queues of one session, both ways: the rings that the peer fills for this process's selectors, and what is
 * known of the peer's.
 *
 * <p>The session's header is written by the peer and has for each of the peer's queues where its ring is and whether
 * its owner sleeps. It has 32 bytes for each queue from 1 on:
 *
 * <pre>
 *    0  asleep     odd: the owner sleeps; negative, too: at its bell
 *    8  address    of the ring
 *   16  ring       entries << 32 | rkey; 0: there is none. Written last
 *
 * and of this process's queue of that number
 *   24  bell       {@code rings << 16} in the lower half, where the owner sleeps, see {@link SelectorBell}
 *
 * number 0, which is no queue, instead:
 *    0  answered   calls of this end's that the peer has answered
 *    8  departs    1: the peer's process ends in order
 * </pre>
 *
 * An entry of a ring is a word, {@code lap << 32 | index}: number of the connection at the queue's end. {@code lap}
 * counts entries from 1 on, so that an entry alone shows whether it is new.
 */
final class ReadyRings {
    /** Queues of a process that can have rings; further ones get doorbells only. */
    static final int QUEUES = 64;
    /** Entries of a ring: two for each connection of a session, for each can be armed twice; so it never overflows. */
    static final int ENTRIES = 2 * Session.MAX_STREAMS;
    static final int SLOT = 32;
    /** A power of two, as arenas have them. */
    static final int HEADER_BYTES = QUEUES * SLOT;

    private static final int ADDRESS = 8;
    private static final int RING = 16;
    private static final int DEPARTS = 8;
    static final int BELL = 24;
    static final long AT_BELL = Long.MIN_VALUE;
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final Session session;
    private final MemorySegment header;
    private final long[] tails = new long[QUEUES];
    private final @Nullable Ring[] own = new Ring[QUEUES];
    /** Those that there are, for threads that hold the session's lock. */
    private volatile List<Ring> made = List.of();
    private final @Nullable PeerBell[] bells = new @Nullable PeerBell[QUEUES];
    private final long[] rungFor = new long[QUEUES];
    /** The peer rings the bells of this process's queues. */
    private volatile boolean peerRings;

    ReadyRings(Session session, MemorySegment header) {
        this.session = session;
        this.header = header;
    }

    /** The peer knows of bells, and its memory is mapped. */
    void peerRings() {
        peerRings = true;
    }

    /** Wakes the owners of this process's queues, which are to leave the session out; it has failed. */
    void wakeOwners() {
        for (Ring ring : made) {
            ring.wake();
        }
    }

    /** An entry has arrived in one of the peer's queues: wakes its owner, if it sleeps. The session's lock is held. */
    void entryArrived(RingStream stream, int queue, ByteBuffer doorbell) {
        long nap = (long) LONG.getAcquire(header, (long) queue * SLOT);
        if ((nap & 1) == 0) {
            return;
        }
        if (nap > 0) {
            stream.ringDoorbell(doorbell);
            return;
        }
        PeerBell bell = bells[queue];
        if (bell == null) {
            bell = new PeerBell(session, session.peerHeader() + (long) queue * SLOT + BELL, session.peerHeaderKey());
            bells[queue] = bell;
        }
        if (nap != rungFor[queue]) { // once for each time that the owner went to sleep is enough
            rungFor[queue] = nap;
            stream.out().woke();
            bell.change(stream.index(), queue);
        }
    }

    /** The bell of the peer's queue, or of its end of the connection for no queue, has changed. The session's lock is held. */
    void bellArrived(@Nullable RingStream stream, int queue) {
        PeerBell bell = queue < QUEUES ? bells[queue] : null;
        if (bell != null) { // also if the connection that rang has ended: the owner waits for others, too
            bell.wake();
        } else if (stream != null) {
            stream.out().bellArrived();
        }
    }

    /** How many calls of this end's, {@link Session#requestProgress}, the peer has answered. */
    long answered() {
        return (long) LONG.getAcquire(header, 0);
    }

    /** Tells the peer that this process ends in order; the caller holds the session's lock. */
    void depart() {
        session.postWord(Session.NOTHING, 0, 0, session.peerHeader() + DEPARTS, session.peerHeaderKey(), 1);
    }

    /** Whether the peer has reported that its process ends in order. */
    boolean hasPeerDeparted() {
        return (long) LONG.getAcquire(header, DEPARTS) == 1;
    }

    /** Puts a connection into one of the peer's queues; the caller holds the session's lock. */
    void post(int index, int peerIndex, int queue) {
        if (queue >= QUEUES) {
            session.fail();
            return;
        }
        long ring = (long) LONG.getAcquire(header, (long) queue * SLOT + RING);
        int entries = (int) (ring >>> 32);
        if (Integer.bitCount(entries) != 1) {
            session.fail();
            return;
        }
        long address = (long) LONG.getOpaque(header, (long) queue * SLOT + ADDRESS);
        long tail = tails[queue]++;
        session.postWord(Session.READY_ENTRY, index, queue, address + (tail & entries - 1) * 8, (int) ring,
                tail + 1 << 32 | Integer.toUnsignedLong(peerIndex));
    }

    /**
     * The ring of a queue of this process, made when it is first asked for. It stays: the peer may write to it as long
     * as the session lasts, and the next queue of that number uses it again.
     */
    synchronized Ring open(int queue) throws VerbsException {
        Ring ring = own[queue];
        if (ring == null) {
            ring = create(queue);
            own[queue] = ring;
            List<Ring> all = new ArrayList<>(made);
            all.add(ring);
            made = List.copyOf(all);
        }
        return ring;
    }

    private Ring create(int queue) throws VerbsException {
        Memory memory = session.arena().allocatePermanently(ENTRIES * 8);
        memory.segment().fill((byte) 0);
        long at = session.peerHeader() + (long) queue * SLOT;
        synchronized (session) {
            session.postWord(Session.NOTHING, 0, 0, at, session.peerHeaderKey(), 0);
            session.postWord(Session.NOTHING, 0, 0, at + ADDRESS, session.peerHeaderKey(), memory.address());
            session.postWord(Session.NOTHING, 0, 0, at + RING, session.peerHeaderKey(),
                    (long) ENTRIES << 32 | Integer.toUnsignedLong(memory.rkey()));
            session.awaitArrival();
        }
        return new Ring(memory, queue);
    }

    /** A queue's ring in this session; one thread at a time reads it. */
    final class Ring {
        private final Memory memory;
        private final int queue;
        private final MemorySegment bell;
        private long head;
        private long naps;

        private Ring(Memory memory, int queue) {
            this.memory = memory;
            this.queue = queue;
            bell = header.asSlice((long) queue * SLOT + BELL, Long.BYTES);
        }

        Session session() {
            return session;
        }

        /** The next connection that became ready; null if there is none, or it has ended meanwhile. */
        @Nullable
        RingStream next() {
            long entry = (long) LONG.getAcquire(memory.segment(), (head & ENTRIES - 1) * 8);
            head++;
            return session.streams().get((int) entry);
        }

        boolean isEmpty() {
            long entry = (long) LONG.getAcquire(memory.segment(), (head & ENTRIES - 1) * 8);
            return (int) (entry >>> 32) != (int) (head + 1);
        }

        /** Whether the peer would ring the owner's bell. */
        boolean hasBell() {
            return peerRings;
        }

        /** Ends a sleep of the owner's at its bell, also one that is about to begin. */
        void wake() {
            BlockLayout.changeBell(bell, 0);
            Futex.wake(bell, 0, Integer.MAX_VALUE);
        }

        /** The owner's bell. */
        MemorySegment bell() {
            return bell;
        }

        /** Tells the peer whether the owner sleeps, and whether at its bell. */
        void sleep(boolean asleep, boolean atBell) {
            long word = ++naps << 1 | (asleep ? 1 : 0) | (atBell ? AT_BELL : 0);
            synchronized (session) {
                session.postWord(Session.NOTHING, 0, 0, session.peerHeader() + (long) queue * SLOT,
                        session.peerHeaderKey(), word);
                if (asleep) {
                    session.awaitArrival();
                } else {
                    session.poll();
                }
            }
        }
    }
}
