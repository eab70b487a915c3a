// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;

import org.verbena.linux.Errno;
import org.verbena.sockets.stream.memory.BlockLayout;

/**
 * How the other end of a connection has ended, decided here alone: from what TCP reports, the words that the peer has
 * sent, and what it left in its memory. The outcome is what the kernel would have reported, had TCP carried the bytes.
 *
 * <p>TCP alone is wrong in two cases. A process that dies with a doorbell unread makes the kernel reset a connection of
 * which the program has read everything; and one that dies with bytes unread in its ring makes it end the connection in
 * order. A peer that closes sends a word before TCP can. So an end of TCP without such a word is the death of the
 * process, or a third party has destroyed the connection; the session decides which, by failing or by an answer. Safe
 * for use by several threads.
 */
final class Ending {
    /** The connection goes on. */
    static final int OPEN = 0;
    /** TCP or the session has ended, and what that means is not decided yet. */
    static final int UNDECIDED = 1;
    /** The peer sends no more, and may still read. */
    static final int HALF = 2;
    /** The peer is gone, and had read everything. */
    static final int ORDERLY = 3;
    /** The peer is gone, and had not, or the connection was reset by others. */
    static final int RESET = 4;
    /** This end's TCP has failed for another reason. */
    static final int FAILED = 5;
    /** The session has failed, and TCP has not. */
    static final int BROKEN_OFF = 6;

    /** How long TCP may take to report a death that the session has noticed. */
    private static final long SESSION_TIMEOUT_NANOS = 500_000_000L;
    /**
     * How long session and peer may take to explain an end of TCP; longer than a live engine needs. Then TCP
     * decides.
     */
    private static final long TCP_TIMEOUT_NANOS = 5_000_000_000L;
    static final String RESET_TEXT = "Connection reset";
    static final String RESET_BY_PEER_TEXT = "Connection reset by peer";
    static final String PIPE_TEXT = "Broken pipe";

    private static final int[] OF_CONNECTIONS = {Errno.ECONNRESET, Errno.EPIPE, Errno.ECONNABORTED, Errno.ETIMEDOUT,
        Errno.EHOSTUNREACH, Errno.ENETUNREACH};

    private final Doorbells tcp;
    private final Outbound out;
    private final Runnable changed;
    private volatile int decided;
    private volatile long since;
    /** What had been written when the end of TCP was seen: later writes are lost, and change nothing. */
    private volatile long written = -1;
    /** The answer of the peer's engine that shows that it lives; 0 if it was not asked yet. */
    private volatile long asked;

    /**
     * An error is reported once, to the first caller, as the kernel does; but reads report a reset each time, as the
     * JDK's.
     */
    private boolean reported;
    private boolean reportedToReader;
    /** Something was written after the end: the kernel takes that, and no more. */
    private boolean writtenSince;

    /**
     * For one connection.
     *
     * @param changed run when a check, by any thread, has found the end of TCP
     */
    Ending(Doorbells tcp, Outbound out, Runnable changed) {
        this.tcp = tcp;
        this.out = out;
        this.changed = changed;
    }

    /** Whether it ends a connection. */
    static boolean isOfConnection(int errno) {
        for (int one : OF_CONNECTIONS) {
            if (one == errno) {
                return true;
            }
        }
        return false;
    }

    /** Whether it means that a connection has ended, not that a file cannot be read. */
    static boolean isOfConnection(IOException e) {
        for (int one : OF_CONNECTIONS) {
            if (Errno.text(one).equals(e.getMessage())) {
                return true;
            }
        }
        return false;
    }

    /** How far it has come. As long as there is no end this takes a few loads. */
    int state(Link own) {
        int outcome = decided;
        if (outcome != OPEN) {
            return outcome;
        }
        boolean failed = own.session.isFailed();
        if (!tcp.isOver() && !failed && BlockLayout.getAcquire(own.block, BlockLayout.CLOSED) == 0) {
            return OPEN;
        }
        int now = evaluate(own, failed);
        if (now >= ORDERLY) {
            decided = now;
        }
        return now;
    }

    private int evaluate(Link own, boolean failed) {
        if (!tcp.isOver() && BlockLayout.getAcquire(own.block, BlockLayout.CLOSED) == BlockLayout.END_ABORT) {
            // the peer may have noticed first that the kernel has destroyed this end
            if (tcp.areAlone() && !tcp.areShut()) {
                tcp.drainToEnd();
                if (tcp.isOver()) {
                    changed.run(); // TCP does not wake sleeping threads any more
                }
            } else if (!isLate()) {
                return UNDECIDED; // as long as the engine has not taken what TCP has brought, or its end
            }
        }
        boolean over = tcp.isOver();
        IOException error = tcp.error();
        if (error != null && !RESET_TEXT.equals(error.getMessage())) {
            return FAILED;
        }
        long closed = BlockLayout.getAcquire(own.block, BlockLayout.CLOSED);
        if (closed == 0 && (failed || over)) {
            closed = out.left();
        }
        if (closed == BlockLayout.END_ORDERLY && !out.isByRing()) {
            // what this end has sent lies in TCP, no doorbells: whether the peer leaves something unread TCP reports
            if (!over && !isLate()) {
                return UNDECIDED;
            }
            return error == null ? ORDERLY : RESET;
        }
        if (closed != 0) {
            return closed == BlockLayout.END_ORDERLY ? ORDERLY : RESET;
        }
        if (!over) {
            return System.nanoTime() - own.session.failedAt() > SESSION_TIMEOUT_NANOS ? BROKEN_OFF : UNDECIDED;
        }
        if (written < 0) {
            written = out.written();
        }
        boolean late = isLate();
        return error == null ? finished(own, failed, late) : reset(own, failed, late);
    }

    /** Whether it has been undecided for longer than anything takes that could decide it. */
    private boolean isLate() {
        long now = System.nanoTime();
        if (since == 0) {
            since = now;
        }
        return now - since > TCP_TIMEOUT_NANOS;
    }

    /** TCP has ended in order: half of it, or the process died and left nothing there. */
    private int finished(Link own, boolean failed, boolean late) {
        if (out.hasRead(written) != PeerBlock.NOT_READ) {
            return failed ? ORDERLY : HALF;
        }
        if (failed) {
            return RESET;
        }
        return late || BlockLayout.getAcquire(own.block, BlockLayout.END) != 0 ? HALF : UNDECIDED;
    }

    /** TCP was reset: by others, or the process died and left something there, which may be doorbells. */
    private int reset(Link own, boolean failed, boolean late) {
        if (out.hasRead(written) != PeerBlock.READ) {
            return RESET;
        }
        if (own.session.ready().hasPeerDeparted()) {
            return ORDERLY;
        }
        if (failed) {
            return out.isPeerMapped() ? ORDERLY : RESET;
        }
        long answer = asked;
        return late || answer > 0 && own.session.ready().answered() >= answer ? RESET : UNDECIDED;
    }

    /** Whether a reader need not wait any more. */
    boolean isForReader(Link own) {
        return state(own) >= HALF;
    }

    /** Whether a writer need not wait for room any more; as long as that is undecided it waits. */
    boolean isForWriter(Link own) {
        return state(own) >= ORDERLY;
    }

    /** Has the peer show that it lives, if that decides it. On the engine's thread, as long as it is not decided. */
    void ask(Link own) {
        if (asked == 0 && tcp.error() != null) {
            asked = Math.max(0, own.session.probePeer());
        }
    }

    /** The session has failed, and TCP does not report it. */
    void breakOff() {
        if (decided == OPEN) {
            decided = BROKEN_OFF;
        }
    }

    /** What a reader gets that has read up to where the peer has broken off. */
    int readAborted() throws IOException {
        if (decided == OPEN) {
            decided = RESET;
        }
        return fail(RESET);
    }

    /** The result of a read when TCP has lost bytes, or may have: never the end of the stream. */
    int readCutOff(Link own) throws IOException {
        return state(own) >= FAILED ? fail(decided) : readAborted();
    }

    /**
     * What a reader gets that has read everything.
     *
     * @return -1 at the end, 0 if there is none yet
     */
    int read(Link own) throws IOException {
        int how = state(own);
        return how <= UNDECIDED ? 0 : how <= ORDERLY ? -1 : fail(how);
    }

    private synchronized int fail(int how) throws IOException {
        if (how == BROKEN_OFF) {
            throw new SocketException(RESET_TEXT + ": the session with the other process broke off");
        }
        if (how == RESET && reportedToReader) {
            throw new SocketException(RESET_TEXT);
        }
        if (reported) {
            return -1;
        }
        reported = true;
        reportedToReader = true;
        IOException error = tcp.error();
        if (how == RESET || error == null) {
            throw new SocketException(RESET_TEXT);
        }
        throw again(error);
    }

    /** As TCP's, each time with its own trace. */
    private static IOException again(IOException error) {
        IOException again = error instanceof SocketException
                ? new SocketException(error.getMessage())
                : new IOException(error.getMessage());
        again.initCause(error);
        return again;
    }

    /** The result of a read in TCP's phase when a check for the end has taken the error before it. */
    int readTaken() throws IOException {
        IOException error = tcp.error();
        return fail(error == null || RESET_TEXT.equals(error.getMessage()) ? RESET : FAILED);
    }

    /** Whether the kernel may have refused a write because another thread has taken the error meant for the writer. */
    boolean isTaken(IOException refused) {
        return tcp.error() != null && PIPE_TEXT.equals(refused.getMessage());
    }

    /** What a writer of TCP's phase gets for an error of the kernel's, as long as the handshake is not complete. */
    synchronized IOException writerError(IOException refused) {
        IOException error = tcp.error();
        if (error == null || reported || !isTaken(refused)) {
            recordError(refused);
            return refused;
        }
        reported = true;
        String what = error.getMessage();
        return new IOException(RESET_TEXT.equals(what) ? RESET_BY_PEER_TEXT : what);
    }

    /** The kernel has reported an error to a writer or a reader of TCP's phase. */
    synchronized void recordError(IOException error) {
        reported |= tcp.recordError(error);
    }

    /**
     * What a writer gets.
     *
     * @return whether the bytes are to be written; if not, see {@link #vanish}
     * @throws IOException as TCP's
     */
    boolean write(Link own) throws IOException {
        int how = state(own);
        return how == OPEN || writeAtEnd(own, how);
    }

    private synchronized boolean writeAtEnd(Link own, int how) throws IOException {
        if (how <= HALF) {
            writtenSince |= how == HALF;
            return how == HALF;
        }
        if (how == ORDERLY && !out.isByRing()) {
            return true; // TCP takes the first bytes itself, or fails already since the peer does not
        }
        if (how == ORDERLY) {
            if (writtenSince) {
                throw new IOException(PIPE_TEXT);
            }
            return false;
        }
        if (how == BROKEN_OFF) {
            throw new IOException(RESET_BY_PEER_TEXT);
        }
        // after the peer's end a reset means that it does not read
        boolean pipe = reported || BlockLayout.getAcquire(own.block, BlockLayout.END) != 0 && how == RESET
                && (BlockLayout.getAcquire(own.block, BlockLayout.END) & BlockLayout.END_ABORT) == 0;
        reported = true;
        IOException error = tcp.error();
        throw new IOException(pipe
                ? PIPE_TEXT
                : how == FAILED && error != null ? error.getMessage() : RESET_BY_PEER_TEXT);
    }

    /** Whether what is written vanishes, as the first bytes after the peer's end do. */
    synchronized boolean vanish(Link own) {
        boolean vanishes = state(own) == ORDERLY && !writtenSince;
        writtenSince |= vanishes;
        return vanishes;
    }

    /**
     * The peer is gone: as the kernel does, accepts the first write and drops it. If that is undecided, takes
     * nothing.
     */
    int vanish(Link own, ByteBuffer from) {
        return from.hasRemaining() && vanish(own) ? take(from) : 0;
    }

    /** The same for several buffers. */
    long vanish(Link own, ByteBuffer[] from, int offset, int length) {
        long total = 0;
        for (int i = offset; i < offset + length; i++) {
            if (from[i].hasRemaining() && (total > 0 || vanish(own))) {
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
}
