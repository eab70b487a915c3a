// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.lang.invoke.VarHandle;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.shm.completion.CompletionCursor;
import org.verbena.shm.control.Control;
import org.verbena.shm.control.Session;
import org.verbena.shm.counts.ReceiveCounts;
import org.verbena.shm.datagram.DatagramReceiver;
import org.verbena.shm.layout.Hazard;
import org.verbena.shm.layout.Link;
import org.verbena.shm.layout.OwnEntry;
import org.verbena.shm.layout.Peer;
import org.verbena.shm.layout.ProtocolException;
import org.verbena.shm.layout.ShmLimits;
import org.verbena.shm.memory.Revocation;
import org.verbena.shm.memory.WaitBudget;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.AsyncEvent;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.SharedReceiveQueue;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.PublishedObjects;
import org.verbena.verbs.spi.QueuePairValues;
import org.verbena.verbs.telemetry.FlightEvents;

/**
 * The state of a queue pair and the life of its connection: what one lock guards, and the consequences of each
 * change. The application moves a queue pair on, and any thread that finds an error moves it to ERR; reading needs no lock.
 *
 * <p>A superclass and not a part of {@link ShmQueuePair}, so that a post and a poll reach its fields without one more load.
 */
abstract class QueuePairLifecycle extends QueuePairBase {
    final ContextInternals internals;
    private final int pd;
    final int number;
    final QueuePairParts parts;
    final OwnEntry own;
    final CounterEntry counters;
    final ShmCompletionQueue sendCq;
    final ShmCompletionQueue receiveCq;
    /** Null if the receives are this queue pair's own. */
    final @Nullable ShmSharedReceiveQueue srq;
    private final ReceiveCounts receiveCounts;
    private final PeerEntry peer;

    /** Guards changes of the state against each other; reading needs no lock. */
    private final Object stateLock = new Object();
    private volatile QueuePairState state = QueuePairState.RESET;
    private volatile String errorReason = "";
    private QueuePairAttributes attributes = QueuePairAttributes.to(QueuePairState.RESET).build();
    private volatile @Nullable Session session;
    private volatile int peerNumber;
    private volatile long link;
    private long connection;
    /** The number of the send that waited when the peer died. */
    private volatile long unanswered = ShmSendQueue.NONE;
    private final PeerDeparture departure = new PeerDeparture(this);
    private final WaitBudget waitBudget = new WaitBudget(Hazard.TIMEOUT_NANOS);
    private final Drain drain = new Drain();

    QueuePairLifecycle(ContextInternals internals, ProtectionDomain domain, int pd, QueuePairInitAttributes init)
            throws VerbsException {
        super(domain, init);
        this.internals = internals;
        this.pd = pd;
        sendCq = (ShmCompletionQueue) init.sendCq();
        receiveCq = init.type() == QueuePairType.XRC_SEND ? sendCq : (ShmCompletionQueue) init.receiveCq();
        srq = (ShmSharedReceiveQueue) init.sharedReceiveQueue();
        try {
            parts = new QueuePairParts(internals, pd, init);
        } catch (VerbsException e) {
            abandon();
            throw e;
        }
        number = parts.number;
        own = parts.own;
        counters = internals.published().queuePair(number, init, sendCq.publishedId(), receiveCq.publishedId(),
                srq == null ? 0 : srq.publishedId());
        publish(counters);
        receiveCounts = new ReceiveCounts(number, counters);
        peer = new PeerEntry(this);
    }

    abstract ShmSendQueue sends();

    abstract ReceiveSide receiveSide();

    /** Polls include this queue pair from now on. */
    abstract void showToPollers();

    /** When it returns, no poll uses this queue pair, nor will one: its lane and all else may be reused. */
    abstract void hideFromPollers();

    // ---- queries

    @Override
    public final QueuePairState state() {
        return state;
    }

    @Override
    public final String errorReason() {
        return errorReason;
    }

    @Override
    public final QueuePairAttributes query() throws VerbsException {
        checkOpen("query " + describe());
        synchronized (stateLock) {
            return attributes.toBuilder().state(state).sqDraining(isDraining())
                    .capabilities(QueuePairValues.capabilities(initAttributes())).build();
        }
    }

    @Override
    public final int number() {
        return number;
    }

    @Override
    public final String describe() {
        return "QP 0x" + Integer.toHexString(number) + " of shm0";
    }

    @Override
    @Nullable
    final Session session() {
        return session;
    }

    @Override
    public final int peerNumber() {
        return peerNumber;
    }

    @Override
    public final long linkIdentity() {
        return link & Link.IDENTITY;
    }

    @Override
    public final @Nullable Peer connectedPeer() {
        Session s = session;
        return s == null ? null : s.peer();
    }

    @Override
    final OwnEntry own() {
        return own;
    }

    @Override
    final PeerEntry peer() {
        return peer;
    }

    @Override
    final QueuePairAttributes attributes() {
        return attributes;
    }

    @Override
    final ReceiveCounts receiveCounts() {
        return receiveCounts;
    }

    @Override
    final boolean receivesFrom(SharedReceiveQueue queue) {
        return srq == queue;
    }

    @Override
    final boolean receivesOn(CompletionCursor cq) {
        return receiveCq == cq;
    }

    @Override
    final CompletionCursor receiveCursor() {
        return receiveCq;
    }

    @Override
    public final int pdIndex() {
        return pd;
    }

    @Override
    public final WaitBudget waitBudget() {
        return waitBudget;
    }

    final String peerName() {
        Session s = session;
        return s == null ? "the peer" : s.peerName();
    }

    @Override
    final void lastWqeReached(long of) {
        synchronized (stateLock) {
            if (state == QueuePairState.ERR && linkIdentity() == of) {
                receiveSide().lastWqeReached();
            }
        }
    }

    @Override
    final boolean peerHasLeft() {
        return departure.isOver();
    }

    // ---- changes

    @Override
    protected final void implModify(QueuePairAttributes a) throws VerbsException {
        QueuePairState wanted = a.state();
        QueuePairState from = state;
        QueuePairState to = wanted == null ? from : wanted;
        QueuePairValues.check(describe(), ShmLimits.DEVICE, a, ShmLimits.MAX_READS);
        if (from == QueuePairState.SQD && drain.isActive() && to.acceptsSends() && to != QueuePairState.ERR) {
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
            if (datagramReceiver() == null) {
                connect(a);
            } else {
                connection = internals.own().numbers().nextConnection();
                errorReason = "";
                receiveSide().connect(0);
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
                DatagramReceiver d = datagramReceiver();
                if (d != null) {
                    d.open(link);
                }
                own.setLink(link);
            }
        }
        if (to == QueuePairState.SQD) {
            drained();
        } else if (from == QueuePairState.SQD && to == QueuePairState.RTS) {
            sends().progress();
            if (sends().isPending()) {
                requestProgress();
            }
        }
        Session s = session;
        if (s != null && s.isDead()) {
            peerDied(s, "the peer has ended");
        }
    }

    @Override
    public final boolean isDraining() {
        return drain.isActive();
    }

    @Override
    final void drained() {
        synchronized (stateLock) {
            if (state == QueuePairState.SQD && sends().hasBegun() || !drain.end() || state != QueuePairState.SQD) {
                return;
            }
        }
        internals.context().raise(AsyncEvent.builder(AsyncEventType.SQ_DRAINED, this).build());
    }

    @SuppressWarnings("EnumOrdinal") // the C value
    private void setState(QueuePairState to) {
        state = to;
        counters.setState(to.ordinal());
    }

    private void connect(QueuePairAttributes a) throws VerbsException {
        Session s = internals.control().session("connect " + describe(), Control.destination(describe(), a).low());
        s.bells().reach("connect " + describe(), 0);
        synchronized (stateLock) {
            session = s;
            departure.connected();
        }
        peerNumber = a.destinationQueuePair();
        connection = internals.own().numbers().nextConnection();
        errorReason = "";
        waitBudget.refill();
        own.setPeer(s.mapping().instance(), peerNumber);
        PublishedObjects.setPeer(counters, peerNumber, s.mapping().pid());
        receiveCounts.connected(s);
        FlightEvents.connected(ShmLimits.DEVICE, number, peerNumber, s.mapping().pid());
        s.add(this);
        for (int p : pds()) {
            s.memories().share(p); // after add, see unshare
        }
        receiveSide().connect(peer.address(s));
        receiveCq.connectionsChanged();
    }

    /** For errors found by the poster, the poller, or an object of the queue pair: in whatever connection it is. */
    @Override
    public final void enterError(String reason, int event) {
        toError(() -> true, reason, event, true);
    }

    @Override
    public final void enterError(long of, String reason, int event) {
        synchronized (stateLock) {
            if (isIn(of) && (event == AsyncEventType.QP_ACCESS_ERR || event == AsyncEventType.QP_REQ_ERR)) {
                receiveCounts.refused(event);
            }
        }
        toError(() -> isIn(of), reason, event, true);
    }

    /** An application has ended that connection, this one or the peer's: no error of the queue pair. */
    final void disconnected(long of, String reason) {
        toError(() -> isIn(of), reason, -1, false);
    }

    private boolean isIn(long of) {
        return of != 0 && linkIdentity() == of;
    }

    /** Moves to ERR if the condition holds, which is evaluated under the lock. */
    private void toError(BooleanSupplier condition, String reason, int event, boolean byItself) {
        PeerDeparture.Withdrawal withdrawal;
        synchronized (stateLock) {
            if (state == QueuePairState.ERR || state == QueuePairState.RESET || !condition.getAsBoolean()) {
                return;
            }
            withdrawal = departure.begin();
            errorReason = reason; // first: a thread that sees the state finds the reason
            setState(QueuePairState.ERR);
            own.withdrawLink();
        }
        if (byItself) {
            internals.count(SamplePoint.DEVICE_QP_ERRORS);
            FlightEvents.broken(ShmLimits.DEVICE, number, reason);
        }
        withdrawal.capture();
        if (event >= 0) {
            internals.context().raise(AsyncEvent.builder(event, this).detail(reason).build());
        }
        wakePollers();
        requestProgress();
    }

    @Override
    public final void sendFailed(String reason) {
        synchronized (stateLock) {
            if (state == QueuePairState.RTS || state == QueuePairState.SQD) {
                setState(QueuePairState.SQE);
                errorReason = reason;
            }
        }
    }

    @Override
    final void fatal(ProtocolException e) {
        enterError(peerName() + " broke the protocol: " + e.getMessage(), AsyncEventType.QP_FATAL);
    }

    @Override
    final void receiveFailed(int status) {
        enterError("a receive completed with " + WcStatus.toString(status), -1);
    }

    @Override
    public final void peerDied(Session s, String reason) {
        synchronized (stateLock) {
            if (session != s) {
                return; // it is connected elsewhere by now
            }
            if (type() == QueuePairType.UC) {
                own.withdrawLink(); // visible to the peer only, if it lives
            } else {
                unanswered = sends().oldestPending();
            }
        }
        if (type() != QueuePairType.UC) {
            boolean died = !s.hasDeparted();
            toError(() -> session == s, reason, died ? AsyncEventType.QP_FATAL : -1, died);
        }
        VarHandle.fullFence(); // a thread that enters from here on sees that the link is withdrawn
        internals.memories().keepStopped(Revocation.Inside.peerOf(this, s.peer()));
        receiveSide().peerDied();
        if (type() != QueuePairType.UC) {
            requestProgress();
        }
    }

    @Override
    public final boolean isUp() {
        return state.receives();
    }

    @Override
    final boolean isUnanswered(long number) {
        return number == unanswered;
    }

    private void reset() throws VerbsException {
        PeerDeparture.Withdrawal withdrawal;
        synchronized (stateLock) {
            if (state == QueuePairState.RESET) {
                return;
            }
            withdrawal = departure.begin();
            own.withdrawLink();
            setState(QueuePairState.ERR);
        }
        if (!withdrawal.await()) {
            throw new VerbsException("modify " + describe(), Errno.EBUSY,
                    peerName() + " is stopped in the middle of a transfer: continue or end it first");
        }
        hideFromPollers();
        sends().awaitIdle(); // the memory of a dead peer may go with the last queue pair that leaves
        leave(true);
        synchronized (stateLock) {
            setState(QueuePairState.RESET);
            attributes = QueuePairAttributes.to(QueuePairState.RESET).build();
            unanswered = ShmSendQueue.NONE;
            errorReason = "";
        }
        // not under the lock: it waits for the thread that executes a request, which may need the lock
        sends().reset();
        receiveSide().reset();
        showToPollers();
    }

    /** Leaves the connection; {@code left} if no peer is inside any more. */
    final void leave(boolean left) {
        DatagramReceiver d = datagramReceiver();
        if (d != null) {
            d.close();
            receiveSide().disconnect(true);
            receiveCq.connectionsChanged();
        }
        Session s = session;
        if (s == null) {
            return;
        }
        receiveSide().disconnect(left);
        receiveCounts.disconnected();
        s.remove(this);
        s.sendLaneDone(linkIdentity());
        FlightEvents.disconnected(ShmLimits.DEVICE, number, peerNumber, s.mapping().pid());
        synchronized (stateLock) {
            session = null;
            link = 0;
        }
        peerNumber = 0;
        PublishedObjects.setPeer(counters, 0, 0);
        receiveCq.connectionsChanged();
    }

    /** The queue pair ends: true if no peer is inside any more. */
    final boolean withdraw() {
        PeerDeparture.Withdrawal withdrawal;
        synchronized (stateLock) {
            withdrawal = departure.begin();
            setState(QueuePairState.ERR);
            own.withdrawLink();
        }
        return withdrawal.await();
    }
}
