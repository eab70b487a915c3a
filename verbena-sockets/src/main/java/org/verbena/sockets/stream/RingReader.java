// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.stream.memory.BlockLayout;
import org.verbena.sockets.stream.memory.GrantedRings;
import org.verbena.sockets.stream.memory.Memory;

/**
 * Reads a direction from the rings that the peer writes, one after the other: what is there, where the next ring
 * begins, and what is sent to the peer about it. For the reading thread, unless stated otherwise.
 */
final class RingReader {
    private static final int AGAIN = -2;
    /** Bytes that are lent at a time: the peer gets their room back when they are in the file. */
    private static final int MAX_LENT = 64 << 10;

    private final Link own;
    private final Doorbells doorbells;
    private final Ending ending;
    /** Of the next byte that the program gets. */
    private long position;
    /** Where the first ring begins; 0 before that is named, as the others. */
    private long start;
    /** Where the ring of now begins. */
    private long ringStart;
    /** As {@link #released} was once: it is asked again, under the lock of the packets, where that matters. */
    private long floor;
    private int generation;
    /** Where the next ring begins, if that is named. */
    private long nextStart = GrantedRings.UNKNOWN;
    private long reported;
    /** Bytes from the position on that are on their way into a file; the thread that closes the stream reads it, too. */
    private int lent;
    private int lentAt;
    private @Nullable RingLoan loan;
    /** What was received without a copy; null as long as nothing was. With it, its lock guards the position and what is reported. */
    private volatile @Nullable RingPackets packets;

    // guarded by the session's lock
    private final RingGrants grants = new RingGrants();
    private long armSequence;
    private long seenSpaceArm;

    RingReader(Link own, Doorbells doorbells, Ending ending) {
        this.own = own;
        this.doorbells = doorbells;
        this.ending = ending;
    }

    Link link() {
        return own;
    }

    /** The first ring brings what follows; before the phase changes. */
    void start(long at) {
        generation = 1;
        start = at;
        ringStart = at;
        reported = at;
        position = at;
    }

    /** The peer's word of the ring that it is in; 0 as long as it is in none. */
    long lane() {
        return BlockLayout.getAcquire(own.block, BlockLayout.LANE);
    }

    /** Where the first ring begins; a peer that found it full may be in a later one. */
    long firstStart(long lane) {
        return BlockLayout.generation(lane) == 1 ? BlockLayout.start(lane) : own.firstStart;
    }

    /** What a reader gets whose peer breaks the protocol: the session ends. */
    IOException broken() {
        own.session.fail();
        return new SocketException("Connection reset: the peer breaks the protocol of streams");
    }

    int read(ByteBuffer into, Outbound back) throws IOException {
        Link link = own; // once: the words that are read in between would have the field loaded anew
        int n;
        while ((n = readable(link)) <= 0) {
            if (n < 0) {
                throw broken();
            }
            if (!into.hasRemaining()) {
                return 0;
            }
            int result = readEmpty(link);
            if (result != AGAIN) {
                return result;
            }
        }
        n = Math.min(n, into.remaining());
        Memory ring = link.ring;
        int at = offset(link, ring);
        int first = Math.min(n, ring.size() - at);
        int to = into.position();
        into.put(to, ring.bytes(), at, first);
        if (first < n) {
            into.put(to + first, ring.bytes(), 0, n - first);
        }
        into.position(to + n);
        consumed(link, ring, n, back);
        return n;
    }

    private void consumed(Link link, Memory ring, int n, Outbound back) {
        RingPackets held = packets;
        if (held != null) {
            synchronized (held) {
                position += n;
                settle(back);
            }
            return;
        }
        position += n;
        BlockLayout.putRelease(link.block, BlockLayout.READ, position); // for the peer, when this process is gone
        if (isDue(ring) || !link.session.isMapped() && readable(link) == 0) {
            reportConsumed(back); // the peer needs to be informed that all was read, if it cannot see that
        }
    }

    @Nullable
    RingPackets packets() {
        return packets;
    }

    /** Before the first packet is held: the engine's thread, which may be about to report, sees them or an earlier position. */
    void packets(RingPackets held) {
        synchronized (own.session) {
            packets = held;
        }
    }

    /** What is next, where it cannot be held: {@link PacketProbe#next}. */
    int probe() throws IOException {
        while (true) {
            int n = readable(own);
            if (n != 0) {
                if (n < 0) {
                    throw broken();
                }
                return PacketProbe.COPY;
            }
            int result = readEmpty(own);
            if (result != AGAIN) {
                return result;
            }
        }
    }

    /** As {@link RingPackets#receive}. */
    int receive(RingPackets to, PacketHolder into) throws IOException {
        Link link = own;
        int n;
        while ((n = readable(link)) <= 0) {
            if (n < 0) {
                throw broken();
            }
            int result = readEmpty(link);
            if (result != AGAIN) {
                if (result == 0 && position - Math.max(floor, ringStart) >= link.ring.size()) {
                    findStall(to, link.ring.size());
                }
                return result;
            }
        }
        int total = 0;
        synchronized (to) {
            try {
                while (n > 0) {
                    Memory ring = link.ring;
                    int taken = to.take(into, ring, offset(link, ring), n, position);
                    if (taken == 0) {
                        into.truncated();
                        break;
                    }
                    position += taken;
                    total += taken;
                    n -= taken;
                    if (n == 0) {
                        n = readable(link); // in the next ring, or what came meanwhile; nonsense is left to the next call
                    }
                }
            } finally {
                settle(to.back());
            }
        }
        return total == 0 ? RingPackets.FULL : total;
    }

    /** Nothing comes: perhaps because what is held fills the ring, and no larger one will come. */
    private void findStall(RingPackets held, int size) {
        if (held.isStallKnown()) {
            return;
        }
        synchronized (held) {
            floor = held.released(position);
        }
        if (position - Math.max(floor, ringStart) >= size && size >= Link.maxRing()) {
            held.stalled(); // without the lock
        }
    }

    /** Up to where the peer may write again; the lock of the packets is held, if there are any. */
    long released() {
        RingPackets held = packets;
        return held == null ? position : held.released(position);
    }

    /** After some bytes were read or freed where packets are held: the peer learns what it may write to. Their lock is held. */
    void settle(Outbound back) {
        Link link = own;
        long released = released();
        BlockLayout.putRelease(link.block, BlockLayout.READ, released);
        int size = link.ring.size();
        // a reader that has all there is, and holds much of it, frees less than a quarter perhaps, for which the peer waits
        boolean isShort = position - reported >= size >> 1 || !link.session.isMapped()
                && BlockLayout.getAcquire(link.block, BlockLayout.PRODUCED) <= position;
        if (released - reported >= size >> 2 || released > reported && isShort) {
            reportConsumed(back);
        }
    }

    /** As {@link Stream#loan}. */
    RingLoan loan(Outbound back) {
        RingLoan one = loan;
        if (one == null) {
            one = new RingLoan(this, back);
            loan = one;
        }
        return one;
    }

    /** As {@link RingLoan#lend}. */
    int lend(long count) throws IOException {
        Link link = own;
        int n;
        while ((n = readable(link)) <= 0) {
            if (n < 0) {
                throw broken();
            }
            int result = readEmpty(link);
            if (result != AGAIN) {
                return result;
            }
        }
        Memory ring = link.ring;
        int at = offset(link, ring);
        n = (int) Math.min(Math.min(n, count), Math.min(ring.size() - at, MAX_LENT));
        lentAt = at;
        lent = n;
        link.isLent = true;
        return n;
    }

    /** Where they are, in the ring of now. */
    int lentAt() {
        return lentAt;
    }

    /** Ends the loan, of which {@code n} bytes are read. */
    void takeLent(int n, Outbound back) {
        lent = 0;
        endLoan();
        if (n > 0) {
            consumed(own, own.ring, n, back);
        }
    }

    /** Ends the loan of a stream that was closed meanwhile; its bytes count as read. */
    void endLoan() {
        own.isLent = false;
    }

    /** Whether something is there that the program neither has read nor is writing into a file. */
    boolean isUnread() {
        return readable() > lent;
    }

    /** Where in the ring the next byte is. */
    private int offset(Link link, Memory ring) {
        return (int) (position - BlockLayout.getAcquire(link.block, BlockLayout.LAP) & ring.size() - 1);
    }

    /** How many bytes can be read from the ring of now; the next one is entered if this one is at its end. */
    int readable() {
        return readable(own);
    }

    private int readable(Link link) {
        while (true) {
            long produced = BlockLayout.getAcquire(link.block, BlockLayout.PRODUCED);
            long lane = BlockLayout.getAcquire(link.block, BlockLayout.LANE); // after produced: it is written before
            long end = produced;
            if (BlockLayout.generation(lane) != generation) {
                long next = nextStart(lane);
                if (next < position) {
                    return -1;
                }
                if (next == position) {
                    nextRing();
                    continue;
                }
                end = Math.min(produced, next);
            }
            long n = Math.max(end, position) - position; // readEmpty was produced yet: 0
            return n > link.ring.size() || packets != null && overwrites(link, end) ? -1 : (int) n;
        }
    }

    /** Whether a peer that has written up to there has written over packets that are held. */
    private boolean overwrites(Link link, long end) {
        int size = link.ring.size();
        RingPackets held = packets;
        if (held == null || end - Math.max(floor, ringStart) <= size) {
            return false;
        }
        synchronized (held) {
            floor = held.released(position);
        }
        return end - Math.max(floor, ringStart) > size;
    }

    /** Where the ring after this one begins; the peer is there or further. */
    private long nextStart(long lane) {
        if (nextStart == GrantedRings.UNKNOWN) {
            synchronized (own.session) {
                nextStart = own.next.start(generation + 1, lane);
            }
        }
        return nextStart;
    }

    private void nextRing() {
        Memory old = own.ring;
        RingPackets held = packets;
        boolean isKept = held != null && held.keeps(old, position);
        synchronized (own.session) { // the engine's thread accesses the rings too
            if (!isKept) {
                own.session.arena().free(old);
            }
            own.ring = own.next.take();
        }
        generation++;
        ringStart = position;
        nextStart = GrantedRings.UNKNOWN;
    }

    /** The ring is empty: the end, what TCP reports, or readEmpty yet. */
    private int readEmpty(Link link) throws IOException {
        if (link.session.isFailed()) {
            doorbells.drain();
        }
        long end = BlockLayout.getAcquire(link.block, BlockLayout.END);
        if (end == 0 && !ending.isForReader(link)) {
            return 0;
        }
        if (readable(link) != 0) { // it came before the end did
            return AGAIN;
        }
        if (end != 0 && end >>> BlockLayout.END_BITS == position) {
            return (end & BlockLayout.END_ABORT) != 0 ? ending.readAborted() : -1;
        }
        return ending.read(link);
    }

    /** Whether enough was read since the last update to the peer for the next one. */
    private boolean isDue(Memory ring) {
        return position - reported >= ring.size() >> 2;
    }

    /** Reports to the peer how far this end has read, grants a larger ring if it wants one. */
    private void reportConsumed(Outbound back) {
        RingPackets held = packets;
        if (held == null) {
            synchronized (own.session) {
                held = packets;
                if (held == null) { // so all up to the position was copied, as long as the lock is held
                    reportConsumed(back, position);
                    return;
                }
            }
        }
        synchronized (held) { // before the session's, which is let go
            reportConsumed(back, released());
        }
    }

    private void reportConsumed(Outbound back, long upTo) {
        synchronized (own.session) { // the engine's thread may report at the same time
            PeerBlock peer = back.peer();
            if (peer == null) {
                return; // it is sent when the peer's offer comes
            }
            reported = Math.max(reported, upTo);
            grants.grant(own, peer);
            peer.post(Session.SPACE, BlockLayout.CONSUMED, reported);
            own.session.poll();
        }
    }

    /** As {@link Inbound#grow}. */
    void grow(Outbound back) {
        synchronized (own.session) {
            PeerBlock peer = back.peer();
            if (peer != null) {
                grants.grant(own, peer);
                own.session.poll();
            }
        }
    }

    /** The peer's offer has come: sends what could not be sent before. Waiting threads are to be woken by doorbell. */
    void onPeerOffer(PeerBlock peer) {
        synchronized (own.session) {
            armNow(peer, 0);
            grants.grant(own, peer);
            own.session.poll();
        }
    }

    /** Reports what was read while readEmpty could be sent to the peer. */
    void reportIfDue(Outbound back) {
        if (isDue(own.ring)) {
            reportConsumed(back);
        }
    }

    /** Asks the peer to signal data; the request has arrived when this returns. */
    void arm(int queue, PeerBlock peer) {
        synchronized (own.session) {
            // always anew: the peer may have answered the last one late, for data that are read already
            armNow(peer, queue);
            own.session.awaitArrival();
        }
    }

    private void armNow(PeerBlock peer, int queue) {
        peer.post(Session.NOTHING, BlockLayout.DATA_ARM, BlockLayout.arm(++armSequence, queue));
    }

    /** The peer has received what was consumed; the session's lock is held. */
    void arrived(RingStream stream, PeerBlock peer) {
        long arm = BlockLayout.getAcquire(own.block, BlockLayout.SPACE_ARM);
        if (arm != seenSpaceArm) {
            seenSpaceArm = arm;
            own.session.notifyPeer(stream, peer.index(), BlockLayout.queue(arm));
        }
    }

    /** Whether there is something to read, or an end. */
    boolean isReady() {
        return BlockLayout.getAcquire(own.block, BlockLayout.PRODUCED) > position
                || BlockLayout.getAcquire(own.block, BlockLayout.END) != 0 || ending.isForReader(own);
    }

    /** Bytes in rings that the program has not read; any thread may ask as long as the stream is open. */
    long unread() {
        return Math.clamp(BlockLayout.getAcquire(own.block, BlockLayout.PRODUCED) - position, 0, Integer.MAX_VALUE);
    }

    /** Size of the ring that is read, with those after it that what is unread is in; the session's lock is held. */
    int size(long unread) {
        return own.ring.size() + own.next.size(unread - own.ring.size());
    }

    /** Times the ring was replaced by a larger one. */
    long growths() {
        return Math.max(0, generation - 1);
    }

    /** Bytes that were read from rings. */
    long bytes() {
        return position - start;
    }
}
