// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.util.Collection;
import java.util.List;

import org.verbena.shm.memory.Allocation;
import org.verbena.shm.memory.MemoryPeers;
import org.verbena.shm.memory.MemoryUser;
import org.verbena.shm.memory.Revocation;
import org.verbena.shm.pool.PoolGuest;

/** The peers that a context has sessions with, as its memory needs them. */
final class SessionPeers implements MemoryPeers {
    private final ShmContext context;

    SessionPeers(ShmContext context) {
        this.context = context;
    }

    @Override
    public void awaitRoom() {
        context.control().sessions().forEach(Session::awaitRoom);
    }

    @Override
    public void allocated(Allocation a, int pd) {
        for (Session s : context.control().sessions()) {
            s.memories().allocated(a, pd);
        }
    }

    @Override
    public void unused(Allocation a) {
        context.control().sessions().forEach(s -> s.memories().unused(a));
    }

    @Override
    public void freed(Allocation a) {
        context.control().sessions().forEach(s -> s.memories().freed(a));
    }

    @Override
    public Collection<? extends MemoryUser> queuePairs() {
        return context.queuePairs();
    }

    @Override
    public List<Revocation.Inside> guests() {
        return context.control().sessions().stream().flatMap(s -> s.pools().guests().stream()).map(PoolGuest::inside)
                .toList();
    }
}
