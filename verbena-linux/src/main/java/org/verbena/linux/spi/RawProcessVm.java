// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux.spi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Copies between this process and another one by address: process_vm_readv(2), process_vm_writev(2).
 *
 * <p>For sibling modules only: <strong>callers check bounds</strong> and keep the owner of the local address reachable.
 * The kernel itself returns {@code EFAULT} for an unmapped address on either side. Nothing is thrown and nothing is
 * allocated. There is no atomicity and no order inside one copy. Thread-safe.
 */
public final class RawProcessVm {
    private RawProcessVm() {}

    /**
     * Writes local memory into another process.
     *
     * @param pid the other process
     * @param localAddress where to read in this process
     * @param remoteAddress where to write in the other one
     * @param length bytes, 0 or more
     * @return bytes copied, less than {@code length} only if a later part failed; or, if nothing was copied, minus
     *         errno: {@code ESRCH}, {@code EPERM} (no ptrace right), {@code EFAULT}, {@code EINVAL} (negative length)
     */
    public static long write(int pid, long localAddress, long remoteAddress, long length) {
        return move(SyscallNumber.PROCESS_VM_WRITEV, MemorySegment.NULL, pid, localAddress, remoteAddress, length);
    }

    /**
     * Reads another process's memory into local memory.
     *
     * @param pid the other process
     * @param localAddress where to write in this process
     * @param remoteAddress where to read in the other one
     * @param length bytes, 0 or more
     * @return as {@link #write(int, long, long, long)}
     */
    public static long read(int pid, long localAddress, long remoteAddress, long length) {
        return move(SyscallNumber.PROCESS_VM_READV, MemorySegment.NULL, pid, localAddress, remoteAddress, length);
    }

    /** As {@link #write(int, long, long, long)}; {@code held} cannot be closed meanwhile. */
    public static long write(MemorySegment held, int pid, long localAddress, long remoteAddress, long length) {
        return move(SyscallNumber.PROCESS_VM_WRITEV, held, pid, localAddress, remoteAddress, length);
    }

    /** As {@link #read(int, long, long, long)}; {@code held} cannot be closed meanwhile. */
    public static long read(MemorySegment held, int pid, long localAddress, long remoteAddress, long length) {
        return move(SyscallNumber.PROCESS_VM_READV, held, pid, localAddress, remoteAddress, length);
    }

    private static long move(int call, MemorySegment held, int pid, long local, long remote, long length) {
        if (length < 0) {
            return -22; // EINVAL
        }
        Native.Scratch scratch = Native.scratch();
        MemorySegment iovecs = scratch.memory(); // struct iovec {void *base; size_t length;}: local at 0, remote at 16
        long moved = 0;
        while (moved < length) {
            iovecs.set(ValueLayout.JAVA_LONG, 0, local + moved);
            iovecs.set(ValueLayout.JAVA_LONG, 8, length - moved);
            iovecs.set(ValueLayout.JAVA_LONG, 16, remote + moved);
            iovecs.set(ValueLayout.JAVA_LONG, 24, length - moved);
            long n = Native.call(held, call, pid, scratch.address(), 1, scratch.address() + 16, 1, 0);
            if (n <= 0) {
                return moved > 0 ? moved : n;
            }
            moved += n;
        }
        return moved;
    }
}
