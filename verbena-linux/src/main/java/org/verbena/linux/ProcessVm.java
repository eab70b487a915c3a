// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.MemorySegment;

import org.verbena.linux.spi.RawProcessVm;

/**
 * Copies between this process and another one: process_vm_readv(2), process_vm_writev(2).
 *
 * <p>Needs the right to ptrace the other process: same user, dumpable, and Yama's consent ({@link Prctl}). There is no
 * atomicity and no order inside a copy. Stateless and thread-safe; throws for wrong arguments only.
 */
public final class ProcessVm {
    private ProcessVm() {}

    /**
     * Writes local memory into another process. Partial transfers are continued until all is done or one fails.
     *
     * @param pid the other process (or this one)
     * @param local native memory
     * @param localOffset first byte in it
     * @param remoteAddress where to write in the other process
     * @param length bytes, 0 or more
     * @return bytes copied: {@code length}, or less if a later part failed (the next call returns the reason); minus
     *         errno if nothing was copied: {@code ESRCH}, {@code EPERM}, {@code EFAULT}
     * @throws IllegalArgumentException for heap memory
     * @throws IndexOutOfBoundsException if the range is not inside the segment
     */
    public static long write(int pid, MemorySegment local, long localOffset, long remoteAddress, long length) {
        long address = Args.address(local, localOffset, length, "the local segment");
        return RawProcessVm.write(local, pid, address, remoteAddress, length);
    }

    /**
     * Reads another process's memory into local memory.
     *
     * @param pid the other process (or this one)
     * @param local native memory, writable
     * @param localOffset first byte in it
     * @param remoteAddress where to read in the other process
     * @param length bytes, 0 or more
     * @return as {@link #write}
     * @throws IllegalArgumentException for heap or read-only memory
     * @throws IndexOutOfBoundsException if the range is not inside the segment
     */
    public static long read(int pid, MemorySegment local, long localOffset, long remoteAddress, long length) {
        long address = Args.address(local, localOffset, length, "the local segment");
        Args.requireWritable(local, "the local segment");
        return RawProcessVm.read(local, pid, address, remoteAddress, length);
    }
}
