// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.memory;

import java.util.Collection;
import java.util.List;

/** The peers of a context, as its {@link Memories} announce memory to them and wait for them to leave. Thread-safe. */
public interface MemoryPeers {
    /** Waits while a peer has many messages to take; not under a lock. */
    void awaitRoom();

    /** A protection domain has a first region in the memory. */
    void allocated(Allocation a, int pd);

    /** A protection domain has no region in the memory any more. */
    void unused(Allocation a);

    /** The memory is about to be released. */
    void freed(Allocation a);

    /** The context's queue pairs. */
    Collection<? extends MemoryUser> queuePairs();

    /** The initiators that take receives here without being connected to a queue pair of the context, as they are now. */
    List<Revocation.Inside> unconnectedUsers();
}
