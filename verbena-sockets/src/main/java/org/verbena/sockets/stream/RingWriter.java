// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.stream.memory.BlockLayout;
import org.verbena.verbs.spi.DirectWrite;

/**
 * Writes a direction to the rings that the peer grants, one after the other: how much room there is, where the next
 * ring begins, and how a larger one is got. Guarded by the session's lock, but for methods that are marked as for any
 * thread.
 */
final class RingWriter {
    /**
     * A ring that is full is too small up to this size; a larger one, which leaves the caches, only for a writer that
     * has to sleep.
     */
    static final int EAGER_RING = 256 << 10;
    /**
     * Bytes that the rings of a session are to take in the caches, all together: a connection begins its ring anew after its part of
     * that. Fewer for one connection would be slower, since what the peer has just read is still in the caches of its processor.
     */
    private static final int LAPS_BYTES = Math.clamp(Integer.getInteger("verbena.stream.lap", 8 << 20), 64, 1 << 30);
    /** The least that is worth a word to the peer. */
    private static final int LEAST_LAP = Math.min(LAPS_BYTES, 64 << 10);
    /** Rings up to this size are replaced at once for a non-blocking writer: together they then take as much as TCP. */
    private static final int MAX_MADE_AT_ONCE = 1 << 20;
    /**
     * How long the peer's engine may take to grant one; one that takes longer, for it is stopped, is asked no more
     * until it answers.
     */
    private static final long GRANT_NANOS = 1_000_000_000L;
    private static final long GRANT_PAUSE_NANOS = 20_000;
    /** Bytes of a file that are read at a time, with the session's lock. */
    private static final int FILE_CHUNK = 64 << 10;
    /** After this number of failed writes the program is taken to poll instead of waiting. */
    private static final int MAX_FAILED_WRITES = 16;

    private final Link own;
    private final PeerBlock peer;
    private final Ending ending;
    private final BooleanSupplier peerWaitsOver;
    /** If this process can write the peer's memory itself. */
    private final @Nullable DirectWrite direct;

    private int generation = 1;
    private int ringKey;
    private long ringAddress;
    private int ringSize;
    private long laneStart;
    private long produced;
    /** Position of a byte at the ring's offset 0. */
    private long lap;
    /** From which position on the next lap may begin. */
    private long nextLap;
    private int wanted;
    /** The last ring that the peer's engine was asked for. */
    private int calledFor;
    /** Writes that found no room, one after the other. */
    private int inVain;
    private volatile boolean ended;

    /** The peer's last request for a signal that was seen. */
    private long seenDataArm;

    // this end's request for a signal of room
    private long armSequence;

    /** Written under the session's lock; others may see an earlier value. */
    private long bytes;
    private long stalls;

    /**
     * For the first ring, which carries nothing before {@link #start}.
     *
     * @param start position of its first byte
     * @param peerWaitsOver whether waits for the peer are over
     */
    RingWriter(Link own, PeerBlock peer, Offer offer, long start, Ending ending, BooleanSupplier peerWaitsOver) {
        this.own = own;
        this.peer = peer;
        this.ending = ending;
        this.peerWaitsOver = peerWaitsOver;
        direct = own.session.queuePair() instanceof DirectWrite d ? d : null;
        ringKey = offer.ringKey();
        ringAddress = offer.ringAddress();
        ringSize = offer.ringSize();
        laneStart = start;
        produced = start;
        nextLap = start + LEAST_LAP;
    }

    Link link() {
        return own;
    }

    PeerBlock peer() {
        return peer;
    }

    /** The ring carries from here on; the session's lock is held. */
    void start() {
        peer.post(Session.NOTHING, BlockLayout.LANE, BlockLayout.lane(produced, generation));
        own.session.poll();
    }

    int write(ByteBuffer from) throws IOException {
        Session session = own.session;
        synchronized (session) {
            if (!isWritable()) {
                return ending.vanish(own, from);
            }
            int n = put(session, from);
            if (n == 0) {
                isWritable();
            }
            return n;
        }
    }

    long write(ByteBuffer[] from, int offset, int length) throws IOException {
        Session session = own.session;
        synchronized (session) {
            if (!isWritable()) {
                return ending.vanish(own, from, offset, length);
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

    private boolean isWritable() throws IOException {
        if (ended) {
            throw new IOException(Ending.PIPE_TEXT);
        }
        return ending.write(own);
    }

    /** Puts into the ring what there is room for, whatever has become of the peer. */
    private int put(Session session, ByteBuffer from) {
        int position = from.position();
        int start = position;
        int limit = from.limit();
        beginLapIfEmpty();
        while (position < limit) {
            int room = roomOrAsk(session, position == start);
            if (room == 0) {
                break;
            }
            int n = Math.min(Math.min(room, limit - position), Session.CHUNK);
            session.postBytes(own.index, from, position, n, ringKey, ringAddress, ringSize,
                    offset(), peer.key(), peer.address() + BlockLayout.PRODUCED, produced
                            + n);
            produced += n;
            position += n;
            session.poll();
        }
        // the ring's memory has yet to reach this process, which must not end before its bytes have left
        if (session.isBusy()) {
            session.awaitArrival();
        }
        peer.find();
        from.position(position);
        bytes += position - start;
        if (position == limit) {
            inVain = 0;
        }
        return position - start;
    }

    /**
     * Reads a file straight into the ring, as far as there is room and the page cache has it; a disk is waited for by the caller,
     * without the session's lock. For the thread that writes, without that lock.
     *
     * @return bytes; 0 if there is no room; -1 if the caller is to read and {@linkplain #write write}: at the end of the file, for
     *         a file or a peer where this is not possible, for a connection that ends, and whatever is to be reported
     */
    long writeFile(FileChannel file, long position, long count) {
        Session session = own.session;
        DirectWrite to = direct;
        if (to == null || count <= 0 || Thread.currentThread().isInterrupted()) {
            return -1;
        }
        int held = FileHold.take(file);
        if (held == FileHold.NONE) {
            return -1;
        }
        try {
            int fd = FileHold.descriptor(file);
            long done = 0;
            int n;
            do {
                synchronized (session) { // for a piece at a time: other connections need it, too
                    n = putFile(session, to, fd, position + done, (int) Math.min(count - done, FILE_CHUNK), done == 0);
                }
                done += Math.max(0, n);
            } while (n > 0 && done < count);
            return done > 0 ? done : n;
        } finally {
            FileHold.release(file, held);
        }
    }

    /** Puts a piece of a file into the ring; returns as {@link #writeFile}. */
    private int putFile(Session session, DirectWrite to, int fd, long position, int count, boolean first) {
        if (ended || ending.state(own) != Ending.OPEN) {
            return -1;
        }
        if (first) {
            beginLapIfEmpty();
        }
        int room = roomOrAsk(session, first);
        if (room == 0) {
            return 0;
        }
        int n = session.isBusy() ? 0 : readFile(to, fd, position, Math.min(room, count));
        if (n <= 0) {
            return -1;
        }
        produced += n;
        peer.post(Session.DATA, BlockLayout.PRODUCED, produced);
        session.poll();
        if (session.isBusy()) {
            session.awaitArrival();
        }
        peer.find();
        bytes += n;
        inVain = 0;
        return n;
    }

    /** Returns as {@link DirectWrite#readFileNow}; there is room. */
    private int readFile(DirectWrite to, int fd, long position, int count) {
        int at = offset();
        int first = Math.min(count, ringSize - at);
        int n = to.readFileNow(fd, position, first, ringKey, ringAddress + at);
        return n < first || n == count
                ? n
                : n + Math.max(0, to.readFileNow(fd, position + n, count - n, ringKey, ringAddress));
    }

    /** Bytes that fit into the ring now; if none do, a writer that finds that again and again has the peer grant more. */
    private int roomOrAsk(Session session, boolean nothingWritten) {
        takeGrant(session);
        int room = room();
        if (room > 0) {
            return room;
        }
        if (room < 0) {
            session.fail();
        }
        stalls++;
        noRoom(session, nothingWritten);
        return 0;
    }

    private void noRoom(Session session, boolean nothingWritten) {
        inVain = nothingWritten ? inVain + 1 : 0;
        if (inVain >= MAX_FAILED_WRITES) {
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
     * Has the peer's engine grant the ring that is wanted, once a ring: the peer's program may be in the middle of a
     * write itself and read only after it, which works by TCP as long as the kernel's buffers hold what both write. The
     * request has arrived.
     */
    private void callPeer(Session session) {
        if (calledFor < wanted && !isReady()) {
            calledFor = wanted;
            session.requestProgress();
        }
    }

    /** As {@link Stream#makesRoom}. */
    boolean makesRoom() {
        synchronized (own.session) {
            if (isReady()) {
                return true;
            }
            if (calledFor > generation || !helpsNonBlockingWriter() || own.session.isUnresponsive()) {
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
                if (over || peerWaitsOver.getAsBoolean() || Thread.currentThread().isInterrupted()) {
                    return false;
                }
                // not before: a writer that finds room, or leaves, without a call has to call when it sleeps
                calledFor = wanted;
                // the second answer comes after the poll that the first call requests
                if (own.session.isAnswered() && answers++ < 2) {
                    own.session.requestProgress();
                } else if (answers > 2) {
                    return isReady();
                }
            }
        }
        return true;
    }

    /**
     * Whether a larger ring is: with one that is large enough for the caches already, only if the peer does not read.
     */
    private boolean helpsNonBlockingWriter() {
        return ringSize <= MAX_MADE_AT_ONCE && (ringSize < EAGER_RING
                || BlockLayout.getAcquire(own.block, BlockLayout.CONSUMED) <= laneStart);
    }

    /** Bytes that fit into the ring now; negative if the peer writes nonsense. */
    private int room() {
        long consumed = Math.max(BlockLayout.getAcquire(own.block, BlockLayout.CONSUMED), Math.max(laneStart, lap));
        long used = produced - consumed;
        return used < 0 || used > ringSize ? -1 : (int) (ringSize - used);
    }

    /**
     * Writes from the ring's beginning again if the peer has read all: where it keeps up, a large ring then takes no more of the
     * caches, nor of memory, than a small one.
     */
    private void beginLapIfEmpty() {
        if (produced < nextLap) {
            return;
        }
        int least = lapBytes(own.session.streams().size());
        nextLap = produced + least / 4; // to ask takes the line of that word from the peer
        if (ringSize > least && produced - lap >= least && peer.allowsLap(produced)) {
            lap = produced;
            nextLap = produced + least;
            peer.post(Session.NOTHING, BlockLayout.LAP, lap);
        }
    }

    /** Where in the ring the next byte is written. */
    private int offset() {
        return (int) (produced - lap & ringSize - 1);
    }

    /** Bytes after which a ring that is larger begins anew. */
    static int lapBytes(int connections) {
        return Math.max(LEAST_LAP, LAPS_BYTES / Math.max(1, connections));
    }

    /** Goes on in the next ring if the peer has granted one. */
    private void takeGrant(Session session) {
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
        peer.post(Session.NOTHING, BlockLayout.LANE, BlockLayout.lane(produced, generation));
    }

    /** Hints that a larger ring would do good, once a ring. */
    private void askForMore() {
        if (wanted <= generation) {
            wanted = generation + 1;
            peer.post(Session.NOTHING, BlockLayout.WANTED, wanted);
        }
    }

    boolean isReady() {
        int how = ending.state(own);
        return ended || how >= Ending.ORDERLY || how != Ending.UNDECIDED
                && (BlockLayout.getAcquire(own.block, BlockLayout.GRANTED) == generation + 1 || room() != 0);
    }

    /** Whether nothing more is to be written, or can be. */
    boolean isOver() {
        return ended || ending.isForWriter(own);
    }

    /** Asks the peer to signal room. */
    void arm(int queue) {
        synchronized (own.session) {
            askForMore(); // each sleep costs more than a cache that is too small
            peer.post(Session.NOTHING, BlockLayout.SPACE_ARM, BlockLayout.arm(++armSequence, queue));
            own.session.awaitArrival();
            callPeer(own.session);
        }
    }

    /** Data or an end have arrived at the peer; the session's lock is held. */
    void arrived(RingStream stream) {
        peer.find();
        long arm = BlockLayout.getAcquire(own.block, BlockLayout.DATA_ARM);
        if (arm == 0 || arm != seenDataArm) { // 0: the peer cannot arm yet, so it is assumed to wait
            seenDataArm = arm;
            own.session.notifyPeer(stream, peer.index(), BlockLayout.queue(arm));
        }
    }

    /** Ends the stream after what was written, unless it has ended; the session's lock is held. */
    void end(int kind) {
        if (!ended) {
            ended = true;
            peer.post(Session.DATA, BlockLayout.END, produced << BlockLayout.END_BITS | kind);
        }
    }

    /** Position one past the last byte that was written. */
    long written() {
        synchronized (own.session) {
            return produced;
        }
    }

    /** As {@link PeerBlock#hasRead}. */
    int hasRead(long position) {
        return peer.hasRead(position, laneStart);
    }

    /** Bytes that were written. */
    long bytes() {
        return bytes;
    }

    /** Times the ring was replaced by a larger one. */
    long growths() {
        return generation - 1L;
    }

    long stalls() {
        return stalls;
    }

    int size() {
        return ringSize;
    }

    /** Bytes in the peer's ring that are not read, as far as it has reported. */
    int occupied() {
        return Math.clamp(ringSize - room(), 0, ringSize);
    }
}
