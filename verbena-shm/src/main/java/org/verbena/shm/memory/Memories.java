// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.memory;

import java.lang.foreign.MemorySegment;
import java.util.Collection;
import java.util.HashSet;
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
import org.verbena.shm.layout.Hazard;
import org.verbena.shm.layout.ShmLimits;
import org.verbena.verbs.VerbsException;

/**
 * The memory of a context: allocations that peers may map, and the regions in it, with their revocation. Thread-safe.
 */
public final class Memories {
    private final String context;
    private final MemoryPeers peers;
    private final KeyTable keys;
    private final Map<Long, Allocation> allocations = new ConcurrentHashMap<>();
    private final AtomicLong next = new AtomicLong();
    /** Bytes of device memory that are allocated. */
    private final AtomicLong deviceMemory = new AtomicLong();
    /** Peers that were inside a transfer when their queue pair was closed here, or their session ended. */
    private final Queue<Revocation.Inside> stoppedPeers = new ConcurrentLinkedQueue<>();
    /** Closing the context revokes all regions together; no single one is added or removed meanwhile. */
    private final ReadWriteLock revocations = new ReentrantReadWriteLock();

    /**
     * Makes one.
     *
     * @param context its name in errors
     */
    public Memories(String context, MemoryPeers peers, KeyTable keys) {
        this.context = context;
        this.peers = peers;
        this.keys = keys;
    }

    // ---- allocations

    /** Allocates memory that no protection domain uses yet. */
    public Allocation allocate(String verb, long bytes) throws VerbsException {
        return Allocation.make(verb, next.incrementAndGet(), bytes);
    }

    /** Allocates memory that stays without regions, as far as there is room for it. */
    public Allocation allocateDeviceMemory(String verb, long bytes) throws VerbsException {
        if (deviceMemory.addAndGet(bytes) > ShmLimits.MAX_DEVICE_MEMORY || bytes > ShmLimits.MAX_DEVICE_MEMORY) {
            deviceMemory.addAndGet(-bytes);
            throw new VerbsException(verb, Errno.ENOMEM, "a context has " + ShmLimits.MAX_DEVICE_MEMORY
                    + " bytes of it, " + deviceMemory.get() + " are allocated");
        }
        try {
            Allocation a = allocate(verb, bytes);
            a.hold(true);
            return a;
        } catch (VerbsException e) {
            deviceMemory.addAndGet(-bytes);
            throw e;
        }
    }

    public void freeDeviceMemory(Allocation a) throws VerbsException {
        a.hold(false);
        if (a.retire()) {
            allocations.remove(a.id);
            peers.freed(a);
            a.free();
            deviceMemory.addAndGet(-a.bytes);
        }
    }

    /** Maps a shared buffer that no protection domain uses yet. */
    public Allocation map(String verb, int descriptor, long offset, long bytes) throws VerbsException {
        return Allocation.ofDmaBuf(verb, next.incrementAndGet(), descriptor, offset, bytes);
    }

    /** A region of a protection domain lies in the memory from now on. */
    private void use(Allocation a, int pd) throws VerbsException {
        if (!a.use(pd)) {
            throw new VerbsException("register memory", Errno.EINVAL, "it was released meanwhile");
        }
        allocations.put(a.id, a);
        peers.allocated(a, pd);
    }

    /** A region is gone; the memory goes with the last one. */
    private void unuse(Allocation a, int pd) throws VerbsException {
        boolean none = a.unuse(pd);
        if (a.retire()) {
            allocations.remove(a.id);
            peers.freed(a);
            a.free();
        } else if (none) {
            peers.unused(a);
        }
    }

    @Nullable
    public Allocation allocation(long id) {
        return allocations.get(id);
    }

    public List<Allocation> allocations(int pd) {
        return allocations.values().stream().filter(a -> a.isUsedBy(pd)).toList();
    }

    /** The allocation of a protection domain that a segment lies in, if any. */
    @Nullable
    public Allocation allocationOf(int pd, MemorySegment segment) {
        for (Allocation a : allocations.values()) {
            if (a.isUsedBy(pd) && a.holds(segment)) {
                return a;
            }
        }
        return null;
    }

    /**
     * The memory of a region by its address in this process.
     *
     * @param known an allocation that the memory may belong to, though no region of that protection domain lies in it yet
     */
    public Backing backing(int pd, MemorySegment memory, int access, @Nullable Allocation known) {
        Allocation a = known != null && known.holds(memory) ? known : allocationOf(pd, memory);
        return Backing.of(memory, a, Backing.start(memory, access));
    }

    // ---- regions

    /** Gives memory a key; an allocation that is not used yet is freed if that fails. */
    public Region register(int pd, int access, Backing backing) throws VerbsException {
        Allocation a = backing.allocation();
        if (a != null) {
            peers.awaitRoom();
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
            if (a == null && !backing.nullRegion()) {
                letPeersReachRegisteredMemory();
            }
        }
    }

    /**
     * Where the kernel restricts ptrace to descendants (Yama, scope 1), allows the processes of this user to access memory
     * that was only registered.
     */
    private static void letPeersReachRegisteredMemory() {
        if (Prctl.yamaScope() == 1) {
            Prctl.setPtracer(Prctl.PTRACER_ANY);
        }
    }

    /** Revokes a region; complete when it returns. */
    public void deregister(String name, Region r) throws VerbsException {
        refuseWindows("deregister " + name, r);
        revocations.readLock().lock();
        try {
            Allocation a = r.allocation;
            // an invalid one was revoked already, because the context closes
            List<Revocation.Inside> left = r.valid ? revoke(name, List.of(r)) : List.of();
            if (!left.isEmpty() && (a == null || !a.vanishesWithout(r.pd))) {
                keys.restore(r);
                r.allowWindows();
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
    public Region reregister(String name, Region old, int pd, int access, Backing backing) throws VerbsException {
        refuseWindows("reregister " + name, old);
        revocations.readLock().lock();
        try {
            List<Revocation.Inside> left = revoke(name, List.of(old));
            if (!left.isEmpty()) {
                keys.restore(old);
                old.allowWindows();
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

    private static void refuseWindows(String verb, Region r) throws VerbsException {
        if (!r.refuseWindows()) {
            throw new VerbsException(verb, Errno.EBUSY,
                    "a memory window is bound to it: invalidate or close that first");
        }
    }

    // ---- memory windows

    /** Revokes a window's key; complete when it returns. The caller has made it busy. */
    void withdraw(String name, Window w) throws VerbsException {
        w.withdraw();
        List<Revocation.Inside> left = awaitLeft(name, Set.of(Hazard.region(w.rkey())));
        if (!left.isEmpty()) {
            throw stopped("invalidate " + name, left.getFirst(), "");
        }
        w.release();
    }

    public void close(String name, Window w) throws VerbsException {
        revocations.readLock().lock();
        try {
            if (w.beginClose() && w.region() != null) {
                if (w.isSuspended()) {
                    w.release();
                } else {
                    withdraw(name, w);
                }
            }
            keys.remove(w);
        } catch (VerbsException e) {
            w.reopen();
            throw e;
        } finally {
            revocations.readLock().unlock();
        }
    }

    /**
     * Keeps a former peer that may still be inside a transfer: revocations wait for it, too, until it has left. Called when a queue
     * pair or a pool is closed, or a session has ended.
     */
    public void keepStopped(Revocation.Inside peer) {
        stoppedPeers.removeIf(Revocation.Inside::hasLeft);
        if (!peer.hasLeft()) {
            stoppedPeers.add(peer);
        }
    }

    /** True if a peer that is stopped may still be inside a region or window, as hazards name it. */
    public boolean hasStoppedPeerIn(int what) {
        for (Revocation.Inside i : stoppedPeers) {
            if (Hazard.what(i.word()) == what && !i.hasLeft()) {
                return true;
            }
        }
        return false;
    }

    /** Revokes the keys of regions and waits; returns the peers that did not leave, whose queue pairs have failed. */
    private List<Revocation.Inside> revoke(String name, Collection<Region> regions) {
        regions.forEach(keys::invalidate);
        return awaitLeft(name, Revocation.of(regions));
    }

    private List<Revocation.Inside> awaitLeft(String name, Set<Integer> keyIndexes) {
        stoppedPeers.removeIf(Revocation.Inside::hasLeft);
        List<Revocation.Inside> left = Revocation.revoke(peers.queuePairs(), peers.unconnectedUsers(), stoppedPeers,
                keyIndexes);
        for (Revocation.Inside i : left) {
            i.fail("the peer did not leave " + name);
        }
        return left;
    }

    private static VerbsException stopped(String verb, Revocation.Inside peer, String hint) {
        return new VerbsException(verb, Errno.EBUSY, peer.name() + " is stopped in the middle of a transfer to memory "
                + "that stays allocated: resume or end it first" + hint);
    }

    // ---- the end

    /**
     * Revokes all regions at once, and restores all of them if one cannot be revoked: allocations lose their pages with their
     * last region, but registered memory stays.
     */
    public void prepareClose() throws VerbsException {
        revocations.writeLock().lock();
        try {
            List<Region> all = keys.all().stream().filter(r -> r.valid).toList();
            List<Window> windows = keys.boundWindows();
            Set<Integer> kept = new HashSet<>(Revocation.of(all.stream().filter(Memories::stays).toList()));
            Set<Integer> gone = new HashSet<>(Revocation.of(all));
            for (Window w : windows) {
                gone.add(Hazard.region(w.rkey()));
                Region r = w.region();
                if (r != null && stays(r)) {
                    kept.add(Hazard.region(w.rkey()));
                }
            }
            all.forEach(keys::invalidate);
            windows.forEach(Window::suspend);
            List<Revocation.Inside> left = awaitLeft("memory of " + context + ", which was to be closed", gone);
            for (Revocation.Inside i : left) {
                if (!kept.isEmpty() && i.isIn(kept)) {
                    all.forEach(keys::restore);
                    windows.forEach(Window::restore);
                    throw stopped("close " + context, i, "; nothing was closed");
                }
            }
        } finally {
            revocations.writeLock().unlock();
        }
    }

    /** True if the region's pages stay when the context goes. */
    private static boolean stays(Region r) {
        return r.allocation == null || r.allocation.isForeign();
    }

    /** Frees the remaining memory, whose regions were dropped without having been closed, and which peers may still write. */
    public void close() throws VerbsException {
        VerbsException failure = null;
        for (Allocation a : allocations.values()) {
            try {
                a.free();
            } catch (VerbsException e) {
                failure = e;
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}
