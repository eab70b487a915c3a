// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.BitSet;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * The processors that the calling thread may run on: sched_getaffinity(2), sched_setaffinity(2).
 *
 * <p>On a virtual thread the calls apply to the carrier: do not set it there.
 */
public final class CpuAffinity {
    private static final int MASK_BYTES = 1024; // 8192 processors, the most that Linux can have

    private CpuAffinity() {}

    /**
     * The calling thread's processors.
     *
     * @return their numbers, at least one
     * @throws LinuxException {@code EINVAL}
     */
    public static BitSet get() throws LinuxException {
        Native.Scratch scratch = Native.scratch();
        long bytes = Args.check(
                Native.call(SyscallNumber.SCHED_GETAFFINITY, 0, MASK_BYTES, scratch.address()), "sched_getaffinity()");
        byte[] mask = new byte[Math.toIntExact(bytes)];
        MemorySegment.copy(scratch.memory(), ValueLayout.JAVA_BYTE, 0, mask, 0, mask.length);
        return BitSet.valueOf(mask); // little-endian longs in memory, the kernel's format on both architectures
    }

    /**
     * Binds the calling thread.
     *
     * @param cpus processor numbers, at least one
     * @throws IllegalArgumentException if the set is empty or names a processor above 8191
     * @throws LinuxException {@code EINVAL} if none of them exists or is allowed here
     */
    public static void set(BitSet cpus) throws LinuxException {
        byte[] mask = cpus.toByteArray();
        if (mask.length == 0 || mask.length > MASK_BYTES) {
            throw new IllegalArgumentException("not a set of processors: " + cpus);
        }
        Native.Scratch scratch = Native.scratch();
        MemorySegment memory = scratch.memory().asSlice(0, MASK_BYTES);
        memory.fill((byte) 0);
        MemorySegment.copy(mask, 0, memory, ValueLayout.JAVA_BYTE, 0, mask.length);
        Args.check(
                Native.call(SyscallNumber.SCHED_SETAFFINITY, 0, MASK_BYTES, scratch.address()),
                "sched_setaffinity(" + cpus + ")");
    }
}
