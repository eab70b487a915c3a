// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.control;

import java.util.HashSet;
import java.util.Set;

import org.verbena.linux.LinuxException;
import org.verbena.shm.layout.ControlMessage;
import org.verbena.shm.layout.ProtocolException;
import org.verbena.shm.memory.Allocation;
import org.verbena.shm.memory.Memories;
import org.verbena.shm.memory.PeerMemories;

/**
 * Memory that the two ends of a session let each other map: which of ours were announced to the peer, and the messages
 * by which {@link PeerMemories} arrive. Safe for use by several threads.
 */
public final class SessionMemories {
    private final Memories own;
    private final Session session;
    private final PeerMemories peers;
    /** Protection domains whose memory is announced to the peer, and memories that have been announced. */
    private final Set<Integer> sharedPds = new HashSet<>();
    private final Set<Long> sentMemories = new HashSet<>();

    SessionMemories(Memories own, Session session, PeerMemories peers) {
        this.own = own;
        this.session = session;
        this.peers = peers;
    }

    // ---- ours

    /** Lets the peer map the memory of a protection domain, now and as it is allocated. */
    public void share(int pd) {
        if (session.isLoopback()) {
            return;
        }
        synchronized (sharedPds) {
            if (sharedPds.add(pd)) {
                for (Allocation a : own.allocations(pd)) {
                    sendMemory(a);
                }
            }
        }
    }

    /** A queue pair or remote user of a pool has left: memory of its protection domain is not announced any more, if it was the last one there. */
    public void unshare(int pd) {
        synchronized (sharedPds) {
            if (!session.uses(pd)) {
                sharedPds.remove(pd);
            }
        }
    }

    public void allocated(Allocation a, int pd) {
        synchronized (sharedPds) {
            if (sharedPds.contains(pd)) {
                sendMemory(a);
            }
        }
    }

    private void sendMemory(Allocation a) {
        if (sentMemories.add(a.id)) {
            transfer(a);
        }
    }

    private void transfer(Allocation a) {
        var m = new ControlMessage.Writer(a.isForeign() ? ControlMessage.MEMORY_DMABUF : ControlMessage.MEMORY)
                .putLong(a.id).putLong(a.mapping.length());
        session.send(a.isForeign() ? m.putLong(a.fileOffset) : m, a.fd);
    }

    /** A protection domain has no region in the memory any more: the peer keeps it only if another one has. */
    public void unused(Allocation a) {
        synchronized (sharedPds) {
            if (sharedPds.stream().noneMatch(a::isUsedBy)) {
                freed(a);
            }
        }
    }

    public void freed(Allocation a) {
        synchronized (sharedPds) {
            if (sentMemories.remove(a.id)) {
                session.send(new ControlMessage.Writer(ControlMessage.MEMORY_GONE).putLong(a.id), null);
            }
        }
    }

    /** Handles a message about memory; false if it is another kind. Engine's thread only. */
    boolean receive(ControlMessage.Reader m, int[] fds, int fdCount) throws ProtocolException, LinuxException {
        switch (m.type()) {
            case ControlMessage.MEMORY, ControlMessage.MEMORY_DMABUF -> peers.take(m, fds, fdCount,
                    fdCount == 0 && session.socket().lostFds());
            case ControlMessage.MEMORY_AGAIN -> {
                long id = m.getLong();
                m.end();
                synchronized (sharedPds) {
                    Allocation a = own.allocation(id);
                    if (a != null && sentMemories.contains(id)) {
                        transfer(a);
                    }
                }
            }
            case ControlMessage.MEMORY_GONE -> {
                long id = m.getLong();
                m.end();
                peers.freed(id);
            }
            default -> {
                return false;
            }
        }
        return true;
    }
}
