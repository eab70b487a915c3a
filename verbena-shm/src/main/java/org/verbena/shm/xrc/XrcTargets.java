// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.xrc;

import java.lang.invoke.VarHandle;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.control.RemoteQueuePair;
import org.verbena.shm.control.Session;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.ProtocolException;
import org.verbena.shm.memory.LocalBuffers;
import org.verbena.shm.memory.MemoryUser;
import org.verbena.shm.memory.ReceiveCopy;
import org.verbena.shm.memory.RemoteAccess;
import org.verbena.shm.pool.InboxSends;
import org.verbena.shm.pool.RemotePool;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.spi.NumberMap;

/**
 * The shared receive queues that one queue pair of type XRC_SEND has named in requests, by number. Used by one thread at a time,
 * but another one may close the queue pair.
 */
public final class XrcTargets {
    private final MemoryUser qp;
    private final XrcDirectory directory;
    private final LocalBuffers buffers;
    private final RemoteAccess remoteAccess;
    private final ReceiveCopy receiveCopy;
    /** Address of the queue pair's directory entry. */
    private final long entry;
    private NumberMap<XrcTarget> table = new NumberMap<>();
    private @Nullable XrcTarget last;

    public XrcTargets(MemoryUser qp, XrcDirectory directory, LocalBuffers buffers, RemoteAccess remoteAccess,
            ReceiveCopy receiveCopy, long entry) {
        this.qp = qp;
        this.directory = directory;
        this.buffers = buffers;
        this.remoteAccess = remoteAccess;
        this.receiveCopy = receiveCopy;
        this.entry = entry;
    }

    XrcDirectory directory() {
        return directory;
    }

    MemoryUser queuePair() {
        return qp;
    }

    /** The owner of a queue violates the protocol. */
    void protocolViolated(Session owner, ProtocolException e) {
        qp.enterError(owner.peerName() + ", which has the shared receive queue, broke the protocol: " + e.getMessage(),
                AsyncEventType.QP_FATAL);
    }

    InboxSends sends(RemotePool pool, RemoteQueuePair receiver) {
        return new InboxSends(pool, buffers, remoteAccess, receiveCopy, entry + AdapterLayout.QP_HELD,
                directory.control().own().instance(), qp.number(), receiver.number);
    }

    /** The queue of that number, which becomes the current one. */
    public XrcTarget get(int number) {
        XrcTarget t = last;
        if (t != null && t.number == number) {
            return t;
        }
        t = table.get(number);
        if (t == null) {
            t = add(number);
        }
        last = t;
        // before a receive of it can be held
        RawMemory.putIntRelease(entry + AdapterLayout.QP_HELD_QUEUE, number);
        return t;
    }

    private XrcTarget add(int number) {
        XrcTarget t = new XrcTarget(this, number);
        table.put(number, t);
        return t;
    }

    /** The connection is over. */
    public void clear() {
        table.forEach(XrcTarget::leave);
        NumberMap<XrcTarget> empty = new NumberMap<>();
        VarHandle.releaseFence();
        table = empty; // the old one stays as it is: a thread that posts may be reading it
        last = null;
    }
}
