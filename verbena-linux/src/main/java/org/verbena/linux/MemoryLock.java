// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.MemorySegment;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/** Memory that is never paged out: mlock(2), munlock(2). Stateless and thread-safe. */
public final class MemoryLock {
    private MemoryLock() {}

    /**
     * Locks the pages of a range, and allocates them now. It counts against RLIMIT_MEMLOCK, unless the process has
     * CAP_IPC_LOCK.
     *
     * @param memory native memory
     * @throws LinuxException {@code ENOMEM} (more than the limit), {@code EPERM} (the limit is 0), {@code EAGAIN}
     */
    public static void lock(MemorySegment memory) throws LinuxException {
        call(SyscallNumber.MLOCK, memory, "mlock(");
    }

    /**
     * Unlocks the pages, however often they were locked.
     *
     * @param memory native memory
     * @throws LinuxException {@code ENOMEM} (not mapped)
     */
    public static void unlock(MemorySegment memory) throws LinuxException {
        call(SyscallNumber.MUNLOCK, memory, "munlock(");
    }

    private static void call(int number, MemorySegment memory, String name) throws LinuxException {
        long length = memory.byteSize();
        long address = Args.address(memory, 0, length, "the memory to lock");
        Args.check(Native.call(memory, number, address, length, 0, 0, 0, 0), name + length + " bytes)");
    }
}
