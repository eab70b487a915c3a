// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.Membarrier;
import org.verbena.shm.control.Connected;
import org.verbena.shm.control.Control;
import org.verbena.shm.control.Remote;
import org.verbena.shm.control.Session;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.Hazard;
import org.verbena.shm.layout.Link;
import org.verbena.shm.layout.OwnEntry;
import org.verbena.shm.layout.Peer;
import org.verbena.shm.layout.ProtocolException;
import org.verbena.shm.layout.ShmLimits;
import org.verbena.shm.memory.Memories;
import org.verbena.shm.memory.MemoryUser;
import org.verbena.shm.memory.Revocation;
import org.verbena.shm.memory.Target;
import org.verbena.shm.memory.WaitBudget;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AsyncEvent;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.Gid;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.ReceiveQueue;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.CounterEntry;
import org.verbena.verbs.spi.FlightEvents;
import org.verbena.verbs.spi.QueuePairValues;
import org.verbena.verbs.spi.RemoteView;
import org.verbena.verbs.spi.ShownObjects;

/** A queue pair: its state, its directory entry, and the life of its connection. */
final class ShmQueuePair extends QueuePair implements Connected, MemoryUser, RemoteView {
    private final ShmContext context;
    private final ShmProtectionDomain pd;
    private final int number;
    private final QueuePairParts parts;
    private final OwnEntry own;
    private final CounterEntry counters;
    private final SendCounts sendCounts;
    private final ReceiveCounts receiveCounts;
    private final PeerEntry peer;
    private final ShmCompletionQueue sendCq;
    private final ShmCompletionQueue receiveCq;
    private final ShmSendQueue sendQueue;
    /** For type UD. */
    private final @Nullable DatagramReceiver datagramReceiver;
    private final ReceiveSide receiveQueue;
    /** Null if the receives are this queue pair's own. */
    private final @Nullable ShmSharedReceiveQueue srq;

    /** Guards changes of the state against each other; reading needs no lock. */
    private final Object stateLock = new Object();
    private volatile QueuePairState state = QueuePairState.RESET;
    private volatile String errorReason = "";
    private QueuePairAttributes attributes = QueuePairAttributes.to(QueuePairState.RESET).build();
    private volatile @Nullable Session session;
    private volatile int peerNumber;
    private volatile long link;
    private long connection;
    /** The poller's, if both kinds complete on one queue. */
    private boolean sendFirst;
    /** A message has come since one was sent: a hint from who polls to who posts, without care. */
    boolean answers;
    /** The number of the send that waited when the peer died. */
    private volatile long unanswered = ShmSendQueue.NONE;
    private final PeerDeparture departure = new PeerDeparture(this);
    private final WaitBudget waitBudget = new WaitBudget(Hazard.PATIENCE_NANOS);
    private final Attendance attendance;
    private final CompletionSource source;
    private final Drain drain = new Drain();

    ShmQueuePair(ShmContext context, ShmProtectionDomain pd, QueuePairInitAttributes init) throws VerbsException {
        super(pd, init);
        this.context = context;
        this.pd = pd;
        sendCq = (ShmCompletionQueue) init.sendCq();
        receiveCq = init.type() == QueuePairType.XRC_SEND ? sendCq : (ShmCompletionQueue) init.receiveCq();
        srq = (ShmSharedReceiveQueue) init.sharedReceiveQueue();
        try {
            parts = new QueuePairParts(context, pd, init);
        } catch (VerbsException e) {
            abandon();
            throw e;
        }
        number = parts.number;
        own = parts.own;
        counters = context.shown().queuePair(number, init, sendCq.shownAs(), receiveCq.shownAs(),
                srq == null ? 0 : srq.shownAs());
        show(counters);
        sendCounts = new SendCounts(number, counters);
        receiveCounts = new ReceiveCounts(number, counters);
        peer = new PeerEntry(this);
        datagramReceiver = parts.makeDatagramReceiver(this);
        sendQueue = parts.makeSendQueue(this);
        receiveQueue = parts.makeReceiveSide(this);
        source = new CompletionSource(this, sendQueue, receiveQueue);
        attendance = new Attendance(this, context.engine(), sendQueue, own.address + AdapterLayout.QP_STARVING);
        parts.describe();
        context.add(this);
        sendCq.add(this);
        receiveCq.add(this);
        opened();
    }

    // ---- the API

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
    public QueuePairAttributes query() throws VerbsException {
        checkOpen("query " + describe());
        synchronized (stateLock) {
            return attributes.toBuilder().state(state).sqDraining(isDraining())
                    .capabilities(QueuePairValues.capabilities(initAttributes())).build();
        }
    }

    @Override
    public String describe() {
        return "QP 0x" + Integer.toHexString(number) + " of shm0";
    }

    // ---- state

    @Override
    protected void implModify(QueuePairAttributes a) throws VerbsException {
        QueuePairState wanted = a.state();
        QueuePairState from = state;
        QueuePairState to = wanted == null ? from : wanted;
        QueuePairValues.check(describe(), ShmDevice.NAME, a, ShmLimits.MAX_READS);
        if (from == QueuePairState.SQD && drain.isGoingOn() && to.acceptsSends() && to != QueuePairState.ERR) {
            throw new VerbsException("modify " + describe(), Errno.EINVAL,
                    "a request that was started before SQD is not done yet: wait for SQ_DRAINED");
        }
        if (to == QueuePairState.RESET) {
            reset();
            return;
        }
        if (to == QueuePairState.ERR) {
            toError(() -> true, "moved to ERR by the application", -1, false);
            return;
        }
        if (from == QueuePairState.INIT && to == QueuePairState.RTR) {
            if (datagramReceiver == null) {
                connect(a);
            } else {
                connection = context.numbers().nextConnection();
                errorReason = "";
                receiveQueue.connect(0);
            }
        }
        synchronized (stateLock) {
            if (state != from) {
                throw new VerbsException("modify " + describe(), Errno.EINVAL, "it has failed meanwhile: "
                        + errorReason);
            }
            attributes = attributes.with(a);
            own.setRnrTimer(attributes.minRnrTimer());
            if (to == QueuePairState.SQD && from != QueuePairState.SQD) {
                drain.begin(a.sqdAsyncNotify());
            }
            setState(to);
            if (to.receives()) {
                link = Link.of(connection, attributes.accessFlags());
                if (datagramReceiver != null) {
                    datagramReceiver.open(link);
                }
                own.setLink(link);
            }
        }
        if (to == QueuePairState.SQD) {
            drained();
        } else if (from == QueuePairState.SQD && to == QueuePairState.RTS) {
            sendQueue.progress();
            if (sendQueue.isPending()) {
                lookAfter();
            }
        }
        Session s = session;
        if (s != null && s.isDead()) {
            peerDied(s, "the peer has ended");
        }
    }

    /** In SQD and something that was started before is not done. */
    boolean isDraining() {
        return drain.isGoingOn();
    }

    /** In SQD: nothing that was started is left, unless the oldest request still waits. */
    void drained() {
        synchronized (stateLock) {
            if (state == QueuePairState.SQD && sendQueue.hasBegun() || !drain.end() || state != QueuePairState.SQD) {
                return;
            }
        }
        context.raise(AsyncEvent.builder(AsyncEventType.SQ_DRAINED, this).build());
    }

    @SuppressWarnings("EnumOrdinal") // the C value
    private void setState(QueuePairState to) {
        state = to;
        counters.setState(to.ordinal());
    }

    private void connect(QueuePairAttributes a) throws VerbsException {
        Session s = context.session("connect " + describe(), Control.destination(describe(), a).low());
        s.bells().reach("connect " + describe(), 0);
        synchronized (stateLock) {
            session = s;
            departure.nobodyLeft();
        }
        peerNumber = a.destinationQueuePair();
        connection = context.numbers().nextConnection();
        errorReason = "";
        waitBudget.refill();
        own.setPeer(s.peer().instance(), peerNumber);
        ShownObjects.setPeer(counters, peerNumber, s.peer().pid());
        receiveCounts.connected(s);
        FlightEvents.connected(ShmDevice.NAME, number, peerNumber, s.peer().pid());
        s.add(this);
        for (int p : pds()) {
            s.memories().share(p); // after add, see unshare
        }
        receiveQueue.connect(peer.address(s));
        receiveCq.connectionsChanged();
    }

    @Override
    public Memories memories() {
        return context.memories();
    }

    @Override
    protected int implBindMemoryWindow(MemoryWindow window, long wrId, int flags, @Nullable MemoryRegion region,
            long address, long length, int access) {
        return sendQueue.bindWindow(wrId, flags, ((ShmMemoryWindow) window).window(), region, address, length, access);
    }

    /** For what is found out by who posts or polls, or by an object that the queue pair has: in whatever connection it is. */
    @Override
    public void enterError(String reason, int event) {
        toError(() -> true, reason, event, true);
    }

    @Override
    public void enterError(long of, String reason, int event) {
        synchronized (stateLock) {
            if (isIn(of) && (event == AsyncEventType.QP_ACCESS_ERR || event == AsyncEventType.QP_REQ_ERR)) {
                receiveCounts.refused(event);
            }
        }
        toError(() -> isIn(of), reason, event, true);
    }

    /** An application has ended that connection, this one or the peer's: no error of the queue pair. */
    void disconnected(long of, String reason) {
        toError(() -> isIn(of), reason, -1, false);
    }

    private boolean isIn(long of) {
        return of != 0 && linkIdentity() == of;
    }

    /** Moves to ERR if the condition holds, which is asked for under the lock. */
    private void toError(BooleanSupplier condition, String reason, int event, boolean byItself) {
        PeerDeparture.Look look;
        synchronized (stateLock) {
            if (state == QueuePairState.ERR || state == QueuePairState.RESET || !condition.getAsBoolean()) {
                return;
            }
            look = departure.begins();
            errorReason = reason; // first: who sees the state finds the reason
            setState(QueuePairState.ERR);
            own.withdrawLink();
        }
        if (byItself) {
            context.count(SamplePoint.DEVICE_QP_ERRORS);
            FlightEvents.broken(ShmDevice.NAME, number, reason);
        }
        look.settle();
        if (event >= 0) {
            context.raise(AsyncEvent.builder(event, this).detail(reason).build());
        }
        receiveCq.signal(this, true);
        lookAfter();
    }

    /** A send of a queue pair that is not reliable failed here: what follows is flushed, receiving goes on. */
    void sendFailed(String reason) {
        synchronized (stateLock) {
            if (state == QueuePairState.RTS || state == QueuePairState.SQD) {
                setState(QueuePairState.SQE);
                errorReason = reason;
            }
        }
    }

    /** The peer wrote or sent something that makes no sense. */
    void fatal(ProtocolException e) {
        enterError(peerName() + " broke the protocol: " + e.getMessage(), AsyncEventType.QP_FATAL);
    }

    /** A receive completed with an error; the initiator has been told already. */
    void receiveFailed(int status) {
        enterError("a receive completed with " + org.verbena.verbs.WcStatus.toString(status), -1);
    }

    @Override
    public void peerDied(Session s, String reason) {
        synchronized (stateLock) {
            if (session != s) {
                return; // it is connected elsewhere by now
            }
            if (type() == QueuePairType.UC) {
                own.withdrawLink(); // nobody notices, but the peer, if it lives
            } else {
                unanswered = sendQueue.oldestPending();
            }
        }
        if (type() != QueuePairType.UC) {
            boolean died = !s.hasDeparted();
            toError(() -> session == s, reason, died ? AsyncEventType.QP_FATAL : -1, died);
        }
        VarHandle.fullFence(); // who enters from here on sees that the link is withdrawn
        context.memories().linger(Revocation.Inside.peerOf(this, s.peer()));
        receiveQueue.peerDied();
        if (type() != QueuePairType.UC) {
            lookAfter();
        }
    }

    @Override
    public boolean isUp() {
        return state.receives();
    }

    /** Whether that request waited when the peer died: it is the one that got no answer. A later one was never sent. */
    boolean isUnanswered(long number) {
        return number == unanswered;
    }

    private void reset() throws VerbsException {
        PeerDeparture.Look look;
        synchronized (stateLock) {
            if (state == QueuePairState.RESET) {
                return;
            }
            look = departure.begins();
            own.withdrawLink();
            setState(QueuePairState.ERR);
        }
        if (!look.await()) {
            throw new VerbsException("modify " + describe(), Errno.EBUSY,
                    peerName() + " is stopped in the middle of a transfer: continue or end it first");
        }
        hideFromPollers();
        sendQueue.awaitRest(); // the memory of a dead peer may go with the last queue pair that leaves
        leave(true);
        synchronized (stateLock) {
            setState(QueuePairState.RESET);
            attributes = QueuePairAttributes.to(QueuePairState.RESET).build();
            unanswered = ShmSendQueue.NONE;
            errorReason = "";
        }
        // not under the lock, for it waits for whoever executes a request, and that one may need the lock
        sendQueue.reset();
        receiveQueue.reset();
        sendCq.add(this);
        receiveCq.add(this);
    }

    /** When it returns no poll looks at this queue pair, nor will one: the lane and all else may become others'. */
    private void hideFromPollers() {
        sendCq.remove(this);
        receiveCq.remove(this);
        Membarrier.ownProcess(); // who polls from here on sees that it is gone, or is seen
        sendCq.awaitPoller();
        receiveCq.awaitPoller();
    }

    /** Gives up the connection; {@code left} if no peer is inside any more. */
    private void leave(boolean left) {
        if (datagramReceiver != null) {
            datagramReceiver.close();
            receiveQueue.disconnect(true);
            receiveCq.connectionsChanged();
        }
        Session s = session;
        if (s == null) {
            return;
        }
        receiveQueue.disconnect(left);
        receiveCounts.disconnected();
        s.remove(this);
        s.tellLaneDone(linkIdentity());
        FlightEvents.disconnected(ShmDevice.NAME, number, peerNumber, s.peer().pid());
        synchronized (stateLock) {
            session = null;
            link = 0;
        }
        peerNumber = 0;
        ShownObjects.setPeer(counters, 0, 0);
        receiveCq.connectionsChanged();
    }

    @Override
    protected void implClose() {
        PeerDeparture.Look look;
        synchronized (stateLock) {
            look = departure.begins();
            setState(QueuePairState.ERR);
            own.withdrawLink();
        }
        boolean left = look.await();
        if (datagramReceiver != null) {
            context.multicast().detachAll(this);
        }
        sendQueue.close();
        Session s = session;
        if (!left && s != null) {
            own.giveUp();
            context.memories().linger(Revocation.Inside.peerOf(this, s.peer()));
        }
        hideFromPollers();
        leave(left);
        if (srq == null) {
            context.remove(this);
        } else {
            srq.leave(this);
        }
        own.free();
        if (left) {
            parts.giveBack();
        }
        // else a stopped peer may still look at the ring when it goes on: it stays as it is until the context is closed
    }

    // ---- the data path's view

    boolean poll(ShmCompletionQueue cq) {
        if (sendCq == receiveCq) {
            return pollBoth(cq);
        }
        return receiveCq == cq ? receiveQueue.poll(cq) : sendQueue.poll(cq);
    }

    /** In turn, so that neither kind hides the other. */
    private boolean pollBoth(ShmCompletionQueue cq) {
        sendFirst = !sendFirst;
        return sendFirst
                ? sendQueue.poll(cq) || receiveQueue.poll(cq)
                : receiveQueue.poll(cq) || sendQueue.poll(cq);
    }

    SendCounts sendCounts() {
        return sendCounts;
    }

    @Nullable
    ShmSharedReceiveQueue sharedReceiveQueue() {
        return srq;
    }

    ReceiveCounts receiveCounts() {
        return receiveCounts;
    }

    /** Where in tables that the number does not fit. */
    int index() {
        return AdapterLayout.qpIndex(number);
    }

    @Override
    public int pdIndex() {
        return pd.index();
    }

    /** With XRC the peer has no memory to reach here. */
    @Override
    public int[] pds() {
        if (type() == QueuePairType.XRC_SEND) {
            return new int[0];
        }
        return srq == null ? new int[] {pd.index()} : new int[] {pd.index(), srq.pool().pd()};
    }

    @Override
    public boolean uses(int pdIndex) {
        return type() != QueuePairType.XRC_SEND && pd.index() == pdIndex || srq != null && srq.pool().pd() == pdIndex;
    }

    ShmCompletionQueue sendCompletionQueue() {
        return sendCq;
    }

    ShmCompletionQueue receiveCompletionQueue() {
        return receiveCq;
    }

    @Nullable
    Session session() {
        return session;
    }

    @Override
    public int peerNumber() {
        return peerNumber;
    }

    @Override
    public long linkIdentity() {
        return link & Link.IDENTITY;
    }

    @Override
    public @Nullable Peer connectedPeer() {
        Session s = session;
        return s == null ? null : s.peer();
    }

    @Override
    public long ownHazard() {
        return own.hazard();
    }

    @Override
    public long peerHazard() {
        return peer.hazard();
    }

    /** What this end says to the peer. */
    OwnEntry own() {
        return own;
    }

    /** What the peer says of its end. */
    PeerEntry peer() {
        return peer;
    }

    ReceiveSide receiveSide() {
        return receiveQueue;
    }

    /** What completion queues ask. */
    CompletionSource source() {
        return source;
    }

    /** The attributes set last. */
    QueuePairAttributes attributes() {
        return attributes;
    }

    /** Nothing is touched, so no {@link Hazard}: memory that is taken back meanwhile reads as it did, or as zero. */
    @Override
    public @Nullable MemorySegment view(int rkey, long address, long bytes) {
        try {
            Remote r = peer.findRemote();
            Target t = r == null ? null : new Target(r.session.peerMemories(), r.pd, peerNumber);
            return t == null || t.resolve(rkey, address, bytes, AccessFlags.REMOTE_READ) != Target.OK
                    ? null
                    : t.view(address, bytes);
        } catch (ProtocolException e) {
            return null; // a request says so
        }
    }

    // ---- datagrams

    /** The receive side if the type is UD, else null. */
    @Nullable
    DatagramReceiver datagramReceiver() {
        return datagramReceiver;
    }

    int qkey() {
        return attributes.qkey();
    }

    long instance() {
        return context.instance();
    }

    ShmContext shmContext() {
        return context;
    }

    @Override
    protected void implAttachMulticast(Gid group, int lid) throws VerbsException {
        context.multicast().attach("attach " + describe() + " to " + group, this, group);
    }

    @Override
    protected void implDetachMulticast(Gid group, int lid) throws VerbsException {
        context.multicast().detach("detach " + describe() + " from " + group, this, group);
    }

    /** The multicast groups that it is in have changed. */
    void attachedTo(List<Gid> groups) {
        if (datagramReceiver != null) {
            datagramReceiver.attachedTo(groups);
        }
    }

    String peerName() {
        Session s = session;
        return s == null ? "the peer" : s.peerName();
    }

    /** That connection has failed, and the peer has left it: says so where the receives are others' too. */
    void leftForGood(long of) {
        synchronized (stateLock) {
            if (state == QueuePairState.ERR && linkIdentity() == of) {
                receiveQueue.leftForGood();
            }
        }
    }

    /** Something waits, or has failed: the engine goes on with it if the application does not. */
    void lookAfter() {
        attendance.lookAfter();
    }

    /** A send that waited for a receive waits no more. */
    void fed() {
        attendance.fed();
    }

    @Override
    public WaitBudget waitBudget() {
        return waitBudget;
    }

    /** What the engine does for this queue pair. */
    Attendance attendance() {
        return attendance;
    }

    /**
     * In state ERR: true if the peer touches no posted receive any more, or had time enough to leave.
     */
    boolean peerHasLeft() {
        return departure.isOver();
    }
}
