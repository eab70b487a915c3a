// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Epoll;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Xsk;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.AsyncEvent;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.Flow;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.ReceiveQueue;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.QueuePairValues;

/**
 * A queue pair of type RAW_PACKET. From RTR on it has a {@link Wire}; in ERR it has none any more, so that other programs
 * may have the interface or its queue.
 */
final class XdpQueuePair extends QueuePair implements Receiving {
    private final XdpContext context;
    private final XdpProtectionDomain pd;
    /** Null for a queue pair with receives of its own. */
    private final @Nullable XdpIndirectionTable table;
    private final int number;
    private final CounterEntry counters;
    private final SendSide sends;
    private final ReceiveSide receives;
    private final XdpCompletionQueue sendCq;
    private final XdpCompletionQueue receiveCq;
    private final RawFlows flows;
    private final SendQueue sendQueue;
    private final ReceiveQueue receiveQueue;
    private volatile QueuePairState state = QueuePairState.RESET;
    private volatile String errorReason = "";
    private QueuePairAttributes attributes = QueuePairAttributes.builder().build();
    /** Changed under the object's lock, as the next ones. */
    private volatile @Nullable Wire wire;
    /** Whether the engine looks at the wire. */
    private boolean watched;
    private @Nullable WireMemory memory;
    private @Nullable SpreadWire spreadWire;

    XdpQueuePair(XdpContext context, XdpProtectionDomain pd, QueuePairInitAttributes init, int number)
            throws VerbsException {
        super(pd, init);
        this.context = context;
        this.pd = pd;
        this.number = number;
        sendCq = (XdpCompletionQueue) init.sendCq();
        receiveCq = (XdpCompletionQueue) init.receiveCq();
        counters = context.published().queuePair(number, init, sendCq.publishedId(), receiveCq
                .publishedId(), 0);
        int depth = Math.max(1, init.maxSendWr());
        sends = new SendSide(this, sendCq, counters, number, new SendRequests(depth, Math.max(1, init.maxSendSge()),
                init.maxInlineData(), init.maxTsoHeader()), context.mtu());
        table = (XdpIndirectionTable) init.rwqIndirectionTable();
        int receiveDepth = table == null ? init.maxReceiveWr() : 0;
        receives = new ReceiveSide(this, receiveCq, counters, number, receiveDepth, context.rawDevice().isVirtual(),
                false);
        flows = context.rawDevice().flows(this, context, counters.id());
        sendQueue = new XdpSendQueue(this, sends, init);
        receiveQueue = new XdpReceiveQueue(this, receives, receiveDepth);
        publish(counters);
        sendCq.add(sends);
        receiveCq.add(receives);
        opened();
    }

    @Override
    public @Nullable XdpMemoryRegion region(int key) {
        return context.regions().find(key, pd);
    }

    @Override
    public boolean refusesReceives() {
        return state == QueuePairState.RESET || isClosed();
    }

    @Override
    public boolean isFlushed() {
        return state == QueuePairState.ERR;
    }

    /** The work queues that receive; null if it does itself. */
    @Nullable
    XdpIndirectionTable table() {
        return table;
    }

    RawFlows flows() {
        return flows;
    }

    @Override
    protected Flow implCreateFlow(FlowAttributes a) throws VerbsException {
        return flows.create(this, a);
    }

    XdpContext xdpContext() {
        return context;
    }

    SendSide sends() {
        return sends;
    }

    ReceiveSide receives() {
        return receives;
    }

    /** The AF_XDP socket; null without one. */
    synchronized @Nullable QueueSocket socket() {
        return wire instanceof XskWire x ? x.socket : null;
    }

    /** The socket; null without one. */
    @Nullable
    Fd socketFd() {
        QueueSocket s = socket();
        return s == null ? null : s.fd();
    }

    /** The queue of the interface; -1 without a socket. */
    int interfaceQueue() {
        QueueSocket s = socket();
        return s == null ? -1 : s.queue;
    }

    /** What the kernel has counted; null without a socket. */
    Xsk.@Nullable Statistics statistics() throws LinuxException {
        QueueSocket s = socket();
        return s == null ? null : s.xsk.statistics();
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public QueuePairState state() {
        return state;
    }

    @Override
    public String errorReason() {
        return errorReason;
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
    public synchronized QueuePairAttributes query() throws VerbsException {
        checkOpen("query " + describe());
        return attributes.toBuilder().state(state).capabilities(QueuePairValues.capabilities(initAttributes())).build();
    }

    @Override
    protected synchronized void implModify(QueuePairAttributes a) throws VerbsException {
        QueuePairValues.check(describe(), context.describe(), a, 0);
        QueuePairState wanted = a.state();
        QueuePairState to = wanted == null ? state : wanted;
        switch (to) {
            case RESET -> {
                stop();
                sends.reset();
                receives.reset();
                errorReason = "";
                attributes = QueuePairAttributes.builder().build();
            }
            case RTR -> {
                String verb = "modify " + describe() + " to RTR";
                if (table != null && spreadWire == null) {
                    startSpread(verb, table);
                } else if (table == null && wire == null) {
                    start(verb);
                }
            }
            case ERR -> {
                if (state != QueuePairState.ERR) {
                    errorReason = "moved to ERR by the application";
                    set(QueuePairState.ERR);
                    flush();
                }
            }
            case SQD -> sends.pause(true);
            case RTS -> sends.pause(false);
            default -> { // nothing to do
            }
        }
        if (to != QueuePairState.RESET && to != QueuePairState.ERR) {
            attributes = attributes.with(a);
        }
        set(to);
        if (to == QueuePairState.RTS && sends.hasFailed()) {
            fail(sends.failure());
        }
    }

    @SuppressWarnings("EnumOrdinal") // the C value
    private void set(QueuePairState to) {
        state = to;
        counters.setState(to.ordinal());
    }

    /** Opens the way of a queue pair whose work queues receive. */
    private void startSpread(String verb, XdpIndirectionTable t) throws VerbsException {
        SpreadWire w = context.spreading().open(verb, this, t.workQueues(), (SpreadFlows) flows);
        spreadWire = w;
        FrameSender s = w.sender();
        if (s != null) {
            sends.start(s);
        }
    }

    /** Opens the wire: the memory is that of the receives that were posted, or else the domain's first region. */
    private void start(String verb) throws VerbsException {
        WireMemory m = takeMemory(verb);
        Wire opened = null;
        try {
            opened = context.rawDevice().openWire(verb, this, m);
        } catch (VerbsException | RuntimeException e) {
            discard(m, opened);
            throw e;
        }
        try {
            flows.use(verb, opened);
        } catch (VerbsException e) {
            discard(m, opened);
            throw e;
        }
        memory = m;
        wire = opened;
        receives.start(opened.receiver(), m.region());
        sends.start(opened.sender());
        if (receiveCq.isArmed()) {
            receives.watch();
        }
    }

    private WireMemory takeMemory(String verb) throws VerbsException {
        XdpMemoryRegion region = receives.region();
        if (region == null) {
            region = pd.firstAllocated();
        }
        Umem umem = region == null ? null : region.umem();
        if (umem == null) {
            try {
                umem = new Umem(0); // for a queue pair that only sends
            } catch (LinuxException e) {
                throw new VerbsException(verb, e);
            }
        }
        int chunks = context.rawDevice().ownChunks(Math.max(1, initAttributes().maxSendWr()), context.mtu());
        return new WireMemory(umem, region, umem.take(verb, chunks), chunks);
    }

    private static void discard(WireMemory m, @Nullable Wire opened) {
        if (opened != null) {
            opened.close();
        }
        m.give();
    }

    /** Closes the wire; the sides use it no more. */
    private void stop() {
        receives.fail();
        sends.fail();
        context.notifier().remove(sends);
        Wire w = wire;
        wire = null;
        if (w != null) {
            flows.unuse();
            unwatch(w);
            w.close();
        }
        SpreadWire spread = spreadWire;
        spreadWire = null;
        if (spread != null) {
            flows.unuse();
            context.spreading().close(spread);
        }
        WireMemory m = memory;
        memory = null;
        if (m != null) {
            m.give();
        }
    }

    private void flush() {
        stop();
        sendCq.completed(true);
        receiveCq.completed(true);
    }

    /** A request has failed, or the interface is gone. */
    @Override
    public void fail(String reason) {
        synchronized (this) {
            if (state == QueuePairState.ERR || state == QueuePairState.RESET || isClosed()) {
                return;
            }
            errorReason = reason;
            set(QueuePairState.ERR);
            flush();
        }
        context.count(SamplePoint.DEVICE_QP_ERRORS);
        context.raise(AsyncEvent.builder(AsyncEventType.QP_FATAL, this).detail(reason).build());
    }

    @Override
    public void watchReceives() {
        if (wire != null) { // else its lock may be held for long, until there is one, and that looks who waits then
            watchWire();
        }
    }

    private synchronized void watchWire() {
        Wire w = wire;
        if (w != null) {
            try {
                if (watched) {
                    context.engine().rewatch(w.fd(), Epoll.IN | Epoll.ONESHOT);
                } else {
                    context.engine().watch(w.fd(), Epoll.IN | Epoll.ONESHOT, events -> arrived());
                    watched = true;
                }
            } catch (LinuxException | IllegalStateException e) {
                XdpLog.log(System.Logger.Level.WARNING, "cannot wait for packets of " + describe(), e);
            }
        }
    }

    /** On the engine's thread. A descriptor that is watched costs the kernel time for each packet, also if nobody sleeps. */
    private void arrived() {
        receives.readable();
        synchronized (this) {
            Wire w = wire;
            if (w != null && !receiveCq.isArmed()) { // whoever arms it later watches again
                unwatch(w);
            }
        }
    }

    private void unwatch(Wire w) {
        if (watched) {
            watched = false;
            context.engine().forget(w.fd());
        }
    }

    @Override
    public String describe() {
        return "QP 0x" + Integer.toHexString(number) + " of " + context.describe();
    }

    @Override
    protected void implClose() {
        flows.close();
        synchronized (this) {
            stop();
        }
        sendCq.remove(sends);
        receiveCq.remove(receives);
        sends.reset();
        receives.reset();
        context.releaseQueuePair(number);
    }
}
