// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.control;

import java.lang.invoke.VarHandle;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.ArmWord;
import org.verbena.shm.layout.ControlMessage;
import org.verbena.shm.layout.LaneLayout;
import org.verbena.shm.layout.Link;
import org.verbena.shm.layout.ProtocolException;
import org.verbena.shm.layout.ShmLimits;
import org.verbena.shm.pool.RemotePool;
import org.verbena.verbs.VerbsException;

/**
 * The far end of a connected queue pair as its initiator needs it: read from the peer's directory entry once it is
 * ready, checked, and kept. Immutable.
 */
public final class RemoteQueuePair {
    public final Session session;
    /** Address of the peer's directory entry. */
    public final long entry;
    public final int number;
    /** The link's identity when it was read; another one means the peer has left this connection. */
    public final long link;
    public final int pd;
    final long ring;
    public final int entries;
    final int ringMask;
    public final long stride;
    public final int maxSge;
    /** The source of receives; null if the queue pair has a ring of its own. */
    final @Nullable public RemotePool pool;
    public final boolean timestamps;
    public final long armWord;
    /** Address of the count, in the arena that we write, that marks the peer's queue pair. */
    public final long hint;
    final int channel;

    private RemoteQueuePair(Session session, long entry, int number, long link) throws ProtocolException {
        this.session = session;
        this.entry = entry;
        this.number = number;
        this.link = link & Link.IDENTITY;
        pd = RawMemory.getInt(entry + AdapterLayout.QP_PD);
        long offset = RawMemory.getLong(entry + AdapterLayout.QP_RING);
        entries = RawMemory.getInt(entry + AdapterLayout.QP_RING_ENTRIES);
        maxSge = RawMemory.getInt(entry + AdapterLayout.QP_RING_SGE);
        int poolIndex = RawMemory.getInt(entry + AdapterLayout.QP_POOL);
        int arm = RawMemory.getInt(entry + AdapterLayout.QP_ARM);
        if (entries < 1 || entries > ShmLimits.MAX_WR || Integer.bitCount(entries) != 1 || maxSge < 0
                || maxSge > ShmLimits.MAX_SGE || arm < 0 || arm >= AdapterLayout.MAX_CQ) {
            throw new ProtocolException("a queue pair's directory entry is invalid");
        }
        stride = AdapterLayout.wqeStride(maxSge);
        pool = poolIndex == 0 ? null : RemotePool.at(session.peerMemories(), session.bells(), poolIndex - 1);
        if (pool == null && (offset < AdapterLayout.HEAP || offset > AdapterLayout.SIZE - stride * entries || (offset
                & 15) != 0)) {
            throw new ProtocolException("a receive ring lies outside the adapter");
        }
        ring = session.mapping().base() + offset;
        ringMask = entries - 1;
        timestamps = (RawMemory.getInt(entry + AdapterLayout.QP_FLAGS) & AdapterLayout.FLAG_TIMESTAMPS) != 0;
        armWord = session.mapping().base() + AdapterLayout.armWord(arm);
        hint = session.mapping().hint(number);
        channel = RawMemory.getInt(entry + AdapterLayout.QP_CHANNEL);
    }

    /**
     * Reads the far end.
     *
     * @param type which it has to be, see {@link org.verbena.verbs.QueuePairType}
     * @return null if it is not connected to {@code number} of this context yet
     * @throws ProtocolException if it violates the protocol
     */
    static @Nullable public RemoteQueuePair find(Session session, int number, int peerNumber, int type)
            throws ProtocolException {
        long entry = session.mapping().base() + AdapterLayout.qpEntry(peerNumber);
        long link = RawMemory.getLongAcquire(entry + AdapterLayout.QP_LINK);
        if ((link & 1) == 0 || RawMemory.getInt(entry + AdapterLayout.QP_NUMBER) != peerNumber
                || RawMemory.getInt(entry + AdapterLayout.QP_PEER_NUMBER) != number
                || RawMemory.getLong(entry + AdapterLayout.QP_PEER) != session.mapping().ownInstance()
                || RawMemory.getInt(entry + AdapterLayout.QP_TYPE) != type) {
            return null;
        }
        try {
            RemoteQueuePair r = new RemoteQueuePair(session, entry, peerNumber, link);
            return isStill(entry, link) ? r : null;
        } catch (ProtocolException e) {
            if (isStill(entry, link)) {
                throw e;
            }
            return null; // some of it was read while another queue pair took the entry
        }
    }

    /** True if all that was read since the link belongs to that connection. */
    private static boolean isStill(long entry, long link) {
        VarHandle.acquireFence();
        return ((RawMemory.getLongAcquire(entry + AdapterLayout.QP_LINK) ^ link) & Link.IDENTITY) == 0;
    }

    /** Opens the doorbell of the far end, if it has one. */
    public void reachBell() throws VerbsException {
        if (channel != 0) {
            session.bells().reach("wake " + session.peerName(), channel);
        }
    }

    /** Wakes the far end for this value of its arm word. */
    public void wake(long word) {
        RawMemory.putLongVolatile(session.ownLanes().entry(number) + LaneLayout.LANE_NOTIFIED, word);
        session.bells().ring(ArmWord.bell(word, channel));
    }

    /** Reports to the far end that its queue pair, in the present connection, failed a request. */
    public void reportError(int event, String reason) {
        session.send(new ControlMessage.Writer(ControlMessage.QP_ERROR).putLong(link).putInt(event).putText(reason),
                null);
    }

    /** Address of a receive ring entry. */
    public long wqe(long index) {
        return ring + (index & ringMask) * stride;
    }
}
