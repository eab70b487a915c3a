// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux.spi;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/**
 * The one entry into the kernel: {@code syscall(2)} of the C library, linked once.
 *
 * <p>One handle instead of one per function: no symbol can be missing (a kernel without a call returns {@code ENOSYS}),
 * and linking costs once. Results follow the kernel's own convention: zero or positive, or <em>minus errno</em>. errno
 * is captured by the linker in the same transition, into memory of the calling thread; that also holds on virtual
 * threads.
 *
 * <p>Callers check bounds: an address argument is passed to the kernel as it is. (The kernel returns {@code EFAULT} for
 * a wrong one, but it writes to any mapped address.)
 *
 * <p>A blocking call pins the carrier of a virtual thread. All methods are thread-safe.
 */
public final class Native {
    /** Bytes of {@link Scratch#memory()}. */
    public static final int SCRATCH_BYTES = 2048;

    private static final StructLayout CAPTURE = Linker.Option.captureStateLayout();
    /** Its place; a handle of the layout's makes a slice for each access, which may be allocated. */
    private static final long ERRNO = CAPTURE.byteOffset(StructLayout.PathElement.groupElement("errno"));

    private static final @Nullable MethodHandle SYSCALL;
    /** The same without errno. */
    private static final @Nullable MethodHandle SYSCALL_WITHOUT_ERRNO;
    private static final @Nullable RuntimeException WHY_NOT;

    static {
        MethodHandle handle = null;
        MethodHandle plain = null;
        RuntimeException whyNot = null;
        String os = System.getProperty("os.name", "?");
        String arch = System.getProperty("os.arch", "?");
        if (!"Linux".equals(os) || !(arch.equals("amd64") || arch.equals("aarch64"))) {
            whyNot = new UnsupportedOperationException(
                    "Verbena runs on Linux on x86-64 and AArch64, not on " + os + " on " + arch);
        } else {
            try {
                handle = link(Linker.Option.captureCallState("errno"));
                plain = link();
            } catch (IllegalCallerException e) {
                whyNot = e;
            }
        }
        SYSCALL = handle;
        SYSCALL_WITHOUT_ERRNO = plain;
        WHY_NOT = whyNot;
    }

    /** Memory of one thread for a call's errno and small arguments. Valid until the thread's next use of it. */
    private static final ThreadLocal<Scratch> SCRATCH = ThreadLocal.withInitial(Scratch::new);

    private Native() {}

    private static MethodHandle link(Linker.Option... capture) {
        Linker.Option[] options = Arrays.copyOf(capture, capture.length + 1);
        options[capture.length] = Linker.Option.firstVariadicArg(1);
        Linker linker = Linker.nativeLinker();
        ValueLayout.OfLong word = ValueLayout.JAVA_LONG;
        // long syscall(long number, ...): six arguments, and a seventh, never read, that only keeps a segment alive
        FunctionDescriptor type = FunctionDescriptor.of(word, word, word, word, word, word, word, word,
                ValueLayout.ADDRESS);
        return linker.downcallHandle(
                linker.defaultLookup().findOrThrow("syscall"),
                type,
                options);
    }

    /**
     * Explains in one sentence why native calls are impossible here, if they are.
     *
     * @throws IllegalCallerException if native access is denied to this module
     * @throws UnsupportedOperationException on another operating system or architecture
     */
    public static void requireAccess() {
        if (SYSCALL == null) {
            throw unavailable();
        }
    }

    private static RuntimeException unavailable() {
        if (WHY_NOT instanceof UnsupportedOperationException) {
            return new UnsupportedOperationException(WHY_NOT.getMessage());
        }
        Module module = Native.class.getModule();
        String name = module.isNamed() ? module.getName() : "ALL-UNNAMED";
        return new IllegalCallerException("Verbena cannot make system calls because native access is denied; start java"
                + " with --enable-native-access=" + name, WHY_NOT);
    }

    /**
     * The calling thread's scratch memory. No call here leaves anything in it that a later one relies on.
     *
     * @return the same object for the same thread
     */
    public static Scratch scratch() {
        return SCRATCH.get();
    }

    /**
     * A system call without arguments.
     *
     * @param number see {@link SyscallNumber}
     * @return the result, or minus errno
     */
    public static long call(int number) {
        return call(MemorySegment.NULL, number, 0, 0, 0, 0, 0, 0);
    }

    /** A system call with one argument; see {@link #call(MemorySegment, int, long, long, long, long, long, long)}. */
    public static long call(int number, long a) {
        return call(MemorySegment.NULL, number, a, 0, 0, 0, 0, 0);
    }

    /** A system call with two arguments; see {@link #call(MemorySegment, int, long, long, long, long, long, long)}. */
    public static long call(int number, long a, long b) {
        return call(MemorySegment.NULL, number, a, b, 0, 0, 0, 0);
    }

    /**
     * A system call with three arguments; see {@link #call(MemorySegment, int, long, long, long, long, long, long)}.
     */
    public static long call(int number, long a, long b, long c) {
        return call(MemorySegment.NULL, number, a, b, c, 0, 0, 0);
    }

    /** A system call with four arguments; see {@link #call(MemorySegment, int, long, long, long, long, long, long)}. */
    public static long call(int number, long a, long b, long c, long d) {
        return call(MemorySegment.NULL, number, a, b, c, d, 0, 0);
    }

    /** A system call with six arguments; see {@link #call(MemorySegment, int, long, long, long, long, long, long)}. */
    public static long call(int number, long a, long b, long c, long d, long e, long f) {
        return call(MemorySegment.NULL, number, a, b, c, d, e, f);
    }

    /**
     * A system call that accesses a caller's memory.
     *
     * @param held a native segment whose arena cannot be closed while the call runs, and which stays reachable
     * @param number see {@link SyscallNumber}
     * @param a first argument; the others likewise, zero where the call has fewer
     * @return the result, or minus errno
     * @throws IllegalStateException if the arena of {@code held} is closed
     * @throws WrongThreadException if the arena of {@code held} is confined to another thread
     * @throws IllegalCallerException if native access is denied
     */
    public static long call(MemorySegment held, int number, long a, long b, long c, long d, long e, long f) {
        MethodHandle handle = SYSCALL;
        if (handle == null) {
            throw unavailable();
        }
        MemorySegment errno = SCRATCH.get().errno;
        try {
            long result = (long) handle.invokeExact(errno, (long) number, a, b, c, d, e, f, held);
            return result == -1 ? -(long) errno.get(ValueLayout.JAVA_INT, ERRNO) : result;
        } catch (RuntimeException | Error thrown) {
            throw thrown;
        } catch (Throwable thrown) {
            throw new AssertionError("a downcall cannot throw a checked exception", thrown);
        }
    }

    /**
     * A system call as {@link #call(MemorySegment, int, long, long, long, long, long, long)} makes it, for calls that
     * seldom fail and may be repeated then, whatever they did: the repetition finds the errno, since the first call
     * captures none. For the data path and threads that serve it, as it allocates nothing however it is compiled; to
     * capture errno the linker takes a slice of the memory for it, which is eliminated only where the compiler sees all
     * the code in between.
     */
    public static long callRepeatable(MemorySegment held, int number, long a, long b, long c, long d, long e, long f) {
        long result = callWithoutErrno(held, number, a, b, c, d, e, f);
        return result == -1 ? call(held, number, a, b, c, d, e, f) : result;
    }

    /** The same if the reason of a failure does not matter: -1 then. */
    public static long callWithoutErrno(MemorySegment held, int number, long a, long b, long c, long d, long e,
            long f) {
        MethodHandle handle = SYSCALL_WITHOUT_ERRNO;
        if (handle == null) {
            throw unavailable();
        }
        try {
            return (long) handle.invokeExact((long) number, a, b, c, d, e, f, held);
        } catch (RuntimeException | Error thrown) {
            throw thrown;
        } catch (Throwable thrown) {
            throw new AssertionError("a downcall cannot throw a checked exception", thrown);
        }
    }

    /** A system call with one argument; see {@link #callRepeatable(MemorySegment, int, long, long, long, long, long, long)}. */
    public static long callRepeatable(int number, long a) {
        return callRepeatable(MemorySegment.NULL, number, a, 0, 0, 0, 0, 0);
    }

    /** A system call with three arguments; see {@link #callRepeatable(MemorySegment, int, long, long, long, long, long, long)}. */
    public static long callRepeatable(int number, long a, long b, long c) {
        return callRepeatable(MemorySegment.NULL, number, a, b, c, 0, 0, 0);
    }

    /** A system call with six arguments; see {@link #callRepeatable(MemorySegment, int, long, long, long, long, long, long)}. */
    public static long callRepeatable(int number, long a, long b, long c, long d, long e, long f) {
        return callRepeatable(MemorySegment.NULL, number, a, b, c, d, e, f);
    }

    /**
     * Links a short function of the C library that never blocks and fails only through its result, without a thread
     * transition ({@link Linker.Option#critical}).
     *
     * @param name the symbol
     * @param type its signature
     * @return the handle, or null if there is no native access or no such symbol
     */
    public static @Nullable MethodHandle linkCritical(String name, FunctionDescriptor type) {
        if (SYSCALL == null) {
            return null;
        }
        Linker linker = Linker.nativeLinker();
        return linker.defaultLookup()
                .find(name)
                .map(symbol -> linker.downcallHandle(symbol, type, Linker.Option.critical(false)))
                .orElse(null);
    }

    /** Per-thread memory for small arguments of calls; not zeroed between uses. */
    public static final class Scratch {
        private final MemorySegment errno;
        private final MemorySegment memory;
        private final long address;

        /** The errno of the thread's last {@link Downcall#call}. */
        int errno() {
            return errno.get(ValueLayout.JAVA_INT, ERRNO);
        }

        MemorySegment errnoMemory() {
            return errno;
        }

        private Scratch() {
            Arena arena = Arena.ofAuto();
            errno = arena.allocate(CAPTURE);
            memory = arena.allocate(SCRATCH_BYTES, 64);
            address = memory.address();
        }

        /** {@value Native#SCRATCH_BYTES} bytes, aligned to 64, reachable for as long as the thread lives. */
        public MemorySegment memory() {
            return memory;
        }

        /** The address of {@link #memory()}. */
        public long address() {
            return address;
        }
    }
}
