// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.layout;

import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Sys;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.Slots;

/**
 * A context's own adapter: the memory file of {@link AdapterLayout}, and the allocation of its entries. Allocation is safe
 * for use by several threads; an entry is written by its user.
 */
public final class Adapter {
    private final SharedFile file;
    private final long base;
    private final Extents heap = new Extents(AdapterLayout.HEAP, AdapterLayout.SIZE);
    private boolean closed;
    private final Slots keys = new Slots(AdapterLayout.MAX_KEYS);
    private final Slots armWords = new Slots(AdapterLayout.MAX_CQ);

    public Adapter(long instance) throws LinuxException {
        file = new SharedFile("verbena-adapter", AdapterLayout.SIZE, 4096);
        base = file.address();
        RawMemory.putLong(base + AdapterLayout.HEADER_VERSION, AdapterLayout.VERSION);
        RawMemory.putLong(base + AdapterLayout.HEADER_SIZE, AdapterLayout.SIZE);
        RawMemory.putLong(base + AdapterLayout.HEADER_PID, Sys.pid());
        RawMemory.putLong(base + AdapterLayout.HEADER_INSTANCE, instance);
        RawMemory.putLongRelease(base + AdapterLayout.HEADER_MAGIC, AdapterLayout.MAGIC);
    }

    public Fd fd() {
        return file.fd();
    }

    /** Address of the file in this process. */
    public long base() {
        return base;
    }

    /** The file as its own peer sees it, for queue pairs that are connected to this context. */
    public SharedFile file() {
        return file;
    }

    /** Address of a queue pair's directory entry, with its page reserved. */
    public long qpEntry(int number) throws VerbsException {
        return reserve("create QP", AdapterLayout.qpEntry(number), 1L << AdapterLayout.QP_STRIDE_SHIFT);
    }

    /** Address of a completion queue's arm word. */
    public long armWord(int index) {
        return base + AdapterLayout.armWord(index);
    }

    public int takeArmWord() throws VerbsException {
        int i = armWords.take("create CQ", "completion queues");
        try {
            reserve("create CQ", AdapterLayout.armWord(i), 64);
        } catch (VerbsException e) {
            armWords.give(i);
            throw e;
        }
        return i;
    }

    public void giveArmWord(int index) {
        armWords.give(index);
    }

    /** Takes an index of the key table. */
    public int takeKey() throws VerbsException {
        int i = keys.take("register memory", "memory regions");
        try {
            reserve("register memory", AdapterLayout.keyEntry(i << 8), 1L << AdapterLayout.KEY_STRIDE_SHIFT);
        } catch (VerbsException e) {
            keys.give(i);
            throw e;
        }
        return i;
    }

    public void giveKey(int index) {
        keys.give(index);
    }

    /** Takes memory for a receive ring; returns its offset. */
    public long takeRing(long bytes) throws VerbsException {
        return takeRing("create QP", bytes, bytes);
    }

    /**
     * Takes address space for receives; returns its offset.
     *
     * @param used bytes at its beginning that are to be memory at once; more by {@link #reserve}
     */
    public long takeRing(String verb, long bytes, long used) throws VerbsException {
        long at = heap.take(bytes);
        if (at < 0) {
            throw new VerbsException(verb, Errno.ENOMEM,
                    "the receive rings of this context are full (" + AdapterLayout.SIZE + " bytes)");
        }
        try {
            reserve(verb, at, used);
        } catch (VerbsException e) {
            heap.give(at, bytes);
            throw e;
        }
        return at;
    }

    public void giveRing(long at, long bytes) {
        heap.give(at, bytes);
    }

    /** Ensures that a range has memory; returns its address. */
    public long reserve(String verb, long offset, long bytes) throws VerbsException {
        try {
            file.reserve(offset, bytes);
        } catch (LinuxException e) {
            throw new VerbsException(verb, e);
        }
        return base + offset;
    }

    /** Announces to the peers that the process is about to end in order. */
    public synchronized void depart() {
        if (!closed) {
            RawMemory.putLongRelease(base + AdapterLayout.HEADER_DEPARTS, 1);
        }
    }

    public synchronized void close() {
        closed = true;
        file.close();
    }
}
