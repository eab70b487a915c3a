package org.verbena.roce;

import org.jspecify.annotations.Nullable;

import org.verbena.roce.transport.Memory;
import org.verbena.roce.transport.SendWqe;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.SamplePoint;

/**
 * The memory of one protection domain, as the transport asks for it. An address that it answers is good until the lock is
 * released: nobody deregisters without it.
 */
final class DomainMemory implements Memory {
    private static final int WINDOW_WRITES = AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC;

    private final KeyTable keys;
    private final int pd;

    DomainMemory(KeyTable keys, int pd) {
        this.keys = keys;
        this.pd = pd;
    }

    @Override
    public long local(int lkey, long address, long length, int access) {
        Region r = keys.find(lkey);
        if (r == null || r.pd != pd || !r.isThere()) {
            return BAD_KEY;
        }
        if (!r.covers(address, length)) {
            return BAD_RANGE;
        }
        return (r.access & access) == access ? r.local(address) : BAD_ACCESS;
    }

    @Override
    public long remote(int queuePair, int rkey, long address, long length, int access) {
        Region r = keys.find(rkey);
        Window w = r == null ? keys.window(rkey) : null;
        long found = r != null
                ? inRegion(r, address, length, access)
                : inWindow(w, queuePair, rkey, address, length, access);
        Region counted = w == null ? r : w.region;
        if (counted != null) {
            if (found < 0) {
                counted.countFault();
            } else {
                count(counted, access, length);
            }
        }
        return found;
    }

    @Override
    public long remoteAgain(int queuePair, int rkey, long address, long length, int access) {
        Region r = keys.find(rkey);
        return r != null
                ? inRegion(r, address, length, access)
                : inWindow(keys.window(rkey), queuePair, rkey, address, length, access);
    }

    private long inRegion(Region r, long address, long length, int access) {
        if (r.pd != pd || !r.isThere()) {
            return BAD_KEY;
        }
        if (length > 0 && !r.covers(address, length)) {
            return BAD_RANGE;
        }
        return (r.access & access) == access ? r.local(address) : BAD_ACCESS;
    }

    private long inWindow(@Nullable Window w, int queuePair, int rkey, long address, long length, int access) {
        Region r = w == null ? null : w.region;
        if (w == null || r == null || w.rkey() != rkey || w.pd != pd || !r.isThere()
                || w.type == MemoryWindow.TYPE_2 && w.owner != queuePair) {
            return BAD_KEY;
        }
        if (length > 0 && !w.covers(address, length)) {
            return BAD_RANGE;
        }
        return (w.access & access) == access ? w.address + (address - w.start) : BAD_ACCESS;
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
            default -> {} // a flush moves nothing
        }
    }

    @Override
    public long invalidate(int queuePair, int rkey, boolean remote) {
        Window w = keys.window(rkey);
        if (w == null || w.type != MemoryWindow.TYPE_2 || w.pd != pd || w.region == null || w.rkey() != rkey
                || remote && w.owner != queuePair) {
            return BAD_KEY;
        }
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
        w.region = r;
        w.access = wqe.windowAccess & ~AccessFlags.ZERO_BASED;
        w.address = r.local(wqe.remoteAddress);
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
