// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.xrc;

import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

import org.verbena.shm.control.Session;
import org.verbena.shm.control.SessionPart;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.ControlMessage;
import org.verbena.shm.layout.Hazard;
import org.verbena.shm.layout.ProtocolException;
import org.verbena.shm.memory.Memories;
import org.verbena.shm.pool.OwnPool;
import org.verbena.shm.pool.PoolAccess;
import org.verbena.shm.pool.RemotePoolUser;

/**
 * Receives taken out of shared receive queues of type XRC, by queue pairs that are not connected to one of the queue's
 * process: which queue pairs of the peer take from us, and what we may take from the peer. A queue pair attaches once to each queue, so
 * that the owner shares the memory with its process and reads its {@link Hazard}.
 */
public final class SessionPools implements RemotePoolUser.Host, SessionPart {
    /** Attachments of one peer. */
    private static final int MAX_ATTACHMENTS = 65536;

    private final XrcDirectory directory;
    private final Memories ownMemories;
    private final Session session;
    private final Set<PoolAttachment> attachments = ConcurrentHashMap.newKeySet();
    private final AtomicLong tokens = new AtomicLong();
    private final Map<Long, PoolAccess> accesses = new ConcurrentHashMap<>();

    private record PoolAttachment(OwnPool pool, RemotePoolUser user) {}

    public SessionPools(XrcDirectory directory, Session session) {
        this.directory = directory;
        this.ownMemories = directory.control().own().memories();
        this.session = session;
    }

    // ---- our attachments

    /**
     * The access of one of our queue pairs to a queue of the peer, requested now if this is the first time. Any thread.
     *
     * @param domain that the queue has to belong to
     */
    public PoolAccess access(int queue, int queuePair, XrcDomains.Key domain) {
        PoolAccess fresh = new PoolAccess(tokens.incrementAndGet());
        PoolAccess known = accesses.putIfAbsent(key(queue, queuePair), fresh);
        if (known != null) {
            return known;
        }
        // now that an early answer finds it
        session.send(message(ControlMessage.POOL_ATTACH, queue, queuePair).putLong(fresh.token()).putLong(domain.high())
                .putLong(domain.low()), null);
        return fresh;
    }

    /** One of our queue pairs takes no receives of a queue any more. */
    void leave(int queue, int queuePair) {
        if (accesses.remove(key(queue, queuePair)) != null) {
            session.send(message(ControlMessage.POOL_DETACH, queue, queuePair), null);
        }
    }

    /** One of our queue pairs takes no receives any more. */
    public void leave(int queuePair) {
        accesses.keySet().removeIf(k -> {
            if ((int) (long) k != queuePair) {
                return false;
            }
            session.send(message(ControlMessage.POOL_DETACH, (int) (k >>> 32), queuePair), null);
            return true;
        });
    }

    private static long key(int queue, int queuePair) {
        return (long) queue << 32 | queuePair & 0xffffffffL;
    }

    private static ControlMessage.Writer message(int type, int queue, int queuePair) {
        return new ControlMessage.Writer(type).putInt(queue).putInt(queuePair);
    }

    /** Whether one of our queue pairs may read a queue of the peer's. */
    @Override
    public boolean readsPeer() {
        return !accesses.isEmpty();
    }

    // ---- attachments of the peer

    /** The peer's queue pairs that take receives here. */
    public List<RemotePoolUser> remoteUsers() {
        return attachments.stream().map(PoolAttachment::user).distinct().toList();
    }

    @Override
    public boolean uses(int pd) {
        return attachments.stream().anyMatch(s -> s.pool.pd() == pd && !s.pool.isClosed());
    }

    /** Attaches a queue pair of the peer; returns the pool, or null if there is none for it. */
    private @Nullable OwnPool attach(int queue, int queuePair, XrcDomains.Key domain) throws ProtocolException {
        XrcQueue q = directory.queue(queue);
        if (q == null || !q.isOfDomain(domain)) {
            return null;
        }
        if (attachments.size() >= MAX_ATTACHMENTS) {
            throw new ProtocolException("too many queue pairs want receives");
        }
        OwnPool p = q.pool();
        RemotePoolUser user = remoteUser(queue, queuePair);
        if (attachments.add(new PoolAttachment(p, user))) {
            p.add(user);
            session.memories().share(p.pd()); // after the attachment was added, see unshare
        }
        if (p.isClosed()) {
            closed(p); // the closing thread may have searched the attachments before
            return null;
        }
        return p;
    }

    /** A pool of ours is closed. Revocation of memory waits for peers that are still inside. Any thread. */
    @Override
    public void closed(OwnPool pool) {
        for (Iterator<PoolAttachment> all = attachments.iterator(); all.hasNext();) {
            PoolAttachment s = all.next();
            if (s.pool == pool) {
                ownMemories.keepStopped(s.user.inside());
                all.remove();
                session.memories().unshare(pool.pd());
            }
        }
    }

    private RemotePoolUser remoteUser(int queue, int queuePair) {
        return new RemotePoolUser(session.peer(), session.bells(), this, queue, AdapterLayout.qpIndex(queuePair));
    }

    private void detach(int queue, int queuePair) {
        RemotePoolUser user = remoteUser(queue, queuePair);
        List<PoolAttachment> its = attachments.stream().filter(s -> s.user.equals(user)).toList();
        its.forEach(attachments::remove);
        for (PoolAttachment s : its) {
            s.pool.remove(user);
            session.memories().unshare(s.pool.pd());
        }
    }

    /** Handles a message about pools; false if it is another kind. Engine's thread only. */
    @Override
    public boolean receive(ControlMessage.Reader m) throws ProtocolException {
        switch (m.type()) {
            case ControlMessage.POOL_ATTACH -> {
                int queue = m.getInt();
                int qp = m.getInt();
                long token = m.getLong();
                XrcDomains.Key domain = new XrcDomains.Key(m.getLong(), m.getLong());
                m.end();
                OwnPool p = attach(queue, qp, domain);
                session.send(message(ControlMessage.POOL_ATTACHED, queue, qp).putLong(token).putInt(p == null
                        ? 0
                        : p.number()), null);
            }
            case ControlMessage.POOL_ATTACHED -> {
                PoolAccess a = accesses.get(key(m.getInt(), m.getInt()));
                long token = m.getLong();
                int pool = m.getInt();
                m.end();
                if (a != null && a.token() == token) { // else it belongs to an earlier connection
                    a.answer(pool);
                }
            }
            case ControlMessage.POOL_DETACH -> {
                int queue = m.getInt();
                int qp = m.getInt();
                m.end();
                detach(queue, qp);
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    /** The session has ended: receives that the peer had claimed are recovered, once it is not inside any more. */
    @Override
    public void end() {
        for (RemotePoolUser user : remoteUsers()) {
            ownMemories.keepStopped(user.inside());
        }
        for (PoolAttachment s : attachments) {
            s.pool.keepStopped(s.user.inside());
            s.pool.remove(s.user);
        }
        attachments.clear();
        accesses.values().forEach(a -> a.answer(0));
    }
}
