package org.verbena.sockets.stream;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.VerbsException;

/**
 * Registered memory of one session, handed out in pieces of powers of two: control blocks, rings, queues. It grows by
 * regions that double, and what is given back is used again for pieces of the same size. Safe for use by several threads.
 */
final class Arena implements AutoCloseable {
    /** The smallest piece, two cache lines. */
    static final int SMALLEST = 128;
    private static final long FIRST_REGION = 64 << 10;
    private static final long LARGEST_REGION = 16 << 20;

    private final ProtectionDomain pd;
    private final long limit;
    private final Map<Integer, ArrayDeque<Memory>> free = new HashMap<>();
    private final List<MemoryRegion> regions = new ArrayList<>();
    private @Nullable MemoryRegion current;
    private long used;
    private long total;

    /** @param limit bytes that it may have */
    Arena(ProtectionDomain pd, long limit) {
        this.pd = pd;
        this.limit = limit;
    }

    /**
     * A piece; its bytes are what they were.
     *
     * @param size a power of two, at least {@link #SMALLEST}
     * @throws VerbsException {@code ENOMEM}, {@code EMFILE}
     */
    synchronized Memory allocate(int size) throws VerbsException {
        if (Integer.bitCount(size) != 1 || size < SMALLEST) {
            throw new IllegalArgumentException("not a power of two from " + SMALLEST + " on: " + size);
        }
        ArrayDeque<Memory> same = free.get(size);
        if (same != null && !same.isEmpty()) {
            return same.pop();
        }
        MemoryRegion region = current;
        if (region == null || region.length() - used < size) {
            region = grow(size);
        }
        Memory piece = new Memory(region, region.address() + used, region.segment().asSlice(used, size),
                region.segment().asSlice(used, size).asByteBuffer());
        used += size;
        return piece;
    }

    /** Whether so much for one connection leaves enough for others: a quarter of the limit is for first rings. */
    synchronized boolean hasAmple(int size) {
        ArrayDeque<Memory> same = free.get(size);
        return same != null && !same.isEmpty() || total + size <= limit - limit / 4;
    }

    /** Gives a piece back that no peer writes to any more. */
    synchronized void free(Memory piece) {
        free.computeIfAbsent(piece.size(), size -> new ArrayDeque<>()).push(piece);
    }

    /** Bytes that are registered. */
    synchronized long total() {
        return total;
    }

    private MemoryRegion grow(int size) throws VerbsException {
        MemoryRegion before = current;
        if (before != null) { // the rest of it, in the largest pieces that fit
            long rest = before.length() - used;
            for (int piece = Integer.highestOneBit((int) Math.min(rest, 1 << 30)); piece >= SMALLEST; piece >>= 1) {
                if (rest >= piece) {
                    free(new Memory(before, before.address() + used, before.segment().asSlice(used, piece),
                            before.segment().asSlice(used, piece).asByteBuffer()));
                    used += piece;
                    rest -= piece;
                }
            }
        }
        long bytes = Math.max(size, Math.min(Math.max(FIRST_REGION, total), LARGEST_REGION));
        if (total + bytes > limit) {
            throw new VerbsException("allocate rings", Errno.ENOMEM,
                    "the session has " + total + " bytes of at most " + limit);
        }
        MemoryRegion region = pd.allocate(bytes, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE
                | AccessFlags.REMOTE_READ);
        regions.add(region);
        current = region;
        used = 0;
        total += bytes;
        return region;
    }

    /** Gives all of it back. */
    @Override
    public synchronized void close() throws VerbsException {
        free.clear();
        current = null;
        total = 0;
        for (MemoryRegion region : regions) {
            region.close();
        }
        regions.clear();
    }
}
