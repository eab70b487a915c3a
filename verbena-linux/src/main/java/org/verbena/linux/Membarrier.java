package org.verbena.linux;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * A memory barrier on every running thread of the registered processes: membarrier(2). Where one side of a protocol
 * runs often and the other seldom, the seldom side pays for both.
 *
 * <p>Stateless and thread-safe.
 */
public final class Membarrier {
    static final int CMD_QUERY = 0;
    static final int CMD_GLOBAL_EXPEDITED = 1 << 1;
    static final int CMD_REGISTER_GLOBAL_EXPEDITED = 1 << 2;

    private Membarrier() {}

    /**
     * Whether the kernel has the global expedited barrier (Linux 4.16).
     *
     * @return true if {@link #register} and {@link #globalExpedited} work
     */
    public static boolean isSupported() {
        int needed = CMD_GLOBAL_EXPEDITED | CMD_REGISTER_GLOBAL_EXPEDITED;
        long commands = Native.call(SyscallNumber.MEMBARRIER, CMD_QUERY);
        return commands >= 0 && (commands & needed) == needed;
    }

    /**
     * Lets this process take part in global expedited barriers, its own and those of others. Idempotent.
     *
     * @throws LinuxException {@code ENOSYS}, {@code EINVAL}: not supported
     */
    public static void register() throws LinuxException {
        Args.check(
                Native.call(SyscallNumber.MEMBARRIER, CMD_REGISTER_GLOBAL_EXPEDITED),
                "membarrier(REGISTER_GLOBAL_EXPEDITED)");
    }

    /**
     * When this returns, every running thread of every registered process has passed through a full memory barrier.
     *
     * @throws IllegalStateException if the kernel does not support it ({@link #isSupported})
     */
    public static void globalExpedited() {
        long result = Native.callRepeatable(SyscallNumber.MEMBARRIER, CMD_GLOBAL_EXPEDITED);
        if (result < 0) {
            throw new IllegalStateException("membarrier(GLOBAL_EXPEDITED): " + Errno.describe((int) -result));
        }
    }
}
