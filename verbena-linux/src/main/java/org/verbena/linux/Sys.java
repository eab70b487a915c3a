// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/** Facts of the process and the machine. Stateless and thread-safe. */
public final class Sys {
    private static final int CLOCK_MONOTONIC = 1;
    /** The type of the entry in the auxiliary vector, {@code <elf.h>}. */
    private static final int AT_PAGESZ = 6;

    private static final int PAGE_SIZE = readPageSize();

    private Sys() {}

    /** {@code int clock_gettime(clockid_t, struct timespec *)}: executed without entering the kernel (vdso(7)). Linked when used. */
    private static final class Clock {
        static final @Nullable MethodHandle GETTIME = Native.linkCritical(
                "clock_gettime",
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG));
    }

    private static int readPageSize() {
        try {
            Native.requireAccess();
        } catch (IllegalCallerException | UnsupportedOperationException e) {
            return 0;
        }
        int size = auxiliaryPageSize();
        return size > 0 ? size : callGetpagesize();
    }

    /** From what the kernel has told the program, getauxval(3): to link a function takes ten times as long as to read that. */
    private static int auxiliaryPageSize() {
        try {
            ByteBuffer all = ByteBuffer.wrap(Files.readAllBytes(Path.of("/proc/self/auxv"))).order(ByteOrder
                    .nativeOrder());
            while (all.remaining() >= 2 * Long.BYTES) {
                long type = all.getLong();
                long value = all.getLong();
                if (type == AT_PAGESZ) {
                    return (int) value;
                }
            }
        } catch (IOException | RuntimeException notToBeRead) {
            // no descriptor, or no /proc
        }
        return 0;
    }

    private static int callGetpagesize() {
        MethodHandle function = Native.linkCritical("getpagesize", FunctionDescriptor.of(ValueLayout.JAVA_INT));
        if (function == null) {
            return 0;
        }
        try {
            return (int) function.invokeExact();
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /**
     * Explains in one sentence why system calls are impossible here, if they are; does nothing otherwise.
     *
     * @throws IllegalCallerException if native access is denied to this module
     * @throws UnsupportedOperationException on another operating system or architecture
     */
    public static void requireNativeAccess() {
        Native.requireAccess();
        // a process without descriptors cannot load a class to report that: the exception's is loaded now
        if (new LinuxException("", Errno.EMFILE).errno() != Errno.EMFILE) {
            throw new AssertionError();
        }
    }

    /**
     * The size of a page of memory: getpagesize(2).
     *
     * @return bytes, a power of two
     */
    public static int pageSize() {
        if (PAGE_SIZE == 0) {
            Native.requireAccess();
            throw new UnsupportedOperationException("the C library has no getpagesize");
        }
        return PAGE_SIZE;
    }

    /**
     * The real user id: getuid(2).
     *
     * @return the id
     */
    public static int uid() {
        return (int) Native.call(SyscallNumber.GETUID);
    }

    /**
     * The process id: getpid(2).
     *
     * @return the id
     */
    public static int pid() {
        return (int) Native.call(SyscallNumber.GETPID);
    }

    /**
     * The id of the calling thread (on a virtual thread: of its carrier): gettid(2).
     *
     * @return the id
     */
    public static int tid() {
        return (int) Native.call(SyscallNumber.GETTID);
    }

    /**
     * Unpredictable bits: getrandom(2). Opens no descriptor, unlike {@code SecureRandom}, which keeps one open.
     * Thread-safe.
     *
     * @return 64 of them
     * @throws LinuxException {@code ENOSYS} where a sandbox forbids it
     */
    public static long random() throws LinuxException {
        Native.Scratch scratch = Native.scratch();
        long got = Args.check(Native.call(SyscallNumber.GETRANDOM, scratch.address(), Long.BYTES, 0), "getrandom");
        if (got != Long.BYTES) { // up to 256 bytes are returned whole
            throw new LinuxException("getrandom", Errno.EIO);
        }
        return scratch.memory().get(ValueLayout.JAVA_LONG, 0);
    }

    /**
     * The monotonic clock, the same in all processes of the machine (of a time namespace): clock_gettime(2). Allocates
     * nothing but the calling thread's scratch memory at its first call.
     *
     * @return nanoseconds since some moment before or at boot
     */
    public static long monotonicNanos() {
        MethodHandle function = Clock.GETTIME;
        if (function == null) {
            Native.requireAccess();
            throw new UnsupportedOperationException("the C library has no clock_gettime");
        }
        Native.Scratch scratch = Native.scratch();
        MemorySegment timespec = scratch.memory();
        try {
            int _ = (int) function.invokeExact(CLOCK_MONOTONIC, scratch.address());
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
        return timespec.get(ValueLayout.JAVA_LONG, 0) * 1_000_000_000 + timespec.get(ValueLayout.JAVA_LONG, 8);
    }

    /**
     * Memory that can be allocated now without swapping or reaching the limit of a control group: {@code MemAvailable}
     * of proc_meminfo(5), and for each control group (version 1 or 2) of this process its limit less its usage.
     *
     * @return bytes, 0 or more; {@link Long#MAX_VALUE} if the system does not report it
     */
    public static long availableMemory() {
        return AvailableMemory.ofThisProcess();
    }

    /**
     * As {@link #availableMemory()}, for a memory request: small requests within 0.1 s share one query, which takes 0.1
     * ms.
     *
     * @param needed bytes, 0 or more
     * @return bytes; less than {@code needed} if that is not available
     */
    public static long availableMemory(long needed) {
        return MemoryBudget.OF_PROCESS.availableFor(needed);
    }

    /**
     * The limit of the memory of this process and those that it shares it with: the smallest limit of its control
     * groups (version 1 or 2), or {@code MemTotal} of proc_meminfo(5) if that is less.
     */
    public static MemoryLimit memoryLimit() {
        return AvailableMemory.limitOfThisProcess();
    }
}
