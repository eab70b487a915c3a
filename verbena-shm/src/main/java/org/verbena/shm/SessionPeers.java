// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.util.Collection;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.shm.control.Session;
import org.verbena.shm.control.SessionOwner;
import org.verbena.shm.control.SessionPart;
import org.verbena.shm.datagram.DatagramReceiver;
import org.verbena.shm.datagram.DatagramReceivers;
import org.verbena.shm.datagram.DatagramRings;
import org.verbena.shm.layout.ControlMessage;
import org.verbena.shm.layout.ProtocolException;
import org.verbena.shm.memory.Allocation;
import org.verbena.shm.memory.MemoryPeers;
import org.verbena.shm.memory.MemoryUser;
import org.verbena.shm.memory.Revocation;
import org.verbena.shm.pool.RemotePoolUser;
import org.verbena.shm.xrc.SessionPools;
import org.verbena.shm.xrc.SessionReceivers;
import org.verbena.verbs.SamplePoint;

/** A context as its sessions need it, and its sessions as its memory needs them. */
final class SessionPeers implements MemoryPeers, SessionOwner, DatagramReceivers {
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
        return context.queuePairs().all();
    }

    @Override
    public List<Revocation.Inside> unconnectedUsers() {
        return context.control().sessions().stream().flatMap(s -> s.part(SessionPools.class).remoteUsers().stream())
                .map(
                        RemotePoolUser::inside)
                .toList();
    }

    // ---- for sessions

    @Override
    public List<SessionPart> parts(Session s) {
        return List.of(new SessionPools(context.xrc(), s), new SessionReceivers(context.xrc(), s), new DatagramRings(
                this, s));
    }

    @Override
    public @Nullable DatagramReceiver receiver(int number) {
        QueuePairBase qp = context.queuePairs().find(number);
        return qp == null ? null : qp.datagramReceiver();
    }

    @Override
    public void sessionStarted(Session s) {
        context.count(SamplePoint.DEVICE_PEERS);
        context.multicast().begin(s);
    }

    @Override
    public boolean receive(Session s, ControlMessage.Reader m) throws ProtocolException {
        return context.multicast().receive(s, m) || context.shmConnectionManager().receive(s, m);
    }

    @Override
    public void peerGone(Session s, String reason) {
        context.peerGone(s, reason);
    }

    @Override
    public void sessionEnded(Session s, String reason) {
        context.sessionEnded(s, reason);
    }
}
