// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * A memory barrier on every running thread of this process: membarrier(2), its private expedited kind. Where one side
 * of a protocol runs often and the other seldom, the infrequent side pays for both.
 *
 * <p>The kind for several processes, global expedited, does not keep its promise (seen on Linux 6.18): when a thread
 * ends, its processor is marked as running no registered process, and the switch to another thread of the same process
 * leaves the mark. So protocols between processes have a fence on both sides.
 *
 * <p>Stateless and thread-safe.
 */
public final class Membarrier {
    static final int CMD_QUERY = 0;
    static final int CMD_GLOBAL_EXPEDITED = 1 << 1;
    static final int CMD_REGISTER_GLOBAL_EXPEDITED = 1 << 2;
    static final int CMD_PRIVATE_EXPEDITED = 1 << 3;
    static final int CMD_REGISTER_PRIVATE_EXPEDITED = 1 << 4;

    private Membarrier() {}

    /**
     * Whether the kernel has both expedited barriers (Linux 4.16).
     *
     * @return true if all other calls work
     */
    public static boolean isSupported() {
        int needed = CMD_GLOBAL_EXPEDITED | CMD_REGISTER_GLOBAL_EXPEDITED | CMD_PRIVATE_EXPEDITED
                | CMD_REGISTER_PRIVATE_EXPEDITED;
        long commands = Native.call(SyscallNumber.MEMBARRIER, CMD_QUERY);
        return commands >= 0 && (commands & needed) == needed;
    }

    /**
     * Registers this process to issue barriers, and to take part in those of others. Idempotent.
     *
     * @throws LinuxException {@code ENOSYS}, {@code EINVAL}: not supported
     */
    public static void register() throws LinuxException {
        Args.check(
                Native.call(SyscallNumber.MEMBARRIER, CMD_REGISTER_PRIVATE_EXPEDITED),
                "membarrier(REGISTER_PRIVATE_EXPEDITED)");
        Args.check(
                Native.call(SyscallNumber.MEMBARRIER, CMD_REGISTER_GLOBAL_EXPEDITED),
                "membarrier(REGISTER_GLOBAL_EXPEDITED)");
    }

    /**
     * When this returns, every running thread of this process has passed through a full memory barrier, the caller too.
     *
     * @throws IllegalStateException if the kernel does not support it ({@link #isSupported})
     */
    public static void ownProcess() {
        int error = issue(CMD_PRIVATE_EXPEDITED);
        if (error == Errno.EPERM) { // not registered yet
            try {
                register();
            } catch (LinuxException e) {
                throw new IllegalStateException(e);
            }
            error = issue(CMD_PRIVATE_EXPEDITED);
        }
        check(error, "membarrier(PRIVATE_EXPEDITED)");
    }

    /**
     * When this returns, running threads of every registered process have passed through a full memory barrier; but not
     * all of them, see above.
     *
     * @throws IllegalStateException if the kernel does not support it ({@link #isSupported})
     * @deprecated it is unreliable: use a fence in each process
     */
    @Deprecated
    public static void globalExpedited() {
        check(issue(CMD_GLOBAL_EXPEDITED), "membarrier(GLOBAL_EXPEDITED)");
    }

    private static int issue(int command) {
        return (int) -Native.callRepeatable(SyscallNumber.MEMBARRIER, command);
    }

    private static void check(int error, String call) {
        if (error != 0) {
            throw new IllegalStateException(call + ": " + Errno.describe(error));
        }
    }
}
