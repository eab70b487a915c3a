// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * The number by which the kernel identifies a socket, unique since the machine started: {@code SO_COOKIE}, socket(7).
 * The same that {@link SockDiag} finds by the addresses. Stateless and thread-safe.
 */
public final class SocketCookie {
    private static final int SOL_SOCKET = 1;
    private static final int SO_COOKIE = 57;

    private SocketCookie() {}

    /**
     * The cookie of a socket, connected or not.
     *
     * @param fd a socket, which the caller keeps and closes
     * @throws LinuxException {@code EBADF}, {@code ENOTSOCK}; {@code ENOPROTOOPT} before Linux 4.12
     */
    public static long of(int fd) throws LinuxException {
        Native.Scratch scratch = Native.scratch();
        MemorySegment memory = scratch.memory(); // the cookie at 0, its length after it
        memory.set(ValueLayout.JAVA_INT, Long.BYTES, Long.BYTES);
        Args.check(Native.call(SyscallNumber.GETSOCKOPT, fd, SOL_SOCKET, SO_COOKIE, scratch.address(),
                scratch.address() + Long.BYTES, 0), "getsockopt(SO_COOKIE)");
        return memory.get(ValueLayout.JAVA_LONG, 0);
    }
}
