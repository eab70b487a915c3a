package org.verbena.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

import org.verbena.verbs.WcStatus;
import org.verbena.verbs.WorkCompletion;

/** One end's part of a test. A server of a test in one direction only waits. */
final class PerftestRun {
    private static final int TURNS = 4096;
    private static final VarHandle LAST = ValueLayout.JAVA_BYTE.varHandle();

    private final PerftestEndpoint end;
    private final PerftestExchange exchange;
    private final boolean client;
    private final PerftestOptions options;
    private final CompletionWait sends;
    private final CompletionWait receives;
    private int received;
    private final WorkCompletion[] nothing = WorkCompletion.array(1);
    private int postedReceives;
    private long firstFetched;

    PerftestRun(PerftestEndpoint end, PerftestExchange exchange, boolean client) {
        this.end = end;
        this.exchange = exchange;
        this.client = client;
        options = end.options;
        sends = new CompletionWait(end.sendCq, options.timeout());
        receives = new CompletionWait(end.receiveCq, options.timeout());
    }

    void run(PrintWriter out) throws IOException {
        PerftestType type = options.type();
        if (type.sends()) {
            int first = client && !type.latency ? 0 : Math.min(end.rxDepth, options.iterations());
            while (postedReceives < first) {
                postReceive();
            }
            exchange.addresses(end.local); // the receives are there
        }
        switch (type) {
            case WRITE_BW, READ_BW, ATOMIC_BW -> oneSided(out);
            case SEND_BW -> (client ? sendAll() : receiveAll()).print(out);
            case READ_LAT, ATOMIC_LAT -> {
                if (client) {
                    PerftestReport.printLatency(out, options.size(), oneByOne());
                }
            }
            case SEND_LAT, WRITE_LAT -> PerftestReport.printLatency(out, options.size(), inTurn());
        }
        boolean agree = type != PerftestType.WRITE_LAT; // whose ends do not tell each other that they are done
        if (agree) {
            exchange.addresses(end.local);
        }
        exchange.end(agree);
    }

    private void oneSided(PrintWriter out) throws IOException {
        PerftestReport own = client ? sendAll() : PerftestReport.NONE;
        exchange.addresses(end.local); // the client has done its work
        PerftestReport remote = exchange.reports(own);
        (client ? own : remote).print(out);
    }

    private PerftestReport sendAll() throws IOException {
        int n = options.iterations();
        long start = System.nanoTime();
        int posted = 0;
        for (int done = 0; done < n; done++) {
            while (posted < n && posted - done < end.txDepth) {
                end.post(posted++);
            }
            sent();
        }
        return PerftestReport.of(options.size(), n, System.nanoTime() - start);
    }

    private PerftestReport receiveAll() throws IOException {
        receive();
        long start = System.nanoTime();
        while (received < options.iterations()) {
            receive();
        }
        return PerftestReport.of(options.size(), received, System.nanoTime() - start);
    }

    /** Nanoseconds of each request. */
    private long[] oneByOne() throws IOException {
        long[] nanos = new long[options.iterations()];
        for (int i = 0; i < nanos.length; i++) {
            long start = System.nanoTime();
            end.post(i);
            sent();
            nanos[i] = System.nanoTime() - start;
        }
        return nanos;
    }

    /** Messages to and fro; half the time between two of one's own. */
    private long[] inTurn() throws IOException {
        int n = options.iterations();
        boolean first = client == (options.type() == PerftestType.SEND_LAT); // of write_lat the server is the first
        long[] at = new long[n];
        for (int i = 1; i <= n; i++) {
            if (!first) {
                arrived(i);
            }
            at[i - 1] = System.nanoTime();
            end.outbox().set(ValueLayout.JAVA_BYTE, options.size() - 1L, (byte) i);
            end.post(i);
            sent();
            if (first) {
                arrived(i);
            }
        }
        long[] nanos = new long[Math.max(1, n - 1)];
        Arrays.setAll(nanos, i -> n < 2 ? 0 : (at[i + 1] - at[i]) / 2);
        return nanos;
    }

    private void arrived(int i) throws IOException {
        if (options.type() == PerftestType.SEND_LAT) {
            receive();
        } else {
            awaitByte((byte) i);
        }
    }

    /** A WRITE is seen by its last byte, which counts. */
    @SuppressWarnings("ThreadPriorityCheck") // the peer may wait for this processor
    private void awaitByte(byte expected) throws IOException {
        MemorySegment inbox = end.inbox();
        long start = System.nanoTime();
        for (int turn = 1; (byte) LAST.getAcquire(inbox, inbox.byteSize() - 1) != expected; turn++) {
            end.receiveCq.poll(nothing); // a device may make progress only when it is asked
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

    private void sent() throws IOException {
        WorkCompletion c = sends.next();
        if (c.status() != WcStatus.SUCCESS) {
            throw PeerException.of("request " + c.wrId(), c.status(), end.qp);
        }
        if (options.type().atomic()) {
            checkAtomic(c.wrId());
        }
    }

    /** Nobody else adds to that number, so each request finds one more than that before it. */
    private void checkAtomic(long id) throws PeerException {
        long found = end.fetched(id);
        if (id == 0) {
            firstFetched = found;
        } else if (found != firstFetched + id) {
            throw new PeerException("fetch-and-add " + id + " found " + found + " at the peer instead of "
                    + (firstFetched + id) + ": one was lost or done twice, or somebody else changes that memory");
        }
    }

    private void receive() throws IOException {
        WorkCompletion c = receives.next();
        if (c.status() != WcStatus.SUCCESS) {
            throw PeerException.of("the receive of message " + (received + 1), c.status(), end.qp);
        }
        if (c.byteLength() != options.size()) {
            throw new PeerException("the peer sends messages of " + c.byteLength() + " bytes, this end of "
                    + options.size() + ": give both the same --size (-s)");
        }
        received++;
        if (postedReceives < options.iterations()) {
            postReceive();
        }
    }

    private void postReceive() throws PeerException {
        end.postReceive();
        postedReceives++;
    }
}
