// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.roce.transport.Memory;
import org.verbena.roce.transport.Path;
import org.verbena.roce.transport.QueuePairOwner;
import org.verbena.roce.transport.ReceiveSource;
import org.verbena.roce.transport.ReceiveWqe;
import org.verbena.roce.transport.SendRing;
import org.verbena.roce.transport.SendWqe;
import org.verbena.roce.transport.TransportQueuePair;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.AsyncEvent;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairCreateFlags;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.PublishedObjects;
import org.verbena.verbs.spi.SendOpcode;
import org.verbena.verbs.telemetry.FlightEvents;

/**
 * The owner of a queue pair, as the transport sees it. It outlives a {@link RoceQueuePair} that the application has
 * dropped, and so does not hold it strongly. Callbacks are called under the context's lock.
 */
final class QueuePairCore implements QueuePairOwner {
    private static final QueuePairAttributes UNSET = QueuePairAttributes.to(QueuePairState.RESET).build();

    final RoceContext context;
    final int number;
    final int type;
    final TransportQueuePair transport;
    final SendRing sends;
    /** Null for types that have no receive queue of their own. */
    final @Nullable ReceivePool receives;
    final SendRoom room = new SendRoom();
    private final @Nullable DomainMemory memory;
    private final @Nullable RoceCompletionQueue sendCq;
    private final @Nullable RoceCompletionQueue receiveCq;
    private final XrcDomains.@Nullable Domain domain;
    private final CounterEntry counters;
    /** Inline data; the ring uses it by address. */
    private final MemorySegment inline;
    /** The handles that represent it, of type XRC_RECV perhaps several; guarded by itself. */
    private final List<WeakReference<QueuePair>> api = new ArrayList<>();
    /** The connection that ends with it; held weakly, as it holds the queue pair. */
    private volatile @Nullable WeakReference<RoceConnection> connection;
    /** Number of handles, of type XRC_RECV; guarded by the domain. */
    int handles = 1;
    /** The attributes that were set; changed under the lock. */
    private volatile QueuePairAttributes attributes = UNSET;
    private volatile QueuePairState state = QueuePairState.RESET;
    private volatile String errorReason = "";
    private boolean closed;
    /** The application, or an end of the connection, is changing the state; under the lock. */
    private boolean modifying;
    /** Action for the peer's first packet; under the lock. */
    private @Nullable Runnable firstPacket;
    /** Does not receive its own multicast datagrams. */
    private final boolean blocksMulticastLoopback;

    QueuePairCore(RoceContext context, int number, QueuePairInitAttributes init, @Nullable RoceProtectionDomain pd,
            XrcDomains.@Nullable Domain domain, CounterEntry counters) {
        this.context = context;
        this.number = number;
        this.type = init.type();
        this.domain = domain;
        this.counters = counters;
        memory = pd == null ? null : pd.memory();
        blocksMulticastLoopback = (init.createFlags() & QueuePairCreateFlags.BLOCK_SELF_MCAST_LB) != 0;
        boolean target = type == QueuePairType.XRC_RECV;
        sendCq = target ? null : (RoceCompletionQueue) init.sendCq();
        receiveCq = target || type == QueuePairType.XRC_SEND ? null : (RoceCompletionQueue) init.receiveCq();
        receives = makeReceives(init);
        int entries = Math.max(1, init.maxSendWr());
        int stride = init.maxInlineData() + 7 & -8;
        inline = Arena.ofAuto().allocate(Math.max(8, (long) SendRing.slots(entries) * stride), 64);
        sends = new SendRing(entries, init.maxSendSge(), inline.address(), stride);
        ContextLock lock = context.lock();
        lock.lock();
        try {
            if (type == QueuePairType.UD) {
                context.transport().wire().reportHopLimits(); // the routing header of its receives contains one
            }
            transport = context.transport().create(number, type, this, sends);
        } finally {
            lock.unlock();
        }
    }

    private @Nullable ReceivePool makeReceives(QueuePairInitAttributes init) {
        if (type == QueuePairType.XRC_RECV || type == QueuePairType.XRC_SEND || memory == null) {
            return null;
        }
        if (init.sharedReceiveQueue() instanceof RoceSharedReceiveQueue srq) {
            return srq.pool();
        }
        return new ReceivePool(memory, false, init.maxReceiveWr(), init.maxReceiveWr(), init.maxReceiveSge());
    }

    /** Adds a handle, which events name from now on. */
    void addHandle(QueuePair qp) {
        synchronized (api) {
            api.add(new WeakReference<>(qp));
        }
    }

    /** Removes a handle, which events do not name any more. */
    void removeHandle(QueuePair qp) {
        synchronized (api) {
            api.removeIf(r -> r.refersTo(qp) || r.refersTo(null));
        }
    }

    /** Sets the connection that is notified when the queue pair fails. */
    void setConnection(RoceConnection c) {
        connection = new WeakReference<>(c);
    }

    /**
     * Under the lock: sets an action that runs once, at the peer's first packet; null for none. It does not call the
     * transport.
     */
    void onFirstPacket(@Nullable Runnable action) {
        firstPacket = action;
    }

    QueuePairAttributes attributes() {
        return attributes;
    }

    void setAttributes(QueuePairAttributes all) {
        attributes = all;
    }

    /** Under the lock: the application changes the state, so that the change is not reported as a failure. */
    void modify(QueuePairState to, QueuePairAttributes a, @Nullable Path path) {
        move(() -> transport.modify(to, a, path));
    }

    /** Under the lock: the connection has ended, which is not a failure either. */
    void end(String reason) {
        errorReason = reason; // first: a thread that sees the state then finds the reason
        move(() -> transport.end(reason));
    }

    private void move(Runnable change) {
        modifying = true;
        try {
            change.run();
        } finally {
            modifying = false;
        }
        setState(transport.state());
    }

    QueuePairState state() {
        return state;
    }

    String errorReason() {
        return errorReason;
    }

    boolean isClosed() {
        return closed;
    }

    @SuppressWarnings("EnumOrdinal") // the C value
    void setState(QueuePairState to) {
        state = to;
        counters.setState(to.ordinal());
    }

    void clearError() {
        errorReason = "";
    }

    /** Publishes the queue pair that it is connected to; 0 for none. */
    void setPeer(int queuePair) {
        PublishedObjects.setPeer(counters, queuePair, 0);
    }

    void setErrorReason(String reason) {
        errorReason = reason;
    }

    /** Under the lock: discards its completions and, of its own receive queue, what is posted. */
    void reset() {
        discardCompletions();
        room.free(sends.posted());
        ReceivePool r = receives;
        if (r != null && !r.isShared()) {
            r.reset();
        }
        errorReason = "";
        attributes = UNSET;
        setPeer(0);
    }

    private void discardCompletions() {
        if (sendCq != null) {
            sendCq.discard(number);
        }
        if (receiveCq != null) {
            receiveCq.discard(number);
        }
    }

    /** Under the lock. */
    void close() {
        closed = true;
        transport.close();
        discardCompletions();
    }

    // ---- called by the transport

    @Override
    public Memory memory() {
        if (memory == null) {
            throw new IllegalStateException("a queue pair of type XRC_RECV has no memory");
        }
        return memory;
    }

    @Override
    public @Nullable ReceiveSource receives() {
        return receives;
    }

    @Override
    public @Nullable ReceiveSource sharedReceiveQueue(int srq) {
        return domain == null ? null : domain.sharedReceiveQueue(srq);
    }

    @Override
    public void sent(SendWqe w) {
        RoceCompletionQueue cq = sendCq;
        if (cq != null) {
            long word = CompletionRing.word(w.status, SendOpcode.completion(w.opcode), 0, number);
            if (!cq.put(w.wrId, word, w.byteLength, room, sends.completed() + 1)) {
                overrun();
            }
        }
    }

    @Override
    public boolean blocksLoopback(long sourceHigh, long sourceLow, int sourceQueuePair) {
        return blocksMulticastLoopback && sourceQueuePair == number && context.isOwn(sourceHigh, sourceLow);
    }

    @Override
    public void received(ReceiveSource source, ReceiveWqe w) {
        ReceivePool from = (ReceivePool) source;
        RoceCompletionQueue cq = from.completionQueue();
        if (cq == null) {
            cq = receiveCq;
        }
        PooledReceive r = (PooledReceive) w;
        from.used();
        if (w.status == WcStatus.SUCCESS) {
            from.countReceive();
        }
        long word = CompletionRing.word(w.status, w.opcode, w.wcFlags, number);
        long wrId = w.wrId;
        long byteLength = w.byteLength;
        int immediate = w.immediate;
        int sourceQueuePair = w.sourceQueuePair;
        boolean solicited = w.solicited;
        boolean held = from.isShared() && cq != null;
        if (!held) {
            from.release(r); // before another thread can poll the completion, and post again
        }
        if (cq != null && !cq.put(wrId, word, byteLength, immediate, sourceQueuePair, solicited, held ? r : null)) {
            overrun();
        }
    }

    private void overrun() {
        context.failLater(this, "a completion queue has overrun");
    }

    @Override
    public void stateChanged(QueuePairState to, String reason, int event) {
        if (!modifying) {
            errorReason = reason; // first: a thread that sees the state then finds the reason
        }
        setState(to);
        if (to == QueuePairState.ERR) {
            VarHandle.fullFence(); // before the flush: a thread that posts a receive checks the state afterwards
            if (!modifying) {
                context.count(SamplePoint.DEVICE_QP_ERRORS);
                FlightEvents.broken(context.describe(), number, reason);
            }
            WeakReference<RoceConnection> r = connection;
            RoceConnection c = r == null ? null : r.get();
            if (c != null) {
                context.engine().submit(() -> c.failed(reason)); // it takes the lock
            }
        }
        if (event >= 0 && !modifying) {
            raise(event, reason);
        }
    }

    @Override
    public void peerReady() {
        Runnable action = firstPacket;
        if (action != null) {
            firstPacket = null;
            action.run();
        }
    }

    @Override
    public void event(int event) {
        raise(event, "");
    }

    private void raise(int event, String detail) {
        synchronized (api) {
            for (WeakReference<QueuePair> r : api) {
                QueuePair qp = r.get();
                if (qp != null) {
                    context.raise(AsyncEvent.builder(event, qp).detail(detail).build());
                }
            }
        }
    }

    @Override
    public void count(int samplePoint, long n) {
        if (!closed) {
            RoceCounted.add(counters, samplePoint, n);
        }
    }
}
