// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.wire;

import java.io.IOException;
import java.net.InetAddress;

import org.verbena.linux.Fd;

/** A wire that only brings packets of flows, and ICMP errors about them; all others are the kernel's. */
public interface SteeredWire extends Wire {
    /**
     * Has packets to an address and port come here, until the answer is closed.
     *
     * @param protocol TCP or UDP, as IP has it
     * @param to an address, or a group
     * @throws IOException {@code EEXIST} if somebody else has them, {@code ENOMEM} for too many flows, {@code EPERM} as docs/xdp.md has it
     */
    AutoCloseable steer(int protocol, InetAddress to, int port) throws IOException;

    /** Ends {@link #sleep} when a descriptor is readable, too, which is told on the thread that sleeps. Once, before the first sleep. */
    void watch(Fd fd, Runnable readable) throws IOException;
}
