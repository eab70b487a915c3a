// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.stream.memory.Bell;
import org.verbena.sockets.stream.memory.BlockLayout;
import org.verbena.sockets.telemetry.StreamEvents;

/**
 * The direction of a stream that comes in: TCP up to the byte that the peer has named, then the {@linkplain RingReader
 * ring}. Behind that byte TCP carries doorbells only, which must never get into the program's buffers: as long as the
 * byte is not named and may be at any moment, TCP is read into a buffer of this object's.
 */
final class Inbound {
    private static final ByteBuffer[] NONE = {};

    private final SocketChannel tcp;
    private final Runnable changed;
    private final Doorbells doorbells;
    private final Ending ending;
    volatile Phase phase = Phase.UNDECIDED;
    private volatile boolean shut;

    // TCP's phase, under this object's lock
    final Leftover leftover = new Leftover();
    /** What brings the ring, as soon as the peer may change to it. */
    volatile @Nullable RingReader ring;
    /** Where a thread may sleep; null where the peer's memory is not mapped, nor ours there. */
    private volatile @Nullable Bell bell;
    /** The engine notices the end of TCP. */
    private volatile boolean watched;
    private volatile boolean givenUp;
    /** Bytes taken from TCP. Written by the reader alone; others may see an earlier value. */
    private long taken;

    /**
     * @param changed run when the ring is entered, or a doorbell taken before it: sleeping threads have to arm again
     */
    Inbound(SocketChannel tcp, Runnable changed, Doorbells doorbells, Ending ending) {
        this.tcp = tcp;
        this.changed = changed;
        this.doorbells = doorbells;
        this.ending = ending;
    }

    /** Whether the ring carries, and the doorbell works. */
    boolean isByRing() {
        return phase == Phase.RING && !shut;
    }

    /** From now on the peer may change to the ring of this link; false if TCP has carried the end already. */
    synchronized boolean prepare(Link own) {
        if (phase != Phase.UNDECIDED || doorbells.isEnded()) {
            return false;
        }
        ring = new RingReader(own, doorbells, ending);
        bell = own.session.isMapped() ? new Bell(own.block) : null;
        publishRead(own);
        return true;
    }

    /** For the peer, when this process is gone: TCP's phase, and what it has left. */
    private void publishRead(Link own) {
        BlockLayout.putRelease(own.block, BlockLayout.READ, taken - leftover.remaining());
    }

    /**
     * TCP carries it to its end: the peer will never use a ring, not even one that was {@linkplain #prepare prepared}.
     */
    synchronized void stayWithTcp() {
        if (phase == Phase.UNDECIDED) {
            ring = null;
            phase = Phase.TCP;
        }
    }

    int read(ByteBuffer into, Outbound back) throws IOException {
        if (shut) {
            return -1;
        }
        if (phase == Phase.UNDECIDED) {
            synchronized (this) {
                int n = phase == Phase.UNDECIDED ? readUndecided(into) : 0;
                RingReader own = ring;
                if (n > 0 && own != null) {
                    publishRead(own.link());
                }
                if (n != 0 || phase == Phase.UNDECIDED) {
                    return n;
                }
            }
        }
        if (leftover.hasRemaining()) {
            int n = leftover.take(into);
            if (phase == Phase.RING) {
                publishRead(ring().link());
            }
            return n;
        }
        if (phase == Phase.RING) {
            return ring().read(into, back);
        }
        return readTcp(into);
    }

    /** As {@link Stream#loan}. */
    @Nullable
    RingLoan loan(Outbound back) {
        return phase == Phase.RING && !shut && !leftover.hasRemaining() ? ring().loan(back) : null;
    }

    private int readTcp(ByteBuffer into) throws IOException {
        return (int) readTcp(into, NONE, 0, 0);
    }

    /** Whether TCP alone brings what is to be read from here on. */
    boolean isByTcp() {
        return phase == Phase.TCP && !shut && !leftover.hasRemaining();
    }

    /** Reads what {@linkplain #isByTcp TCP alone} brings. */
    long readTcp(ByteBuffer[] into, int offset, int length) throws IOException {
        return readTcp(null, into, offset, length);
    }

    /** @param one buffer; null for {@code length} ones of {@code several}, from {@code offset} on */
    private long readTcp(@Nullable ByteBuffer one, ByteBuffer[] several, int offset, int length) throws IOException {
        try {
            long n = one != null ? SocketEvents.read(tcp, one) : SocketEvents.read(tcp, several, offset, length);
            if (n >= 0 || doorbells.error() == null) {
                count(n);
                return n;
            }
        } catch (IOException e) {
            if (doorbells.error() == null) {
                ending.recordError(e);
                throw e;
            }
        }
        return ending.readTaken();
    }

    private int readUndecided(ByteBuffer into) throws IOException {
        if (leftover.hasRemaining()) {
            return leftover.take(into);
        }
        RingReader own = ring;
        if (own == null) {
            return readTcp(into);
        }
        long left = leftOfTcp(own);
        if (left == 0) {
            enterRing(own);
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
        return leftover.hasRemaining() ? leftover.take(into) : phase == Phase.RING ? 0 : atEnd(own);
    }

    private void count(long n) {
        if (n > 0) {
            taken += n;
        }
    }

    /** Bytes that TCP has still to bring before the ring begins; -1 if that is undecided. */
    private long leftOfTcp(RingReader own) throws IOException {
        long lane = own.lane();
        if (lane == 0) {
            return -1;
        }
        long left = own.firstStart(lane) - taken;
        if (left < 0) {
            throw own.broken();
        }
        return left;
    }

    /** What the program gets where TCP has brought all that it is to bring. */
    int atEnd(RingReader own) throws IOException {
        if (!doorbells.isOver()) {
            return 0;
        }
        long end = BlockLayout.getAcquire(own.link().block, BlockLayout.END);
        if (end == (taken << BlockLayout.END_BITS | BlockLayout.END_ORDERLY)) {
            return -1;
        }
        long left = leftOfTcp(own);
        boolean lost = left > 0 || left < 0 && doorbells.error() != null;
        return lost ? ending.readCutOff(own.link()) : ending.read(own.link());
    }

    /** Reads what TCP has into the leftover, and doorbells away; the end of TCP is found there. The lock is held. */
    private void fill(RingReader own) throws IOException {
        while (true) {
            long left = leftOfTcp(own);
            if (left == 0) {
                enterRing(own);
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
            long leftNow = leftOfTcp(own);
            int data = leftNow >= 0 ? (int) Math.min(n, leftNow) : n; // what is more was the doorbell
            leftover.keep(data);
            count(data);
            if (data < n) {
                doorbells.found();
                // it was for a sleeping thread, which is not armed now: a program may read without selecting
                changed.run();
            }
            if (leftNow != 0 && (n < piece || left < 0)) {
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
     * Enters the ring if TCP has delivered all its bytes. A program that only writes never reads up to there, and
     * receives no doorbell as long as TCP may carry data. Takes nothing off TCP: a reader may be asleep there.
     */
    void enterIfDue() {
        if (phase != Phase.UNDECIDED) {
            return;
        }
        synchronized (this) {
            RingReader own = ring;
            if (phase == Phase.UNDECIDED && own != null && !leftover.hasRemaining()) {
                long lane = own.lane();
                if (lane != 0 && own.firstStart(lane) == taken) {
                    enterRing(own);
                }
            }
        }
    }

    private void enterRing(RingReader own) {
        own.start(taken);
        phase = Phase.RING;
        doorbells.alone();
        StreamEvents.byRing(tcp, "in", taken);
        changed.run();
    }

    private RingReader ring() {
        return Objects.requireNonNull(ring);
    }

    /**
     * Grants a larger ring if the peer wants one, and wakes it if it waits for room. On the engine's thread: the
     * program may be far from reading, even waiting for the peer to read first.
     */
    void grow(Outbound back) {
        RingReader own = ring;
        if (own != null) {
            own.grow(back);
        }
    }

    /** The peer's offer has come: sends what could not be sent before. */
    void onPeerOffer(Outbound back) {
        RingReader own = ring;
        PeerBlock peer = back.peer();
        if (own == null || peer == null) {
            return;
        }
        own.onPeerOffer(peer);
        if (phase == Phase.RING) {
            own.reportIfDue(back);
        }
    }

    /** The peer has received what was consumed; the session's lock is held. */
    void arrived(RingStream stream, PeerBlock peer) {
        ring().arrived(stream, peer);
    }

    boolean isReady() {
        if (shut || leftover.hasRemaining()) {
            return true;
        }
        if (phase != Phase.RING) {
            RingReader prepared = ring;
            return phase == Phase.UNDECIDED && doorbells.isOver()
                    && (prepared == null || ending.isForReader(prepared.link()));
        }
        return ring().isReady();
    }

    /** Asks the peer to signal data. */
    boolean arm(int queue, Outbound back) {
        if (isReady()) {
            return true;
        }
        PeerBlock peer = back.peer();
        if (phase != Phase.RING || peer == null) {
            return false;
        }
        ring().arm(queue, peer);
        return isReady();
    }

    /** As {@link Stream#bell}. */
    @Nullable
    Bell bell(@Nullable PeerBlock peer) {
        Bell own = bell;
        return own != null && watched && !givenUp && isByRing() && peer != null && peer.ringsBells() && !own.isBroken()
                ? own
                : null;
    }

    /** As {@link Stream#giveUpBell}. */
    void giveUpBell() {
        givenUp = true;
    }

    /** The engine calls {@link #tcpEnded} from now on. */
    void watched() {
        watched = true;
    }

    /** Wakes a thread that sleeps at the bell. */
    void wake() {
        Bell own = bell;
        if (own != null) {
            own.changed();
        }
    }

    /** Whether the kernel still has something to report. */
    boolean needsKernel() {
        return !shut && (phase == Phase.TCP || !doorbells.isOver());
    }

    /**
     * Whether a doorbell that TCP brings would be found, not lie behind more than is taken for a program that does not
     * read.
     */
    boolean findsDoorbells() {
        return phase == Phase.RING || leftover.remaining() < Leftover.PIECE;
    }

    /** TCP has something to read; returns whether the program has. */
    boolean kernelReady() {
        if (phase == Phase.UNDECIDED) {
            synchronized (this) {
                if (phase == Phase.UNDECIDED) { // else a reader, which had the lock, has got further
                    return undecidedReady();
                }
            }
        }
        if (phase == Phase.TCP) {
            return true;
        }
        doorbells.drain();
        return isReady();
    }

    /** TCP has something to read, and it stays there: the waiting thread has its bytes already. */
    void leaveDoorbell() {
        doorbells.leave();
    }

    /** Takes what was {@linkplain #leaveDoorbell left}; returns whether there was any. */
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
        if (phase == Phase.RING && !shut) {
            doorbells.drainLeft();
        }
    }

    boolean undecidedReady() {
        RingReader own = ring;
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

    /**
     * TCP has ended, or half of it: finds out how. On the engine's thread; threads that wait for bytes of TCP get them
     * here.
     */
    void tcpEnded() {
        enterIfDue();
        if (phase == Phase.UNDECIDED) {
            synchronized (this) {
                RingReader own = ring;
                try {
                    while (phase == Phase.UNDECIDED && own != null && !doorbells.isOver() && tcp.isOpen()) {
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
        if (phase == Phase.RING) {
            doorbells.drainToEnd();
        }
    }

    /** Any thread may ask, beside the one that reads: so it changes nothing, and is of some moment of the call. */
    int available(int inTcp) {
        synchronized (this) {
            long ready = leftover.remaining();
            RingReader own = ring;
            if (phase == Phase.RING) {
                ready += unread();
            } else if (own == null) {
                ready += inTcp;
            } else {
                long lane = own.lane();
                long start = own.firstStart(lane);
                long produced = BlockLayout.getAcquire(own.link().block, BlockLayout.PRODUCED);
                ready += lane == 0
                        ? inTcp
                        : Math.clamp(start - taken, 0, inTcp) + Math.max(0, produced - start); // no doorbells
            }
            return Math.clamp(ready, 0, Integer.MAX_VALUE);
        }
    }

    /** Checks by TCP whether the peer is gone; returns whether a doorbell was taken. */
    boolean pollTcp() {
        long before = doorbells.taken();
        if (phase == Phase.RING && !shut) {
            doorbells.drain();
        }
        return doorbells.taken() != before;
    }

    void shutdown() throws IOException {
        exit();
        shut = true;
        doorbells.shut();
        tcp.shutdownInput(); // wakes waiting threads; there are no doorbells from now on
    }

    /**
     * The session failed a while ago: waits for the ring end, and its bytes are incomplete unless TCP has reported the
     * end. TCP's phase is ended by TCP itself, after its remaining bytes.
     */
    void breakOff() {
        enterIfDue();
        if (phase != Phase.RING || shut) {
            return;
        }
        doorbells.drain();
        if (!doorbells.isOver()) {
            ending.breakOff();
            doorbells.fail(new SocketException("Connection reset: the session with the other process broke off"));
            try {
                tcp.shutdownInput();
            } catch (IOException closedAlready) {
                // no thread waits then
            }
        }
    }

    /**
     * Whether the program leaves something unread that TCP does not count, be it that it wanted no more.
     *
     * @param takesTcp whether bytes of TCP count, too: the ring shows the end before TCP does
     */
    boolean isUnread(boolean takesTcp) {
        if (phase == Phase.UNDECIDED && takesTcp) {
            if (!shut) {
                undecidedReady();
            } else if (isUnreadInTcp()) {
                return true;
            }
        }
        return leftover.hasRemaining() || phase == Phase.RING && ring().isUnread();
    }

    /** Whether TCP has bytes of the stream; a program that has ended what comes in reads none of them. */
    private boolean isUnreadInTcp() {
        RingReader own = ring;
        if (own == null) {
            return false;
        }
        long lane = own.lane();
        return (lane == 0 || own.firstStart(lane) > taken) && doorbells.hasUnread();
    }

    /** Before TCP is closed: doorbells that lie there unread would make the kernel reset the connection. */
    void leave() {
        if (phase == Phase.RING && !shut) {
            doorbells.drain();
        }
        Bell own = bell;
        if (own != null) {
            own.close();
        }
    }

    /** Bytes in rings that the program has not read; any thread may ask as long as the stream is open. */
    long unread() {
        RingReader own = ring;
        return phase != Phase.RING || own == null ? 0 : own.unread();
    }

    /** Size of the ring that is read, with those after it that what is unread is in; the session's lock is held. */
    int ringSize(long unread) {
        RingReader own = ring;
        return phase != Phase.RING || own == null ? 0 : own.size(unread);
    }

    /** Times the ring was replaced by a larger one. */
    long growths() {
        RingReader own = ring;
        return own == null ? 0 : own.growths();
    }

    /** Times a doorbell of the peer's was taken, or its ring at the bell heard. */
    long wakeUps() {
        Bell own = bell;
        return doorbells.taken() + (own == null ? 0 : own.heard());
    }

    long bytesByTcp() {
        return taken;
    }

    long bytesByRing() {
        RingReader own = ring;
        return own == null ? 0 : own.bytes();
    }
}
