// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream.memory;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.VerbsException;

/**
 * Registered memory of one session, handed out in pieces of powers of two: control blocks, rings, queues. It grows by
 * regions that double, and what is given back is used again for pieces of the same size. A region of which nothing is
 * in use for a while is given back; so that there are such, large rings, which may go soon, lie in regions of their
 * own. Safe for use by several threads.
 */
public final class Arena implements AutoCloseable {
    /** The smallest piece, two cache lines. */
    public static final int SMALLEST = 128;
    /** How long a region stays of which nothing is used. */
    public static final long IDLE_NANOS = 1_000_000_000L;
    private static final long FIRST_REGION = 64 << 10;
    private static final int SMALL = 0;
    private static final int LARGE = 1;

    /** Memory that is registered together. */
    private static final class Region {
        final MemoryRegion registered;
        final int pool;
        /** Bytes at its beginning that were handed out once. */
        long begun;
        /** Bytes that are handed out now. */
        long used;
        /** System.nanoTime() since when that is 0. */
        long idleSince;

        Region(MemoryRegion registered, int pool) {
            this.registered = registered;
            this.pool = pool;
        }

        Memory next(int size) {
            Memory piece = new Memory(registered, registered.address() + begun,
                    registered.segment().asSlice(begun, size), registered.segment().asSlice(begun, size)
                            .asByteBuffer());
            begun += size;
            return piece;
        }
    }

    private final ProtectionDomain pd;
    private final long limit;
    private final RingMemory memory;
    private final Consumer<Arena> whenIdle;
    private final Map<Integer, ArrayDeque<Memory>> free = new HashMap<>();
    private final IdentityHashMap<MemoryRegion, Region> regions = new IdentityHashMap<>();
    private final @Nullable Region[] current = new @Nullable Region[2];
    private long total;
    /** {@link #closeIdle} will be called: a region that goes in and out of use has it called once, not each time. */
    private boolean closeDue;

    /**
     * Makes one without memory.
     *
     * @param limit bytes that it may have
     * @param whenIdle run when a region is not used any more: {@link #closeIdle} is to be called later, and again as
     *        long as it returns so; it is not run once more before
     */
    public Arena(ProtectionDomain pd, long limit, RingMemory memory, Consumer<Arena> whenIdle) {
        this.pd = pd;
        this.limit = limit;
        this.memory = memory;
        this.whenIdle = whenIdle;
    }

    /**
     * A piece; its bytes are what they were.
     *
     * @param size a power of two, at least {@link #SMALLEST}
     * @throws VerbsException {@code ENOMEM}, {@code EMFILE}
     */
    public Memory allocate(int size) throws VerbsException {
        return allocate(size, size > RingMemory.SMALL_RING ? LARGE : SMALL);
    }

    /** As {@link #allocate}, for what stays as long as the session: a large region is not to stay for its sake. */
    public Memory allocatePermanently(int size) throws VerbsException {
        return allocate(size, SMALL);
    }

    private synchronized Memory allocate(int size, int pool) throws VerbsException {
        if (Integer.bitCount(size) != 1 || size < SMALLEST) {
            throw new IllegalArgumentException("not a power of two from " + SMALLEST + " on: " + size);
        }
        ArrayDeque<Memory> same = free.get(size);
        Memory piece = same == null ? null : same.poll();
        if (piece == null) {
            Region region = current[pool];
            if (region == null || region.registered.length() - region.begun < size) {
                region = grow(size, pool);
            }
            piece = region.next(size);
        }
        use(piece);
        return piece;
    }

    private void use(Memory piece) {
        Region region = regionOf(piece);
        region.idleSince = 0;
        region.used += piece.size();
    }

    private Region regionOf(Memory piece) {
        Region region = regions.get(piece.region());
        if (region == null) {
            throw new IllegalArgumentException("not a piece of this memory, or it was given back");
        }
        return region;
    }

    /**
     * Whether a larger ring leaves enough for others, and for the program: of the session's limit a quarter is for
     * first rings.
     */
    public synchronized boolean hasAmple(int size) {
        ArrayDeque<Memory> same = free.get(size);
        if (same != null && !same.isEmpty()) {
            return true;
        }
        int pool = size > RingMemory.SMALL_RING ? LARGE : SMALL;
        Region region = current[pool];
        return total + size <= limit - limit / 4
                && (region != null && region.registered.length() - region.begun >= size
                        || memory.allows(size, regionBytes(size)));
    }

    /** Counts a larger ring that was not granted. */
    public void refuse() {
        memory.refuse();
    }

    /** Gives a piece back that no peer writes to any more. */
    public void free(Memory piece) {
        boolean schedules = false;
        synchronized (this) {
            Region region = regions.get(piece.region());
            if (region == null) {
                return; // the session is closed
            }
            free.computeIfAbsent(piece.size(), size -> new ArrayDeque<>()).push(piece);
            region.used -= piece.size();
            if (region.used == 0) {
                region.idleSince = System.nanoTime() | 1;
                schedules = !closeDue;
                closeDue = true;
            }
        }
        if (schedules) {
            whenIdle.accept(this);
        }
    }

    /** Bytes that are registered. */
    public synchronized long total() {
        return total;
    }

    private long regionBytes(int size) {
        return Math.max(size, Math.min(Math.max(FIRST_REGION, total), memory.largestRegion()));
    }

    private Region grow(int size, int pool) throws VerbsException {
        Region before = current[pool];
        if (before != null) { // the rest of it, in the largest pieces that fit
            long rest = before.registered.length() - before.begun;
            for (int piece = Integer.highestOneBit((int) Math.min(rest, 1 << 30)); piece >= SMALLEST; piece >>= 1) {
                if (rest >= piece) {
                    free.computeIfAbsent(piece, s -> new ArrayDeque<>()).push(before.next(piece));
                    rest -= piece;
                }
            }
        }
        long bytes = regionBytes(size);
        if (total + bytes > limit) {
            throw new VerbsException("allocate rings", Errno.ENOMEM,
                    "the session has " + total + " bytes of at most " + limit);
        }
        Region region = new Region(pd.allocate(bytes, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE
                | AccessFlags.REMOTE_READ), pool);
        regions.put(region.registered, region);
        current[pool] = region;
        total += bytes;
        memory.add(bytes);
        return region;
    }

    /**
     * Gives regions back that were not used for a while.
     *
     * @return nanoseconds after which there may be more to be given back; {@link Long#MAX_VALUE} if that is not so
     */
    public long closeIdle(long now) {
        List<MemoryRegion> old = new ArrayList<>();
        long next = takeIdle(now, old);
        for (MemoryRegion region : old) { // without the lock: the peer may take a moment to let it go
            try {
                region.close();
            } catch (VerbsException e) {
                StreamLog.debug("memory of rings is given back with their session only: " + e.getMessage());
            }
        }
        return next;
    }

    private synchronized long takeIdle(long now, List<MemoryRegion> old) {
        long next = Long.MAX_VALUE;
        for (Region region : List.copyOf(regions.values())) {
            if (region.used != 0 || region.idleSince == 0) {
                continue;
            }
            long left = IDLE_NANOS - (now - region.idleSince);
            if (left > 0) {
                next = Math.min(next, left);
                continue;
            }
            old.add(region.registered);
            regions.remove(region.registered);
            free.values().forEach(pieces -> pieces.removeIf(p -> p.region() == region.registered));
            if (region.equals(current[region.pool])) {
                current[region.pool] = null;
            }
            total -= region.registered.length();
            memory.add(-region.registered.length());
        }
        closeDue = next != Long.MAX_VALUE;
        return next;
    }

    /** Gives all of it back. */
    @Override
    public synchronized void close() throws VerbsException {
        free.clear();
        current[SMALL] = null;
        current[LARGE] = null;
        memory.add(-total);
        total = 0;
        List<MemoryRegion> all = regions.values().stream().map(r -> r.registered).toList();
        regions.clear();
        for (MemoryRegion region : all) {
            region.close();
        }
    }
}
