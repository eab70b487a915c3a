// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/** The kernel's sockets over RDMA and shared memory, AF_SMC. Stateless and thread-safe. */
public final class Smc {
    /** IPv4 addresses. */
    public static final int SMCPROTO_SMC = 0;
    /** IPv6 addresses. */
    public static final int SMCPROTO_SMC6 = 1;

    static final int AF_SMC = 43;
    static final int SOCK_STREAM = 1;

    private Smc() {}

    /**
     * Opens a stream socket. The kernel may load its module for that.
     *
     * @param protocol one of the constants here
     * @return the socket
     * @throws LinuxException {@code EAFNOSUPPORT} (the kernel does not have it), {@code EPROTONOSUPPORT},
     *     {@code EMFILE}, {@code ENFILE}
     */
    public static Fd socket(int protocol) throws LinuxException {
        Args.requireBetween(protocol, SMCPROTO_SMC, SMCPROTO_SMC6, "a protocol of AF_SMC");
        return Fd.ofResult(Native.call(SyscallNumber.SOCKET, AF_SMC, SOCK_STREAM | UnixSocket.SOCK_CLOEXEC, protocol),
                "socket(AF_SMC, SOCK_STREAM)");
    }
}
