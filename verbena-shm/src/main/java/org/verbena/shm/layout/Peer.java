// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.layout;

import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Pidfd;
import org.verbena.linux.spi.RawMemory;

/** Another context, or this one as its own peer: where it is mapped, and whether it still lives. Safe for use by several threads. */
public final class Peer {
    private final PeerMapping mapping;
    private volatile boolean dead;
    private volatile boolean departed;
    private volatile boolean gone;

    public Peer(PeerMapping mapping) {
        this.mapping = mapping;
    }

    public PeerMapping mapping() {
        return mapping;
    }

    public String name() {
        return mapping.name();
    }

    public boolean isDead() {
        return dead;
    }

    /** The session with it has ended. */
    public void died() {
        dead = true;
    }

    /**
     * Whether the peer's process has ended, so that it accesses nothing any more. A session may end though that process lives; a
     * queue pair of the peer that is inside a transfer then stays inside until it leaves.
     */
    public boolean isGone() {
        if (!gone && dead) {
            gone = mapping.isLoopback() || !runs(mapping.pid());
        }
        return gone;
    }

    private static boolean runs(int pid) {
        try (Fd process = Pidfd.open(pid)) {
            return Pidfd.isAlive(process);
        } catch (LinuxException e) {
            return e.errno() != Errno.ESRCH; // without a descriptor it cannot be asked, and counts as running
        }
    }

    /** Reads, unless it is dead already, whether it has announced an orderly end. */
    public void checkDeparted() {
        departed |= !dead && RawMemory.getLongAcquire(mapping.base() + AdapterLayout.HEADER_DEPARTS) == 1;
    }

    /** Whether the peer has ended in order, and its queue pairs with it. */
    public boolean hasDeparted() {
        return departed;
    }
}
