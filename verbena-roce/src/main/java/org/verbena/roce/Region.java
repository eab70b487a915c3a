// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.LinuxException;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.spi.CounterEntry;

/** What the transport's memory knows of a region: bounds, rights, and where it lies. Used under the context's lock. */
final class Region {
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle().withInvokeExactBehavior();

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
    /** Which any thread may touch. */
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

    // Memory of the application may be freed at any time, by an arena that is closed or a mapped file that is cut off. Access
    // by the segment is safe against that: whoever closes the arena waits for it, or it ends with an exception. Own memory
    // needs no such care.

    /** The JVM interrupts the thread that it throws out of an access; nobody has asked this thread to stop. */
    private static boolean gone(boolean wasInterrupted) {
        if (!wasInterrupted) {
            Thread.interrupted();
        }
        return false;
    }

    /** Copies out of it; false if the application has given the memory back, or its file has been cut off. */
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

    /** Copies into it; as {@link #copyOut}. */
    boolean copyIn(long offset, long from, long bytes) {
        if (own) {
            if (bytes == Long.BYTES) { // a word that is looked at while it is written, after what came before it
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

    /** True if a {@code long} that begins there is aligned. */
    boolean isAligned(long offset) {
        return (address + offset & Long.BYTES - 1) == 0;
    }

    /** Before an atomic operation, at whose faults the interpreter ends the JVM: a page that is gone is met by a read. */
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

    /** Writes an aligned {@code long} at once; as {@link #copyOut}. */
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
