// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.xrc;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.shm.control.ConnectedQueuePair;
import org.verbena.shm.control.ContextParts;
import org.verbena.shm.control.Control;
import org.verbena.shm.control.Session;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.Link;
import org.verbena.shm.layout.OwnEntry;
import org.verbena.shm.layout.QueuePairNumbers;
import org.verbena.shm.layout.ShmLimits;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.QueuePairValues;

/**
 * A queue pair of type XRC_RECV of this context: a state and a directory entry. It moves no data: initiators read from it
 * whether they are connected, with what rights and to which domain, and access the shared receive queues themselves. It
 * lives until its last handle is closed, in this process or another.
 */
public final class OwnXrcReceiver implements XrcReceiver, ConnectedQueuePair {
    private final XrcDirectory directory;
    private final QueuePairNumbers numbers;
    private final XrcDomains.Key domain;
    private final int taken;
    private final int number;
    private final OwnEntry own;
    private final List<Observer> observers = new CopyOnWriteArrayList<>();
    /** One change at a time. */
    private final Object modifyLock = new Object();
    /** Guards the state against errors while it is changed. */
    private final Object stateLock = new Object();
    private volatile QueuePairState state = QueuePairState.RESET;
    private volatile String errorReason = "";
    private QueuePairAttributes attributes = QueuePairAttributes.to(QueuePairState.RESET).build();
    private @Nullable Session session;
    private volatile long link;
    private long connection;
    private boolean closed;

    public OwnXrcReceiver(XrcDirectory directory, String verb, XrcDomains.Key domain, Observer first)
            throws VerbsException {
        ContextParts parts = directory.control().own();
        this.directory = directory;
        this.numbers = parts.numbers();
        this.domain = domain;
        taken = numbers.take();
        try {
            number = directory.number(verb, AdapterLayout.qpIndex(taken));
            own = new OwnEntry(parts.adapter().qpEntry(number));
        } catch (VerbsException e) {
            numbers.give(taken);
            throw e;
        }
        own.describeXrcReceiver(number, domain.high(), domain.low());
        observers.add(first);
        directory.domains().retain(domain);
        directory.add(this);
    }

    public int number() {
        return number;
    }

    /** Opens it for a caller that names the domain; false if that is another one, or it is just being destroyed. */
    public boolean open(XrcDomains.Key of, Observer observer) {
        synchronized (modifyLock) {
            return !closed && of.equals(domain) && observers.add(observer);
        }
    }

    @Override
    public void close(Observer observer) {
        synchronized (modifyLock) {
            if (!observers.remove(observer) || !observers.isEmpty() || closed) {
                return;
            }
            closed = true;
            synchronized (stateLock) {
                state = QueuePairState.ERR;
                own.withdrawLink();
            }
            leave();
        }
        directory.remove(this);
        own.free();
        numbers.give(taken);
        directory.domains().release(domain);
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
    public QueuePairAttributes query(String verb) {
        synchronized (stateLock) {
            return attributes.toBuilder().state(state).build();
        }
    }

    private String describe() {
        return "QP 0x" + Integer.toHexString(number) + " of shm0";
    }

    @Override
    public void modify(String verb, QueuePairState from, QueuePairAttributes a) throws VerbsException {
        QueuePairState wanted = a.state();
        QueuePairState to = wanted == null ? from : wanted;
        // outside the lock, which the engine may need before it can make the session
        Session s = from == QueuePairState.INIT && to == QueuePairState.RTR
                ? directory.control().session(verb, Control.destination(describe(), a).low())
                : null;
        synchronized (modifyLock) {
            if (closed || state != from || to.receives() && s == null && !from.receives()) {
                throw new VerbsException(verb, Errno.EINVAL, closed
                        ? "it has just been destroyed"
                        : "it is in " + state + " by now" + (errorReason.isEmpty() ? "" : ": " + errorReason));
            }
            QueuePairValues.check(describe(), ShmLimits.DEVICE, a, ShmLimits.MAX_READS);
            switch (to) {
                case RESET -> reset();
                case ERR -> enterError(() -> true, "moved to ERR by an application", -1);
                default -> move(verb, from, to, a, s);
            }
        }
    }

    private void move(String verb, QueuePairState from, QueuePairState to, QueuePairAttributes a,
            @Nullable Session peer) throws VerbsException {
        if (peer != null) {
            connect(peer, a.destinationQueuePair());
        }
        Session s;
        synchronized (stateLock) {
            if (state != from) {
                throw new VerbsException(verb, Errno.EINVAL, "it has failed meanwhile: " + errorReason);
            }
            attributes = attributes.with(a);
            own.setRnrTimer(attributes.minRnrTimer());
            state = to;
            s = session;
            if (to.receives() && s != null) {
                link = Link.of(connection, attributes.accessFlags());
                own.setLink(link);
            }
        }
        if (s != null && s.isDead()) {
            peerDied(s, "the peer has ended");
        }
        if (to == QueuePairState.SQD && from != QueuePairState.SQD && a.sqdAsyncNotify()) {
            raise(AsyncEventType.SQ_DRAINED, ""); // it sends nothing
        }
    }

    private void connect(Session s, int peer) {
        leave();
        synchronized (stateLock) {
            session = s;
            connection = numbers.nextConnection();
            errorReason = "";
            own.setPeer(s.mapping().instance(), peer);
        }
        s.add(this);
    }

    private void reset() {
        synchronized (stateLock) {
            own.withdrawLink();
            state = QueuePairState.RESET;
            errorReason = "";
            attributes = QueuePairAttributes.to(QueuePairState.RESET).build();
        }
        leave();
    }

    private void leave() {
        Session s = session;
        if (s != null) {
            s.remove(this);
            synchronized (stateLock) {
                session = null;
                link = 0;
            }
        }
    }

    private void raise(int event, String detail) {
        observers.forEach(o -> o.raise(event, detail));
    }

    // ---- for the session

    @Override
    public void enterError(long of, String reason, int event) {
        enterError(() -> link != 0 && (link & Link.IDENTITY) == of, reason, event);
    }

    @Override
    public boolean isUp() {
        return state.receives();
    }

    /** Moves to ERR if the condition holds, which is evaluated under the lock, and it is in use. */
    private void enterError(BooleanSupplier condition, String reason, int event) {
        synchronized (stateLock) {
            if (state == QueuePairState.ERR || state == QueuePairState.RESET || !condition.getAsBoolean()) {
                return;
            }
            errorReason = reason;
            state = QueuePairState.ERR;
            own.withdrawLink();
        }
        if (event >= 0) {
            raise(event, reason);
        }
    }

    @Override
    public void peerDied(Session s, String reason) {
        enterError(() -> session == s, reason, s.hasDeparted() ? -1 : AsyncEventType.QP_FATAL);
    }

    /** None: memory is accessed through the shared receive queues. */
    @Override
    public int[] pds() {
        return new int[0];
    }

    @Override
    public boolean uses(int pd) {
        return false;
    }
}
