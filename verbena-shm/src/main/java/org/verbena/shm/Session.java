// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Epoll;
import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.UnixSocket;
import org.verbena.shm.layout.ControlMessage;
import org.verbena.shm.layout.EngineLog;
import org.verbena.shm.layout.LaneLayout;
import org.verbena.shm.layout.Peer;
import org.verbena.shm.layout.ProtocolException;
import org.verbena.shm.layout.SharedFile;
import org.verbena.shm.memory.PeerMemories;
import org.verbena.shm.memory.SessionCounts;
import org.verbena.shm.ring.OwnLanes;
import org.verbena.shm.ring.PeerBells;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.spi.Engine;

/**
 * All that this context has with one other context, the {@link Peer}: the control socket, queue pairs, and the memory that
 * the peer lets us map. A context's session with itself has no socket and one arena.
 */
final class Session {
    private static final int[] NO_FDS = {};
    private static final long RELEASE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final ShmContext context;
    private final Peer peer;
    private final @Nullable UnixSocket socket;
    private final PeerMemories peerMemories;
    private final SessionMemories memories;
    private final SessionPools pools;
    private final SessionReceivers receivers;
    private final PeerBells bells;
    private final SessionCounts counts;

    private final List<Connected> queuePairs = new CopyOnWriteArrayList<>();
    private final OwnLanes ownLanes;
    private final Outbox outbox = new Outbox(new ControlWire(), System::nanoTime);
    /** Where messages are put for the kernel; used under the outbox's lock. */
    private final MemorySegment scratch = Arena.ofAuto().allocate(ControlMessage.MAX_BYTES, 8);
    private final DatagramRings rings;
    Session(ShmContext context, long peerInstance, int peerPid, @Nullable UnixSocket socket, SharedFile arena,
            Peer.Files files) {
        this.context = context;
        this.socket = socket;
        peer = new Peer(context.instance(), peerInstance, peerPid, socket == null, arena, files);
        counts = new SessionCounts(peer);
        peerMemories = new PeerMemories(context.memories(), peer, counts, this::askForMemory);
        memories = new SessionMemories(context, this, peerMemories);
        pools = new SessionPools(context, this);
        receivers = new SessionReceivers(context, this);
        bells = new PeerBells(peer);
        rings = new DatagramRings(context, this);
        ownLanes = new OwnLanes(peer);
    }

    /** The other context; what needs no more of the session takes this. */
    Peer peer() {
        return peer;
    }

    /** Memory that the peer has given us. */
    PeerMemories peerMemories() {
        return peerMemories;
    }

    /** Memory that either side lets the other map. */
    SessionMemories memories() {
        return memories;
    }

    /** Pools of either side that the other takes receives from without a connection. */
    SessionPools pools() {
        return pools;
    }

    /** Queue pairs of type XRC_RECV that either side has open and the other has made. */
    SessionReceivers receivers() {
        return receivers;
    }

    /** What either side does to memory of the other. */
    SessionCounts counts() {
        return counts;
    }

    PeerBells bells() {
        return bells;
    }

    boolean isDead() {
        return peer.isDead();
    }

    /** The peer is gone: finds out whether it has said that it would end in order. Before {@link #end}. */
    void lookWhetherDeparted() {
        synchronized (outbox) {
            peer.lookWhetherDeparted();
        }
    }

    /** Whether the peer has ended in order, and its queue pairs with it. */
    boolean hasDeparted() {
        return peer.hasDeparted();
    }

    /** True for a context's session with itself. */
    boolean isLoopback() {
        return peer.isLoopback();
    }

    String peerName() {
        return peer.name();
    }

    // ---- queue pairs and lanes

    void add(Connected qp) {
        queuePairs.add(qp);
    }

    void remove(Connected qp) {
        queuePairs.remove(qp);
        for (int pd : qp.pds()) {
            memories.unshare(pd);
        }
        releaseMemories();
    }

    /** Gives the memory of a dead peer back when the last queue pair that may reach into it has left. */
    private void releaseMemories() {
        if (peer.isDead() && queuePairs.isEmpty()) {
            peerMemories.release();
            if (!releaseFiles()) {
                context.engine().lookAfter(new Release());
            }
        }
    }

    /**
     * Gives the pages of the peer's adapter and lanes back, which read as zero then, if its process has ended and nobody needs what
     * stands there; else the garbage collector does.
     *
     * @return false if the process still runs
     */
    private boolean releaseFiles() {
        if (!queuePairs.isEmpty() || isLoopback() || rings.mayBeRead() || pools.areLookedAt()) {
            return true;
        }
        if (!peer.isGone()) {
            return false;
        }
        try {
            peer.discard();
        } catch (LinuxException e) {
            EngineLog.logSometimes(System.Logger.Level.WARNING, "what " + peerName()
                    + ", which has ended, has left stays until it is collected", e);
        }
        return true;
    }

    /** A process that ends closes its sockets some moments before it has ended; one that lives has only closed its context. */
    private final class Release implements Engine.Waiting {
        private final long end = System.nanoTime() + RELEASE_NANOS;

        @Override
        public boolean wake() {
            return releaseFiles() || System.nanoTime() - end > 0;
        }

        @Override
        public boolean tick() {
            return true;
        }
    }

    /** True if one of our queue pairs, or a queue pair of the peer that takes receives here, needs that memory. */
    boolean uses(int pd) {
        return queuePairs.stream().anyMatch(q -> q.uses(pd)) || pools.hasGuestsOf(pd);
    }

    /** The peer's counts for those of our queue pairs. */
    ReadySet.Counts counts(List<Integer> indexes) {
        return new ReadySet.Counts(peer, peer.arenaBase() + LaneLayout.HINTS, indexes);
    }

    /** The lanes that we write. */
    OwnLanes ownLanes() {
        return ownLanes;
    }

    DatagramRings rings() {
        return rings;
    }

    /** We shall not read the lane any more that the peer made for {@code link}. */
    void tellLaneDone(long link) {
        if (isLoopback()) {
            ownLanes.readerDone(link);
        } else {
            send(new ControlMessage.Writer(ControlMessage.LANE_DONE).putLong(link), null);
        }
    }

    private void askForMemory(long id) {
        send(new ControlMessage.Writer(ControlMessage.MEMORY_AGAIN).putLong(id), null);
    }

    // ---- the control socket

    /** Sends a message, or leaves it to the engine if the socket is full; what cannot be sent ends the session. */
    void send(ControlMessage.Writer message, @Nullable Fd fd) {
        if (isLoopback()) {
            context.engine().submit(() -> context.control().receiveOwn(this, message));
            return;
        }
        int error = outbox.send(message, fd);
        if (error == Errno.ETIMEDOUT) {
            giveUp();
        } else if (error != 0) {
            context.engine().submit(() -> context.peerGone(this, "the control socket failed: " + Errno.describe(
                    error)));
        }
    }

    private void giveUp() {
        context.engine().submit(() -> context.sessionEnded(this, peerName() + " does not take its messages"));
    }

    /** The socket has room again; engine's thread only. */
    void flushOutbox() {
        outbox.flush();
    }

    /** Waits while the peer has many messages to take, see {@link Outbox}; not under a lock. */
    void awaitRoom() {
        if (!context.engine().isCurrentThread() && !outbox.awaitRoom()) {
            giveUp();
        }
    }

    private final class ControlWire implements Outbox.Wire {
        @Override
        public int transmit(ControlMessage.Writer message, @Nullable Fd fd) {
            try {
                long length = message.copyTo(scratch);
                return socket().send(scratch, 0, length, fd == null ? NO_FDS : new int[] {fd.value()});
            } catch (IllegalStateException e) {
                // the memory or channel was closed meanwhile, or the session has ended: nobody needs the message
                return 0;
            }
        }

        @Override
        public void watchForRoom(boolean on) {
            try {
                context.engine().rewatch(socket().fd(), on ? Epoll.IN | Epoll.OUT : Epoll.IN);
            } catch (LinuxException | IllegalStateException e) {
                context.engine().submit(() -> context.sessionEnded(Session.this, "the control socket failed: " + e
                        .getMessage()));
            }
        }
    }

    UnixSocket socket() {
        UnixSocket s = socket;
        if (s == null) {
            throw new IllegalStateException("a session with oneself has no socket");
        }
        return s;
    }

    /** Handles a message that only concerns this session; answers false if it is none of those. */
    boolean receive(ControlMessage.Reader m, int[] fds, int fdCount) throws ProtocolException, LinuxException {
        switch (m.type()) {
            case ControlMessage.LANE_DONE -> {
                long link = m.getLong();
                m.end();
                ownLanes.readerDone(link);
            }
            case ControlMessage.QP_ERROR -> {
                long link = m.getLong();
                int event = m.getInt();
                String text = m.getText();
                m.end();
                if (event != AsyncEventType.QP_ACCESS_ERR && event != AsyncEventType.QP_REQ_ERR) {
                    throw new ProtocolException("event " + event + " is not the peer's to raise");
                }
                for (Connected qp : queuePairs) {
                    qp.enterError(link, text, event);
                }
            }
            default -> {
                return memories.receive(m, fds, fdCount) || pools.receive(m) || rings.receive(m)
                        || receivers.receive(m);
            }
        }
        return true;
    }

    /** True if a connection of a queue pair with the peer was not ended by anybody yet. */
    boolean isInUse() {
        return queuePairs.stream().anyMatch(Connected::isUp);
    }

    /** The peer is gone: its queue pairs fail, its descriptors and mappings are given back. False if that was so already. */
    boolean end(String reason) {
        synchronized (outbox) {
            if (peer.isDead()) {
                return false;
            }
            peer.died();
            outbox.end();
        }
        peer.sayEnded();
        VarHandle.fullFence(); // who begins to touch something from here on sees that; who is inside is seen below
        for (Connected qp : queuePairs) {
            qp.peerDied(this, reason);
        }
        pools.end();
        receivers.end();
        if (socket != null) {
            context.engine().forget(socket.fd());
            socket.close();
        }
        bells.end();
        rings.clear();
        peerMemories.end();
        releaseMemories();
        counts.end();
        peer.arena().close();
        return true;
    }
}
