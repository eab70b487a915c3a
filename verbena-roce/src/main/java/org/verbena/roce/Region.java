package org.verbena.roce;

import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.LinuxException;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.spi.CounterEntry;

/** What the transport's memory knows of a region: bounds, rights, and where it lies. Used under the context's lock. */
final class Region {
    /** What is given back with a region. */
    interface Given {
        void giveBack() throws LinuxException;
    }

    final int key;
    final int pd;
    final int access;
    /** Where the first byte lies in this process. */
    final long address;
    /** The first byte as work requests name it. */
    final long iova;
    final long length;
    final MemorySegment segment;
    /** What is given back with the region; null for memory that is the application's or the device's. */
    final @Nullable Given given;
    /** Memory that nobody takes away while the region exists: it has not to be asked whether it lives. */
    private final boolean own;
    /** How many memory windows are bound to it. */
    int windows;
    private @Nullable CounterEntry counters;

    Region(int key, int pd, int access, MemorySegment segment, long iova, boolean own, @Nullable Given given) {
        this.key = key;
        this.pd = pd;
        this.access = access;
        this.segment = segment;
        this.address = segment.address();
        this.iova = iova;
        this.length = segment.byteSize();
        this.own = own;
        this.given = given;
    }

    /** The same region with another place, domain or rights, under the same key. */
    Region changed(int newPd, int newAccess, MemorySegment newSegment, long newIova, boolean newOwn) {
        Region r = new Region(key, newPd, newAccess, newSegment, newIova, newOwn, given);
        r.counters = counters;
        return r;
    }

    boolean isOwn() {
        return own;
    }

    void countWith(CounterEntry entry) {
        counters = entry;
    }

    /** True if {@code bytes} from {@code at} lie within the region; safe against overflow. */
    boolean covers(long at, long bytes) {
        long offset = at - iova;
        return offset >= 0 && bytes >= 0 && offset <= length && bytes <= length - offset;
    }

    /** Where what work requests name {@code at} lies in this process. */
    long local(long at) {
        return at - iova + address;
    }

    /** False if the application has given the memory back, though it must not. */
    boolean isThere() {
        return own || segment.scope().isAlive();
    }

    /** A peer has begun to use it. */
    void count(int point, long n) {
        CounterEntry e = counters;
        if (e != null) {
            RoceCounted.add(e, point, n);
        }
    }

    /** A peer asked for what it may not have. */
    void countFault() {
        count(SamplePoint.MR_REMOTE_FAULTS, 1);
    }
}
