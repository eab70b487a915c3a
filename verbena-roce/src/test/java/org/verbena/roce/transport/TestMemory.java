// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.AccessFlags;

/** A protection domain of a test: one piece of memory, and keys to parts of it. */
final class TestMemory implements Memory {
    private record Region(long address, long length, int access, int queuePair) {}

    private final MemorySegment all;
    private final Map<Integer, Region> regions = new HashMap<>();

    TestMemory(long bytes) {
        all = Arena.ofAuto().allocate(bytes, 4096);
    }

    long address() {
        return RawMemory.addressOf(all);
    }

    MemorySegment segment() {
        return all;
    }

    /** A key to a range of the memory. */
    void add(int key, long offset, long length, int access) {
        all.asSlice(offset, length);
        regions.put(key, new Region(address() + offset, length, access, -1));
    }

    /** A window of type 2, which a queue pair may invalidate. */
    void addWindow(int key, long offset, long length, int access, int queuePair) {
        all.asSlice(offset, length);
        regions.put(key, new Region(address() + offset, length, access, queuePair));
    }

    void remove(int key) {
        regions.remove(key);
    }

    boolean has(int key) {
        return regions.containsKey(key);
    }

    @Override
    public long local(int lkey, long address, long length, int access) {
        return check(lkey, address, length, access);
    }

    @Override
    public long remote(int queuePair, int rkey, long address, long length, int access) {
        return check(rkey, address, length, access);
    }

    @Override
    public long remoteAgain(int queuePair, int rkey, long address, long length, int access) {
        return check(rkey, address, length, access);
    }

    private long check(int key, long address, long length, int access) {
        Region r = regions.get(key);
        if (r == null) {
            return BAD_KEY;
        }
        if ((r.access & access) != access) {
            return BAD_ACCESS;
        }
        long offset = address - r.address;
        if (length < 0 || offset < 0 || offset > r.length || length > r.length - offset) {
            return length == 0 ? r.address : BAD_RANGE;
        }
        return address;
    }

    @Override
    public long invalidate(int queuePair, int rkey, boolean remote) {
        Region r = regions.get(rkey);
        if (r == null || r.queuePair != queuePair) {
            return BAD_KEY;
        }
        regions.remove(rkey);
        return 0;
    }

    @Override
    public long bind(int queuePair, SendWqe wqe) {
        if (wqe.windowLength <= 0 || wqe.remoteAddress < address()
                || wqe.remoteAddress - address() > all.byteSize() - wqe.windowLength) {
            return BAD_RANGE;
        }
        regions.put(wqe.rkey, new Region(wqe.remoteAddress, wqe.windowLength, wqe.windowAccess
                & ~AccessFlags.ZERO_BASED, queuePair));
        return 0;
    }
}
