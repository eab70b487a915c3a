// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.xrc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.shm.control.Control;
import org.verbena.shm.control.Session;
import org.verbena.shm.control.SessionPart;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.AttributesMessage;
import org.verbena.shm.layout.ControlMessage;
import org.verbena.shm.layout.ProtocolException;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.VerbsException;

/**
 * Queue pairs of type XRC_RECV that one side of a session has made and the other has open: requests, answers and events.
 * Any thread sends requests, the engine's thread handles messages, changes of a queue pair are executed on a
 * thread of their own, for they may wait for the engine.
 */
public final class SessionReceivers implements SessionPart {
    /** Longer than the owner may take to connect to a third process. */
    private static final Duration TIMEOUT = Duration.ofSeconds(6);
    /** The limits of a peer's ongoing changes, and of its open queue pairs. */
    private static final int MAX_CHANGES = 256;
    private static final int MAX_OPEN = AdapterLayout.MAX_QP;

    private final XrcDirectory directory;
    private final Session session;
    /** Tokens of requests, and handles of queue pairs that we have open. */
    private final AtomicLong tokens = new AtomicLong();
    private final Map<Long, CompletableFuture<Answer>> questions = new ConcurrentHashMap<>();
    /** The peer's, which we have open. */
    private final List<RemoteXrcReceiver> remote = new CopyOnWriteArrayList<>();
    /** Ours, which the peer has open; engine's thread only. */
    private final List<RemoteHandle> remoteHandles = new ArrayList<>();
    private final AtomicInteger changes = new AtomicInteger();

    /**
     * The owner's answer: the attributes of the queue pair after the request.
     *
     * @param text of the error; without one, why the queue pair went to ERR
     */
    record Answer(int errno, String text, QueuePairAttributes attributes) {}

    /** The peer has one of our queue pairs open. */
    private final class RemoteHandle implements XrcReceiver.Observer {
        final OwnXrcReceiver receiver;
        final long handle;

        RemoteHandle(OwnXrcReceiver receiver, long handle) {
            this.receiver = receiver;
            this.handle = handle;
        }

        @Override
        public void raise(int event, String detail) {
            session.send(new ControlMessage.Writer(ControlMessage.XRC_EVENT).putLong(handle).putInt(event)
                    .putText(detail), null);
        }
    }

    public SessionReceivers(XrcDirectory directory, Session session) {
        this.directory = directory;
        this.session = session;
    }

    // ---- queue pairs of the peer

    /** Opens a queue pair of the peer. */
    public RemoteXrcReceiver open(String verb, int number, XrcDomains.Key domain, XrcReceiver.Observer observer)
            throws VerbsException {
        RemoteXrcReceiver r = new RemoteXrcReceiver(this, session, tokens.incrementAndGet(), observer);
        remote.add(r); // first, so that no event is missed
        try {
            ask(verb, ControlMessage.XRC_OPEN, w -> w.putLong(r.handle()).putInt(number).putLong(domain.high())
                    .putLong(domain.low()));
            return r;
        } catch (VerbsException e) {
            close(r); // it may still be opened after the timeout
            throw e;
        }
    }

    /** Closes a queue pair of the peer, and waits until that is done: after the last handle no message arrives any more. */
    void close(RemoteXrcReceiver r) {
        if (remote.remove(r)) {
            try {
                ask("close a queue pair", ControlMessage.XRC_CLOSE, w -> w.putLong(r.handle()));
            } catch (VerbsException e) {
                // the peer has ended, and its queue pairs too; or it is stopped, and closes it when it resumes
            }
        }
    }

    /** Sends a request and waits for the answer; throws the error that the peer reports. */
    Answer ask(String verb, int type, UnaryOperator<ControlMessage.Writer> fields) throws VerbsException {
        long token = tokens.incrementAndGet();
        CompletableFuture<Answer> f = new CompletableFuture<>();
        questions.put(token, f);
        try {
            session.send(fields.apply(new ControlMessage.Writer(type).putLong(token)), null);
            if (session.isDead()) {
                throw RemoteXrcReceiver.gone(verb, session);
            }
            Answer a = Control.get(verb, f, TIMEOUT, () -> session.peerName() + " does not answer: is it stopped?");
            if (a.errno != 0) {
                throw new VerbsException(verb, a.errno, a.text);
            }
            return a;
        } finally {
            questions.remove(token);
        }
    }

    // ---- messages, on the engine's thread

    /** Handles a message; false if it is another kind. */
    @Override
    public boolean receive(ControlMessage.Reader m) throws ProtocolException {
        switch (m.type()) {
            case ControlMessage.XRC_OPEN -> {
                long token = m.getLong();
                long handle = m.getLong();
                int number = m.getInt();
                XrcDomains.Key domain = new XrcDomains.Key(m.getLong(), m.getLong());
                m.end();
                open(token, handle, number, domain);
            }
            case ControlMessage.XRC_QUERY -> {
                long token = m.getLong();
                RemoteHandle h = remoteHandle(m.getLong());
                m.end();
                if (h == null) {
                    refuse(token);
                } else {
                    answer(token, h.receiver);
                }
            }
            case ControlMessage.XRC_MODIFY -> {
                long token = m.getLong();
                RemoteHandle h = remoteHandle(m.getLong());
                QueuePairState from = AttributesMessage.state(m.getInt());
                QueuePairAttributes a = AttributesMessage.read(m);
                m.end();
                if (h == null) {
                    refuse(token);
                } else {
                    change(token, h.receiver, from, a);
                }
            }
            case ControlMessage.XRC_CLOSE -> {
                long token = m.getLong();
                RemoteHandle h = remoteHandle(m.getLong());
                m.end();
                if (h == null) {
                    refuse(token);
                } else {
                    remoteHandles.remove(h);
                    h.receiver.close(h);
                    answer(token, h.receiver);
                }
            }
            case ControlMessage.XRC_ANSWER -> {
                long token = m.getLong();
                Answer a = new Answer(m.getInt(), m.getText(), AttributesMessage.read(m));
                m.end();
                CompletableFuture<Answer> f = questions.get(token);
                if (f != null) {
                    f.complete(a);
                }
            }
            case ControlMessage.XRC_EVENT -> {
                long handle = m.getLong();
                int event = m.getInt();
                String text = m.getText();
                m.end();
                if (!isEvent(event)) {
                    throw new ProtocolException("event " + event + " does not happen to a queue pair");
                }
                remote.stream().filter(r -> r.handle() == handle).forEach(r -> r.raise(event, text));
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private static boolean isEvent(int event) {
        return event == AsyncEventType.QP_FATAL || event == AsyncEventType.QP_REQ_ERR
                || event == AsyncEventType.QP_ACCESS_ERR || event == AsyncEventType.SQ_DRAINED;
    }

    private void open(long token, long handle, int number, XrcDomains.Key domain) throws ProtocolException {
        if (remoteHandles.size() >= MAX_OPEN || remoteHandle(handle) != null) {
            throw new ProtocolException("too many queue pairs are open, or one by the same handle twice");
        }
        OwnXrcReceiver r = directory.receiver(number);
        RemoteHandle h = r == null ? null : new RemoteHandle(r, handle);
        if (h != null && h.receiver.open(domain, h)) {
            remoteHandles.add(h);
            answer(token, h.receiver);
        } else {
            refuse(token);
        }
    }

    /** The queue pair that the peer has open by a handle; null if there is none any more. */
    private @Nullable RemoteHandle remoteHandle(long handle) {
        return remoteHandles.stream().filter(h -> h.handle == handle).findFirst().orElse(null);
    }

    private void refuse(long token) {
        session.send(AttributesMessage.write(new ControlMessage.Writer(ControlMessage.XRC_ANSWER).putLong(token)
                .putInt(Errno.EINVAL).putText("the domain has no queue pair of that number"),
                QueuePairAttributes.builder().build()), null);
    }

    private void change(long token, OwnXrcReceiver r, QueuePairState from, QueuePairAttributes a)
            throws ProtocolException {
        if (changes.incrementAndGet() > MAX_CHANGES) {
            throw new ProtocolException("too many changes of queue pairs at once");
        }
        Thread.ofVirtual().start(() -> {
            try {
                r.modify("modify QP 0x" + Integer.toHexString(r.number()) + " for " + session.peerName(), from, a);
                answer(token, r);
            } catch (VerbsException e) {
                answer(token, r, e.errno(), String.valueOf(e.getMessage()));
            } finally {
                changes.decrementAndGet();
            }
        });
    }

    private void answer(long token, OwnXrcReceiver r) {
        answer(token, r, 0, r.errorReason());
    }

    private void answer(long token, OwnXrcReceiver r, int errno, String text) {
        session.send(AttributesMessage.write(new ControlMessage.Writer(ControlMessage.XRC_ANSWER).putLong(token)
                .putInt(errno).putText(text), r.query("")), null);
    }

    /** The peer is dead. */
    @Override
    public void end() {
        remoteHandles.forEach(h -> h.receiver.close(h));
        remoteHandles.clear();
        remote.forEach(RemoteXrcReceiver::died);
        questions.values().forEach(f -> f.completeExceptionally(RemoteXrcReceiver.gone("ask " + session.peerName(),
                session)));
    }
}
