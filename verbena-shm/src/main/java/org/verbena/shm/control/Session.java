// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.control;

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
import org.verbena.shm.layout.Peer;
import org.verbena.shm.layout.PeerMapping;
import org.verbena.shm.layout.ProtocolException;
import org.verbena.shm.layout.SharedFile;
import org.verbena.shm.memory.PeerMemories;
import org.verbena.shm.memory.SessionCounts;
import org.verbena.shm.ring.OwnLanes;
import org.verbena.shm.ring.PeerBells;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.spi.Engine;

/**
 * What this context shares with one other context, the {@link Peer}: the control socket, queue pairs, and the memory that
 * the peer lets us map. A context's session with itself has no socket and one arena.
 */
public final class Session {
    private static final int[] NO_FDS = {};
    private static final long RELEASE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Control control;
    private final ContextParts own;
    private final Peer peer;
    private final PeerMapping mapping;
    private final @Nullable UnixSocket socket;
    private final PeerMemories peerMemories;
    private final SessionMemories memories;
    private final List<SessionPart> parts;
    private final PeerBells bells;
    private final SessionCounts counts;

    private final List<ConnectedQueuePair> queuePairs = new CopyOnWriteArrayList<>();
    private final OwnLanes ownLanes;
    private final Outbox outbox = new Outbox(new ControlWire(), System::nanoTime);
    /** The buffer of messages for the kernel; used under the outbox's lock. */
    private final MemorySegment scratch = Arena.ofAuto().allocate(ControlMessage.MAX_BYTES, 8);

    public Session(Control control, long peerInstance, int peerPid, @Nullable UnixSocket socket, SharedFile arena,
            PeerMapping.Files files) {
        this.control = control;
        this.own = control.own();
        this.socket = socket;
        mapping = new PeerMapping(own.instance(), peerInstance, peerPid, socket == null, arena, files);
        peer = new Peer(mapping);
        counts = new SessionCounts(peer);
        peerMemories = new PeerMemories(own.memories(), mapping, counts, this::requestMemory);
        memories = new SessionMemories(own.memories(), this, peerMemories);
        bells = new PeerBells(mapping);
        ownLanes = new OwnLanes(mapping);
        parts = control.owner().parts(this);
    }

    /** The other context; for users that need no more of the session. */
    public Peer peer() {
        return peer;
    }

    /** What is fixed about it: for the data path. */
    public PeerMapping mapping() {
        return mapping;
    }

    /** Memory that the peer shares with us. */
    public PeerMemories peerMemories() {
        return peerMemories;
    }

    /** Memory that either side lets the other map. */
    public SessionMemories memories() {
        return memories;
    }

    /** The part of that kind, for those that have found the session by its peer. */
    public <T extends SessionPart> T part(Class<T> kind) {
        for (SessionPart p : parts) {
            if (kind.isInstance(p)) {
                return kind.cast(p);
            }
        }
        throw new IllegalArgumentException("a session has no " + kind.getSimpleName());
    }

    /** Counts of accesses of either side to memory of the other. */
    public SessionCounts counts() {
        return counts;
    }

    public PeerBells bells() {
        return bells;
    }

    public boolean isDead() {
        return peer.isDead();
    }

    /** The peer is gone: reads whether it had announced an orderly end. Before {@link #end}. */
    public void checkDeparted() {
        synchronized (outbox) {
            peer.checkDeparted();
        }
    }

    /** Whether the peer has ended in order, and its queue pairs with it. */
    public boolean hasDeparted() {
        return peer.hasDeparted();
    }

    /** True for a context's session with itself. */
    boolean isLoopback() {
        return mapping.isLoopback();
    }

    public String peerName() {
        return mapping.name();
    }

    // ---- queue pairs and lanes

    public void add(ConnectedQueuePair qp) {
        queuePairs.add(qp);
    }

    public void remove(ConnectedQueuePair qp) {
        queuePairs.remove(qp);
        for (int pd : qp.pds()) {
            memories.unshare(pd);
        }
        releaseMemories();
    }

    /** Releases the memory of a dead peer when the last queue pair that may access it has left. */
    private void releaseMemories() {
        if (peer.isDead() && queuePairs.isEmpty()) {
            peerMemories.release();
            if (!releaseFiles()) {
                own.engine().startPolling(new Release());
            }
        }
    }

    /**
     * Releases the pages of the peer's adapter and lanes, which read as zero then, if its process has ended and their
     * content is not needed; else the garbage collector does.
     *
     * @return false if the process still runs
     */
    private boolean releaseFiles() {
        if (!queuePairs.isEmpty() || isLoopback() || parts.stream().anyMatch(SessionPart::readsPeer)) {
            return true;
        }
        if (!peer.isGone()) {
            return false;
        }
        try {
            mapping.discard();
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
    public boolean uses(int pd) {
        return queuePairs.stream().anyMatch(q -> q.uses(pd)) || parts.stream().anyMatch(p -> p.uses(pd));
    }

    /** The lanes that we write. */
    public OwnLanes ownLanes() {
        return ownLanes;
    }

    /** We do not read the lane any more that the peer made for {@code link}. */
    public void sendLaneDone(long link) {
        if (isLoopback()) {
            ownLanes.readerDone(link);
        } else {
            send(new ControlMessage.Writer(ControlMessage.LANE_DONE).putLong(link), null);
        }
    }

    private void requestMemory(long id) {
        send(new ControlMessage.Writer(ControlMessage.MEMORY_AGAIN).putLong(id), null);
    }

    // ---- the control socket

    /** Sends a message, or leaves it to the engine if the socket is full; a failure to send ends the session. */
    public void send(ControlMessage.Writer message, @Nullable Fd fd) {
        if (isLoopback()) {
            own.engine().submit(() -> control.receiveOwn(this, message));
            return;
        }
        int error = outbox.send(message, fd);
        if (error == Errno.ETIMEDOUT) {
            giveUp();
        } else if (error != 0) {
            own.engine().submit(() -> control.owner().peerGone(this, "the control socket failed: " + Errno.describe(
                    error)));
        }
    }

    private void giveUp() {
        own.engine().submit(() -> control.owner().sessionEnded(this, peerName() + " does not take its messages"));
    }

    /** The socket has room again; engine's thread only. */
    void flushOutbox() {
        outbox.flush();
    }

    /** Waits while the peer has many messages to take, see {@link Outbox}; not under a lock. */
    public void awaitRoom() {
        if (!own.engine().isCurrentThread() && !outbox.awaitRoom()) {
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
                // the memory or channel was closed meanwhile, or the session has ended: the message is not needed
                return 0;
            }
        }

        @Override
        public void watchForRoom(boolean on) {
            try {
                own.engine().rewatch(socket().fd(), on ? Epoll.IN | Epoll.OUT : Epoll.IN);
            } catch (LinuxException | IllegalStateException e) {
                own.engine().submit(() -> control.owner().sessionEnded(Session.this, "the control socket failed: " + e
                        .getMessage()));
            }
        }
    }

    public UnixSocket socket() {
        UnixSocket s = socket;
        if (s == null) {
            throw new IllegalStateException("a session with oneself has no socket");
        }
        return s;
    }

    /** Handles a message that only concerns this session; false if it is another kind. */
    public boolean receive(ControlMessage.Reader m, int[] fds, int fdCount) throws ProtocolException, LinuxException {
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
                for (ConnectedQueuePair qp : queuePairs) {
                    qp.enterError(link, text, event);
                }
            }
            default -> {
                return memories.receive(m, fds, fdCount) || isOfPart(m);
            }
        }
        return true;
    }

    private boolean isOfPart(ControlMessage.Reader m) throws ProtocolException {
        for (SessionPart p : parts) {
            if (p.receive(m)) {
                return true;
            }
        }
        return false;
    }

    /** True if a connection of a queue pair with the peer has not been ended by either side. */
    public boolean isInUse() {
        return queuePairs.stream().anyMatch(ConnectedQueuePair::isUp);
    }

    /** The peer is gone: its queue pairs fail, its descriptors and mappings are released. Does nothing if it has ended already. */
    public void end(String reason) {
        synchronized (outbox) {
            if (peer.isDead()) {
                return;
            }
            peer.died();
            outbox.end();
        }
        mapping.publishEnded();
        VarHandle.fullFence(); // an initiator that enters from here on sees that; one that is inside is seen below
        for (ConnectedQueuePair qp : queuePairs) {
            qp.peerDied(this, reason);
        }
        parts.forEach(SessionPart::end);
        if (socket != null) {
            own.engine().forget(socket.fd());
            socket.close();
        }
        bells.end();
        peerMemories.end();
        releaseMemories();
        counts.end();
        mapping.arena().close();
    }
}
