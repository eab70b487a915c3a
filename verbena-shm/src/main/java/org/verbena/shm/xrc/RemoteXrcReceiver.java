// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.xrc;

import org.verbena.linux.Errno;
import org.verbena.shm.control.Session;
import org.verbena.shm.layout.AttributesMessage;
import org.verbena.shm.layout.ControlMessage;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.VerbsException;

/** A queue pair of type XRC_RECV of another context that we have open: every call queries that context. */
public final class RemoteXrcReceiver implements XrcReceiver {
    private final SessionReceivers receivers;
    private final Session session;
    private final long handle;
    private final Observer observer;
    private volatile QueuePairState state = QueuePairState.RESET;
    private volatile String errorReason = "";

    /** The observer receives events as soon as {@link SessionReceivers} has opened it. */
    RemoteXrcReceiver(SessionReceivers receivers, Session session, long handle, Observer observer) {
        this.receivers = receivers;
        this.session = session;
        this.handle = handle;
        this.observer = observer;
    }

    /** The handle that both sides use. */
    long handle() {
        return handle;
    }

    @Override
    public QueuePairState state() {
        try {
            query("query the state of a queue pair of " + session.peerName());
        } catch (VerbsException e) {
            // the last known state stays
        }
        return state;
    }

    @Override
    public String errorReason() {
        state();
        return errorReason;
    }

    @Override
    public QueuePairAttributes query(String verb) throws VerbsException {
        SessionReceivers.Answer a = receivers.ask(verb, ControlMessage.XRC_QUERY, w -> w
                .putLong(handle));
        return learn(a);
    }

    @Override
    public void modify(String verb, QueuePairState from, QueuePairAttributes a) throws VerbsException {
        learn(receivers.ask(verb, ControlMessage.XRC_MODIFY,
                w -> AttributesMessage.write(w.putLong(handle).putInt(AttributesMessage.number(from)), a)));
    }

    private QueuePairAttributes learn(SessionReceivers.Answer a) {
        QueuePairState s = a.attributes().state();
        if (s != null) {
            errorReason = a.text();
            state = s;
        }
        return a.attributes();
    }

    void raise(int event, String detail) {
        observer.raise(event, detail);
    }

    /** Its process has ended. */
    void died() {
        if (state != QueuePairState.ERR) {
            errorReason = session.peerName() + ", which made the queue pair, has ended";
            state = QueuePairState.ERR;
            observer.raise(AsyncEventType.QP_FATAL, errorReason);
        }
    }

    /** The error of queries after its process has ended. */
    static VerbsException gone(String verb, Session s) {
        return new VerbsException(verb, Errno.ECONNRESET, s.peerName() + ", which made the queue pair, has ended");
    }

    @Override
    public void close(Observer o) {
        receivers.close(this);
    }
}
