// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.spi.FlightEvents;

/**
 * The direction of a stream that comes in: TCP up to the byte that the peer has named, then the ring. Behind that byte TCP
 * carries doorbells only, which must never get into the program's buffers: as long as the byte is not known and may be
 * named at any moment, TCP is read into a buffer of this object's.
 */
final class Inbound {
    private static final int CANDIDATE = 0;
    private static final int KERNEL = 1;
    private static final int RING = 2;

    private static final int AGAIN = -2;

    private final SocketChannel tcp;
    private final Runnable changed;
    private volatile int carrier;

    // TCP's phase, under this object's lock
    private final Leftover leftover = new Leftover();
    private volatile @Nullable Link link;
    /** Position of the next byte that the program gets from the ring; in TCP's phase, bytes taken from TCP. */
    private long position;

    // the ring
    private int generation;
    /** Where the next one begins, if that is known. */
    private long nextStart = GrantedRings.UNKNOWN;
    private long told;
    private final RingGrants grants = new RingGrants();
    private volatile boolean shut;
    private final Doorbells doorbells;
    private final Ending ending;

    private long armSequence;
    private long seenSpaceArm;

    /** Written by the reader alone; others may see an earlier value. */
    private long bytesByTcp;
    private long bytesByRing;

    /** @param changed told when the ring is entered, or a doorbell taken before it: whoever sleeps has to arm anew */
    Inbound(SocketChannel tcp, Runnable changed, Doorbells doorbells, Ending ending) {
        this.tcp = tcp;
        this.changed = changed;
        this.doorbells = doorbells;
        this.ending = ending;
    }

    /** Whether the ring carries, and the doorbell works. */
    boolean isByRing() {
        return carrier == RING && !shut;
    }

    /** From now on the peer may change to the ring of this link; false if TCP has carried the end already. */
    synchronized boolean prepare(Link own) {
        if (carrier != CANDIDATE || doorbells.isEnded()) {
            return false;
        }
        link = own;
        tellRead(own);
        return true;
    }

    /** For the peer, when this process is gone. */
    private void tellRead(Link own) {
        BlockLayout.putRelease(own.block, BlockLayout.READ, position - leftover.remaining());
    }

    /** It will be TCP for ever: the peer will never use a ring, not even one that was {@linkplain #prepare prepared}. */
    synchronized void stayWithTcp() {
        if (carrier == CANDIDATE) {
            link = null;
            carrier = KERNEL;
        }
    }

    int read(ByteBuffer into, Outbound back) throws IOException {
        if (shut) {
            return -1;
        }
        if (carrier == CANDIDATE) {
            synchronized (this) {
                int n = carrier == CANDIDATE ? readCandidate(into) : 0;
                Link own = link;
                if (n > 0 && own != null) {
                    tellRead(own);
                }
                if (n != 0 || carrier == CANDIDATE) {
                    return n;
                }
            }
        }
        if (leftover.hasRemaining()) {
            int n = leftover.take(into);
            if (carrier == RING) {
                tellRead(link());
            }
            return n;
        }
        if (carrier == RING) {
            return readRing(into, back);
        }
        return readTcp(into);
    }

    private int readTcp(ByteBuffer into) throws IOException {
        try {
            int n = SocketEvents.read(tcp, into);
            if (n >= 0 || doorbells.error() == null) {
                count(n);
                return n;
            }
        } catch (IOException e) {
            if (doorbells.error() == null) {
                ending.toldProgram(e);
                throw e;
            }
        }
        return ending.readTaken();
    }

    /** Whether TCP alone brings what is to be read from here on. */
    boolean isByTcp() {
        return carrier == KERNEL && !shut && !leftover.hasRemaining();
    }

    /** Reads what {@linkplain #isByTcp TCP alone} brings. */
    long readTcp(ByteBuffer[] into, int offset, int length) throws IOException {
        try {
            long n = SocketEvents.read(tcp, into, offset, length);
            if (n >= 0 || doorbells.error() == null) {
                count(n);
                return n;
            }
        } catch (IOException e) {
            if (doorbells.error() == null) {
                ending.toldProgram(e);
                throw e;
            }
        }
        return ending.readTaken();
    }

    private int readCandidate(ByteBuffer into) throws IOException {
        if (leftover.hasRemaining()) {
            return leftover.take(into);
        }
        Link own = link;
        if (own == null) {
            return readTcp(into);
        }
        long left = leftOfTcp(own);
        if (left == 0) {
            enterRing();
            return 0;
        }
        if (!into.hasRemaining()) {
            return 0;
        }
        if (left > 0) {
            int limit = into.limit();
            into.limit((int) Math.min(limit, into.position() + left));
            try {
                int n = SocketEvents.read(tcp, into);
                count(n);
                if (n >= 0) {
                    return n;
                }
                doorbells.end();
            } catch (IOException e) {
                doorbells.fail(e);
            } finally {
                into.limit(limit);
            }
            return atEnd(own);
        }
        fill(own);
        return leftover.hasRemaining() ? leftover.take(into) : carrier == RING ? 0 : atEnd(own);
    }

    private void count(long n) {
        if (n > 0) {
            position += n;
            bytesByTcp += n;
        }
    }

    /** Bytes that TCP has still to bring before the ring begins; -1 if that is not known. */
    private long leftOfTcp(Link own) throws IOException {
        long lane = BlockLayout.getAcquire(own.block, BlockLayout.LANE);
        if (lane == 0) {
            return -1;
        }
        long left = firstStart(own, lane) - position;
        if (left < 0) {
            throw broken(own);
        }
        return left;
    }

    /** Where the first ring begins; a peer that found it full may be in a later one. */
    private static long firstStart(Link own, long lane) {
        return BlockLayout.generation(lane) == 1 ? BlockLayout.start(lane) : own.firstStart;
    }

    private static IOException broken(Link own) {
        own.session.fail();
        return new SocketException("Connection reset: the peer breaks the protocol of streams");
    }

    /** What the program gets where TCP has brought all that it is to bring. */
    private int atEnd(Link own) throws IOException {
        if (!doorbells.isOver()) {
            return 0;
        }
        long end = BlockLayout.getAcquire(own.block, BlockLayout.END);
        if (end == (position << BlockLayout.END_BITS | BlockLayout.END_ORDERLY)) {
            return -1;
        }
        long left = leftOfTcp(own);
        boolean lost = left > 0 || left < 0 && doorbells.error() != null;
        return lost ? ending.readCutOff(own) : ending.read(own);
    }

    /** Reads what TCP has into the leftover, and doorbells away; the end of TCP is found there. The lock is held. */
    private void fill(Link own) throws IOException {
        while (true) {
            long left = leftOfTcp(own);
            if (left == 0) {
                enterRing();
                return;
            }
            if (doorbells.isOver() || shut) {
                return;
            }
            int piece = left > 0 ? (int) Math.min(left, Leftover.PIECE) : Leftover.PIECE;
            int n = readTcp(piece);
            if (n <= 0) {
                if (n < 0) {
                    continue; // the peer may have changed to the ring before it closed
                }
                return;
            }
            long known = leftOfTcp(own);
            int data = known >= 0 ? (int) Math.min(n, known) : n; // what is more was the doorbell
            leftover.keep(data);
            count(data);
            if (data < n) {
                doorbells.found();
                changed.run(); // it was for whoever sleeps, who is not armed: a program may read without selecting
            }
            if (known != 0 && (n < piece || left < 0)) {
                return;
            }
        }
    }

    private int readTcp(int piece) {
        try {
            int n = leftover.read(tcp, piece);
            if (n < 0) {
                doorbells.end();
            }
            return n;
        } catch (IOException e) {
            doorbells.fail(e);
            return -1;
        }
    }

    /**
     * Enters the ring if TCP has brought all that it is to bring. Who only writes never reads its way there, and hears no
     * doorbell as long as TCP may carry data. It takes nothing off TCP: a reader may be asleep there.
     */
    void enterIfDue() {
        if (carrier != CANDIDATE) {
            return;
        }
        synchronized (this) {
            Link own = link;
            if (carrier == CANDIDATE && own != null && !leftover.hasRemaining()) {
                long lane = BlockLayout.getAcquire(own.block, BlockLayout.LANE);
                if (lane != 0 && firstStart(own, lane) == position) {
                    enterRing();
                }
            }
        }
    }

    private void enterRing() {
        generation = 1;
        told = position;
        carrier = RING;
        doorbells.alone();
        FlightEvents.socketByRing(tcp, "in", position);
        changed.run();
    }

    private Link link() {
        return Objects.requireNonNull(link);
    }

    /** How many bytes can be read from the ring of now; the next one is entered if this one is at its end. */
    private int readable(Link own) {
        while (true) {
            long produced = BlockLayout.getAcquire(own.block, BlockLayout.PRODUCED);
            long lane = BlockLayout.getAcquire(own.block, BlockLayout.LANE); // after produced: it is written before
            long end = produced;
            if (BlockLayout.generation(lane) != generation) {
                long start = nextStart(own, lane);
                if (start < position) {
                    return -1;
                }
                if (start == position) {
                    nextRing(own);
                    continue;
                }
                end = Math.min(produced, start);
            }
            long n = Math.max(end, position) - position; // nothing was produced yet: 0
            return n > own.ring.size() ? -1 : (int) n;
        }
    }

    /** Where the ring after this one begins; the peer is there or further. */
    private long nextStart(Link own, long lane) {
        if (nextStart == GrantedRings.UNKNOWN) {
            synchronized (own.session) {
                nextStart = own.next.start(generation + 1, lane);
            }
        }
        return nextStart;
    }

    private void nextRing(Link own) {
        synchronized (own.session) { // the engine's thread looks at the rings too
            own.session.arena().free(own.ring);
            own.ring = own.next.take();
        }
        generation++;
        nextStart = GrantedRings.UNKNOWN;
    }

    private int readRing(ByteBuffer into, Outbound back) throws IOException {
        Link own = link();
        int n;
        while ((n = readable(own)) <= 0) {
            if (n < 0) {
                throw broken(own);
            }
            if (!into.hasRemaining()) {
                return 0;
            }
            int said = nothing(own);
            if (said != AGAIN) {
                return said;
            }
        }
        n = Math.min(n, into.remaining());
        Memory ring = own.ring;
        int at = (int) (position & ring.size() - 1);
        int first = Math.min(n, ring.size() - at);
        int to = into.position();
        into.put(to, ring.bytes(), at, first);
        if (first < n) {
            into.put(to + first, ring.bytes(), 0, n - first);
        }
        into.position(to + n);
        position += n;
        bytesByRing += n;
        BlockLayout.putRelease(own.block, BlockLayout.READ, position);
        if (position - told >= ring.size() >> 2 || !own.session.isMapped() && readable(own) == 0) {
            tell(own, back); // the peer has to know that all was read, if it cannot see that
        }
        return n;
    }

    /** The ring is empty: the end, what TCP says, or nothing yet. */
    private int nothing(Link own) throws IOException {
        if (own.session.isFailed() && !shut) {
            doorbells.drain();
        }
        long end = BlockLayout.getAcquire(own.block, BlockLayout.END);
        if (end == 0 && !ending.isForReader(own)) {
            return 0;
        }
        if (readable(own) != 0) { // it came before the end did
            return AGAIN;
        }
        if (end != 0 && end >>> BlockLayout.END_BITS == position) {
            return (end & BlockLayout.END_ABORT) != 0 ? ending.readAborted() : -1;
        }
        return ending.read(own);
    }

    /** Tells the peer how far this end has read, grants a larger ring if it wants one. */
    private void tell(Link own, Outbound back) {
        synchronized (own.session) { // the engine's thread may tell at the same time
            if (!back.knowsPeer()) {
                return; // it is told when the peer's offer comes
            }
            told = position;
            grants.grant(own, back);
            back.postWord(Session.SPACE, BlockLayout.CONSUMED, position);
            own.session.poll();
        }
    }

    /**
     * Grants a larger ring if the peer wants one, and wakes it if it waits for room. On the engine's thread: the program may
     * be far from reading, even waiting for the peer to read first.
     */
    void grow(Outbound back) {
        Link own = link;
        if (own != null) {
            synchronized (own.session) {
                if (back.knowsPeer()) {
                    grants.grant(own, back);
                    own.session.poll();
                }
            }
        }
    }

    /** The peer's offer has come: makes up for what could not be told before. Whoever waits is to be woken by doorbell. */
    void peerKnown(Outbound back) {
        Link own = link;
        if (own == null) {
            return;
        }
        synchronized (own.session) {
            back.postWord(Session.NOTHING, BlockLayout.DATA_ARM, BlockLayout.arm(++armSequence, 0));
            grants.grant(own, back);
            own.session.poll();
        }
        if (carrier == RING && position - told >= own.ring.size() >> 2) {
            tell(own, back);
        }
    }

    /** The peer knows what was consumed; the session's lock is held. */
    void arrived(RingStream stream, Outbound back) {
        long arm = BlockLayout.getAcquire(link().block, BlockLayout.SPACE_ARM);
        if (arm != seenSpaceArm) {
            seenSpaceArm = arm;
            link().session.notifyPeer(stream, back.peerIndex(), BlockLayout.queue(arm));
        }
    }

    boolean isReady() {
        if (shut || leftover.hasRemaining()) {
            return true;
        }
        if (carrier != RING) {
            Link candidate = link;
            return carrier == CANDIDATE && doorbells.isOver() && (candidate == null || ending.isForReader(candidate));
        }
        Link own = link();
        return BlockLayout.getAcquire(own.block, BlockLayout.PRODUCED) > position
                || BlockLayout.getAcquire(own.block, BlockLayout.END) != 0 || ending.isForReader(own);
    }

    /** Asks the peer to tell when there are data. */
    boolean arm(int queue, Outbound back) {
        if (isReady()) {
            return true;
        }
        if (carrier != RING || !back.knowsPeer()) {
            return false;
        }
        Link own = link();
        synchronized (own.session) {
            // always anew: the peer may have answered the last one late, for data that are read already
            back.postWord(Session.NOTHING, BlockLayout.DATA_ARM, BlockLayout.arm(++armSequence, queue));
            own.session.awaitArrival();
        }
        return isReady();
    }

    /** Whether the kernel has still something to say. */
    boolean needsKernel() {
        return !shut && (carrier == KERNEL || !doorbells.isOver());
    }

    /** Whether a doorbell that TCP brings would be found, not lie behind more than is taken for a program that does not read. */
    boolean findsDoorbells() {
        return carrier == RING || leftover.remaining() < Leftover.PIECE;
    }

    /** TCP has something to read; says whether the program has. */
    boolean kernelReady() {
        if (carrier == CANDIDATE) {
            synchronized (this) {
                if (carrier == CANDIDATE) { // else a reader, who had the lock, has got further
                    return candidateReady();
                }
            }
        }
        if (carrier == KERNEL) {
            return true;
        }
        doorbells.drain();
        return isReady();
    }

    /** TCP has something to read, and it stays there: whoever waited has got what it waited for. */
    void leaveDoorbell() {
        doorbells.leave();
    }

    /** Takes what was {@linkplain #leaveDoorbell left}; says whether there was any. */
    boolean takeLeftDoorbell() {
        if (!doorbells.areLeft()) {
            return false;
        }
        kernelReady();
        doorbells.takenLeft();
        return true;
    }

    /** The process ends: what is unread would make the kernel reset the connection. */
    void exit() {
        if (carrier == RING && !shut) {
            doorbells.drainLeft();
        }
    }

    private boolean candidateReady() {
        Link own = link;
        if (own == null) {
            return true;
        }
        try {
            if (leftover.remaining() < Leftover.PIECE) { // a program that does not read holds up the peer
                fill(own);
            }
        } catch (IOException e) {
            doorbells.fail(e);
            return true;
        }
        return leftover.hasRemaining() || isReady();
    }

    /** TCP has ended, or half of it: finds out how. On the engine's thread; who waits for bytes of TCP finds them here. */
    void tcpEnded() {
        enterIfDue();
        if (carrier == CANDIDATE) {
            synchronized (this) {
                Link own = link;
                try {
                    while (carrier == CANDIDATE && own != null && !doorbells.isOver() && tcp.isOpen()) {
                        int before = leftover.remaining();
                        fill(own);
                        if (leftover.remaining() == before) {
                            break;
                        }
                    }
                } catch (IOException e) {
                    doorbells.fail(e);
                }
            }
        }
        if (carrier == RING) {
            doorbells.drainToEnd();
        }
    }

    /** Any thread may ask, beside the one that reads: so it changes nothing, and is of some moment of the call. */
    int available(int inTcp) {
        synchronized (this) {
            long ready = leftover.remaining();
            Link own = link;
            if (carrier == RING) {
                ready += unread();
            } else if (own == null) {
                ready += inTcp;
            } else {
                long lane = BlockLayout.getAcquire(own.block, BlockLayout.LANE);
                long start = firstStart(own, lane);
                long produced = BlockLayout.getAcquire(own.block, BlockLayout.PRODUCED);
                ready += lane == 0
                        ? inTcp
                        : Math.clamp(start - position, 0, inTcp) + Math.max(0, produced - start); // no doorbells
            }
            return Math.clamp(ready, 0, Integer.MAX_VALUE);
        }
    }

    /** Learns from TCP whether the peer is gone; says whether a doorbell was taken. */
    boolean lookAtTcp() {
        long before = doorbells.taken();
        if (carrier == RING && !shut) {
            doorbells.drain();
        }
        return doorbells.taken() != before;
    }

    void shutdown() throws IOException {
        exit();
        shut = true;
        doorbells.shut();
        tcp.shutdownInput(); // wakes who waits; there are no doorbells from now on
    }

    /**
     * The session failed a while ago: whoever waits for the ring waits no longer, and what it has is not all there was unless
     * TCP has said the end. TCP's phase TCP itself ends, after all that it has still to bring.
     */
    void breakOff() {
        enterIfDue();
        if (carrier != RING || shut) {
            return;
        }
        doorbells.drain();
        if (!doorbells.isOver()) {
            ending.breakOff();
            doorbells.fail(new SocketException("Connection reset: the session with the other process broke off"));
            try {
                tcp.shutdownInput();
            } catch (IOException closedAlready) {
                // nobody waits then
            }
        }
    }

    /**
     * Whether the program leaves something unread that TCP does not know of, be it that it wanted no more.
     *
     * @param takesTcp whether what TCP has counts, too: the ring tells of the end before TCP does
     */
    boolean isUnread(boolean takesTcp) {
        if (carrier == CANDIDATE && takesTcp) {
            if (!shut) {
                candidateReady();
            } else if (isUnreadInTcp()) {
                return true;
            }
        }
        return leftover.hasRemaining() || carrier == RING && readable(link()) > 0;
    }

    /** Whether TCP has bytes of the stream; a program that has ended what comes in reads none of them. */
    private boolean isUnreadInTcp() {
        Link own = link;
        if (own == null) {
            return false;
        }
        long lane = BlockLayout.getAcquire(own.block, BlockLayout.LANE);
        return (lane == 0 || firstStart(own, lane) > position) && doorbells.hasUnread();
    }

    /** Before TCP is closed: doorbells that lie there unread would make the kernel reset the connection. */
    void leave() {
        if (carrier == RING && !shut) {
            doorbells.drain();
        }
    }

    /** Bytes in rings that the program has not read; any thread may ask as long as the stream is open. */
    long unread() {
        Link own = link;
        return carrier != RING || own == null
                ? 0
                : Math.clamp(BlockLayout.getAcquire(own.block, BlockLayout.PRODUCED) - position, 0, Integer.MAX_VALUE);
    }

    /** Size of the ring that is read, with those after it that what is unread is in; the session's lock is held. */
    int ringSize(long unread) {
        Link own = link;
        if (carrier != RING || own == null) {
            return 0;
        }
        return own.ring.size() + own.next.size(unread - own.ring.size());
    }

    /** Times the ring was replaced by a larger one. */
    long growths() {
        return Math.max(0, generation - 1);
    }

    /** Times a doorbell of the peer's was taken. */
    long wakeUps() {
        return doorbells.taken();
    }

    long bytesByTcp() {
        return bytesByTcp;
    }

    long bytesByRing() {
        return bytesByRing;
    }
}
