// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import org.jspecify.annotations.Nullable;

import org.verbena.roce.transport.Memory;
import org.verbena.roce.transport.SendWqe;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.SamplePoint;

/**
 * The memory of one protection domain, as the transport sees it. Deregistration needs the lock that its callers hold;
 * the memory itself may be freed at any time, see {@link Region}.
 */
final class DomainMemory implements Memory {
    private static final int WINDOW_WRITES = AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC;

    private final KeyTable keys;
    private final int pd;

    DomainMemory(KeyTable keys, int pd) {
        this.keys = keys;
        this.pd = pd;
    }

    // ---- checks: they return offsets in the region, or an error

    private long localOffset(@Nullable Region r, long address, long length, int access) {
        if (r == null || r.pd != pd || !r.isAlive()) {
            return BAD_KEY;
        }
        if (!r.covers(address, length)) {
            return BAD_RANGE;
        }
        return (r.access & access) == access ? address - r.iova : BAD_ACCESS;
    }

    private long remoteOffset(int queuePair, int rkey, long address, long length, int access) {
        Region r = keys.find(rkey);
        return r != null
                ? inRegion(r, address, length, access)
                : inWindow(keys.window(rkey), queuePair, rkey, address, length, access);
    }

    private long countedOffset(int queuePair, int rkey, long address, long length, int access) {
        long offset = remoteOffset(queuePair, rkey, address, length, access);
        Region r = region(rkey);
        if (r != null) {
            if (offset < 0) {
                r.countFault();
            } else {
                count(r, access, length);
            }
        }
        return offset;
    }

    private long inRegion(Region r, long address, long length, int access) {
        if (r.pd != pd || !r.isAlive()) {
            return BAD_KEY;
        }
        if (length > 0 && !r.covers(address, length)) {
            return BAD_RANGE;
        }
        return (r.access & access) == access ? length == 0 ? 0 : address - r.iova : BAD_ACCESS;
    }

    private long inWindow(@Nullable Window w, int queuePair, int rkey, long address, long length, int access) {
        Region r = w == null ? null : w.region;
        if (w == null || r == null || w.rkey() != rkey || w.pd != pd || !r.isAlive()
                || w.type == MemoryWindow.TYPE_2 && w.owner != queuePair) {
            return BAD_KEY;
        }
        if (length > 0 && !w.covers(address, length)) {
            return BAD_RANGE;
        }
        return (w.access & access) == access ? length == 0 ? 0 : w.offset + (address - w.start) : BAD_ACCESS;
    }

    /** The region that a peer's key refers to, directly or by a window; null if there is none. */
    private @Nullable Region region(int rkey) {
        Region r = keys.find(rkey);
        if (r != null) {
            return r;
        }
        Window w = keys.window(rkey);
        return w == null ? null : w.region;
    }

    private static long done(boolean was) {
        return was ? 0 : BAD_KEY;
    }

    // ---- called by the transport

    @Override
    public long local(int lkey, long address, long length, int access) {
        Region r = keys.find(lkey);
        long offset = localOffset(r, address, length, access);
        return r == null || offset < 0 ? offset : r.address + offset;
    }

    @Override
    public long remote(int queuePair, int rkey, long address, long length, int access) {
        return address(rkey, countedOffset(queuePair, rkey, address, length, access));
    }

    @Override
    public long remoteAgain(int queuePair, int rkey, long address, long length, int access) {
        return address(rkey, remoteOffset(queuePair, rkey, address, length, access));
    }

    private long address(int rkey, long offset) {
        Region r = region(rkey);
        return r == null || offset < 0 ? offset : r.address + offset;
    }

    @Override
    public long copyOut(int lkey, long address, long to, int bytes) {
        Region r = keys.find(lkey);
        long offset = localOffset(r, address, bytes, 0);
        return r == null || offset < 0 ? offset : done(r.copyOut(offset, to, bytes));
    }

    @Override
    public long copyIn(int lkey, long address, long from, int bytes) {
        Region r = keys.find(lkey);
        long offset = localOffset(r, address, bytes, AccessFlags.LOCAL_WRITE);
        return r == null || offset < 0 ? offset : done(r.copyIn(offset, from, bytes));
    }

    @Override
    public long read(int queuePair, int rkey, long address, long to, int bytes) {
        long offset = remoteOffset(queuePair, rkey, address, bytes, AccessFlags.REMOTE_READ);
        Region r = region(rkey);
        return r == null || offset < 0 ? offset : done(r.copyOut(offset, to, bytes));
    }

    @Override
    public long write(int queuePair, int rkey, long address, long from, int bytes) {
        long offset = remoteOffset(queuePair, rkey, address, bytes, AccessFlags.REMOTE_WRITE);
        Region r = region(rkey);
        return r == null || offset < 0 ? offset : done(r.copyIn(offset, from, bytes));
    }

    @Override
    public long fetchAndAdd(int queuePair, int rkey, long address, long add, long[] before) {
        long offset = word(queuePair, rkey, address, AccessFlags.REMOTE_ATOMIC);
        Region r = region(rkey);
        return r == null || offset < 0 ? offset : done(r.fetchAndAdd(offset, add, before));
    }

    @Override
    public long compareAndSwap(int queuePair, int rkey, long address, long compare, long swap, long[] before) {
        long offset = word(queuePair, rkey, address, AccessFlags.REMOTE_ATOMIC);
        Region r = region(rkey);
        return r == null || offset < 0 ? offset : done(r.compareAndSwap(offset, compare, swap, before));
    }

    @Override
    public long put(int queuePair, int rkey, long address, long value) {
        long offset = word(queuePair, rkey, address, AccessFlags.REMOTE_WRITE);
        Region r = region(rkey);
        return r == null || offset < 0 ? offset : done(r.put(offset, value));
    }

    private long word(int queuePair, int rkey, long address, int access) {
        long offset = countedOffset(queuePair, rkey, address, Long.BYTES, access);
        Region r = region(rkey);
        return r == null || offset < 0 || r.isAligned(offset) ? offset : BAD_ALIGNMENT;
    }

    private static void count(Region r, int access, long length) {
        switch (access) {
            case AccessFlags.REMOTE_WRITE -> {
                r.count(SamplePoint.MR_REMOTE_WRITES, 1);
                r.count(SamplePoint.MR_REMOTE_WRITE_BYTES, length);
            }
            case AccessFlags.REMOTE_READ -> {
                r.count(SamplePoint.MR_REMOTE_READS, 1);
                r.count(SamplePoint.MR_REMOTE_READ_BYTES, length);
            }
            case AccessFlags.REMOTE_ATOMIC -> r.count(SamplePoint.MR_REMOTE_ATOMICS, 1);
            default -> {} // a flush copies nothing
        }
    }

    @Override
    public long invalidate(int queuePair, int rkey, boolean remote) {
        Window w = keys.window(rkey);
        if (w == null || w.type != MemoryWindow.TYPE_2 || w.pd != pd || w.region == null || w.rkey() != rkey
                || remote && w.owner != queuePair) {
            return BAD_KEY;
        }
        w.region.count(SamplePoint.MR_INVALIDATIONS, 1);
        w.unbind();
        return 0;
    }

    @Override
    public long bind(int queuePair, SendWqe wqe) {
        Window w = (Window) wqe.window;
        Region wanted = (Region) wqe.windowRegion;
        wqe.window = null;
        wqe.windowRegion = null;
        if (w == null || w.pd != pd || keys.window(w.rkey()) != w) {
            return BAD_KEY;
        }
        boolean once = w.type == MemoryWindow.TYPE_2;
        if (once && w.region != null) {
            return BAD_KEY; // it has to be invalidated first
        }
        Region r = wqe.windowLength == 0 ? null : wanted;
        if (r == null) {
            if (once) {
                return BAD_RANGE;
            }
            w.unbind();
            return 0;
        }
        long objection = objection(w, r, wqe);
        if (objection != 0) {
            return objection;
        }
        w.unbind();
        r.windows++;
        r.count(SamplePoint.MR_BINDS, 1);
        w.region = r;
        w.access = wqe.windowAccess & ~AccessFlags.ZERO_BASED;
        w.offset = wqe.remoteAddress - r.iova;
        w.start = (wqe.windowAccess & AccessFlags.ZERO_BASED) != 0 ? 0 : wqe.remoteAddress;
        w.length = wqe.windowLength;
        w.owner = once ? queuePair : 0;
        w.setKey(wqe.rkey);
        return 0;
    }

    private long objection(Window w, Region r, SendWqe wqe) {
        if (keys.find(r.key) != r || r.pd != pd || wqe.rkey >>> 8 != w.rkey() >>> 8) {
            return BAD_KEY;
        }
        if (!r.covers(wqe.remoteAddress, wqe.windowLength)) {
            return BAD_RANGE;
        }
        boolean zeroBased = (wqe.windowAccess & AccessFlags.ZERO_BASED) != 0;
        boolean writes = (wqe.windowAccess & WINDOW_WRITES) != 0;
        boolean allowed = (r.access & AccessFlags.MW_BIND) != 0 && (r.access & AccessFlags.ZERO_BASED) == 0
                && (!writes || (r.access & AccessFlags.LOCAL_WRITE) != 0)
                && (w.type == MemoryWindow.TYPE_2 || !zeroBased);
        return allowed ? 0 : BAD_ACCESS;
    }
}
