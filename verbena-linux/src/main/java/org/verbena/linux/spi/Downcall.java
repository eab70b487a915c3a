// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux.spi;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Calls of C functions by address: those of a loaded library, and those in the function tables of its objects. The
 * handles are linked once, for all functions; the function is an argument.
 *
 * <p>Every argument and the result is a machine word: on x86-64 and AArch64 Linux an integer of any size and a pointer
 * are passed in a register of their own, and a function ignores registers without a parameter. The upper bits of a
 * narrower result are undefined: the caller casts. Functions with floating point, structures by value or variable
 * arguments are not supported.
 *
 * <p><strong>Callers check</strong> the address of the function and all memory that it accesses: a wrong one ends the
 * JVM. All methods are thread-safe; the called functions have rules of their own.
 */
public final class Downcall {
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG;

    private static final MethodHandle CALL = Linker.nativeLinker().downcallHandle(
            FunctionDescriptor.of(WORD, WORD, WORD, WORD, WORD, WORD, WORD),
            Linker.Option.captureCallState("errno"));
    private static final MethodHandle QUICK_1 = Linker.nativeLinker().downcallHandle(
            FunctionDescriptor.of(WORD, WORD), Linker.Option.critical(false));
    private static final MethodHandle QUICK_3 = Linker.nativeLinker().downcallHandle(
            FunctionDescriptor.of(WORD, WORD, WORD, WORD), Linker.Option.critical(false));
    private static final MethodHandle QUICK_6 = Linker.nativeLinker().downcallHandle(
            FunctionDescriptor.of(WORD, WORD, WORD, WORD, WORD, WORD, WORD), Linker.Option.critical(false));

    private Downcall() {}

    /**
     * Calls a function that may block, and captures errno for {@link #errno()}. A blocking call pins the carrier of a
     * virtual thread.
     */
    public static long call(MemorySegment function, long a, long b, long c, long d, long e, long f) {
        try {
            return (long) CALL.invokeExact(function, Native.scratch().errnoMemory(), a, b, c, d, e, f);
        } catch (RuntimeException | Error thrown) {
            throw thrown;
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** The errno after the calling thread's last {@link #call}; undefined if that did not fail. */
    public static int errno() {
        return Native.scratch().errno();
    }

    /**
     * Calls a function that returns soon and makes no upcall, without a thread transition
     * ({@link Linker.Option#critical}): the garbage collector waits for it. Allocates nothing.
     */
    public static long callCritical(MemorySegment function, long a) {
        try {
            return (long) QUICK_1.invokeExact(function, a);
        } catch (RuntimeException | Error thrown) {
            throw thrown;
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** As {@link #callCritical(MemorySegment, long)}, with three arguments. */
    public static long callCritical(MemorySegment function, long a, long b, long c) {
        try {
            return (long) QUICK_3.invokeExact(function, a, b, c);
        } catch (RuntimeException | Error thrown) {
            throw thrown;
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** As {@link #callCritical(MemorySegment, long)}, with six arguments. */
    public static long callCritical(MemorySegment function, long a, long b, long c, long d, long e, long f) {
        try {
            return (long) QUICK_6.invokeExact(function, a, b, c, d, e, f);
        } catch (RuntimeException | Error thrown) {
            throw thrown;
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }
}
