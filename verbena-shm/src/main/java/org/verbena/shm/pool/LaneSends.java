// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.pool;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.Posted;
import org.verbena.shm.memory.LocalBuffers;
import org.verbena.shm.memory.ReceiveCopy;
import org.verbena.shm.memory.RemoteAccess;
import org.verbena.shm.ring.LaneWriter;
import org.verbena.verbs.WcOpcode;

/** Sends to a connected queue pair on a shared receive queue: entries go to its lane, one after the other. */
public final class LaneSends extends PooledSends {
    private final LaneWriter lane;
    /** Address of the peer's directory entry, and how many entries the lane has. */
    private final long entry;
    private final int entries;
    /** How many lane entries may be committed; read again when used up. */
    private long room;
    private long index;

    public LaneSends(RemotePool pool, LocalBuffers buffers, RemoteAccess remoteAccess, ReceiveCopy receiveCopy,
            long heldAddress, LaneWriter lane, long entry, int entries) {
        super(pool, buffers, remoteAccess, receiveCopy, heldAddress);
        this.lane = lane;
        this.entry = entry;
        this.entries = entries;
    }

    /** True if the peer has polled enough for one more entry after {@code sent}. */
    public boolean hasRoom(long sent) {
        if (sent >= room) {
            long count = Posted.count(RawMemory.getLongAcquire(entry + AdapterLayout.QP_POSTED));
            room = Math.min(count, sent + entries); // a peer that sets more only ruins its own lane
        }
        return room > sent;
    }

    /** The next entry is that of this number. */
    public void at(long number) {
        index = number;
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
