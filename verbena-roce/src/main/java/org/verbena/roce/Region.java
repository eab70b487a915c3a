// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.LinuxException;
import org.verbena.linux.spi.RawMemory;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.SamplePoint;

/** A memory region, as the transport's memory knows it: bounds, rights, and address. Used under the context's lock. */
final class Region {
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle().withInvokeExactBehavior();

    /** A resource that is released with a region. */
    interface Resource {
        void release() throws LinuxException;
    }

    final int key;
    final int pd;
    final int access;
    /** Address of the first byte in this process. */
    final long address;
    /** Address of the first byte in work requests. */
    final long iova;
    final long length;
    /** Accessible from any thread. */
    final MemorySegment segment;
    /** The resource that is released with the region; null for memory of the application or the device. */
    final @Nullable Resource resource;
    /** Memory that cannot be freed while the region exists: it needs no liveness check. */
    private final boolean own;
    /** Number of memory windows bound to it. */
    int windows;
    private @Nullable CounterEntry counters;

    Region(int key, int pd, int access, MemorySegment segment, long iova, boolean own, @Nullable Resource resource) {
        this.key = key;
        this.pd = pd;
        this.access = access;
        this.segment = segment;
        this.address = segment.address();
        this.iova = iova;
        this.length = segment.byteSize();
        this.own = own;
        this.resource = resource;
    }

    /** The same region with another address, domain or rights, under the same key. */
    Region changed(int newPd, int newAccess, MemorySegment newSegment, long newIova, boolean newOwn) {
        Region r = new Region(key, newPd, newAccess, newSegment, newIova, newOwn, resource);
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

    // Memory of the application may be freed at any time, by an arena that is closed or a mapped file that is
    // truncated. Access through the segment is safe against that: the thread that closes the arena waits for it, or the
    // access ends with an exception. The provider's own memory needs no such care.

    /** The JVM interrupts the thread that it throws out of an access; nothing has asked this thread to stop. */
    private static boolean gone(boolean wasInterrupted) {
        if (!wasInterrupted) {
            Thread.interrupted();
        }
        return false;
    }

    /** Copies out of the region; false if the application has freed the memory, or its file was truncated. */
    boolean copyOut(long offset, long to, long bytes) {
        if (own) {
            RawMemory.copy(address + offset, to, bytes);
            return true;
        }
        boolean interrupted = Thread.currentThread().isInterrupted();
        try {
            RawMemory.copyOut(segment, offset, to, bytes);
            return true;
        } catch (IllegalStateException closed) {
            return gone(interrupted);
        } catch (InternalError cutOff) {
            return false;
        }
    }

    /** Copies into the region; as {@link #copyOut}. */
    boolean copyIn(long offset, long from, long bytes) {
        if (own) {
            if (bytes == Long.BYTES) { // a word that others poll, stored after earlier data
                VarHandle.releaseFence();
                RawMemory.copy8(from, address + offset);
            } else {
                RawMemory.copy(from, address + offset, bytes);
            }
            return true;
        }
        boolean interrupted = Thread.currentThread().isInterrupted();
        try {
            RawMemory.copyIn(from, segment, offset, bytes);
            return true;
        } catch (IllegalStateException closed) {
            return gone(interrupted);
        } catch (InternalError cutOff) {
            return false;
        }
    }

    /** True if a {@code long} at that offset is aligned. */
    boolean isAligned(long offset) {
        return (address + offset & Long.BYTES - 1) == 0;
    }

    /** Before an atomic operation, at whose faults the interpreter ends the JVM: a read meets a page that is gone. */
    private void touch(long offset) {
        long ignored = (long) LONG.getVolatile(segment, offset);
        RawMemory.throwFault();
    }

    /** Adds to an aligned {@code long}; as {@link #copyOut}. */
    boolean fetchAndAdd(long offset, long add, long[] before) {
        if (own) {
            before[0] = RawMemory.getAndAddLong(address + offset, add);
            return true;
        }
        boolean interrupted = Thread.currentThread().isInterrupted();
        try {
            touch(offset);
            before[0] = (long) LONG.getAndAdd(segment, offset, add);
            RawMemory.throwFault();
            return true;
        } catch (IllegalStateException closed) {
            return gone(interrupted);
        } catch (InternalError cutOff) {
            return false;
        }
    }

    /** Compares and swaps an aligned {@code long}; as {@link #copyOut}. */
    boolean compareAndSwap(long offset, long compare, long swap, long[] before) {
        if (own) {
            before[0] = RawMemory.compareAndExchangeLong(address + offset, compare, swap);
            return true;
        }
        boolean interrupted = Thread.currentThread().isInterrupted();
        try {
            touch(offset);
            before[0] = (long) LONG.compareAndExchange(segment, offset, compare, swap);
            RawMemory.throwFault();
            return true;
        } catch (IllegalStateException closed) {
            return gone(interrupted);
        } catch (InternalError cutOff) {
            return false;
        }
    }

    /** Atomically writes an aligned {@code long}; as {@link #copyOut}. */
    boolean put(long offset, long value) {
        if (own) {
            RawMemory.putLongVolatile(address + offset, value);
            return true;
        }
        boolean interrupted = Thread.currentThread().isInterrupted();
        try {
            LONG.setVolatile(segment, offset, value);
            RawMemory.throwFault();
            return true;
        } catch (IllegalStateException closed) {
            return gone(interrupted);
        } catch (InternalError cutOff) {
            return false;
        }
    }

    /** False if the application has freed the memory, though it must not. */
    boolean isAlive() {
        return own || segment.scope().isAlive();
    }

    /** Adds to a counter of the region, if it has counters. */
    void count(int point, long n) {
        CounterEntry e = counters;
        if (e != null) {
            RoceCounted.add(e, point, n);
        }
    }

    /** A peer requested an access that it may not make. */
    void countFault() {
        count(SamplePoint.MR_REMOTE_FAULTS, 1);
    }
}
