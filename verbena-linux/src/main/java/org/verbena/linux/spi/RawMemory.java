// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux.spi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Memory by raw address, at the cost of {@code Unsafe} and without it.
 *
 * <p>For sibling modules only: <strong>callers check bounds</strong>. An address that is not mapped (or mapped
 * read-only when it is written) ends the JVM. The caller keeps the owner of the memory reachable while an access runs.
 * Methods without {@code Unaligned} in their name need an address aligned to the value's size; the lowest bits of
 * another one are ignored. Byte order is native.
 *
 * <p>Memory order is part of the names and has the meaning of {@link VarHandle}: plain, {@code Opaque},
 * {@code Acquire}, {@code Release}; compare-and-set and get-and-add have volatile order. Nothing allocates. Without
 * native access the window is empty and each access throws {@link IndexOutOfBoundsException};
 * {@link Native#requireAccess()} explains it.
 */
public final class RawMemory {
    private static final MemorySegment ALL = everything();

    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle().withInvokeExactBehavior();
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle().withInvokeExactBehavior();
    private static final VarHandle SHORT = ValueLayout.JAVA_SHORT.varHandle().withInvokeExactBehavior();
    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle().withInvokeExactBehavior();
    private static final VarHandle LONG_UNALIGNED = ValueLayout.JAVA_LONG_UNALIGNED.varHandle()
            .withInvokeExactBehavior();
    private static final VarHandle INT_UNALIGNED = ValueLayout.JAVA_INT_UNALIGNED.varHandle().withInvokeExactBehavior();

    // An address is masked to 56 bits, more than user space has on x86-64 and AArch64, and to its alignment. That
    // proves to the compiler that the access is inside the window and aligned, so that both checks disappear: one
    // instruction instead of ten.
    private static final long ANY = 0x00ff_ffff_ffff_ffffL;
    private static final long SECOND = ANY & ~1L;
    private static final long FOURTH = ANY & ~3L;
    private static final long EIGHTH = ANY & ~7L;

    /**
     * Rounds of {@link #throwFault}: one to reach a safepoint, one for the interpreter, which continues there after a
     * fault.
     */
    private static volatile int faultRounds = 2;

    private RawMemory() {}

    private static MemorySegment everything() {
        try {
            return MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
        } catch (IllegalCallerException denied) {
            return MemorySegment.NULL;
        }
    }

    /** Plain aligned read. */
    public static long getLong(long a) {
        return (long) LONG.get(ALL, a & EIGHTH);
    }

    /** Plain aligned read at {@code base + offset}; the offset is a constant, a multiple of 8 and not negative. */
    public static long getLong(long base, long offset) {
        return (long) LONG_UNALIGNED.get(ALL, (base & EIGHTH) + offset);
    }

    /** Plain aligned write at {@code base + offset}, as {@link #getLong(long, long)}. */
    public static void putLong(long base, long offset, long v) {
        LONG_UNALIGNED.set(ALL, (base & EIGHTH) + offset, v);
    }

    /** Plain aligned write. */
    public static void putLong(long a, long v) {
        LONG.set(ALL, a & EIGHTH, v);
    }

    /** Acquire read. */
    public static long getLongAcquire(long a) {
        return (long) LONG.getAcquire(ALL, a & EIGHTH);
    }

    /** Opaque read. */
    public static long getLongOpaque(long a) {
        return (long) LONG.getOpaque(ALL, a & EIGHTH);
    }

    /** Volatile read. */
    public static long getLongVolatile(long a) {
        return (long) LONG.getVolatile(ALL, a & EIGHTH);
    }

    /** Release write. */
    public static void putLongRelease(long a, long v) {
        LONG.setRelease(ALL, a & EIGHTH, v);
    }

    /** Opaque write. */
    public static void putLongOpaque(long a, long v) {
        LONG.setOpaque(ALL, a & EIGHTH, v);
    }

    /** Volatile write. */
    public static void putLongVolatile(long a, long v) {
        LONG.setVolatile(ALL, a & EIGHTH, v);
    }

    /** Compare and set, volatile order. */
    public static boolean compareAndSetLong(long a, long expected, long v) {
        return LONG.compareAndSet(ALL, a & EIGHTH, expected, v);
    }

    /** Compare and exchange, volatile order; the previous value. */
    public static long compareAndExchangeLong(long a, long expected, long v) {
        return (long) LONG.compareAndExchange(ALL, a & EIGHTH, expected, v);
    }

    /** Fetch and add, volatile order; the value before. */
    public static long getAndAddLong(long a, long delta) {
        return (long) LONG.getAndAdd(ALL, a & EIGHTH, delta);
    }

    /** Fetch and xor, volatile order; the value before. */
    public static long getAndBitwiseXorLong(long a, long mask) {
        return (long) LONG.getAndBitwiseXor(ALL, a & EIGHTH, mask);
    }

    /** Fetch and or, volatile order; the value before. */
    public static long getAndBitwiseOrLong(long a, long mask) {
        return (long) LONG.getAndBitwiseOr(ALL, a & EIGHTH, mask);
    }

    /** Fetch and and, volatile order; the value before. */
    public static long getAndBitwiseAndLong(long a, long mask) {
        return (long) LONG.getAndBitwiseAnd(ALL, a & EIGHTH, mask);
    }

    /** Exchange, volatile order; the value before. */
    public static long getAndSetLong(long a, long v) {
        return (long) LONG.getAndSet(ALL, a & EIGHTH, v);
    }

    /** Plain read at any address. */
    public static long getLongUnaligned(long a) {
        return (long) LONG_UNALIGNED.get(ALL, a & ANY);
    }

    /** Plain write at any address. */
    public static void putLongUnaligned(long a, long v) {
        LONG_UNALIGNED.set(ALL, a & ANY, v);
    }

    /** Plain aligned read. */
    public static int getInt(long a) {
        return (int) INT.get(ALL, a & FOURTH);
    }

    /** Plain aligned write. */
    public static void putInt(long a, int v) {
        INT.set(ALL, a & FOURTH, v);
    }

    /** Acquire read. */
    public static int getIntAcquire(long a) {
        return (int) INT.getAcquire(ALL, a & FOURTH);
    }

    /** Opaque read. */
    public static int getIntOpaque(long a) {
        return (int) INT.getOpaque(ALL, a & FOURTH);
    }

    /** Volatile read. */
    public static int getIntVolatile(long a) {
        return (int) INT.getVolatile(ALL, a & FOURTH);
    }

    /** Release write. */
    public static void putIntRelease(long a, int v) {
        INT.setRelease(ALL, a & FOURTH, v);
    }

    /** Opaque write. */
    public static void putIntOpaque(long a, int v) {
        INT.setOpaque(ALL, a & FOURTH, v);
    }

    /** Volatile write. */
    public static void putIntVolatile(long a, int v) {
        INT.setVolatile(ALL, a & FOURTH, v);
    }

    /** Compare and set, volatile order. */
    public static boolean compareAndSetInt(long a, int expected, int v) {
        return INT.compareAndSet(ALL, a & FOURTH, expected, v);
    }

    /** Compare and exchange, volatile order; the previous value. */
    public static int compareAndExchangeInt(long a, int expected, int v) {
        return (int) INT.compareAndExchange(ALL, a & FOURTH, expected, v);
    }

    /** Fetch and add, volatile order; the value before. */
    public static int getAndAddInt(long a, int delta) {
        return (int) INT.getAndAdd(ALL, a & FOURTH, delta);
    }

    /** Fetch and xor, volatile order; the value before. */
    public static int getAndBitwiseXorInt(long a, int mask) {
        return (int) INT.getAndBitwiseXor(ALL, a & FOURTH, mask);
    }

    /** Fetch and or, volatile order; the value before. */
    public static int getAndBitwiseOrInt(long a, int mask) {
        return (int) INT.getAndBitwiseOr(ALL, a & FOURTH, mask);
    }

    /** Fetch and and, volatile order; the value before. */
    public static int getAndBitwiseAndInt(long a, int mask) {
        return (int) INT.getAndBitwiseAnd(ALL, a & FOURTH, mask);
    }

    /** Exchange, volatile order; the value before. */
    public static int getAndSetInt(long a, int v) {
        return (int) INT.getAndSet(ALL, a & FOURTH, v);
    }

    /** Plain read at any address. */
    public static int getIntUnaligned(long a) {
        return (int) INT_UNALIGNED.get(ALL, a & ANY);
    }

    /** Plain write at any address. */
    public static void putIntUnaligned(long a, int v) {
        INT_UNALIGNED.set(ALL, a & ANY, v);
    }

    /** Plain aligned read. */
    public static short getShort(long a) {
        return (short) SHORT.get(ALL, a & SECOND);
    }

    /** Plain aligned write. */
    public static void putShort(long a, short v) {
        SHORT.set(ALL, a & SECOND, v);
    }

    /** Plain read. */
    public static byte getByte(long a) {
        return (byte) BYTE.get(ALL, a & ANY);
    }

    /** Plain write. */
    public static void putByte(long a, byte v) {
        BYTE.set(ALL, a & ANY, v);
    }

    // Each access in the source costs C2 some 600 nodes to inline, of 18,000 that it spends on a method with all its
    // callees, where inlining stops. A loop of constant length counts once and is unrolled afterwards.

    /** Copies 8 bytes, which are written in one access if {@code dst} is a multiple of 8. */
    public static void copy8(long src, long dst) {
        LONG_UNALIGNED.set(ALL, dst & ANY, (long) LONG_UNALIGNED.get(ALL, src & ANY));
    }

    /** Copies 16 bytes at any addresses. */
    public static void copy16(long src, long dst) {
        long s = src & ANY;
        long d = dst & ANY;
        for (int i = 0; i < 16; i += 8) {
            LONG_UNALIGNED.set(ALL, d + i, (long) LONG_UNALIGNED.get(ALL, s + i));
        }
    }

    /** Copies 32 bytes at any addresses. */
    public static void copy32(long src, long dst) {
        long s = src & ANY;
        long d = dst & ANY;
        for (int i = 0; i < 32; i += 8) {
            LONG_UNALIGNED.set(ALL, d + i, (long) LONG_UNALIGNED.get(ALL, s + i));
        }
    }

    /** Copies {@code bytes} bytes; the ranges may overlap. There is no guaranteed order within the copy. */
    public static void copy(long src, long dst, long bytes) {
        MemorySegment.copy(ALL, src, ALL, dst, bytes);
    }

    /**
     * Copies out of a segment, which may be on the heap, without a view of it: eight bytes, such as a published word,
     * in one access.
     *
     * @throws IndexOutOfBoundsException if the segment does not have the bytes
     * @throws IllegalStateException if its scope has ended
     * @throws WrongThreadException if another thread owns it
     * @throws InternalError if it is a mapped file that was truncated before the bytes; some may have been copied
     */
    public static void copyOut(MemorySegment src, long offset, long dst, long bytes) {
        if (bytes == Long.BYTES) {
            LONG_UNALIGNED.set(ALL, dst & ANY, src.get(ValueLayout.JAVA_LONG_UNALIGNED, offset));
        } else {
            MemorySegment.copy(src, offset, ALL, dst, bytes);
        }
        throwFault();
    }

    /** Copies into a segment; as {@link #copyOut}, and a read-only one is rejected by IllegalArgumentException. */
    public static void copyIn(long src, MemorySegment dst, long offset, long bytes) {
        MemorySegment.copy(ALL, src, dst, offset, bytes);
        throwFault();
    }

    /**
     * Throws the {@link InternalError} of an earlier access, if that hit a page that its file does not have any more.
     * The JVM throws it at the next safepoint only, which in compiled code may be anywhere after the {@code try} of the
     * access. The loop has a safepoint: it reads a volatile in each round, so it is not unrolled completely.
     */
    public static void throwFault() {
        for (int i = 0; i < faultRounds; i++) {
            // a safepoint
        }
    }

    /** Writes {@code v} to each of {@code bytes} bytes from {@code a}. */
    public static void fill(long a, long bytes, byte v) {
        ALL.asSlice(a, bytes).fill(v);
    }

    /**
     * A view of memory that the caller has checked and keeps alive; its scope is global, so it does neither.
     *
     * @param address the first byte
     * @param length bytes, 0 or more
     * @return the view
     * @throws IndexOutOfBoundsException if address or length is negative
     */
    public static MemorySegment segment(long address, long length) {
        return ALL.asSlice(address, length);
    }

    /**
     * The address of a native segment.
     *
     * @param segment native memory
     * @return its first byte's address
     * @throws IllegalArgumentException for a heap segment, whose address the garbage collector may change
     */
    public static long addressOf(MemorySegment segment) {
        if (!segment.isNative()) {
            throw new IllegalArgumentException("a heap segment has no address; allocate the memory off the heap");
        }
        return segment.address();
    }
}
