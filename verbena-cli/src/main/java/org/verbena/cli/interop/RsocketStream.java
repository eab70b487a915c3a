// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.net.InetSocketAddress;
import java.nio.ByteOrder;

import org.verbena.cli.support.CompletionWait;
import org.verbena.cli.support.PeerException;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.Context;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.WorkCompletion;

/**
 * A connected byte stream in the protocol of librdmacm's rsockets. Each end offers memory, half of its buffer at a
 * time; the other one writes there from the beginning to the end, and then into the next half that is offered. Each
 * write has an immediate value, whose upper three bits are the kind of a message, and takes a receive without memory.
 * The context closes the verbs objects. For one thread.
 */
final class RsocketStream {
    /** Kinds of messages: this many bytes were written. */
    private static final int DATA = 0;
    /** The number of the last message with data that may arrive, 16 bits; the table may have a new entry. */
    private static final int CREDITS = 4;
    /** A control message, such as {@link #END}. */
    private static final int CONTROL = 7;

    /** No more bytes will be sent or taken. */
    private static final int END = 0;
    /** The peer is still there. */
    private static final int ALIVE = 1;

    private static final int KIND_SHIFT = 29;
    private static final int VALUE = (1 << KIND_SHIFT) - 1;

    /** Work request id of a receive; that of a write is its message as an unsigned number. */
    private static final long RECEIVE = -1;

    /** Requests in each direction. */
    private static final int QUEUE = 384;
    /** Requests that are reserved for messages without data. */
    private static final int CONTROLS = 4;
    private static final int MAX_WRITE = 65536;
    private static final int ENTRIES = 2;
    private static final int RETRIES = 7;
    private static final String SAME = "give both ends the same --iterations (-I), --count (-C) and --size (-S)";

    private static final VarHandle SIZE = ValueLayout.JAVA_INT.varHandle();

    private final QueuePair qp;
    private final CompletionWait wait;
    private final MemoryRegion table;
    private final MemoryRegion in;
    private final MemoryRegion out;
    private final int size;
    private final RsocketHello peer;
    private final Connection connection;

    /** The entry of {@link #table} that is written to. */
    private int entry;
    private int outAt;
    private int outFree;
    private int writes;
    private short sent;
    private short mayBeSent;

    private int inAt;
    private int inAvailable;
    /** Bytes that were read and not yet offered again; at first the second half, which was never offered. */
    private int inFreed;
    private int inOffered;
    private short received;
    private short creditsDue = QUEUE / 2;
    /** The entry of the peer's table that is free. */
    private int peerEntry = 1;
    private int controls;
    private int controlSlot;

    private boolean peerEnded;
    private boolean disconnected;

    /** Connects or accepts. */
    private interface Connect {
        Connection with(QueuePair qp, ConnectionParameters parameters) throws IOException;
    }

    private RsocketStream(Context context, RstreamOptions options, Connect connect) throws IOException {
        size = options.buffer();
        ProtectionDomain pd = context.allocateProtectionDomain();
        table = pd.allocate(ENTRIES * RpingBuffer.BYTES, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
        in = pd.allocate(size, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
        out = pd.allocate(size + CONTROLS * RpingBuffer.BYTES, AccessFlags.LOCAL_WRITE);
        outFree = size;
        inFreed = size / 2;
        inOffered = size / 2;
        CompletionChannel channel = context.createCompletionChannel();
        CompletionQueue cq = context.createCompletionQueue(CompletionQueueAttributes.builder().cqe(2 * QUEUE)
                .channel(channel).build());
        wait = new CompletionWait(cq, options.timeout());
        qp = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).maxSendWr(QUEUE).maxReceiveWr(QUEUE).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.INIT).port(1).pkeyIndex(0)
                .accessFlags(AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE).build());
        for (int i = 0; i < QUEUE; i++) {
            postReceive();
        }
        RsocketHello hello = new RsocketHello(ByteOrder.nativeOrder(), QUEUE,
                new RpingBuffer(table.address(), table.rkey(), ENTRIES),
                new RpingBuffer(in.address(), in.rkey(), size / 2));
        connection = connect.with(qp, ConnectionParameters.builder().privateData(hello.bytes()).responderResources(0)
                .initiatorDepth(0).retryCount(RETRIES).rnrRetry(RETRIES).timeout(options.timeout()).build());
        peer = RsocketHello.of(connection.privateData());
        mayBeSent = (short) peer.credits();
        // The peer may have written into the second entry already, never into this one.
        peer.memory().put(entry(0), ByteOrder.nativeOrder());
    }

    /** Connects as a client. */
    static RsocketStream connect(Context context, InetSocketAddress to, RstreamOptions options) throws IOException {
        return new RsocketStream(context, options, (qp, parameters) -> context.connectionManager().connect(qp, to,
                parameters));
    }

    /** Accepts a client. */
    static RsocketStream accept(Context context, ConnectionRequest request, RstreamOptions options)
            throws IOException {
        try {
            RsocketHello _ = RsocketHello.of(request.privateData());
        } catch (PeerException e) {
            request.reject();
            throw e;
        }
        return new RsocketStream(context, options, request::accept);
    }

    /** Writes all bytes. */
    void write(MemorySegment data) throws IOException {
        for (long at = 0; at < data.byteSize();) {
            if (!isOffered() || outFree == 0 || writes == QUEUE - CONTROLS || sent == mayBeSent) {
                progress();
                continue;
            }
            RpingBuffer to = RpingBuffer.get(entry(entry), ByteOrder.nativeOrder());
            int n = (int) Math.min(Math.min(data.byteSize() - at, Math.min(to.size(), MAX_WRITE)),
                    Math.min(outFree, size - outAt));
            // Before the peer gets the bytes, after which it may write the entry again.
            to.behind(n).put(entry(entry), ByteOrder.nativeOrder());
            if (to.size() == n) {
                entry = (entry + 1) % ENTRIES;
            }
            MemorySegment.copy(data, at, out.segment(), outAt, n);
            post(DATA, n, to, outAt, n);
            writes++;
            sent++;
            outFree -= n;
            outAt = (outAt + n) % size;
            at += n;
        }
    }

    /** Reads until the segment is full. */
    void read(MemorySegment into) throws IOException {
        for (long at = 0; at < into.byteSize();) {
            if (inAvailable == 0) {
                progress();
                continue;
            }
            int n = (int) Math.min(into.byteSize() - at, Math.min(inAvailable, size - inAt));
            MemorySegment.copy(in.segment(), inAt, into, at, n);
            inAt = (inAt + n) % size;
            inAvailable -= n;
            inFreed += n;
            at += n;
        }
    }

    /** Waits for more bytes; false if the peer says that there are none. */
    boolean goesOn() throws IOException {
        while (inAvailable == 0 && !peerEnded) {
            if (disconnected) {
                throw new PeerException("the peer went away without an end of the stream");
            }
            offer();
            take(wait.next());
        }
        return inAvailable > 0;
    }

    /** Throws if there are unread bytes. */
    void checkAllRead() throws PeerException {
        if (inAvailable > 0) {
            throw new PeerException("the peer sends more than is read here: " + SAME);
        }
    }

    /**
     * Tells the peer that this is the end, and waits until it does the same.
     *
     * @throws PeerException if it has sent more than was read
     */
    void end() throws IOException {
        while (controls == CONTROLS && !disconnected) {
            take(wait.next());
        }
        controls++;
        post(CONTROL, END, new RpingBuffer(0, 0, 0), 0, 0);
        while (!disconnected && !(peerEnded && controls == 0)) {
            take(wait.next());
        }
        connection.disconnect();
        checkAllRead();
    }

    /** An entry of the local table. */
    private MemorySegment entry(int number) {
        return table.segment().asSlice((long) number * RpingBuffer.BYTES, RpingBuffer.BYTES);
    }

    /** Whether the entry has memory. The peer may be writing it: its size, which is written last, is read first. */
    private boolean isOffered() {
        return (int) SIZE.getAcquire(entry(entry), RpingBuffer.SIZE_AT) != 0;
    }

    private void progress() throws IOException {
        if (peerEnded || disconnected) {
            throw new PeerException("the peer ended early: " + SAME);
        }
        offer();
        take(wait.next());
    }

    /** Tells the peer what it may send, if half of the memory is free or half of its credits are used up. */
    private void offer() throws IOException {
        boolean half = inFreed >= size / 2;
        if (controls == CONTROLS || !half && (short) (received - creditsDue) < 0) {
            return;
        }
        controls++;
        creditsDue = (short) (received + QUEUE / 2);
        int credits = (received + QUEUE) & 0xffff;
        if (!half) {
            post(CREDITS, credits, new RpingBuffer(0, 0, 0), 0, 0);
            return;
        }
        int slot = size + controlSlot * RpingBuffer.BYTES;
        controlSlot = (controlSlot + 1) % CONTROLS;
        new RpingBuffer(in.address() + inOffered, in.rkey(), size / 2).put(
                out.segment().asSlice(slot, RpingBuffer.BYTES), peer.order());
        post(CREDITS, credits, peer.table().behind((long) peerEntry * RpingBuffer.BYTES), slot, RpingBuffer.BYTES);
        peerEntry = (int) ((peerEntry + 1) % peer.table().size());
        inFreed -= size / 2;
        inOffered = (inOffered + size / 2) % size;
    }

    /** Writes this many bytes of {@link #out}, with a message. */
    private void post(int kind, int value, RpingBuffer to, int at, int length) throws PeerException {
        int message = kind << KIND_SHIFT | value;
        SendQueue queue = qp.sendQueue().start().writeImmediate(Integer.toUnsignedLong(message), SendFlags.SIGNALED,
                to.rkey(), to.address(), message);
        if (length > 0) {
            queue.sge(out, at, length);
        }
        posted(queue.complete(), "a write");
    }

    private void postReceive() throws PeerException {
        posted(qp.receiveQueue().start().receive(RECEIVE).complete(), "a receive");
    }

    private static void posted(int error, String what) throws PeerException {
        if (error != 0) {
            throw new PeerException(what + " cannot be posted: error " + error);
        }
    }

    private void take(WorkCompletion c) throws IOException {
        boolean receive = c.wrId() == RECEIVE;
        if (c.status() != WcStatus.SUCCESS) {
            // Messages that were in flight when the peer announced its end may have found it gone.
            if (c.status() != WcStatus.WR_FLUSH_ERR && !peerEnded) {
                throw PeerException.of(receive ? "a receive" : "a write", c.status(), qp);
            }
            disconnected = true;
        } else if (receive) {
            if ((c.flags() & WcFlags.WITH_IMM) == 0) {
                throw new PeerException("the peer is no rstream: it sent a message without an immediate value");
            }
            postReceive();
            message(c.immediate() >>> KIND_SHIFT, c.immediate() & VALUE);
        } else if (c.wrId() >>> KIND_SHIFT == DATA) {
            writes--;
            outFree += (int) c.wrId() & VALUE;
        } else {
            controls--;
        }
    }

    private void message(int kind, int value) throws PeerException {
        switch (kind) {
            case DATA -> {
                if (value > size - inAvailable) {
                    throw new PeerException("the peer says that it has written " + value + " bytes, and "
                            + (size - inAvailable) + " are free");
                }
                received++;
                inAvailable += value;
            }
            case CREDITS -> mayBeSent = (short) value;
            case CONTROL -> peerEnded |= value != ALIVE;
            default -> throw new PeerException("the peer sent a message of kind " + kind + ", which is unknown");
        }
    }
}
