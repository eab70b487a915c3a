// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.shm.control.Control;
import org.verbena.shm.control.Session;
import org.verbena.shm.xrc.OwnXrcReceiver;
import org.verbena.shm.xrc.SessionReceivers;
import org.verbena.shm.xrc.XrcDomains;
import org.verbena.shm.xrc.XrcReceiver;
import org.verbena.verbs.AsyncEvent;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.ReceiveQueue;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.XrcDomain;
import org.verbena.verbs.spi.NoReceives;
import org.verbena.verbs.spi.NoSends;
import org.verbena.verbs.spi.QueuePairValues;

/** A handle of a queue pair of type XRC_RECV: an {@link XrcReceiver} as an object of this context. */
final class ShmXrcReceiveQueuePair extends QueuePair implements XrcReceiver.Observer {
    private final ContextInternals internals;
    private final XrcDomains.Key domain;
    private final SendQueue sends = new NoSends();
    private final ReceiveQueue receives = new NoReceives();
    private int number;
    private @Nullable XrcReceiver receiver;
    /** The state that an ongoing change was checked for; guarded by this object's monitor, which such a change holds. */
    private QueuePairState checked = QueuePairState.RESET;

    /** Makes a handle without a queue pair: {@link #create} or {@link #open} follows. */
    ShmXrcReceiveQueuePair(ContextInternals internals, XrcDomain xrcDomain, XrcDomains.Key domain,
            QueuePairInitAttributes init) throws VerbsException {
        super(xrcDomain, init);
        this.internals = internals;
        this.domain = domain;
    }

    void create(String verb) throws VerbsException {
        try {
            OwnXrcReceiver own = new OwnXrcReceiver(internals.xrc(), verb, domain, this);
            number = own.number();
            receiver = own;
        } catch (VerbsException e) {
            abandon();
            throw e;
        }
        opened();
    }

    void open(String verb, int existing, Duration timeout) throws VerbsException {
        number = existing;
        try {
            receiver = find(verb, existing, timeout);
        } catch (VerbsException e) {
            abandon();
            throw e;
        }
        opened();
    }

    private XrcReceiver find(String verb, int existing, Duration timeout) throws VerbsException {
        if (internals.xrc().isOwn(existing)) {
            OwnXrcReceiver own = internals.xrc().receiver(existing);
            if (own == null || !own.open(domain, this)) {
                throw new VerbsException(verb, Errno.EINVAL, "the domain has no queue pair of that number");
            }
            return own;
        }
        Session s = Control.get(verb, internals.xrc().owner(existing), timeout,
                () -> "the process that has the queue pair does not answer: is it stopped?");
        return s.part(SessionReceivers.class).open(verb, existing, domain, this);
    }

    private XrcReceiver receiver() {
        XrcReceiver r = receiver;
        if (r == null) {
            throw new IllegalStateException("neither created nor opened");
        }
        return r;
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public QueuePairState state() {
        QueuePairState s = receiver().state();
        if (Thread.holdsLock(this)) {
            checked = s;
        }
        return s;
    }

    @Override
    public String errorReason() {
        return receiver().errorReason();
    }

    @Override
    public SendQueue sendQueue() {
        return sends;
    }

    @Override
    public ReceiveQueue receiveQueue() {
        return receives;
    }

    @Override
    public QueuePairAttributes query() throws VerbsException {
        String verb = "query " + describe();
        checkOpen(verb);
        return receiver().query(verb).toBuilder().capabilities(QueuePairValues.capabilities(initAttributes())).build();
    }

    @Override
    protected void implModify(QueuePairAttributes a) throws VerbsException {
        receiver().modify("modify " + describe(), checked, a); // refused if it is in another one by now
    }

    @Override
    public void raise(int event, String detail) {
        internals.context().raise(AsyncEvent.builder(event, this).detail(detail).build());
    }

    @Override
    public String describe() {
        return "QP 0x" + Integer.toHexString(number) + " of shm0";
    }

    @Override
    protected void implClose() {
        receiver().close(this);
    }
}
