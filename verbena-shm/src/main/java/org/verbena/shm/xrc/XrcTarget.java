// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.xrc;

import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.shm.control.RemoteQueuePair;
import org.verbena.shm.control.Session;
import org.verbena.shm.layout.Hazard;
import org.verbena.shm.layout.ProtocolException;
import org.verbena.shm.memory.Target;
import org.verbena.shm.pool.Commons;
import org.verbena.shm.pool.InboxSends;
import org.verbena.shm.pool.PoolAccess;
import org.verbena.shm.pool.RemotePool;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/**
 * A shared receive queue that a queue pair of type XRC_SEND names in its requests: finds it, and keeps the access to it and
 * to the memory of its protection domain. The engine makes the session with its context on demand, and no thread
 * blocks meanwhile. Used by one thread at a time, inside a {@link Hazard}.
 */
public final class XrcTarget {
    /** The owner of the shared receive queue that is named has not answered yet: a result beside status values. */
    public static final int WAIT_FOR_OWNER = -4;

    /** 24 bits. */
    final int number;
    private final XrcTargets all;
    private @Nullable CompletableFuture<Session> asked;
    private @Nullable Session session;
    /** Of that session. */
    private @Nullable SessionPools pools;
    private @Nullable PoolAccess access;
    private @Nullable InboxSends sends;
    private @Nullable Target memory;

    XrcTarget(XrcTargets all, int number) {
        this.all = all;
        this.number = number;
    }

    /**
     * Prepares for a request; to be called after the {@link Hazard} was entered.
     *
     * @return {@link Target#OK}, {@link #WAIT_FOR_OWNER} while the access is being requested,
     *         {@link WcStatus#REM_INV_REQ_ERR} if there is no such queue in the domain any more
     */
    public int prepare(RemoteQueuePair receiver) {
        InboxSends s = sends;
        Session owner = session;
        if (s != null && owner != null) {
            if (s.pool.isOpen() && !owner.isDead() && !owner.mapping().hasEndedForPeer()) {
                return Target.OK;
            }
            forget(owner); // the number may belong to another queue by now
        }
        return find(receiver);
    }

    private void forget(Session s) {
        SessionPools p = pools;
        if (p != null) {
            p.leave(number, all.queuePair().number());
        }
        access = null;
        sends = null;
        closeMemory();
        if (s.isDead()) {
            session = null;
            pools = null;
            asked = null;
        }
    }

    private int find(RemoteQueuePair receiver) {
        Session s = session;
        SessionPools p = pools;
        if (s == null || p == null) {
            CompletableFuture<Session> f = asked;
            if (f == null) {
                f = all.directory().owner(number);
                asked = f;
            }
            if (!f.isDone()) {
                return WAIT_FOR_OWNER;
            }
            if (f.isCompletedExceptionally()) {
                asked = null;
                return isUnreachable(f.exceptionNow()) ? WcStatus.REM_INV_REQ_ERR : WAIT_FOR_OWNER;
            }
            s = f.join();
            session = s;
            p = s.part(SessionPools.class);
            pools = p;
        }
        PoolAccess a = access;
        if (a == null) {
            a = p.access(number, all.queuePair().number(), XrcDomains.Key.ofReceiver(
                    receiver.entry));
            access = a;
        }
        if (!a.isAnswered()) {
            return s.isDead() ? WcStatus.REM_INV_REQ_ERR : WAIT_FOR_OWNER;
        }
        return a.pool() == 0 || s.isDead() ? WcStatus.REM_INV_REQ_ERR : open(s, a.pool(), receiver);
    }

    /** True if there is no such context; other errors may be temporary. */
    private static boolean isUnreachable(Throwable why) {
        return why instanceof VerbsException v && (v.errno() == Errno.EINVAL || v.errno() == Errno.EHOSTUNREACH
                || v.errno() == Errno.ECONNREFUSED);
    }

    private int open(Session s, int poolNumber, RemoteQueuePair receiver) {
        RemotePool pool;
        try {
            pool = RemotePool.at(s.peerMemories(), s.bells(), Commons.index(poolNumber));
            if (!pool.hasInbox()) {
                throw new ProtocolException("a shared receive queue of type XRC has no inbox");
            }
        } catch (ProtocolException e) {
            if (isClosed(s, poolNumber)) {
                return WcStatus.REM_INV_REQ_ERR; // the values may belong to another pool
            }
            all.protocolViolated(s, e);
            return WcStatus.FATAL_ERR;
        }
        if (pool.number != poolNumber || isClosed(s, poolNumber)) {
            return WcStatus.REM_INV_REQ_ERR;
        }
        try {
            pool.reachBell();
        } catch (VerbsException e) {
            return WAIT_FOR_OWNER; // out of descriptors: as if it did not answer
        }
        memory = new Target(s.peerMemories(), pool.pd);
        sends = all.sends(pool, receiver);
        return Target.OK;
    }

    private static boolean isClosed(Session s, int poolNumber) {
        return RemotePool.number(s.mapping(), Commons.index(poolNumber)) != poolNumber;
    }

    /** The sends into its receives; only after {@link #prepare} has succeeded. */
    public InboxSends sends() {
        InboxSends s = sends;
        if (s == null) {
            throw new IllegalStateException("not prepared");
        }
        return s;
    }

    /** The memory of its protection domain; only after {@link #prepare} has succeeded. */
    public Target memory() {
        Target m = memory;
        if (m == null) {
            throw new IllegalStateException("not prepared");
        }
        return m;
    }

    private void closeMemory() {
        Target m = memory;
        if (m != null) {
            memory = null;
            m.close();
        }
    }

    /** No more sends to it. */
    void leave() {
        closeMemory();
        SessionPools p = pools;
        if (p != null) {
            p.leave(all.queuePair().number());
        }
    }
}
