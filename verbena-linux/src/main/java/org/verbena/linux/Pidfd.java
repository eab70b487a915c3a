// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * A process as a descriptor, which is never reused for another process: pidfd_open(2), pidfd_send_signal(2).
 *
 * <p>The descriptor becomes readable ({@link Epoll#IN}) when the process ends. Stateless and thread-safe.
 */
public final class Pidfd {
    private Pidfd() {}

    /**
     * Opens a process; closed on exec.
     *
     * @param pid its id
     * @return the descriptor
     * @throws LinuxException {@code ESRCH} (no such process), {@code EINVAL} (not a process id), {@code EMFILE}
     */
    public static Fd open(int pid) throws LinuxException {
        return Fd.ofResult(Native.call(SyscallNumber.PIDFD_OPEN, pid), "pidfd_open(pid " + pid + ")");
    }

    /**
     * Sends a signal.
     *
     * @param fd a descriptor of {@link #open}
     * @param signal its number; 0 only checks
     * @throws LinuxException {@code ESRCH} (ended), {@code EPERM}, {@code EINVAL} (no such signal), {@code EBADF}
     */
    public static void sendSignal(Fd fd, int signal) throws LinuxException {
        Args.check(
                Native.call(SyscallNumber.PIDFD_SEND_SIGNAL, fd.value(), signal, 0, 0),
                "pidfd_send_signal(signal " + signal + ")");
    }

    /**
     * Whether the process still runs. A zombie is not alive.
     *
     * @param fd a descriptor of {@link #open}
     * @return false if it has ended
     * @throws LinuxException {@code ENOMEM}
     */
    public static boolean isAlive(Fd fd) throws LinuxException {
        return Poll.await(fd, Poll.IN, 0) == 0;
    }
}
