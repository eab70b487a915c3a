// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.verbs;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.perf.run.PerfControl;
import org.verbena.cli.perf.run.PerfFields;
import org.verbena.cli.perf.run.PerfJob;
import org.verbena.cli.support.CommandException;
import org.verbena.cli.support.ConnectionRequests;
import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.Context;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.ReceiveQueue;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.VerbsObject;
import org.verbena.verbs.WcStatus;

/**
 * The verbs objects of one side of one test. One region holds a page of single words, the send buffers and the receive
 * buffers.
 */
public final class PerfEndpoint implements AutoCloseable {
    /** The word to which the peer writes how many messages it has consumed. */
    static final long CREDIT = 0;
    /** The source of that word on this side; also the operand and the result of an atomic. */
    static final long WORD = 64;

    private static final long WORDS = 4096;
    private static final int TX_DEPTH = 128;
    private static final int SIGNAL_EVERY = 16;
    private static final int CONNECT_SECONDS = 60;
    private static final Duration WAIT = Duration.ofMillis(100);

    final PerfJob job;
    final PerfControl peer;
    /** First byte of the send buffers. */
    final long out;
    /** First byte of the receive buffers. */
    final long in;
    final int slots;
    final MemoryRegion region;
    final MemorySegment memory;
    final CompletionQueue sendCq;
    final CompletionQueue receiveCq;
    /** Signalled work requests that have completed. */
    long completed;
    int remoteKey;
    long remoteWords;
    long remoteOut;
    long remoteIn;

    private final Context context;
    private final SendQueue[] sendQueues;
    private final ReceiveQueue[] receiveQueues;
    private final List<QueuePair> qps = new ArrayList<>();
    private final List<VerbsObject> made;
    private final @Nullable CompletionChannel channel;
    private final boolean inline;
    private final int signalEvery;
    private final int depth;
    /** Signalled work requests that were posted. */
    private long signalled;

    /** Creates everything; if something fails, the objects created so far are closed. */
    public static PerfEndpoint open(PerfJob job, boolean receives, Context context, PerfControl peer)
            throws IOException {
        List<VerbsObject> made = new ArrayList<>();
        try {
            return new PerfEndpoint(job, receives, context, peer, made);
        } catch (IOException | RuntimeException e) {
            close(made);
            throw e;
        }
    }

    private PerfEndpoint(PerfJob job, boolean receives, Context context, PerfControl peer, List<VerbsObject> made)
            throws IOException {
        this.made = made;
        this.job = job;
        this.peer = peer;
        this.context = context;
        DeviceAttributes limits = context.queryDevice();
        checkSize(limits);
        slots = Math.max(job.places(), receives ? Math.min(job.slots(), limits.maxQpWr()) : job.slots());
        out = WORDS;
        in = out + slots * job.stride();
        depth = Math.min(TX_DEPTH, limits.maxQpWr());
        signalEvery = Math.max(1, Math.min(SIGNAL_EVERY, depth / 4));
        ProtectionDomain pd = add(context.allocateProtectionDomain());
        region = add(pd.allocate(in + slots * job.stride(), AccessFlags.ALL));
        memory = region.segment();
        channel = job.events() ? add(context.createCompletionChannel()) : null;
        sendCq = add(context.createCompletionQueue(queue(Math.min(depth * job.qps() + 1, limits.maxCqe()))));
        receiveCq = add(context.createCompletionQueue(queue(Math.min(slots + 1, limits.maxCqe()))));
        inline = job.inline() >= job.size() && job.test().takesInline();
        sendQueues = new SendQueue[job.qps()];
        receiveQueues = new ReceiveQueue[job.qps()];
        for (int i = 0; i < job.qps(); i++) {
            QueuePair qp = add(pd.createQueuePair(QueuePairInitAttributes.builder(sendCq, receiveCq).maxSendWr(depth)
                    .maxReceiveWr(receives ? (slots + job.qps() - 1) / job.qps() : 1).maxInlineData(inline
                            ? job.inline()
                            : 0)
                    .build()));
            qps.add(qp);
            sendQueues[i] = qp.sendQueue();
            receiveQueues[i] = qp.receiveQueue();
        }
        if (receives) {
            postReceives();
        }
    }

    private void checkSize(DeviceAttributes limits) throws IOException {
        long max = context.queryPort(1).maxMessageSize();
        if (job.size() > max) {
            throw new CommandException("a message of " + job.size() + " bytes is too long: " + job.device()
                    + " carries "
                    + max + " at most");
        }
        if (job.inline() > limits.maxInlineData()) {
            throw new CommandException("--inline " + job.inline() + " is too much: " + job.device() + " takes "
                    + limits.maxInlineData() + " bytes at most");
        }
    }

    private CompletionQueueAttributes queue(int cqe) {
        CompletionQueueAttributes.Builder b = CompletionQueueAttributes.builder().cqe(cqe);
        return (channel == null ? b : b.channel(channel)).build();
    }

    private void postReceives() throws IOException {
        for (QueuePair qp : qps) {
            qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(AccessFlags.ALL)
                    .build());
        }
        for (int slot = 0; slot < slots; slot++) {
            postReceive(slot);
        }
    }

    /** The data that the peer needs. */
    public String describe() {
        return "rkey=" + region.rkey() + " words=" + region.address() + " out=" + (region.address() + out) + " in="
                + (region.address() + in);
    }

    public void learn(PerfFields f) throws CommandException {
        remoteKey = (int) f.number("rkey", Integer.MIN_VALUE, Integer.MAX_VALUE);
        remoteWords = f.number("words", Long.MIN_VALUE, Long.MAX_VALUE);
        remoteOut = f.number("out", Long.MIN_VALUE, Long.MAX_VALUE);
        remoteIn = f.number("in", Long.MIN_VALUE, Long.MAX_VALUE);
    }

    public void connect(InetSocketAddress address) throws VerbsException {
        for (QueuePair qp : qps) {
            add(context.connectionManager().connect(qp, address, ConnectionParameters.defaults()));
        }
    }

    public void accept(ConnectionListener listener) throws IOException {
        long deadline = System.nanoTime() + Duration.ofSeconds(CONNECT_SECONDS).toNanos();
        peer.look(true);
        for (QueuePair qp : qps) {
            ConnectionRequest request = ConnectionRequests.await(listener, WAIT);
            while (request == null) {
                peer.look(false);
                if (System.nanoTime() > deadline) {
                    throw new CommandException("the peer did not connect its queue pairs within " + CONNECT_SECONDS
                            + " seconds");
                }
                request = ConnectionRequests.await(listener, WAIT);
            }
            add(request.accept(qp, ConnectionParameters.defaults()));
        }
    }

    /**
     * Whether messages arrive when a queue is polled, and only later without polls: the transport runs in this process.
     */
    boolean pollsMove() {
        return context.device().provider().equals("roce");
    }

    /** The distance of signalled operations of a queue pair. */
    int signalEvery() {
        return signalEvery;
    }

    /** How many operations one queue pair takes. */
    int depth() {
        return depth;
    }

    /** Posts a write; waits for room in the queue. */
    void write(int qp, long id, int flags, long remote, long offset, long length) throws IOException {
        takePlace(flags);
        int error = postWrite(qp, id, flags, remote, offset, length);
        while (error != 0) {
            makeRoom(error);
            error = postWrite(qp, id, flags, remote, offset, length);
        }
    }

    private int postWrite(int qp, long id, int flags, long remote, long offset, long length) {
        SendQueue q = sendQueues[qp];
        return inline
                ? q.start().write(id, flags, remoteKey, remote).inline(memory, offset, length).complete()
                : q.postWrite(id, flags, region, offset, length, remoteKey, remote);
    }

    /** Posts a write that consumes a receive of the peer; waits for room in the queue. */
    void writeImmediate(long id, int flags, long remote, long offset, long length, int immediate) throws IOException {
        takePlace(flags);
        int error = postWriteImmediate(id, flags, remote, offset, length, immediate);
        while (error != 0) {
            makeRoom(error);
            error = postWriteImmediate(id, flags, remote, offset, length, immediate);
        }
    }

    private int postWriteImmediate(long id, int flags, long remote, long offset, long length, int immediate) {
        SendQueue q = sendQueues[0].start().writeImmediate(id, flags, remoteKey, remote, immediate);
        return (inline ? q.inline(memory, offset, length) : q.sge(region, offset, length)).complete();
    }

    /** Writes the word of this side to the credit word of the peer. */
    void writeWord(int flags) throws IOException {
        takePlace(flags);
        int error = word(flags);
        while (error != 0) {
            makeRoom(error);
            error = word(flags);
        }
    }

    private int word(int flags) {
        return sendQueues[0].postWrite(0, flags, region, WORD, 8, remoteKey, remoteWords + CREDIT);
    }

    /** Posts a send; waits for room in the queue. */
    void send(int qp, long id, int flags, long offset, long length) throws IOException {
        takePlace(flags);
        int error = postSend(qp, id, flags, offset, length);
        while (error != 0) {
            makeRoom(error);
            error = postSend(qp, id, flags, offset, length);
        }
    }

    private int postSend(int qp, long id, int flags, long offset, long length) {
        SendQueue q = sendQueues[qp];
        return inline
                ? q.start().send(id, flags).inline(memory, offset, length).complete()
                : q.postSend(id, flags, region, offset, length);
    }

    /** Posts a read; waits for room in the queue. */
    void read(int qp, long id, int flags, long remote, long offset, long length) throws IOException {
        takePlace(flags);
        int error = sendQueues[qp].postRead(id, flags, region, offset, length, remoteKey, remote);
        while (error != 0) {
            makeRoom(error);
            error = sendQueues[qp].postRead(id, flags, region, offset, length, remoteKey, remote);
        }
    }

    /** Where the result of an atomic is: that of place 0 is {@link #WORD}. */
    static long result(int place) {
        return WORD + 8L * place;
    }

    /** Posts a fetch-and-add of 1 to the word of the peer; the old value is returned into a word of this side. */
    void fetchAndAdd(long id, int place) throws IOException {
        takePlace(SendFlags.SIGNALED);
        int error = sendQueues[0].start().fetchAndAdd(id, SendFlags.SIGNALED, remoteKey, remoteWords + WORD, 1)
                .sge(region, result(place), 8).complete();
        if (error != 0) {
            throw refused(error);
        }
    }

    /** Posts the receive of a buffer. */
    void postReceive(int slot) throws IOException {
        int n = receiveQueues.length;
        int error = receiveQueues[n == 1 ? 0 : slot % n].post(slot, region, in + slot * job.stride(), job.size());
        if (error != 0) {
            throw refused(error);
        }
    }

    /**
     * Waits until one more completion fits into the queue. A free slot in the send queue does not imply that: rdma_rxe
     * frees a slot when its request is done, whether its completion was polled or not.
     */
    private void takePlace(int flags) throws IOException {
        if ((flags & SendFlags.SIGNALED) != 0) {
            while (signalled - completed >= sendCq.cqe()) {
                reapSome();
            }
            signalled++;
        }
    }

    private void makeRoom(int error) throws IOException {
        if (error != Errno.ENOMEM) {
            throw refused(error);
        }
        reapSome();
    }

    private CommandException refused(int error) {
        String reason = qps.stream().map(QueuePair::errorReason).filter(r -> !r.isEmpty()).findFirst().orElse("");
        return new CommandException("a work request was refused with " + Errno.name(error)
                + (reason.isEmpty() ? "" : ": " + reason));
    }

    /** Takes the available completions of the send side. */
    int reap() throws CommandException {
        CompletionQueue cq = sendCq;
        if (cq.startPoll() != 0) {
            return 0;
        }
        int n = 0;
        do {
            check(cq);
            n++;
        } while (cq.nextPoll() == 0);
        cq.endPoll();
        completed += n;
        return n;
    }

    /** Waits for completions of the send side, and takes them; returns how many. */
    int reapSome() throws IOException {
        long turns = 0;
        int n = reap();
        while (n == 0) {
            turns = idle(sendCq, turns);
            n = reap();
        }
        return n;
    }

    /** Opens the cursor on a completion of the receive side; false if there is none. */
    boolean isReceived() {
        return receiveCq.startPoll() == 0;
    }

    /** Waits until the receive side has a completion, and opens the cursor on it. */
    void awaitReceive() throws IOException {
        CompletionQueue cq = receiveCq;
        long turns = 0;
        while (cq.startPoll() != 0) {
            turns = idle(cq, turns);
        }
    }

    /** One iteration of waiting for a queue: spins, or sleeps until there is an event. */
    long idle(CompletionQueue cq, long turns) throws IOException {
        if (channel == null) {
            return peer.spin(turns);
        }
        // Every other iteration arms the queue, so that it is polled once more before the thread sleeps.
        if ((turns & 1) == 0) {
            cq.requestNotify(false);
        } else {
            channel.await(WAIT);
            peer.look(turns == 1);
        }
        return turns + 1;
    }

    /** Throws if the completion under the cursor is a failure. */
    void check(CompletionQueue cq) throws CommandException {
        int status = cq.status();
        if (status != WcStatus.SUCCESS) {
            throw failed(cq, status);
        }
    }

    private CommandException failed(CompletionQueue cq, int status) {
        String reason = "";
        for (QueuePair qp : qps) {
            if (qp.number() == cq.queuePairNumber()) {
                reason = qp.errorReason();
            }
        }
        return new CommandException("a work request failed with " + WcStatus.toString(status)
                + (reason.isEmpty() ? "" : ": " + reason));
    }

    private <T extends VerbsObject> T add(T object) {
        made.add(object);
        return object;
    }

    @Override
    public void close() throws VerbsException {
        VerbsException failure = close(made);
        if (failure != null) {
            throw failure;
        }
    }

    /** For when there is a failure to report already. */
    public void closeQuietly() {
        close(made);
    }

    private static @Nullable VerbsException close(List<VerbsObject> made) {
        VerbsException failure = null;
        for (VerbsObject o : made.reversed()) {
            try {
                o.close();
            } catch (VerbsException e) {
                failure = failure == null ? e : failure;
            }
        }
        return failure;
    }
}
