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
import org.verbena.linux.Mapping;
import org.verbena.linux.Pidfd;
import org.verbena.linux.UnixSocket;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.Engine;

/**
 * All that this context has with one other context: the control socket, the two lane arenas, the peer's adapter and the
 * memory that the peer lets us map. A context's session with itself has no socket and one arena.
 */
final class Session {
    private static final int[] NO_FDS = {};
    private static final long RELEASE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final ShmContext context;
    private final long peerInstance;
    private final int peerPid;
    private final @Nullable UnixSocket socket;
    private final SharedFile arena;
    /** What is in use of the arena. */
    private final Extents heap = new Extents(LaneLayout.HEAP, LaneLayout.SIZE);
    private final PeerFiles peer;
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
    private volatile boolean dead;
    private volatile boolean departed;
    private volatile boolean gone;

    /** The peer's memory files, mapped here; we write to its commons only. */
    record PeerFiles(Mapping adapter, Mapping arena, Mapping commons) {}

    Session(ShmContext context, long peerInstance, int peerPid, @Nullable UnixSocket socket, SharedFile arena,
            PeerFiles peer) {
        this.context = context;
        this.peerInstance = peerInstance;
        this.peerPid = peerPid;
        this.socket = socket;
        this.arena = arena;
        this.peer = peer;
        memories = new SessionMemories(context, this);
        pools = new SessionPools(context, this);
        receivers = new SessionReceivers(context, this);
        bells = new PeerBells(this);
        counts = new SessionCounts(this, arena, peer.arena.address());
        rings = new DatagramRings(context, this);
        ownLanes = new OwnLanes(this, arena, heap);
    }

    /** Makes the arena that this side of a new session writes. */
    static SharedFile makeArena(long ownInstance, long peerInstance) throws LinuxException {
        SharedFile f = new SharedFile("verbena-lanes", LaneLayout.SIZE, LaneLayout.HEAD);
        RawMemory.putLong(f.address() + LaneLayout.HEADER_VERSION, AdapterLayout.VERSION);
        RawMemory.putLong(f.address() + LaneLayout.HEADER_SIZE, LaneLayout.SIZE);
        RawMemory.putLong(f.address() + LaneLayout.HEADER_WRITER, ownInstance);
        RawMemory.putLong(f.address() + LaneLayout.HEADER_READER, peerInstance);
        RawMemory.putLongRelease(f.address() + LaneLayout.HEADER_MAGIC, LaneLayout.MAGIC);
        return f;
    }

    long ownInstance() {
        return context.instance();
    }

    long peerInstance() {
        return peerInstance;
    }

    int peerPid() {
        return peerPid;
    }

    /** Address of the peer's adapter in this process. */
    long peerBase() {
        return peer.adapter.address();
    }

    /** Address of the lane arena that the peer writes. */
    long peerArenaBase() {
        return peer.arena.address();
    }

    /** Address of the peer's commons. */
    long peerCommonsBase() {
        return peer.commons.address();
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
        return dead;
    }

    /**
     * Whether the peer's process has ended, so that it touches nothing any more. A session may end though that process lives; a
     * queue pair of the peer's that is inside a transfer then stays inside until it leaves.
     */
    boolean isGone() {
        if (!gone && dead) {
            gone = isLoopback() || !runs(peerPid);
        }
        return gone;
    }

    private static boolean runs(int pid) {
        try (Fd process = Pidfd.open(pid)) {
            return Pidfd.isAlive(process);
        } catch (LinuxException e) {
            return e.errno() != Errno.ESRCH; // out of descriptors: not known now
        }
    }

    /** Whether the session has ended for the peer; to be asked after a {@link Hazard} was entered. */
    boolean hasEndedForPeer() {
        return RawMemory.getLongAcquire(peerArenaBase() + LaneLayout.HEADER_ENDED) != 0;
    }

    /** The peer is gone: finds out whether it has said that it would end in order. Before {@link #end}. */
    void lookWhetherDeparted() {
        synchronized (outbox) {
            departed |= !dead && RawMemory.getLongAcquire(peerBase() + AdapterLayout.HEADER_DEPARTS) == 1;
        }
    }

    /** Whether the peer has ended in order, and its queue pairs with it. */
    boolean hasDeparted() {
        return departed;
    }

    /** True for a context's session with itself. */
    boolean isLoopback() {
        return socket == null;
    }

    String peerName() {
        return isLoopback() ? "this process" : "process " + peerPid;
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
        if (dead && queuePairs.isEmpty()) {
            memories.release();
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
        if (!isGone()) {
            return false;
        }
        try {
            peer.adapter.discard();
            peer.arena.discard();
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
        return new ReadySet.Counts(this, peerArenaBase() + LaneLayout.HINTS, indexes);
    }

    /** Address of our count for a queue pair of the peer, see {@link ReadySet}. */
    long hint(int peerNumber) {
        return arena.address() + LaneLayout.HINTS + 2L * ReadySet.index(peerNumber);
    }

    /** The lanes that we write. */
    OwnLanes ownLanes() {
        return ownLanes;
    }

    DatagramRings rings() {
        return rings;
    }

    /** Takes a part of the arena, without pages yet; answers its address. */
    long takeArena(String verb, long bytes) throws VerbsException {
        long at = heap.take(bytes);
        if (at < 0) {
            throw new VerbsException(verb, Errno.ENOMEM, "the arena is full");
        }
        return arena.address() + at;
    }

    /** Gives pages to a part of the arena. */
    void reserveArena(long address, long bytes) throws LinuxException {
        arena.reserve(address - arena.address(), bytes);
    }

    void giveArena(long address, long bytes) {
        heap.give(address - arena.address(), bytes);
    }

    /** Offset in the arena of an address. */
    long arenaOffset(long address) {
        return address - arena.address();
    }

    /** We shall not read the lane any more that the peer made for {@code link}. */
    void tellLaneDone(long link) {
        if (isLoopback()) {
            ownLanes.readerDone(link);
        } else {
            send(new ControlMessage.Writer(ControlMessage.LANE_DONE).putLong(link), null);
        }
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
            if (dead) {
                return false;
            }
            dead = true;
            outbox.end();
        }
        RawMemory.putLongRelease(arena.address() + LaneLayout.HEADER_ENDED, 1);
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
        memories.end();
        releaseMemories();
        counts.end();
        arena.close();
        return true;
    }
}
