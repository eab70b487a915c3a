package org.verbena.shm;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Receives taken out of a pool with an inbox by queue pairs that are not connected to one of the pool's process: who of
 * the peer takes from us, and what we may take from the peer. A queue pair asks once for each pool, so that the owner
 * gives its process the memory and knows whose {@link Hazard} to look at.
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

    /** The way of one of our queue pairs to a pool of the peer, asked for now if this is the first time. Any thread. */
    PoolAccess access(int pool, int queuePair) {
        return accesses.computeIfAbsent(key(pool, queuePair), k -> {
            PoolAccess a = new PoolAccess();
            session.send(message(ControlMessage.POOL_ATTACH, pool, queuePair), null);
            return a;
        });
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

    private static long key(int pool, int queuePair) {
        return (long) pool << 32 | queuePair & 0xffffffffL;
    }

    private static ControlMessage.Writer message(int type, int pool, int queuePair) {
        return new ControlMessage.Writer(type).putInt(pool).putInt(queuePair);
    }

    // ---- what the peer takes

    /** Those of the peer's queue pairs that take receives here. */
    List<PoolGuest> guests() {
        return seats.stream().map(Seat::guest).distinct().toList();
    }

    boolean hasGuestsOf(int pd) {
        return seats.stream().anyMatch(s -> s.pool.pd() == pd && !s.pool.isClosed());
    }

    private boolean seat(int number, int queuePair) {
        OwnPool p = context.commons().pool(number);
        if (p == null || p.reader() == null) {
            return false;
        }
        Seat s = new Seat(p, new PoolGuest(session, ReadySet.index(queuePair)));
        if (!seats.contains(s)) {
            seats.removeIf(o -> o.pool.isClosed());
            seats.add(s);
            p.add(s.guest);
            session.memories().share(p.pd()); // after the seat was taken, see unshare
        }
        return true;
    }

    private void unseat(int number, int queuePair) {
        PoolGuest g = new PoolGuest(session, ReadySet.index(queuePair));
        List<Seat> its = seats.stream().filter(s -> s.pool.number() == number && s.guest.equals(g)).toList();
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
                int pool = m.getInt();
                int qp = m.getInt();
                m.end();
                session.send(message(ControlMessage.POOL_ATTACHED, pool, qp).putInt(seat(pool, qp) ? 1 : 0), null);
            }
            case ControlMessage.POOL_ATTACHED -> {
                PoolAccess a = accesses.get(key(m.getInt(), m.getInt()));
                boolean granted = m.getInt() == 1;
                m.end();
                if (a != null) {
                    a.answer(granted);
                }
            }
            case ControlMessage.POOL_DETACH -> {
                int pool = m.getInt();
                int qp = m.getInt();
                m.end();
                unseat(pool, qp);
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
        accesses.values().forEach(a -> a.answer(false));
    }
}
