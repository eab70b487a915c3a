// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.pool;

import org.verbena.shm.layout.Copy;
import org.verbena.shm.layout.LaneLayout;
import org.verbena.shm.memory.LocalBuffers;
import org.verbena.shm.memory.ReceiveCopy;
import org.verbena.shm.memory.RemoteAccess;
import org.verbena.shm.ring.Inbox;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/** Sends to a shared receive queue that each request names: entries go to its inbox, at the index of the receive. */
public final class InboxSends extends PooledSends {
    private final long source;
    private final int sourceQp;
    private final int destinationQp;

    /**
     * Makes one.
     *
     * @param source instance of this context
     * @param destinationQp the queue pair of type XRC_RECV that the requests go through
     */
    public InboxSends(RemotePool pool, LocalBuffers buffers, RemoteAccess remoteAccess, ReceiveCopy receiveCopy,
            long heldAddress, long source, int sourceQp, int destinationQp) {
        super(pool, buffers, remoteAccess, receiveCopy, heldAddress);
        this.source = source;
        this.sourceQp = sourceQp;
        this.destinationQp = destinationQp;
    }

    @Override
    void put(long length, int immediate, int opcode, int status, int flags) {
        commit(address(), length, immediate, opcode, status, flags);
    }

    @Override
    void putInline(long payload, int length, int immediate, int flags) {
        long entry = address();
        Copy.small(payload, entry, length);
        commit(entry, length, immediate, WcOpcode.RECV, WcStatus.SUCCESS, flags | LaneLayout.IS_INLINE);
    }

    private long address() {
        long entry = pool.inboxEntry(held);
        Inbox.address(entry, held, source, sourceQp, destinationQp);
        return entry;
    }

    private void commit(long entry, long length, int immediate, int opcode, int status, int flags) {
        Inbox.commit(entry, held, length, immediate, opcode, status, flags, pool.timestamps);
    }
}
