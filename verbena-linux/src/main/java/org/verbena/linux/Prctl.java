// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * Permission to ptrace this process, by its own setting and by the Yama module: prctl(2). Stateless and thread-safe.
 */
public final class Prctl {
    /** Any process with the privilege otherwise. */
    public static final int PTRACER_ANY = -1;

    static final int PR_GET_DUMPABLE = 3;
    static final int PR_SET_PTRACER = 0x59616d61;

    private static final Path YAMA = Path.of("/proc/sys/kernel/yama/ptrace_scope");

    private Prctl() {}

    /**
     * Allows another process to ptrace this one ({@link ProcessVm}) although Yama's scope is 1. One call replaces
     * another.
     *
     * @param pid a process, {@link #PTRACER_ANY}, or 0 for none
     * @return 0, or an errno: {@code EINVAL} if the kernel has no Yama (then nothing is needed) or there is no such
     *         process
     * @throws IllegalArgumentException if pid is below -1
     */
    public static int setPtracer(int pid) {
        if (pid < PTRACER_ANY) {
            throw new IllegalArgumentException("not a process id: " + pid);
        }
        return (int) -Native.call(SyscallNumber.PRCTL, PR_SET_PTRACER, pid);
    }

    /**
     * Yama's restriction: 0 none, 1 descendants and declared tracers, 2 administrators, 3 no process.
     *
     * @return the scope, or -1 if the kernel has no Yama (or does not report it)
     */
    public static int yamaScope() {
        try {
            return Integer.parseInt(Files.readString(YAMA).strip());
        } catch (IOException | NumberFormatException absent) {
            return -1;
        }
    }

    /**
     * Whether processes of the same user may ptrace this one at all. A process that has changed its user, or whose
     * program the user may not read, is not dumpable.
     *
     * @return true if it is dumpable
     * @throws LinuxException if the kernel does not report it
     */
    public static boolean isDumpable() throws LinuxException {
        return Args.check(Native.call(SyscallNumber.PRCTL, PR_GET_DUMPABLE), "prctl(PR_GET_DUMPABLE)") == 1;
    }
}
