package org.verbena.shm;

import java.lang.foreign.MemorySegment;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.Prctl;
import org.verbena.verbs.VerbsException;

/**
 * The memory of a context: what peers may map, and the regions in it, which are taken away here. Thread-safe.
 */
final class Memories {
    private final ShmContext context;
    private final KeyTable keys;
    private final Map<Long, Allocation> allocations = new ConcurrentHashMap<>();
    private final AtomicLong next = new AtomicLong();
    /** Peers that were stopped inside a transfer when their queue pair was closed here. */
    private final Queue<Revocation.Inside> lingering = new ConcurrentLinkedQueue<>();
    /** Closing the context takes all regions away together; single ones do not come or go meanwhile. */
    private final ReadWriteLock revocations = new ReentrantReadWriteLock();

    Memories(ShmContext context, KeyTable keys) {
        this.context = context;
        this.keys = keys;
    }

    // ---- what peers map

    /** Allocates memory that no protection domain uses yet. */
    Allocation allocate(String verb, long bytes) throws VerbsException {
        return Allocation.make(verb, next.incrementAndGet(), bytes);
    }

    /** Maps a shared buffer that no protection domain uses yet. */
    Allocation map(String verb, int descriptor, long offset, long bytes) throws VerbsException {
        return Allocation.ofDmaBuf(verb, next.incrementAndGet(), descriptor, offset, bytes);
    }

    /** A region of a protection domain lies in the memory from now on. */
    private void use(Allocation a, int pd) {
        a.use(pd);
        allocations.put(a.id, a);
        for (Session s : context.control().sessions()) {
            s.allocated(a, pd);
        }
    }

    /** A region is gone; the memory goes with the last one. */
    private void unuse(Allocation a, int pd) throws VerbsException {
        boolean none = a.unuse(pd);
        if (a.isUsed()) {
            if (none) {
                context.control().sessions().forEach(s -> s.unused(a));
            }
            return;
        }
        allocations.remove(a.id);
        context.control().sessions().forEach(s -> s.freed(a));
        a.free();
    }

    @Nullable
    Allocation allocation(long id) {
        return allocations.get(id);
    }

    List<Allocation> allocations(int pd) {
        return allocations.values().stream().filter(a -> a.isUsedBy(pd)).toList();
    }

    /** The allocation of a protection domain that a segment lies in, if any. */
    @Nullable
    Allocation allocationOf(int pd, MemorySegment segment) {
        for (Allocation a : allocations.values()) {
            if (a.isUsedBy(pd) && a.holds(segment)) {
                return a;
            }
        }
        return null;
    }

    // ---- regions

    /** Gives memory a key; an allocation that is not used yet is freed if that fails. */
    Region register(int pd, int access, Backing backing) throws VerbsException {
        Allocation a = backing.allocation();
        if (a != null) {
            use(a, pd);
        }
        revocations.readLock().lock();
        try {
            return keys.add(pd, access, backing);
        } catch (VerbsException e) {
            if (a != null) {
                unuse(a, pd);
            }
            throw e;
        } finally {
            revocations.readLock().unlock();
            if (a == null && !backing.nothing()) {
                letPeersReachRegisteredMemory();
            }
        }
    }

    /**
     * Where the kernel restricts ptrace to descendants (Yama, scope 1), allows the processes of this user to reach memory
     * that was only registered.
     */
    private static void letPeersReachRegisteredMemory() {
        if (Prctl.yamaScope() == 1) {
            Prctl.setPtracer(Prctl.PTRACER_ANY);
        }
    }

    /** Takes a region away from everybody; complete when it returns. */
    void deregister(String name, Region r) throws VerbsException {
        revocations.readLock().lock();
        try {
            Allocation a = r.allocation;
            // one that is not valid was taken away already, because the context closes
            List<Revocation.Inside> left = r.valid ? revoke(name, List.of(r)) : List.of();
            if (!left.isEmpty() && (a == null || !a.vanishesWithout(r.pd))) {
                keys.restore(r);
                throw stopped("deregister " + name, left.getFirst(), "");
            }
            keys.remove(r);
            if (a != null) {
                unuse(a, r.pd);
            }
        } finally {
            revocations.readLock().unlock();
        }
    }

    /** Replaces a region by another one of the same key; complete when it returns. */
    Region reregister(String name, Region old, int pd, int access, Backing backing) throws VerbsException {
        revocations.readLock().lock();
        try {
            List<Revocation.Inside> left = revoke(name, List.of(old));
            if (!left.isEmpty()) {
                keys.restore(old);
                throw stopped("reregister " + name, left.getFirst(), "");
            }
            Allocation a = backing.allocation();
            if (a != null) {
                use(a, pd);
            }
            Region r = keys.replace(old, pd, access, backing);
            if (old.allocation != null) {
                unuse(old.allocation, old.pd);
            }
            if (a == null) {
                letPeersReachRegisteredMemory();
            }
            return r;
        } finally {
            revocations.readLock().unlock();
        }
    }

    /** A peer has not left a queue pair that is closed all the same. */
    void linger(Revocation.Inside inside) {
        lingering.add(inside);
    }

    /** Takes the keys of regions away and waits; answers those who did not leave, whose queue pairs have failed. */
    private List<Revocation.Inside> revoke(String name, Collection<Region> regions) {
        regions.forEach(keys::invalidate);
        lingering.removeIf(Revocation.Inside::hasLeft);
        List<Revocation.Inside> left = Revocation.revoke(context.queuePairs(), guests(), lingering,
                Revocation.of(regions));
        for (Revocation.Inside i : left) {
            i.fail("the peer did not leave " + name);
        }
        return left;
    }

    /** Queue pairs of peers that take receives here without being connected to one of ours. */
    private List<PoolGuest> guests() {
        return context.control().sessions().stream().flatMap(s -> s.pools().guests().stream()).toList();
    }

    private static VerbsException stopped(String verb, Revocation.Inside who, String hint) {
        return new VerbsException(verb, Errno.EBUSY, who.peer() + " is stopped in the middle of a transfer to memory "
                + "that stays yours: continue or end it first" + hint);
    }

    // ---- the end

    /**
     * Takes all regions away at once, and gives them all back if one cannot be: allocations lose their pages with their
     * last region, but registered memory stays.
     */
    void prepareClose() throws VerbsException {
        String name = context.describe();
        revocations.writeLock().lock();
        try {
            List<Region> all = keys.all().stream().filter(r -> r.valid).toList();
            Set<Integer> kept = Revocation.of(all.stream().filter(r -> r.allocation == null || r.allocation.isForeign())
                    .toList());
            List<Revocation.Inside> left = revoke("memory of " + name + ", which was to be closed", all);
            for (Revocation.Inside i : left) {
                if (!kept.isEmpty() && i.isIn(kept)) {
                    all.forEach(keys::restore);
                    throw stopped("close " + name, i, "; nothing was closed");
                }
            }
        } finally {
            revocations.writeLock().unlock();
        }
    }

    void close() {
        allocations.values().forEach(Allocation::abandon);
    }
}
