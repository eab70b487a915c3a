// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.pool;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.CommonsLayout;
import org.verbena.shm.layout.Extents;
import org.verbena.shm.layout.SharedFile;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.Slots;

/** A context's own commons: the memory file of {@link CommonsLayout}, and the pools in it. */
public final class Commons {
    private final SharedFile file;
    private final Extents heap = new Extents(CommonsLayout.HEAP, CommonsLayout.SIZE);
    private final Slots indexes = new Slots(CommonsLayout.MAX_POOLS);
    private final int[] generations = new int[CommonsLayout.MAX_POOLS];
    private final AtomicReferenceArray<@Nullable OwnPool> pools = new AtomicReferenceArray<>(CommonsLayout.MAX_POOLS);

    public Commons(long instance) throws LinuxException {
        file = SharedFile.commons("verbena-commons", CommonsLayout.SIZE, 4096);
        long base = file.address();
        RawMemory.putLong(base + CommonsLayout.HEADER_VERSION, AdapterLayout.VERSION);
        RawMemory.putLong(base + CommonsLayout.HEADER_SIZE, CommonsLayout.SIZE);
        RawMemory.putLong(base + CommonsLayout.HEADER_INSTANCE, instance);
        RawMemory.putLongRelease(base + CommonsLayout.HEADER_MAGIC, CommonsLayout.MAGIC);
    }

    public Fd fd() {
        return file.fd();
    }

    /** The file as its own peer sees it. */
    public SharedFile file() {
        return file;
    }

    /** A number for a pool, 24 bits, that was not used for a long time; its two lines are zeroed. */
    int takeNumber(String verb) throws VerbsException {
        int index = indexes.take(verb, "shared receive queues and datagram queue pairs");
        try {
            long at = reserve(verb, CommonsLayout.pool(index), 1L << CommonsLayout.POOL_STRIDE_SHIFT);
            RawMemory.fill(at, 1L << CommonsLayout.POOL_STRIDE_SHIFT, (byte) 0);
        } catch (VerbsException e) {
            indexes.give(index);
            throw e;
        }
        synchronized (generations) {
            generations[index] = generations[index] % 0x7ff + 1;
            return generations[index] << 13 | index;
        }
    }

    public static int index(int number) {
        return number & CommonsLayout.MAX_POOLS - 1;
    }

    void giveNumber(int number) {
        indexes.give(index(number));
    }

    /** Address of a pool's two lines. */
    public long line(int number) {
        return file.address() + CommonsLayout.pool(index(number));
    }

    /** Takes address space for an inbox; returns its offset. */
    long takeInbox(String verb, long bytes) throws VerbsException {
        long at = heap.take(bytes);
        if (at < 0) {
            throw new VerbsException(verb, Errno.ENOMEM, "the inboxes of this context are full ("
                    + CommonsLayout.SIZE + " bytes)");
        }
        return at;
    }

    void giveInbox(long at, long bytes) {
        heap.give(at, bytes);
    }

    /** Ensures that a range has memory; returns its address. */
    long reserve(String verb, long offset, long bytes) throws VerbsException {
        try {
            file.reserve(offset, bytes);
        } catch (LinuxException e) {
            throw new VerbsException(verb, e);
        }
        return file.address() + offset;
    }

    void put(OwnPool pool) {
        pools.set(index(pool.number()), pool);
    }

    void remove(OwnPool pool) {
        pools.set(index(pool.number()), null);
    }

    /** The pool of that number; null if there is none any more. */
    @Nullable
    OwnPool pool(int number) {
        OwnPool p = pools.get(index(number));
        return p != null && p.number() == number ? p : null;
    }

    /** All pools there are. */
    List<OwnPool> all() {
        List<OwnPool> list = new ArrayList<>();
        for (int i = 0; i < pools.length(); i++) {
            OwnPool p = pools.get(i);
            if (p != null) {
                list.add(p);
            }
        }
        return list;
    }

    public void close() {
        file.close();
    }
}
