// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * The direction of a stream that goes out: TCP, and from {@link #open} on the peer's ring. Only TCP's phase needs a lock of
 * its own, for the change may come in the middle; in the ring's phase the session's lock is enough.
 */
final class Outbound {
    /** TCP carries it, and nobody knows yet whether for ever. */
    private static final int CANDIDATE = 0;
    /** TCP carries it for ever. */
    private static final int KERNEL = 1;
    /** The ring carries it. */
    private static final int RING = 2;

    /** A ring that is full is too small up to this size; a larger one, that leaves the caches, only for who has to sleep. */
    static final int EAGER_RING = 256 << 10;
    /** Rings up to this size are replaced at once for who does not wait: then they have taken together what TCP takes. */
    private static final int MOST_MADE_AT_ONCE = 1 << 20;
    /** How long the peer's engine may take to grant one; one that takes longer, for it is stopped, is asked no more until it answers. */
    private static final long GRANT_NANOS = 1_000_000_000L;
    private static final long GRANT_PAUSE_NANOS = 20_000;
    /** After so many writes in vain the program is taken for one that does not wait in any other way. */
    private static final int MOST_IN_VAIN = 16;
    /** How long a peer that has made its offer may take to say what it wants; it is at it. */
    private static final long SAYING_NANOS = 1_000_000_000L;
    private static final long SAYING_PAUSE_NANOS = 100_000;
    /** How long the first write waits for the ends to agree, if the user would rather have that than bytes by TCP. */
    private static final long WAIT_NANOS = 1_000_000L * Math.clamp(Long.getLong("verbena.stream.wait", 0), 0, 600_000);
    /** Between two looks of who waits so. */
    private static final long LOOK_NANOS = 50_000;

    /** Answers of {@link #hasRead}. */
    static final int UNKNOWN = 0;
    static final int READ = 1;
    static final int NOT_READ = 2;

    private final SocketChannel tcp;
    private final Ending ending;
    private volatile int carrier;
    /** For the writer alone: it waits for no agreement any more. */
    private boolean waited = WAIT_NANOS == 0;
    /** Bytes given to TCP. */
    private long sent;
    private volatile @Nullable Link link;

    // the ring; guarded by the session's lock once it carries
    private int generation;
    private int ringKey;
    private long ringAddress;
    private int ringSize;
    private long laneStart;
    private long produced;
    private int blockKey;
    private long blockAddress;
    private int peerIndex;
    /** What the peer says of itself in its own memory; null if it is not seen. */
    private volatile @Nullable MemorySegment view;
    /** Whether the peer says up to where it has read. */
    private volatile boolean peerTells;
    private int wanted;
    /** The last ring that the peer's engine was asked for. */
    private int calledFor;
    /** Writes that found no room, one after the other. */
    private int inVain;
    /** Nothing more may be written to the peer's memory: it may serve another connection already. */
    private boolean gone;
    private volatile boolean ended;
    private volatile boolean hurried;

    /** Whether this end wants urgent data in line. */
    private volatile boolean urgentInline;

    /** The peer's last wish to be told that was seen. */
    private long seenDataArm;

    // this end's wish to be told of space
    private long armSequence;

    /** Written under the session's lock; others may see an earlier value. */
    private long bytesByRing;
    private long stalls;

    Outbound(SocketChannel tcp, Doorbells doorbells, Runnable changed) {
        this.tcp = tcp;
        this.ending = new Ending(doorbells, this, changed);
    }

    /** How the connection ends, for both directions. */
    Ending ending() {
        return ending;
    }

    /** What the peer knows, before the ends have agreed. */
    void peerFeatures(long features) {
        peerTells = (features & HandshakeMessage.READ_POSITION) != 0;
    }

    /** Finds what the peer says of itself, as soon as its memory is there; the session's lock is held. */
    void findPeer() {
        if (view == null && peerTells && !gone) {
            view = link().session.view(blockKey, blockAddress + BlockLayout.READ, 2L * Long.BYTES);
        }
    }

    /** Whether what the peer says of itself is seen. */
    boolean seesPeer() {
        return view != null;
    }

    /** What the peer has said when it closed, even if it did not arrive; 0 if nothing is known of it. */
    long left() {
        MemorySegment seen = view;
        return seen == null ? 0 : BlockLayout.getAcquire(seen, BlockLayout.LEFT - BlockLayout.READ);
    }

    /** Whether the peer's program has read up to a position, as far as is known; TCP's phase TCP knows. */
    int hasRead(long position) {
        if (carrier != RING || !peerTells) {
            return UNKNOWN;
        }
        MemorySegment seen = view;
        if (seen == null && link().session.isMapped()) {
            return UNKNOWN;
        }
        long read = seen == null
                ? Math.max(BlockLayout.getAcquire(link().block, BlockLayout.CONSUMED), laneStart)
                : BlockLayout.getAcquire(seen, 0);
        return read >= position ? READ : NOT_READ;
    }

    /** How much was written so far. */
    long written() {
        if (carrier != RING) {
            return sent;
        }
        synchronized (link().session) {
            return produced;
        }
    }

    /** TCP has failed: the peer, if it lives, learns that nothing comes any more, nor is read. */
    void breakOff(Link own) {
        BlockLayout.putRelease(own.block, BlockLayout.LEFT, BlockLayout.END_ABORT);
        synchronized (own.session) {
            if (link != null) {
                postWord(Session.NOTHING, BlockLayout.CLOSED, BlockLayout.END_ABORT);
                gone = true;
                own.session.poll();
            }
        }
    }

    boolean isByRing() {
        return carrier == RING;
    }

    /** It will be TCP for ever. */
    synchronized void stayWithTcp() {
        if (carrier == CANDIDATE) {
            carrier = KERNEL;
        }
    }

    /** The peer takes bytes in a ring from now on. It is too late for that if TCP has carried the end already. */
    synchronized void open(Link own, Offer peer) {
        synchronized (own.session) {
            generation = 1;
            ringKey = peer.ringKey();
            ringAddress = peer.ringAddress();
            ringSize = peer.ringSize();
            blockKey = peer.blockKey();
            blockAddress = peer.blockAddress();
            peerIndex = peer.index();
            laneStart = sent;
            produced = sent;
            link = own;
            if (urgentInline) { // after the link: who asks for it from now on says so to the peer
                postWord(Session.NOTHING, BlockLayout.URGENT, 1);
                own.session.poll();
            }
            if (carrier == CANDIDATE) {
                postWord(Session.NOTHING, BlockLayout.LANE, BlockLayout.lane(sent, 1));
                own.session.poll();
                carrier = RING;
            } else if (ended) { // by TCP, whose end could be the process's as well
                postWord(Session.NOTHING, BlockLayout.END, sent << BlockLayout.END_BITS | BlockLayout.END_ORDERLY);
                own.session.poll();
            }
        }
    }

    /** Tells the peer, now or when there is one; the peer has heard when this returns. */
    void urgentInline(boolean on) {
        urgentInline = on;
        Link own = link;
        if (own != null) {
            synchronized (own.session) {
                postWord(Session.NOTHING, BlockLayout.URGENT, urgentInline ? 1 : 0);
                own.session.awaitArrival();
            }
        }
    }

    /**
     * Whether it is known if the peer wants urgent data in line; waits a while until it can have said so. False for a peer
     * that has not: sent by TCP the byte might be lost, since a receiver who wants it in line takes it for a doorbell.
     */
    boolean knowsUrgentInline() {
        if (carrier != RING) {
            return true;
        }
        Link own = link();
        long start = System.nanoTime();
        while (BlockLayout.getAcquire(own.block, BlockLayout.DATA_ARM) == 0 && !isOver(own)) {
            if (hurried || System.nanoTime() - start > SAYING_NANOS || Thread.currentThread().isInterrupted()) {
                return false;
            }
            LockSupport.parkNanos(SAYING_PAUSE_NANOS);
        }
        return true;
    }

    /** Whether the ring carries, and the peer wants urgent data in line. */
    boolean takesUrgentInline() {
        return carrier == RING && BlockLayout.getAcquire(link().block, BlockLayout.URGENT) != 0;
    }

    /** Who waits for the peer's words waits no longer: the channel is closed, or ends its output. */
    void hurry() {
        hurried = true;
    }

    private boolean isOver(Link own) {
        return ended || ending.isForWriter(own);
    }

    /** Whether words can be sent to the peer's control block. */
    boolean knowsPeer() {
        return link != null;
    }

    private Link link() {
        return Objects.requireNonNull(link);
    }

    /** Before the first byte; holds up neither the one that agrees nor, see {@link #hurry}, the one that closes. */
    private void awaitAgreement() {
        waited = true;
        long start = System.nanoTime();
        while (carrier == CANDIDATE && !ended && !hurried && System.nanoTime() - start < WAIT_NANOS
                && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(LOOK_NANOS);
        }
    }

    int write(ByteBuffer from) throws IOException {
        if (carrier != RING) {
            if (!waited) {
                awaitAgreement();
            }
            synchronized (this) {
                if (carrier != RING) {
                    if (!isForTcp()) {
                        return takeAtEnd(from);
                    }
                    try {
                        int n = SocketEvents.write(tcp, from);
                        sent += n; // never negative
                        return n;
                    } catch (IOException e) {
                        refused(e);
                        return isForTcp() ? 0 : takeAtEnd(from);
                    }
                }
            }
        }
        Session session = link().session;
        synchronized (session) {
            return writeRing(session, from);
        }
    }

    int sendZeroCopy(ByteBuffer from) throws IOException {
        if (carrier != KERNEL || !isForTcp()) {
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
        while (!hurried) {
            Link own = link;
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
            } else if (own != null && ending.vanish(own)) {
                return;
            }
            LockSupport.parkNanos(LOOK_NANOS); // what the end is, is known in moments
        }
    }

    /**
     * Whether TCP is to be given what it carries. It may have brought the end that a ring explains: a reset by doorbells that were
     * not taken, or bytes that are unread there.
     *
     * @return false if what is written vanishes, or it is not known yet: see {@link Ending#write}
     */
    private boolean isForTcp() throws IOException {
        Link own = link;
        return own == null || ending.write(own);
    }

    /** TCP has refused what it was given; returns if {@link #isForTcp} has the answer, for who looked for the end has taken it. */
    private void refused(IOException e) throws IOException {
        if (link == null || !ending.isTaken(e)) {
            throw ending.tellWriter(e);
        }
    }

    long write(ByteBuffer[] from, int offset, int length) throws IOException {
        if (carrier != RING) {
            if (!waited) {
                awaitAgreement();
            }
            synchronized (this) {
                if (carrier != RING) {
                    if (!isForTcp()) {
                        return takeAtEnd(from, offset, length);
                    }
                    try {
                        long n = SocketEvents.write(tcp, from, offset, length);
                        sent += n;
                        return n;
                    } catch (IOException e) {
                        refused(e);
                        return isForTcp() ? 0 : takeAtEnd(from, offset, length);
                    }
                }
            }
        }
        Session session = link().session;
        synchronized (session) {
            if (!isWritable()) {
                return takeAtEnd(from, offset, length);
            }
            long total = 0;
            for (int i = offset; i < offset + length; i++) {
                if (from[i].hasRemaining()) {
                    total += put(session, from[i]);
                    if (from[i].hasRemaining()) {
                        break;
                    }
                }
            }
            if (total == 0) {
                isWritable();
            }
            return total;
        }
    }

    /** As {@link Stream#sendFile}. A disk may take its time, so not under a lock that the engine takes, as undecided. */
    long sendFile(FileChannel file, long position, long count) throws IOException {
        if (carrier != KERNEL || !isForTcp()) {
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

    /** The session's lock is held. */
    private int writeRing(Session session, ByteBuffer from) throws IOException {
        if (!isWritable()) {
            return takeAtEnd(from);
        }
        int n = put(session, from);
        if (n == 0) {
            isWritable();
        }
        return n;
    }

    /** Puts into the ring what there is room for, whatever has become of the peer. */
    private int put(Session session, ByteBuffer from) {
        int position = from.position();
        int start = position;
        int limit = from.limit();
        while (position < limit) {
            takeGrant(session);
            int room = room();
            if (room <= 0) {
                if (room < 0) {
                    session.fail();
                }
                stalls++;
                noRoom(session, position == start);
                break;
            }
            int n = Math.min(Math.min(room, limit - position), Session.CHUNK);
            session.postBytes(link().index, from, position, n, ringKey, ringAddress, ringSize,
                    (int) (produced & ringSize - 1), blockKey, blockAddress + BlockLayout.PRODUCED, produced + n);
            produced += n;
            position += n;
            session.poll();
        }
        if (session.isBusy()) { // the ring's memory has yet to reach this process, which must not end before its bytes have left
            session.awaitArrival();
        }
        findPeer();
        from.position(position);
        bytesByRing += position - start;
        if (position == limit) {
            inVain = 0;
        }
        return position - start;
    }

    private void noRoom(Session session, boolean nothingWritten) {
        inVain = nothingWritten ? inVain + 1 : 0;
        if (inVain >= MOST_IN_VAIN) {
            inVain = 0;
            askForMore();
            session.awaitArrival();
            callPeer(session);
        } else if (ringSize < EAGER_RING) {
            askForMore();
            session.poll();
        }
    }

    /**
     * Has the peer's engine grant the ring that is wanted, once a ring: the peer's program may be in the middle of a write
     * itself and read only after it, which works by TCP as long as the kernel's buffers hold what both write. The wish has
     * arrived.
     */
    private void callPeer(Session session) {
        if (calledFor < wanted && !isReady()) {
            calledFor = wanted;
            session.requestProgress();
        }
    }

    /** As {@link Stream#makesRoom}. */
    boolean makesRoom() {
        if (carrier != RING) {
            return false;
        }
        Link own = link();
        synchronized (own.session) {
            if (isReady()) {
                return true;
            }
            if (calledFor > generation || !isOfUseToWhoDoesNotWait(own) || own.session.isUnresponsive()) {
                return false;
            }
            askForMore();
            own.session.awaitArrival();
        }
        long start = System.nanoTime();
        for (int answers = 0; !isReady(); LockSupport.parkNanos(GRANT_PAUSE_NANOS)) {
            boolean over = System.nanoTime() - start > GRANT_NANOS;
            synchronized (own.session) {
                if (over) {
                    own.session.checkUnresponsive();
                }
                if (over || hurried || Thread.currentThread().isInterrupted()) {
                    return false;
                }
                calledFor = wanted; // not before: who finds room, or leaves, without a call has to call when it sleeps
                if (own.session.isAnswered() && answers++ < 2) { // the second answer comes after the look that the first call asks for
                    own.session.requestProgress();
                } else if (answers > 2) {
                    return isReady();
                }
            }
        }
        return true;
    }

    /** Whether a larger ring is: with one that is large enough for the caches already, only if the peer does not read. */
    private boolean isOfUseToWhoDoesNotWait(Link own) {
        return ringSize <= MOST_MADE_AT_ONCE && (ringSize < EAGER_RING
                || BlockLayout.getAcquire(own.block, BlockLayout.CONSUMED) <= laneStart);
    }

    private boolean isWritable() throws IOException {
        if (ended) {
            throw new IOException(Ending.PIPE_TEXT);
        }
        return ending.write(link());
    }

    /** The peer is gone: as the kernel does, takes what is written first, for nobody. Or that is not known yet: nothing. */
    private int takeAtEnd(ByteBuffer from) {
        return from.hasRemaining() && ending.vanish(link()) ? take(from) : 0;
    }

    private long takeAtEnd(ByteBuffer[] from, int offset, int length) {
        long total = 0;
        for (int i = offset; i < offset + length; i++) {
            if (from[i].hasRemaining() && (total > 0 || ending.vanish(link()))) {
                total += take(from[i]);
            }
        }
        return total;
    }

    private static int take(ByteBuffer from) {
        int n = from.remaining();
        from.position(from.limit());
        return n;
    }

    /** Bytes that fit into the ring now; negative if the peer writes nonsense. */
    private int room() {
        long consumed = Math.max(BlockLayout.getAcquire(link().block, BlockLayout.CONSUMED), laneStart);
        long used = produced - consumed;
        return used < 0 || used > ringSize ? -1 : (int) (ringSize - used);
    }

    /** Goes on in the next ring if the peer has granted one. */
    private void takeGrant(Session session) {
        Link own = link();
        if (BlockLayout.getAcquire(own.block, BlockLayout.GRANTED) != generation + 1) {
            return;
        }
        long sizeAndKey = BlockLayout.getAcquire(own.block, BlockLayout.GRANT_SIZE_KEY);
        int size = (int) (sizeAndKey >>> 32);
        if (!Offer.isRingSize(size)) {
            session.fail();
            return;
        }
        generation++;
        ringSize = size;
        ringKey = (int) sizeAndKey;
        ringAddress = BlockLayout.getAcquire(own.block, BlockLayout.GRANT_ADDRESS);
        laneStart = produced;
        postWord(Session.NOTHING, BlockLayout.LANE, BlockLayout.lane(produced, generation));
    }

    /** Hints that a larger ring would do good, once a ring. */
    private void askForMore() {
        if (wanted <= generation) {
            wanted = generation + 1;
            postWord(Session.NOTHING, BlockLayout.WANTED, wanted);
        }
    }

    boolean isReady() {
        if (carrier != RING) {
            return false;
        }
        Link own = link();
        int how = ending.look(own);
        return ended || how >= Ending.ORDERLY || how != Ending.UNDECIDED
                && (BlockLayout.getAcquire(own.block, BlockLayout.GRANTED) == generation + 1 || room() != 0);
    }

    /** Asks the peer to tell when there is room. */
    boolean arm(int queue) {
        if (isReady()) {
            return true;
        }
        if (carrier != RING) {
            return false;
        }
        Link own = link();
        synchronized (own.session) {
            askForMore(); // each sleep costs more than a cache that is too small
            postWord(Session.NOTHING, BlockLayout.SPACE_ARM, BlockLayout.arm(++armSequence, queue));
            own.session.awaitArrival();
            callPeer(own.session);
        }
        return isReady();
    }

    /** Data or an end have arrived at the peer; the session's lock is held. */
    void arrived(RingStream stream) {
        findPeer();
        long arm = BlockLayout.getAcquire(link().block, BlockLayout.DATA_ARM);
        if (arm == 0 || arm != seenDataArm) { // 0: the peer cannot say yet that it waits, so it is assumed
            seenDataArm = arm;
            link().session.notifyPeer(stream, peerIndex, BlockLayout.queue(arm));
        }
    }

    /** Number of the connection at the peer. */
    int peerIndex() {
        return peerIndex;
    }

    /** Posts a word to the peer's control block, unless this end has said that it writes no more; the session's lock is held. */
    void postWord(int kind, int word, long value) {
        if (gone) {
            return;
        }
        Link own = link();
        own.session.postWord(kind, own.index, 0, blockAddress + word, blockKey, value);
    }

    /** Whether it has; the session's lock is held. */
    boolean isGone() {
        return gone;
    }

    /** The end is there for good: both directions of the peer learn of it, before the end of TCP can. */
    void close(int kind) {
        Link own = link;
        if (own != null) {
            BlockLayout.putRelease(own.block, BlockLayout.LEFT, kind);
            synchronized (own.session) {
                if (carrier == RING && !ended) { // TCP's FIN is not taken back by a reset either
                    postEnd(kind);
                }
                postWord(Session.SPACE, BlockLayout.CLOSED, kind);
                gone = true;
                own.session.awaitArrival();
            }
        }
    }

    /** Ends the stream after what was written. */
    void end(int kind) throws IOException {
        if (carrier != RING) {
            synchronized (this) {
                if (carrier != RING) {
                    carrier = KERNEL;
                    endByTcp();
                    return;
                }
            }
        }
        Session session = link().session;
        synchronized (session) {
            if (!ended) {
                postEnd(kind);
                session.poll();
            }
        }
    }

    /** The word first: TCP's end alone could be the process's as well. */
    private void endByTcp() throws IOException {
        ended = true;
        Link own = link;
        if (own != null) {
            synchronized (own.session) {
                postWord(Session.NOTHING, BlockLayout.END, sent << BlockLayout.END_BITS | BlockLayout.END_ORDERLY);
                own.session.awaitArrival();
            }
        }
        tcp.shutdownOutput();
    }

    private void postEnd(int kind) {
        ended = true;
        postWord(Session.DATA, BlockLayout.END, produced << BlockLayout.END_BITS | kind);
    }

    long bytesByTcp() {
        return sent;
    }

    long bytesByRing() {
        return bytesByRing;
    }

    /** Times the ring was replaced by a larger one. */
    long growths() {
        return Math.max(0, generation - 1);
    }

    long stalls() {
        return stalls;
    }

    /** Bytes in the peer's ring that are not read, as far as is known; and the ring's size. */
    long occupied() {
        return carrier == RING ? Math.clamp(ringSize - room(), 0, ringSize) : 0;
    }

    int ringSize() {
        return carrier == RING ? ringSize : 0;
    }
}
