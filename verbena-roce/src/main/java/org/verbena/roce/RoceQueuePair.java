// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import java.lang.invoke.VarHandle;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.roce.transport.Path;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.Gid;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.ReceiveQueue;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.NoReceives;
import org.verbena.verbs.spi.NoSends;
import org.verbena.verbs.spi.QueuePairValues;

/** A queue pair as the application sees it: its state and attributes, and its queues. */
final class RoceQueuePair extends QueuePair implements RoceReceiveQueue.Owner {
    private final RoceContext context;
    private final QueuePairCore core;
    private final SendQueue sendQueue;
    private final ReceiveQueue receiveQueue;
    /** Of type XRC_RECV; else null. */
    private final XrcDomains.@Nullable Domain domain;

    RoceQueuePair(RoceContext context, RoceProtectionDomain pd, QueuePairInitAttributes init, int number)
            throws VerbsException {
        super(pd, init);
        this.context = context;
        domain = null;
        CounterEntry published = published(init, number);
        core = new QueuePairCore(context, number, init, pd, null, published);
        sendQueue = new RoceSendQueue(this, context, core, pd.index(), init);
        ReceivePool own = core.receives;
        receiveQueue = own == null || own.isShared() ? new NoReceives() : new RoceReceiveQueue(this, own);
        publish(published);
        core.addHandle(this);
        opened();
    }

    /** A queue pair of type XRC_RECV. */
    RoceQueuePair(RoceContext context, RoceXrcDomain domain, QueuePairInitAttributes init, int number)
            throws VerbsException {
        super(domain, init);
        this.context = context;
        this.domain = domain.domain();
        CounterEntry published = published(init, number);
        core = new QueuePairCore(context, number, init, null, this.domain, published);
        sendQueue = new NoSends();
        receiveQueue = new NoReceives();
        publish(published);
        core.addHandle(this);
        this.domain.add(core);
        opened();
    }

    /** A further handle of a queue pair of type XRC_RECV. */
    RoceQueuePair(RoceContext context, RoceXrcDomain domain, QueuePairInitAttributes init, QueuePairCore target)
            throws VerbsException {
        super(domain, init);
        this.context = context;
        this.domain = domain.domain();
        core = target;
        sendQueue = new NoSends();
        receiveQueue = new NoReceives();
        core.addHandle(this);
        opened();
    }

    private CounterEntry published(QueuePairInitAttributes init, int number) {
        boolean target = init.type() == QueuePairType.XRC_RECV;
        long send = target ? 0 : ((RoceCompletionQueue) init.sendCq()).publishedId();
        long receive = target || init.type() == QueuePairType.XRC_SEND
                ? send
                : ((RoceCompletionQueue) init.receiveCq()).publishedId();
        long srq = init.sharedReceiveQueue() instanceof RoceSharedReceiveQueue s ? s.publishedId() : 0;
        return context.published().queuePair(number, init, send, receive, srq);
    }

    /** Whether its receives come from a shared receive queue. */
    boolean hasSharedReceives() {
        ReceivePool own = core.receives;
        return own != null && own.isShared();
    }

    /** The connection has ended, which is not an error of the queue pair. */
    void disconnected(String reason) {
        ContextLock lock = context.lock();
        lock.lock();
        try {
            if (!core.isClosed() && core.state() != QueuePairState.ERR && core.state() != QueuePairState.RESET) {
                core.end(reason);
                context.posted();
            }
        } finally {
            lock.unlock();
        }
    }

    QueuePairCore core() {
        return core;
    }

    @Override
    public int number() {
        return core.number;
    }

    @Override
    public QueuePairState state() {
        return core.state();
    }

    @Override
    public String errorReason() {
        return core.errorReason();
    }

    @Override
    public SendQueue sendQueue() {
        return sendQueue;
    }

    @Override
    public ReceiveQueue receiveQueue() {
        return receiveQueue;
    }

    @Override
    public QueuePairAttributes query() throws VerbsException {
        checkOpen("query " + describe());
        ContextLock lock = context.lock();
        lock.lock();
        try {
            return core.attributes().toBuilder().state(state()).sqDraining(core.transport.isDraining())
                    .capabilities(QueuePairValues.capabilities(initAttributes())).build();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public String describe() {
        return "QP 0x" + Integer.toHexString(core.number) + " of " + context.describe();
    }

    @Override
    protected void implModify(QueuePairAttributes a) throws VerbsException {
        String verb = "modify " + describe();
        QueuePairValues.check(describe(), context.describe(), a, RoceLimits.MAX_READS);
        if (a.has(QueuePairAttributes.PATH_MTU) && a.pathMtu() > context.wire().mtu()) {
            throw new VerbsException(verb, Errno.EINVAL, "PATH_MTU is " + a.pathMtu() + ", the port's is "
                    + context.wire().mtu());
        }
        QueuePairState from = state();
        QueuePairState wanted = a.state();
        QueuePairState to = wanted == null ? from : wanted;
        if (from == QueuePairState.SQD && core.transport.isDraining() && to.acceptsSends()
                && to != QueuePairState.ERR) {
            throw new VerbsException(verb, Errno.EINVAL,
                    "a request that was started before SQD is not done yet: wait for SQ_DRAINED");
        }
        AddressVector av = a.has(QueuePairAttributes.AV) ? a.addressVector() : null;
        Path path = av == null ? null : context.path(verb, av);
        ContextLock lock = context.lock();
        lock.lock();
        try {
            if (core.state() != from && to != QueuePairState.ERR && to != QueuePairState.RESET) {
                throw new VerbsException(verb, Errno.EINVAL, "it has failed meanwhile: " + core.errorReason());
            }
            if (to == QueuePairState.RTR || to == QueuePairState.RESET) {
                context.progress().drain(); // packets to an earlier connection are not for the next one
            }
            change(to, a, path);
            path = null; // it belongs to the queue pair now
        } finally {
            if (path != null) {
                path.close();
            }
            lock.unlock();
        }
    }

    private void change(QueuePairState to, QueuePairAttributes a, @Nullable Path path) {
        if (to == QueuePairState.ERR && state() != QueuePairState.ERR) {
            core.setErrorReason("moved to ERR by the application");
        }
        core.modify(to, a, path);
        if (to == QueuePairState.RESET) {
            core.reset();
        } else if (to != QueuePairState.ERR) {
            core.setAttributes(core.attributes().with(a));
        }
        if (a.has(QueuePairAttributes.DEST_QPN)) {
            core.setPeer(a.destinationQueuePair());
        }
        context.posted();
    }

    @Override
    protected int implBindMemoryWindow(MemoryWindow window, long wrId, int flags, @Nullable MemoryRegion region,
            long address, long length, int access) {
        return sendQueue instanceof RoceSendQueue q
                ? q.bindWindow(wrId, flags, ((RoceMemoryWindow) window).window(), region, address, length, access)
                : Errno.EINVAL;
    }

    @Override
    protected void implAttachMulticast(Gid group, int lid) throws VerbsException {
        context.multicast().attach("attach " + describe() + " to " + group, this, group);
    }

    @Override
    protected void implDetachMulticast(Gid group, int lid) throws VerbsException {
        context.multicast().detach("detach " + describe() + " from " + group, this, group);
    }

    // ---- its own receive queue

    @Override
    public int mayPost() {
        return state() == QueuePairState.RESET || isClosed() ? Errno.EINVAL : 0;
    }

    @Override
    public void posted(int n) {
        VarHandle.fullFence(); // a thread that fails the queue pair stores its state first, and then looks for receives
        if (state() == QueuePairState.ERR) {
            ContextLock lock = context.lock();
            lock.lock();
            try {
                if (!core.isClosed()) {
                    core.transport.receivePosted(); // flushes it
                }
            } finally {
                lock.unlock();
            }
        }
    }

    @Override
    protected void implClose() throws VerbsException {
        context.multicast().detachAll(this);
        core.removeHandle(this);
        if (domain == null) {
            context.close(core);
        } else {
            context.release(domain, core);
        }
    }
}
