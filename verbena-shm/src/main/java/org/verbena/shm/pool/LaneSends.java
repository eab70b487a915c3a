// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.pool;

import org.verbena.shm.memory.LocalBuffers;
import org.verbena.shm.memory.ReceiveCopy;
import org.verbena.shm.memory.RemoteAccess;
import org.verbena.shm.ring.LaneWriter;
import org.verbena.verbs.WcOpcode;

/** Sends to a connected queue pair on a shared receive queue: entries go to its lane, one after the other. */
public final class LaneSends extends PooledSends {
    private final LaneWriter lane;
    private long index;

    public LaneSends(RemotePool pool, LocalBuffers buffers, RemoteAccess remoteAccess, ReceiveCopy receiveCopy,
            long heldAddress, LaneWriter lane) {
        super(pool, buffers, remoteAccess, receiveCopy, heldAddress);
        this.lane = lane;
    }

    /** The next entry is that of this number. */
    public void at(long entry) {
        index = entry;
    }

    @Override
    void put(long length, int immediate, int opcode, int status, int flags) {
        lane.setClaim(index, held);
        lane.put(index, length, immediate, opcode, status, flags);
    }

    @Override
    void putInline(long payload, int length, int immediate, int flags) {
        lane.setClaim(index, held);
        lane.putInline(index, payload, length, immediate, WcOpcode.RECV, flags);
    }
}
