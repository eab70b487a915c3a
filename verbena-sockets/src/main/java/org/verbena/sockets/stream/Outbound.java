// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.stream.memory.BlockLayout;

/**
 * The direction of a stream that goes out: TCP, and from {@link #open} on the peer's ring. Only TCP's phase needs a
 * lock of its own, for the change may come in the middle; in the ring's phase the session's lock is enough.
 */
final class Outbound {
    /** How long a peer that has made its offer may take to send its options; it is about to. */
    private static final long PEER_OPTION_NANOS = 1_000_000_000L;
    private static final long PEER_OPTION_PAUSE_NANOS = 100_000;
    /** How long the first write waits for the handshake, if the user would rather have that than bytes by TCP. */
    private static final long WAIT_NANOS = 1_000_000L * Math.clamp(Long.getLong("verbena.stream.wait", 0), 0, 600_000);
    static final boolean WAITS = WAIT_NANOS > 0;
    /** The pause between two polls of such a wait. */
    private static final long POLL_PAUSE_NANOS = 50_000;
    /** Answer of {@link #writeTcp}: the ring carries by now. */
    private static final long BY_RING = -1;
    private static final ByteBuffer[] NONE = {};

    private final SocketChannel tcp;
    private final Ending ending;
    private volatile Phase phase = Phase.UNDECIDED;
    /** For the writer alone: it waits for no handshake any more. */
    private boolean waited = !WAITS;
    /** Bytes given to TCP. */
    private long sent;
    /** TCP has carried the end; guarded by this object's lock. */
    private boolean endedByTcp;
    /** What the peer granted in the handshake, whether or not this direction changes to it; null before. */
    private volatile @Nullable RingWriter ring;
    private volatile long peerFeatures;
    private volatile boolean peerWaitsOver;

    /** Times the peer's selector was woken. Written under the session's lock. */
    private long woken;

    /** Whether this end wants urgent data in line. */
    private volatile boolean urgentInline;

    Outbound(SocketChannel tcp, Doorbells doorbells, Runnable changed) {
        this.tcp = tcp;
        this.ending = new Ending(doorbells, this, changed);
    }

    /** How the connection ends, for both directions. */
    Ending ending() {
        return ending;
    }

    /** The features of the peer, before the handshake is complete. */
    void peerFeatures(long features) {
        peerFeatures = features;
    }

    /** The peer's control block; null before the handshake is complete. */
    @Nullable
    PeerBlock peer() {
        RingWriter own = ring;
        return own == null ? null : own.peer();
    }

    /** Whether words can be sent to the peer's control block. */
    boolean hasPeer() {
        return ring != null;
    }

    /** Whether the peer's own words are mapped. */
    boolean isPeerMapped() {
        PeerBlock peer = peer();
        return peer != null && peer.isMapped();
    }

    /** How the peer has closed, even if its word did not arrive; 0 if it has not, or that is unknown. */
    long left() {
        PeerBlock peer = peer();
        return peer == null ? 0 : peer.left();
    }

    /** As {@link PeerBlock#hasRead}; in TCP's phase only TCP can report it. */
    int hasRead(long position) {
        return phase == Phase.RING ? ring().hasRead(position) : PeerBlock.UNKNOWN;
    }

    /** How much was written so far. */
    long written() {
        return phase == Phase.RING ? ring().written() : sent;
    }

    /** TCP has failed: the peer, if it lives, is informed that nothing comes any more, nor is read. */
    void breakOff(Link own) {
        BlockLayout.putRelease(own.block, BlockLayout.LEFT, BlockLayout.END_ABORT);
        synchronized (own.session) {
            PeerBlock peer = peer();
            if (peer != null) {
                peer.close(Session.NOTHING, BlockLayout.END_ABORT);
                own.session.poll();
            }
        }
    }

    boolean isByRing() {
        return phase == Phase.RING;
    }

    /** TCP carries it to its end. */
    synchronized void stayWithTcp() {
        if (phase == Phase.UNDECIDED) {
            phase = Phase.TCP;
        }
    }

    /** The peer takes bytes in a ring from now on. It is too late for that if TCP has carried the end already. */
    synchronized void open(Link own, Offer offer) {
        synchronized (own.session) {
            PeerBlock peer = new PeerBlock(own, offer, peerFeatures);
            RingWriter writer = new RingWriter(own, peer, offer, sent, ending, () -> peerWaitsOver);
            ring = writer;
            if (urgentInline) { // after the ring: later changes of the option are sent to the peer
                peer.post(Session.NOTHING, BlockLayout.URGENT, 1);
                own.session.poll();
            }
            if (phase == Phase.UNDECIDED) {
                writer.start();
                phase = Phase.RING;
            } else if (endedByTcp) { // whose end could be the process's as well
                peer.post(Session.NOTHING, BlockLayout.END, sent << BlockLayout.END_BITS | BlockLayout.END_ORDERLY);
                own.session.poll();
            }
        }
    }

    /** Informs the peer, now or when there is one; its word has arrived when this returns. */
    void urgentInline(boolean on) {
        urgentInline = on;
        RingWriter own = ring;
        if (own != null) {
            Session session = own.link().session;
            synchronized (session) {
                own.peer().post(Session.NOTHING, BlockLayout.URGENT, urgentInline ? 1 : 0);
                session.awaitArrival();
            }
        }
    }

    /**
     * Whether the peer has sent its option for urgent data in line; waits a while until it can have. False for a
     * peer that has not: sent by TCP the byte might be lost, since a receiver with the option takes it for a doorbell.
     */
    boolean hasPeerUrgentOption() {
        if (phase != Phase.RING) {
            return true;
        }
        RingWriter own = ring();
        long start = System.nanoTime();
        while (BlockLayout.getAcquire(own.link().block, BlockLayout.DATA_ARM) == 0 && !own.isOver()) {
            if (peerWaitsOver || System.nanoTime() - start > PEER_OPTION_NANOS
                    || Thread.currentThread().isInterrupted()) {
                return false;
            }
            LockSupport.parkNanos(PEER_OPTION_PAUSE_NANOS);
        }
        return true;
    }

    /** Whether the ring carries, and the peer wants urgent data in line. */
    boolean takesUrgentInline() {
        return phase == Phase.RING && BlockLayout.getAcquire(ring().link().block, BlockLayout.URGENT) != 0;
    }

    /** Ends waits for words of the peer: the channel is closed, or ends its output. */
    void stopWaitingForPeer() {
        peerWaitsOver = true;
    }

    private RingWriter ring() {
        return Objects.requireNonNull(ring);
    }

    /**
     * Before the first byte; holds up neither the handshake nor, see {@link #stopWaitingForPeer}, the thread that
     * closes.
     */
    private void awaitHandshake() {
        waited = true;
        long start = System.nanoTime();
        while (phase == Phase.UNDECIDED && !peerWaitsOver && System.nanoTime() - start < WAIT_NANOS
                && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(POLL_PAUSE_NANOS);
        }
    }

    int write(ByteBuffer from) throws IOException {
        if (phase != Phase.RING) {
            long n = writeTcp(from, NONE, 0, 0);
            if (n != BY_RING) {
                return (int) n;
            }
        }
        return ring().write(from);
    }

    long write(ByteBuffer[] from, int offset, int length) throws IOException {
        if (phase != Phase.RING) {
            long n = writeTcp(null, from, offset, length);
            if (n != BY_RING) {
                return n;
            }
        }
        return ring().write(from, offset, length);
    }

    /**
     * Writes by TCP, unless the ring carries by now.
     *
     * @param one buffer; null for {@code length} ones of {@code several}, from {@code offset} on
     * @return bytes, or {@link #BY_RING}
     */
    private long writeTcp(@Nullable ByteBuffer one, ByteBuffer[] several, int offset, int length) throws IOException {
        if (!waited) {
            awaitHandshake();
        }
        synchronized (this) {
            if (phase == Phase.RING) {
                return BY_RING;
            }
            if (isForTcp()) {
                try {
                    long n = one != null
                            ? SocketEvents.write(tcp, one)
                            : SocketEvents.write(tcp, several, offset, length);
                    sent += n; // never negative
                    return n;
                } catch (IOException e) {
                    refused(e);
                }
                if (isForTcp()) {
                    return 0;
                }
            }
            Link own = ring().link();
            return one != null ? ending.vanish(own, one) : ending.vanish(own, several, offset, length);
        }
    }

    int sendZeroCopy(ByteBuffer from) throws IOException {
        if (phase != Phase.TCP || !isForTcp()) {
            return 0;
        }
        synchronized (this) {
            try {
                int n = KernelStream.sendZeroCopy(tcp, from);
                sent += Math.max(0, n);
                return n;
            } catch (IOException e) {
                refused(e);
                return 0;
            }
        }
    }

    /** As {@link Stream#sendUrgent}. */
    void sendUrgent(int data) throws IOException {
        while (!peerWaitsOver) {
            RingWriter own = ring;
            if (isForTcp()) {
                try {
                    tcp.socket().sendUrgentData(data);
                    return;
                } catch (IOException e) {
                    if (!Ending.isOfConnection(e)) { // there is no room
                        throw e;
                    }
                    refused(e);
                }
            } else if (own != null && ending.vanish(own.link())) {
                return;
            }
            LockSupport.parkNanos(POLL_PAUSE_NANOS); // what the end means is decided in moments
        }
    }

    /**
     * As {@link Stream#sendFile}. A disk may take its time, so not under a lock that the engine takes, as undecided.
     */
    long sendFile(FileChannel file, long position, long count) throws IOException {
        return switch (phase) {
            case TCP -> sendFileByTcp(file, position, count);
            case RING -> ring().writeFile(file, position, count);
            case UNDECIDED -> -1;
        };
    }

    /** As {@link #sendFile}, where TCP carries, and nothing changes that before this returns. */
    long sendFileByTcp(FileChannel file, long position, long count) throws IOException {
        if (!isForTcp()) {
            return -1;
        }
        try {
            long n = file.transferTo(position, count, tcp);
            sent += n;
            return n;
        } catch (IOException e) {
            if (!Ending.isOfConnection(e)) { // the file's
                throw e;
            }
            refused(e);
            return -1;
        }
    }

    /**
     * Whether TCP is to be given what it carries. It may have brought the end that a ring explains: a reset by
     * doorbells that were not taken, or bytes that are unread there.
     *
     * @return false if what is written vanishes, or that is undecided: see {@link Ending#write}
     */
    private boolean isForTcp() throws IOException {
        RingWriter own = ring;
        return own == null || ending.write(own.link());
    }

    /**
     * TCP has refused a write; returns if {@link #isForTcp} has the answer, because a check for the end has taken the
     * error.
     */
    private void refused(IOException e) throws IOException {
        if (ring == null || !ending.isTaken(e)) {
            throw ending.writerError(e);
        }
    }

    /** As {@link Stream#makesRoom}. */
    boolean makesRoom() {
        return phase == Phase.RING && ring().makesRoom();
    }

    boolean isReady() {
        return phase == Phase.RING && ring().isReady();
    }

    /** Asks the peer to signal room. */
    boolean arm(int queue) {
        if (isReady()) {
            return true;
        }
        if (phase != Phase.RING) {
            return false;
        }
        ring().arm(queue);
        return isReady();
    }

    /** Data or an end have arrived at the peer; the session's lock is held. */
    void arrived(RingStream stream) {
        RingWriter own = ring;
        if (own != null) { // else it was for one that had the number before
            own.arrived(stream);
        }
    }

    /** The peer has asked for its bell; the session's lock is held. */
    void ringBell() {
        PeerBlock peer = peer();
        if (peer != null) { // else it was for one that had the number before
            peer.ring();
        }
    }

    /** It has changed; the session's lock is held. */
    void bellArrived() {
        PeerBlock peer = peer();
        if (peer != null) { // as above
            peer.wake();
        }
    }

    /** The peer's selector was woken; the session's lock is held. */
    void woke() {
        woken++;
    }

    /** Times the peer's bells were rung. */
    long rings() {
        PeerBlock peer = peer();
        return woken + (peer == null ? 0 : peer.rings());
    }

    /** The end is final: both directions of the peer find it before the end of TCP. */
    void close(int kind) {
        RingWriter own = ring;
        if (own != null) {
            BlockLayout.putRelease(own.link().block, BlockLayout.LEFT, kind);
            Session session = own.link().session;
            synchronized (session) {
                if (phase == Phase.RING) { // TCP's FIN is not taken back by a reset either
                    own.end(kind);
                }
                own.peer().close(Session.SPACE, kind);
                session.awaitArrival();
            }
        }
    }

    /** Ends the stream after what was written. */
    void end(int kind) throws IOException {
        if (phase != Phase.RING) {
            synchronized (this) {
                if (phase != Phase.RING) {
                    phase = Phase.TCP;
                    endByTcp();
                    return;
                }
            }
        }
        RingWriter own = ring();
        Session session = own.link().session;
        synchronized (session) {
            own.end(kind);
            session.poll();
        }
    }

    /** The word first: TCP's end alone could be the process's as well. */
    private void endByTcp() throws IOException {
        endedByTcp = true;
        RingWriter own = ring;
        if (own != null) {
            Session session = own.link().session;
            synchronized (session) {
                own.peer().post(Session.NOTHING, BlockLayout.END,
                        sent << BlockLayout.END_BITS | BlockLayout.END_ORDERLY);
                session.awaitArrival();
            }
        }
        tcp.shutdownOutput();
    }

    long bytesByTcp() {
        return sent;
    }

    long bytesByRing() {
        RingWriter own = ring;
        return own == null ? 0 : own.bytes();
    }

    /** Times the ring was replaced by a larger one. */
    long growths() {
        RingWriter own = ring;
        return own == null ? 0 : own.growths();
    }

    long stalls() {
        RingWriter own = ring;
        return own == null ? 0 : own.stalls();
    }

    /** Bytes in the peer's ring that are not read, as far as it has reported; and the ring's size. */
    long occupied() {
        return phase == Phase.RING ? ring().occupied() : 0;
    }

    int ringSize() {
        return phase == Phase.RING ? ring().size() : 0;
    }
}
