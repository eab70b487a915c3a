// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

import org.verbena.cli.support.CompletionWait;
import org.verbena.cli.support.PeerException;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.WorkCompletion;

/**
 * Messages of the queue pairs of one end, and their completions. The work request id has the number of its queue pair
 * above bit 32, and its own number below; receives have bit 63 set. For one thread.
 */
final class PerftestTraffic {
    private static final int TURNS = 4096;
    private static final int QUEUE_PAIR = 32;
    private static final long RECEIVE = Long.MIN_VALUE;
    private static final VarHandle LAST = ValueLayout.JAVA_BYTE.varHandle();

    private final PerftestEndpoint end;
    private final boolean client;
    private final PerftestOptions options;
    private final CompletionWait wait;
    private final WorkCompletion[] nothing = WorkCompletion.array(1);
    private final int count;
    private final int[] posted;
    private final int[] done;
    private final int[] receivesPosted;
    private final long[] firstFetched;
    private int size;
    private long sent;
    private long received;

    PerftestTraffic(PerftestEndpoint end, boolean client) {
        this.end = end;
        this.client = client;
        options = end.options;
        wait = new CompletionWait(end.cq, options.timeout());
        count = options.queuePairs();
        posted = new int[count];
        done = new int[count];
        receivesPosted = new int[count];
        firstFetched = new long[count];
    }

    private void begin(int bytes) {
        size = bytes;
        sent = 0;
        Arrays.fill(posted, 0);
        Arrays.fill(done, 0);
    }

    private long total() {
        return (long) count * options.iterations();
    }

    /** Posts receives for future messages, as many as there is room for. */
    void postReceives(int bytes) throws IOException {
        size = bytes;
        received = 0;
        Arrays.fill(receivesPosted, 0);
        for (int qp = 0; qp < count; qp++) {
            while (receivesPosted[qp] < Math.min(end.rxDepth, options.iterations())) {
                postReceive(qp);
            }
        }
    }

    private void postReceive(int qp) throws PeerException {
        end.postReceive(qp, RECEIVE | qp, size);
        receivesPosted[qp]++;
    }

    /** Sends all messages; returns the nanoseconds. */
    long sendAll(int bytes) throws IOException {
        begin(bytes);
        long start = System.nanoTime();
        while (sent < total()) {
            fill();
            take();
        }
        return System.nanoTime() - start;
    }

    /** Receives all messages; returns the nanoseconds since the first. */
    long receiveAll(int bytes) throws IOException {
        begin(bytes);
        take();
        long start = System.nanoTime();
        while (received < total()) {
            take();
        }
        return System.nanoTime() - start;
    }

    /**
     * Sends and receives all messages; returns the nanoseconds. A server begins when it has received something, as in
     * C.
     */
    long sendAndReceiveAll(int bytes) throws IOException {
        begin(bytes);
        long start = System.nanoTime();
        while (sent < total() || received < total()) {
            if (client || received > 0) {
                fill();
            }
            take();
        }
        return System.nanoTime() - start;
    }

    private void fill() throws PeerException {
        for (int qp = 0; qp < count; qp++) {
            while (posted[qp] < options.iterations() && posted[qp] - done[qp] < end.txDepth) {
                post(qp);
            }
        }
    }

    private void post(int qp) throws PeerException {
        int n = posted[qp]++;
        end.post(qp, n, (long) qp << QUEUE_PAIR | n, size);
    }

    /** Nanoseconds of each request. */
    long[] oneByOne(int bytes) throws IOException {
        begin(bytes);
        long[] nanos = new long[options.iterations()];
        for (int i = 0; i < nanos.length; i++) {
            long start = System.nanoTime();
            post(0);
            take();
            nanos[i] = System.nanoTime() - start;
        }
        return nanos;
    }

    /** Ping-pong; returns when each of its own messages was posted. */
    long[] inTurn(int bytes) throws IOException {
        begin(bytes);
        boolean sends = options.type() == PerftestType.SEND_LAT;
        boolean first = client == sends; // in write_lat the server is first
        long[] at = new long[options.iterations()];
        for (int i = 1; i <= at.length; i++) {
            if (!first) {
                arrived(i, sends);
            }
            at[i - 1] = System.nanoTime();
            end.outbox(size).set(ValueLayout.JAVA_BYTE, size - 1L, (byte) i);
            post(0);
            while (sent < i) {
                take();
            }
            if (first) {
                arrived(i, sends);
            }
        }
        return at;
    }

    private void arrived(int i, boolean sends) throws IOException {
        if (sends) {
            while (received < i) {
                take();
            }
        } else {
            awaitByte((byte) i);
        }
    }

    /** A WRITE is detected by its last byte, which has a count. */
    @SuppressWarnings("ThreadPriorityCheck") // the peer may wait for this processor
    private void awaitByte(byte expected) throws IOException {
        MemorySegment inbox = end.inbox(size);
        long start = System.nanoTime();
        for (int turn = 1; (byte) LAST.getAcquire(inbox, inbox.byteSize() - 1) != expected; turn++) {
            end.cq.poll(nothing); // a device may make progress only when it is polled
            if (turn % TURNS != 0) {
                Thread.onSpinWait();
            } else {
                Thread.yield();
                if (System.nanoTime() - start > options.timeout().toNanos()) {
                    throw new PeerException("message " + (expected & 0xff) + " (mod 256) was not written within "
                            + options.timeout().toSeconds() + " seconds: the peer ended, or expects less messages");
                }
            }
        }
    }

    /** Takes one completion. */
    private void take() throws IOException {
        WorkCompletion c = wait.next();
        long id = c.wrId();
        boolean receive = id < 0;
        int qp = (int) (receive ? id : id >>> QUEUE_PAIR);
        if (c.status() != WcStatus.SUCCESS && !(c.status() == WcStatus.RETRY_EXC_ERR && mayBeUnanswered(id))) {
            throw PeerException.of(receive ? "the receive of a message" : "request " + (int) id, c.status(),
                    end.queuePairs.get(qp));
        }
        if (receive) {
            taken(qp, c.byteLength());
            return;
        }
        if (options.type().atomic()) {
            checkAtomic(qp, (int) id);
        }
        done[qp]++;
        sent++;
    }

    /**
     * Whether the peer may have ended normally before its acknowledgement of that request arrived: this concerns the
     * last message of write_lat, since the end that receives it ends at once without an exchange. If that
     * acknowledgement is lost, no process is left to retransmit it.
     */
    private boolean mayBeUnanswered(long id) {
        return options.type() == PerftestType.WRITE_LAT && client && id == options.iterations() - 1;
    }

    private void taken(int qp, long bytes) throws PeerException {
        if (bytes != size) {
            throw new PeerException("the peer sends messages of " + bytes + " bytes, this end of " + size
                    + ": give both the same --size (-s)");
        }
        received++;
        if (receivesPosted[qp] < options.iterations()) {
            postReceive(qp);
        }
    }

    /** No other process adds to that number, so each request finds one more than the one before. */
    private void checkAtomic(int qp, int n) throws PeerException {
        long found = end.fetched(qp, n);
        if (n == 0) {
            firstFetched[qp] = found;
        } else if (found != firstFetched[qp] + n) {
            throw new PeerException("fetch-and-add " + n + " found " + found + " at the peer instead of "
                    + (firstFetched[qp] + n) + ": one was lost or done twice, or another program changes that memory");
        }
    }
}
