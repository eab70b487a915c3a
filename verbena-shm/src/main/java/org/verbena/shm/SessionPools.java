package org.verbena.shm;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

import org.jspecify.annotations.Nullable;

/**
 * Receives taken out of shared receive queues of type XRC, by queue pairs that are not connected to one of the queue's
 * process: who of the peer takes from us, and what we may take from the peer. A queue pair asks once for each queue, so
 * that the owner gives its process the memory and knows whose {@link Hazard} to look at.
 */
final class SessionPools {
    private final ShmContext context;
    private final Session session;
    private final List<Seat> seats = new CopyOnWriteArrayList<>();
    private final Map<Long, PoolAccess> accesses = new ConcurrentHashMap<>();

    private record Seat(OwnPool pool, PoolGuest guest) {}

    SessionPools(ShmContext context, Session session) {
        this.context = context;
        this.session = session;
    }

    // ---- what we take

    /**
     * The way of one of our queue pairs to a queue of the peer, asked for now if this is the first time. Any thread.
     *
     * @param domain which the queue has to belong to
     */
    PoolAccess access(int queue, int queuePair, XrcDomains.Key domain) {
        PoolAccess fresh = new PoolAccess();
        PoolAccess known = accesses.putIfAbsent(key(queue, queuePair), fresh);
        if (known != null) {
            return known;
        }
        // now that an answer finds it, however soon it comes
        session.send(message(ControlMessage.POOL_ATTACH, queue, queuePair).putLong(domain.high()).putLong(domain.low()),
                null);
        return fresh;
    }

    /** One of our queue pairs will not take anything any more. */
    void leave(int queuePair) {
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

    // ---- what the peer takes

    /** Those of the peer's queue pairs that take receives here. */
    List<PoolGuest> guests() {
        return seats.stream().map(Seat::guest).distinct().toList();
    }

    boolean hasGuestsOf(int pd) {
        return seats.stream().anyMatch(s -> s.pool.pd() == pd && !s.pool.isClosed());
    }

    /** Lets a queue pair of the peer in; answers the pool, or null if there is none for it. */
    private @Nullable OwnPool seat(int queue, int queuePair, XrcDomains.Key domain) {
        ShmSharedReceiveQueue q = context.xrc().queue(queue);
        if (q == null || !q.isOfDomain(domain) || q.pool().isClosed()) {
            return null;
        }
        OwnPool p = q.pool();
        Seat s = new Seat(p, new PoolGuest(session, queue, ReadySet.index(queuePair)));
        if (!seats.contains(s)) {
            seats.removeIf(o -> o.pool.isClosed());
            seats.add(s);
            p.add(s.guest);
            session.memories().share(p.pd()); // after the seat was taken, see unshare
        }
        return p;
    }

    private void unseat(int queue, int queuePair) {
        PoolGuest g = new PoolGuest(session, queue, ReadySet.index(queuePair));
        List<Seat> its = seats.stream().filter(s -> s.guest.equals(g)).toList();
        seats.removeAll(its);
        for (Seat s : its) {
            s.pool.remove(g);
            session.memories().unshare(s.pool.pd());
        }
    }

    /** Handles a message about pools; answers false if it is none. Engine's thread only. */
    boolean receive(ControlMessage.Reader m) throws ProtocolException {
        switch (m.type()) {
            case ControlMessage.POOL_ATTACH -> {
                int queue = m.getInt();
                int qp = m.getInt();
                XrcDomains.Key domain = new XrcDomains.Key(m.getLong(), m.getLong());
                m.end();
                OwnPool p = seat(queue, qp, domain);
                session.send(message(ControlMessage.POOL_ATTACHED, queue, qp).putInt(p == null ? 0 : p.number()), null);
            }
            case ControlMessage.POOL_ATTACHED -> {
                PoolAccess a = accesses.get(key(m.getInt(), m.getInt()));
                int pool = m.getInt();
                m.end();
                if (a != null) {
                    a.answer(pool);
                }
            }
            case ControlMessage.POOL_DETACH -> {
                int queue = m.getInt();
                int qp = m.getInt();
                m.end();
                unseat(queue, qp);
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    /** The peer is dead: what it had claimed comes back. */
    void end() {
        for (Seat s : seats) {
            s.pool.remove(s.guest);
        }
        seats.clear();
        accesses.values().forEach(a -> a.answer(0));
    }
}
