// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.rules.Decision;
import org.verbena.sockets.stream.memory.Bell;
import org.verbena.sockets.telemetry.StreamEvents;

/**
 * The bytes of one connected TCP connection, both ways: by the kernel's TCP and, from a byte on that both ends have
 * agreed upon, through rings in registered memory.
 *
 * <p>No call waits for what the peer's program does; threads and selectors wait by means of these parts:
 *
 * {@snippet :
 * int n = stream.read(buffer);                       // 0: nothing there
 * // spin for a while on readyOps(OP_READ), then
 * if (stream.arm(OP_READ, null) == 0) {              // nothing came meanwhile; the peer will wake us
 *     waitFor(tcp, stream.kernelOps(OP_READ));       // poll(2) on the TCP socket
 *     stream.kernelReady(OP_READ, OP_READ);          // takes the doorbell, if it was one
 * }
 * }
 *
 * <p>The direction that comes in and the one that goes out change from TCP to the ring each on its own, at any moment,
 * at most once. {@code ops} are {@link SelectionKey#OP_READ} and {@link SelectionKey#OP_WRITE}. Reads are for one
 * thread at a time, writes for one at a time: the caller holds a lock for each. All other calls are for any thread.
 */
public abstract class Stream {
    /** Which end of the TCP connection this is. */
    public enum Role {
        /** It connected. */
        CLIENT,
        /** It was accepted. */
        SERVER
    }

    private final long number = StreamCounters.nextNumber();
    /** Guarded by {@link PublishedSockets}. */
    @Nullable PublishedSocket published;
    private final long created = System.currentTimeMillis();
    private final long createdNanos = System.nanoTime();
    private final Role role;
    private volatile @Nullable Decision decision;

    /** How long the other end takes to answer; null where that is not measured. */
    final @Nullable ResponseTimes times;

    /** For the transports of this package. */
    Stream(Role role) {
        this(role, null);
    }

    /** For one that may measure response times. */
    Stream(Role role, @Nullable ResponseTimes times) {
        this.role = role;
        this.times = times;
    }

    /**
     * Takes over a connection that was just made, and starts to find out whether its other end uses Verbena; does not
     * block.
     *
     * @param tcp connected and non-blocking; it stays so, and stays the caller's to close, after {@link #close}
     */
    public static Stream of(SocketChannel tcp, Role role) {
        return of(tcp, role, null);
    }

    /**
     * As the other.
     *
     * @param device by which the other end is sought if it is not on this host; null if TCP carries it then
     */
    public static Stream of(SocketChannel tcp, Role role, @Nullable String device) {
        return of(tcp, role, device, RingThreshold.isZero());
    }

    /**
     * As the other.
     *
     * @param atOnce whether the handshake begins at once, rather than when the connection has carried enough for it
     */
    public static Stream of(SocketChannel tcp, Role role, @Nullable String device, boolean atOnce) {
        RingStream stream = StreamCounters.opened(new RingStream(tcp, role, device, !atOnce));
        if (atOnce) {
            stream.beginHandshake();
        }
        return stream;
    }

    /** Whether connections of this process begin their handshakes at once, where no rule says so. */
    public static boolean isAtOnce() {
        return RingThreshold.isZero();
    }

    /** Has connections of this process begin their handshakes when they have carried enough, unless a property says otherwise. */
    public static void earnRings() {
        RingThreshold.applyToDropIn();
    }

    /** Opens a device by which connections are expected from other hosts, and waits for nothing. */
    public static void expect(String device) {
        StreamEngine.expect(device);
    }

    /**
     * Takes over a connection that TCP is to carry to its end; it is counted so.
     *
     * @param tcp as for {@link #of}
     * @param reason why
     */
    public static Stream byKernel(SocketChannel tcp, Role role, FallbackReason reason) {
        StreamCounters.count(reason);
        StreamEvents.byTcp(tcp, reason.key());
        return StreamCounters.opened(new KernelStream(tcp, role, reason));
    }

    /**
     * Reads what is there.
     *
     * @return bytes read; 0 if nothing is there or there is no room in the buffer; -1 at the end of the stream
     * @throws IOException what TCP reports: {@code Connection reset} and the like
     */
    public abstract int read(ByteBuffer into) throws IOException;

    /** As {@link #read(ByteBuffer)}, into the buffers one after the other. */
    public abstract long read(ByteBuffer[] into, int offset, int length) throws IOException;

    /**
     * Writes what there is room for.
     *
     * @return bytes written, 0 if there is no room
     * @throws IOException what TCP reports: {@code Broken pipe} and the like
     */
    public abstract int write(ByteBuffer from) throws IOException;

    /** As {@link #write(ByteBuffer)}, from the buffers one after the other. */
    public abstract long write(ByteBuffer[] from, int offset, int length) throws IOException;

    /**
     * For a writer that has found no room and does not wait: has the ring replaced by a larger one, as long as the peer
     * has read little of it, until all rings together have taken what TCP would have. It waits for the answer of the
     * peer's engine, a moment, not for its program.
     *
     * @return whether there is room now
     */
    public boolean makesRoom() {
        return false;
    }

    /**
     * Sends bytes of a file without a buffer in between: by sendfile(2) if TCP carries this direction to its end; if rings do,
     * what the page cache has is read straight into the ring.
     *
     * @return bytes sent, 0 if there is no room, or with TCP no such byte; -1 if the caller is to read the file and write, for
     *         instance because what carries is not decided, the file is not cached, or there is no such byte
     */
    public abstract long sendFile(FileChannel file, long position, long count) throws IOException;

    /**
     * By which files are written from the ring.
     *
     * @return null if the caller is to read, and to write what it has read: no ring brings what is next, or files cannot be held
     */
    public @Nullable RingLoan loan() {
        return null;
    }

    /**
     * What of {@code ops} is ready now, by memory alone: without a system call. A direction that TCP carries is never
     * ready here; {@link #kernelReady} reports it. The end of the stream and errors are ready to be read.
     */
    public abstract int readyOps(int ops);

    /**
     * What to ask the kernel for, at the TCP socket, in order to learn of {@code ops}; it changes when a direction
     * changes to the ring, and the listener is called then.
     */
    public abstract int kernelOps(int ops);

    /**
     * Says what {@code kernelOps} that the kernel found ready mean, and takes the doorbells among it.
     *
     * @param kernelReadyOps ready at the TCP socket
     * @return what of {@code ops} is ready, by either carrier
     */
    public abstract int kernelReady(int kernelReadyOps, int ops);

    /**
     * The kernel has something to read, and it is left there: the awaited bytes are there already, and are not
     * delayed by a system call. Before the stream is {@linkplain #arm armed} again {@link #takeLeftDoorbell} is called.
     */
    public void leaveDoorbell() {}

    /**
     * Takes what was {@linkplain #leaveDoorbell left}. No thread sleeps at the socket meanwhile.
     *
     * @return whether something was left
     */
    public boolean takeLeftDoorbell() {
        return false;
    }

    /**
     * Asks the peer for a signal when one of {@code ops} becomes ready that is carried by a ring: it puts the
     * listener's stream into {@code queue}, or without one rings the doorbell, which makes the TCP socket readable.
     * Each call arms for one notification; after it, even a spurious one, the waiter has to arm again.
     *
     * @param queue that the stream's listener belongs to, see {@link #listen}; null asks for the doorbell
     * @return what of {@code ops} became ready meanwhile, which is not signaled
     */
    public abstract int arm(int ops, @Nullable ReadyQueue queue);

    /**
     * Where a platform thread may sleep rather than at the TCP socket; null where it may not: only if rings carry what comes in, of a
     * peer on this host that knows of bells, and another thread notices the end of TCP.
     */
    public @Nullable Bell bell() {
        return null;
    }

    /** There is no {@link #bell} from now on: others ask the peer for doorbells. */
    public void giveUpBell() {}

    /** As {@link #arm}, for a thread that will sleep at the {@link #bell}, or that such a thread wakes. */
    public int armBell(int ops) {
        return arm(ops, null);
    }

    /**
     * Sets the listener of changes, instead of an earlier one; null removes it.
     *
     * <p>The listener is called with the stream when an armed operation became ready, by the thread that polls the
     * queue, and when {@link #kernelOps} change or an error turns up, by any thread.
     */
    public abstract void listen(@Nullable Listener listener);

    /** A listener of changes of a stream. */
    @FunctionalInterface
    public interface Listener {
        /** The stream may be ready, or its {@link Stream#kernelOps} may be others than before; it must not block. */
        void changed();
    }

    /**
     * Sends from a direct buffer, which is to be left as it is until the kernel's notification, see {@code ZeroCopy};
     * as much as there is room for.
     *
     * @return bytes, or minus errno, or 0 if TCP does not carry this direction to its end
     * @throws IOException what TCP reports of the end, as for {@link #write(ByteBuffer)}
     */
    public abstract int sendZeroCopy(ByteBuffer from) throws IOException;

    /**
     * Sends a byte of urgent data by TCP, whatever carries the others.
     *
     * @throws IOException what TCP reports, or that it has no room
     */
    public void sendUrgent(int data) throws IOException {
        tcp().socket().sendUrgentData(data);
    }

    /**
     * The direction that goes out stays with TCP if TCP carries it now: something is sent there beside the stream.
     *
     * @return false if the ring carries it already
     */
    public abstract boolean keepOutputByTcp();

    /**
     * Whether urgent data are to be written as any others, for a ring carries what goes out and the peer wants them in
     * line. If not, TCP carries them: it wakes a peer at most, and finds out whether it is there. To be asked when it
     * {@linkplain #hasPeerUrgentOption has sent its option}.
     */
    public boolean takesUrgentInline() {
        return false;
    }

    /**
     * Whether the peer has sent its option for urgent data; waits a moment for one whose handshake was complete a
     * moment ago.
     */
    public boolean hasPeerUrgentOption() {
        return true;
    }

    /** Ends the wait of a writer for a word of the peer, rather than for room. Any thread. */
    public void stopWaitingForPeer() {}

    /**
     * Says whether urgent data that come in are wanted in line, as SO_OOBINLINE; without a call they are not. Any
     * thread.
     */
    public void urgentInline(boolean on) {}

    /**
     * TCP carries both directions to the end if the handshake is not complete yet. If this end has made its offer it is
     * too late: the other may be writing to a ring.
     *
     * @param reason what is counted then
     */
    public void stayWithTcp(FallbackReason reason) {}

    /** Ends the direction that goes out, after what was written. Idempotent. */
    public abstract void shutdownOutput() throws IOException;

    /** Ends the direction that comes in: reads find the end, whatever the peer goes on to send. Idempotent. */
    public abstract void shutdownInput() throws IOException;

    /**
     * Ends both directions and gives the rings back. What was written still arrives, unless {@code reset}. The caller
     * holds neither lock, ensures that no call is under way or comes later, and closes the TCP socket after this.
     *
     * @param reset whether SO_LINGER is 0: the peer reads what is in its ring, then gets {@code Connection reset}
     */
    public abstract void close(boolean reset);

    /**
     * Bytes that {@link #read} would give without waiting. From any thread.
     *
     * @param inTcp how many bytes the kernel has at the TCP socket, doorbells included
     */
    public abstract int available(int inTcp);

    /**
     * Looks for the end of TCP, where a ring carries what comes in. For programs that poll by reading: the
     * ring does not show that the peer is gone.
     */
    public void pollTcp() {}

    /** Whether TCP carries both directions to the end, for good: {@link #fallbackReason} says why. */
    public abstract boolean staysWithTcp();

    /** Begins the handshake, if it waits for the connection to carry more. */
    public void beginHandshake() {}

    /** Whether a ring carries what goes out, and the session has failed: the peer may not have got what was written. */
    public boolean isBroken() {
        return false;
    }

    /**
     * Whether the handshake has succeeded, so that the ends have rings; a direction may have ended, or been fixed to
     * TCP, before.
     */
    public boolean isHandshakeComplete() {
        return false;
    }

    /** Whether the ring carries the direction that comes in. */
    public abstract boolean isInputByRing();

    /** Whether the ring carries the direction that goes out. */
    public abstract boolean isOutputByRing();

    /**
     * Why TCP carries the connection to its end, a sentence; empty as long as that is not decided, be it that the connection
     * has carried too little for a handshake, and if rings carry it. Where the other end
     * was not there in time, and may come when the connection has carried more, that is the reason meanwhile.
     */
    public abstract String fallbackReason();

    /** What it has come to, from any thread. */
    public final StreamFigures figures() {
        StreamTally tally = new StreamTally();
        addTo(tally);
        return tally.figures();
    }

    /** Adds what it has come to; from any thread. */
    abstract void addTo(StreamTally tally);

    /** How it stands, from any thread. */
    public final StreamState state() {
        StreamState.Kept kept = new StreamState.Kept();
        state(kept);
        return kept.state();
    }

    /** Tells how it stands, from any thread. */
    abstract void state(StreamState.Reader to);

    /** The device whose rings lead to another host; null if there are none, or they lead to this one. */
    @Nullable
    String remoteDevice() {
        return null;
    }

    /** By which modules above find their like at the other end; null if there are no rings to be had. */
    public @Nullable Rendezvous rendezvous() {
        return null;
    }

    /** The TCP connection under it. */
    abstract SocketChannel tcp();

    /** The direction that comes in; null if rings cannot carry it. */
    @Nullable
    Inbound in() {
        return null;
    }

    /** The direction that goes out; null if rings cannot carry it. */
    @Nullable
    Outbound out() {
        return null;
    }

    /** Sets the decision of the rules, for display. */
    public final void decidedBy(Decision rules) {
        decision = rules;
    }

    /** Whether a rule, or the program, has left it to the kernel from the beginning, so that it gets no rings. */
    public boolean isKernels() {
        return false;
    }

    /** The decision of the rules; null if they were not asked. */
    final @Nullable Decision decision() {
        return decision;
    }

    final Role role() {
        return role;
    }

    /** Tells the sockets of this process apart. */
    public final long number() {
        return number;
    }

    /** How long it has been connected, in milliseconds. */
    final long age() {
        return (System.nanoTime() - createdNanos) / 1_000_000;
    }

    /** When it was connected, in milliseconds since 1970. */
    final long created() {
        return created;
    }
}
