// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.IntSupplier;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.VerbsException;

/** The regions of both ends of a connection, by id. Lookups take no lock; changes take this object's. */
final class Regions {
    static final int REMOTE_ACCESS = AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE;

    private final int side;
    private final int limit;
    private final AtomicReferenceArray<@Nullable LocalRegion> local;
    private final AtomicReferenceArray<@Nullable RemoteRegion> remote;
    private final Generations generations;
    private final Deque<Integer> free = new ArrayDeque<>();
    /** Ids of this end's regions by {@linkplain ImmediateCompletion name}, less one; replaced by each addition. */
    private volatile int[] named = new int[0];
    private int used;
    private int localCount;
    private long localBytes;
    private boolean closed;
    private int remoteCount;
    private long remoteBytes;

    /**
     * @param side of this end, see {@link RegionId}
     * @param limit limit of this end's regions, which the other end accepts
     * @param firsts see {@link Generations}
     */
    Regions(int side, int limit, IntSupplier firsts) {
        this.side = side;
        this.limit = limit;
        local = new AtomicReferenceArray<>(limit);
        remote = new AtomicReferenceArray<>(Limits.REGIONS);
        generations = new Generations(limit, firsts);
    }

    int side() {
        return side;
    }

    // ---- this end's

    /** A region of this end that copies may use; null if there is none. */
    @Nullable
    LocalRegion local(int id) {
        LocalRegion region = localOrRevoked(id);
        return region == null || region.isRevoked() ? null : region;
    }

    /** Likewise, but also while it is being deregistered. */
    @Nullable
    LocalRegion localOrRevoked(int id) {
        int index = RegionId.index(id);
        LocalRegion region = index < limit ? local.getAcquire(index) : null;
        return region == null || region.id() != id ? null : region;
    }

    /** Whether a region of this end has or had this id. */
    synchronized boolean everAssigned(int id) {
        int index = RegionId.index(id);
        return RegionId.isValid(id) && RegionId.side(id) == side && index < used
                && generations.wasUsed(index, RegionId.generation(id));
    }

    /** Reserves memory that is about to be registered; fails beyond the limits. */
    synchronized void reserve(String verb, long bytes) throws VerbsException {
        if (closed) {
            throw new VerbsException(verb, Errno.ENOTCONN, "the remote memory of the connection has ended");
        }
        if (localCount >= limit || free.isEmpty() && used == limit) {
            throw new VerbsException(verb, Errno.ENOSPC, "the connection has " + localCount
                    + " regions, and that is the limit: deregister some, or set -Dverbena.erm.regions at both ends");
        }
        if (bytes > Limits.BYTES - localBytes) {
            throw new VerbsException(verb, Errno.ENOSPC, bytes + " bytes beyond the " + localBytes
                    + " that are registered are more than the connection may have (" + Limits.BYTES
                    + ", -Dverbena.erm.memory)");
        }
        localCount++;
        localBytes += bytes;
    }

    synchronized void unreserve(long bytes) {
        localCount--;
        localBytes -= bytes;
    }

    /** Assigns an id to {@linkplain #reserve reserved} memory; null if the remote memory has ended meanwhile. */
    synchronized @Nullable LocalRegion add(RemoteMemory owner, RegionMemory memory, int access, long tag) {
        if (closed) {
            return null;
        }
        int index = free.isEmpty() ? used++ : free.pop();
        int id = RegionId.of(generations.next(index), index, side);
        int name = (access & AccessFlags.REMOTE_WRITE) != 0 ? nextName(id) : ImmediateCompletion.NO_NAME;
        LocalRegion region = new LocalRegion(owner, id, name, memory, access, tag);
        local.setRelease(index, region);
        return region;
    }

    private int nextName(int id) {
        int count = named.length;
        if (count == ImmediateCompletion.NAMES) {
            return ImmediateCompletion.NO_NAME;
        }
        int[] more = Arrays.copyOf(named, count + 1);
        more[count] = id;
        named = more;
        return count + 1;
    }

    /**
     * The id of the region of this end that has or had a {@linkplain ImmediateCompletion name}; 0 if the name was never
     * assigned.
     */
    int idOfName(int name) {
        int[] all = named;
        return name > 0 && name <= all.length ? all[name - 1] : 0;
    }

    /** Removes a region of this end; its slot is reused under another id. */
    synchronized void remove(LocalRegion region) {
        int index = RegionId.index(region.id());
        if (local.getPlain(index) == region) {
            local.setRelease(index, null);
            unreserve(region.length());
            if (!generations.isExhausted(index)) {
                free.push(index);
            }
        }
    }

    /** Rejects further regions; returns those of this end. */
    synchronized List<LocalRegion> close() {
        closed = true;
        return locals();
    }

    synchronized List<LocalRegion> locals() {
        List<LocalRegion> all = new ArrayList<>();
        for (int i = 0; i < used; i++) {
            LocalRegion region = local.getAcquire(i);
            if (region != null) {
                all.add(region);
            }
        }
        return all;
    }

    synchronized int localCount() {
        return localCount;
    }

    synchronized long localBytes() {
        return localBytes;
    }

    // ---- the other end's

    /** A region of the other end; null if there is none, or it was removed. */
    @Nullable
    RemoteRegion remote(int id) {
        int index = RegionId.index(id);
        RemoteRegion region = index < remote.length() ? remote.getAcquire(index) : null;
        return region == null || region.id() != id ? null : region;
    }

    /** The region in a slot; null if the slot is empty. */
    @Nullable
    RemoteRegion remoteAt(int index) {
        return remote.getAcquire(index);
    }

    /**
     * Adds a region of the other end.
     *
     * @return 0; {@code ENOSPC} if there is no slot for it; {@code EPROTO} if it is invalid
     */
    synchronized int addRemote(RemoteRegion region) {
        int id = region.id();
        if (!RegionId.isValid(id) || RegionId.side(id) == side || region.length() <= 0
                || region.address() < 0 || region.address() > Long.MAX_VALUE - region.length()
                || !isRemoteAccess(region.access()) || region.name() < ImmediateCompletion.NO_NAME
                || region.name() > ImmediateCompletion.NAMES) {
            return Errno.EPROTO;
        }
        int index = RegionId.index(id);
        if (index >= remote.length()) {
            return Errno.ENOSPC;
        }
        if (remote.getPlain(index) != null) {
            return Errno.EPROTO;
        }
        remote.setRelease(index, region);
        remoteCount++;
        remoteBytes += region.length();
        return 0;
    }

    private static boolean isRemoteAccess(int access) {
        return (access & REMOTE_ACCESS) != 0 && (access & ~REMOTE_ACCESS) == 0;
    }

    /**
     * Holds a region of the other end whose rights are about to change: copies that start from now on have no right to
     * it. False if that is a protocol error.
     */
    synchronized boolean holdRemote(int id) {
        RemoteRegion region = remote(id);
        if (region == null || region.isHeld()) {
            return false;
        }
        remote.setRelease(RegionId.index(id), region.hold());
        return true;
    }

    /**
     * Applies an update of the other end to its region; more than the tag may change only while it is held. False if
     * that is a protocol error.
     */
    synchronized boolean changeRemote(Messages.Message m) {
        RemoteRegion region = remote(m.id());
        if (region == null || m.length() != region.length() || !isRemoteAccess(m.access()) || m.address() < 0
                || m.address() > Long.MAX_VALUE - m.length() || !region.isHeld() && (m.access() != region.access()
                        || m.key() != region.rkey() || m.address() != region.address())) {
            return false;
        }
        remote.setRelease(RegionId.index(m.id()), region.change(m.key(), m.address(), m.access(), m.tag()));
        return true;
    }

    /** Removes a region of the other end: copies that start from now on do not find it. Null if there is none. */
    synchronized @Nullable RemoteRegion removeRemote(int id) {
        RemoteRegion region = remote(id);
        if (region != null) {
            region.revoke();
            remote.setRelease(RegionId.index(id), null);
            remoteCount--;
            remoteBytes -= region.length();
        }
        return region;
    }

    List<RemoteRegion> remotes() {
        List<RemoteRegion> all = new ArrayList<>();
        for (int i = 0; i < remote.length(); i++) {
            RemoteRegion region = remote.getAcquire(i);
            if (region != null) {
                all.add(region);
            }
        }
        return all;
    }

    synchronized int remoteCount() {
        return remoteCount;
    }

    synchronized long remoteBytes() {
        return remoteBytes;
    }
}
