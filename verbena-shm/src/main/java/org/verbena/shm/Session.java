package org.verbena.shm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.DmaBuf;
import org.verbena.linux.Doorbell;
import org.verbena.linux.Epoll;
import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Mapping;
import org.verbena.linux.Memfd;
import org.verbena.linux.Sys;
import org.verbena.linux.UnixSocket;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.VerbsException;

/**
 * All that this context has with one other context: the control socket, the two lane arenas, the peer's adapter and the
 * memory that the peer lets us map. A context's session with itself has no socket and one arena.
 */
final class Session {
    private static final int[] NO_FDS = {};
    /** A peer that lets so many messages lie does not take them any more. */
    private static final int MAX_OUTBOX = 4096;
    /** More memories of one peer than the kernel could map anyway are not taken. */
    private static final int MAX_MEMORIES = 16384;
    private static final int MAX_BELLS = 256;
    private static final long ASK_AGAIN_NANOS = 20_000_000;

    private final ShmContext context;
    private final long peerInstance;
    private final int peerPid;
    private final @Nullable UnixSocket socket;
    private final SharedFile arena;
    private final Extents lanes = new Extents(LaneLayout.HEAP, LaneLayout.SIZE);
    private final PeerFiles peer;
    private final SessionPools pools;

    private final List<ShmQueuePair> queuePairs = new CopyOnWriteArrayList<>();
    private final Map<Long, Mapping> memories = new ConcurrentHashMap<>();
    private final Map<Long, Missing> missing = new ConcurrentHashMap<>();
    /** Doorbells of the peer: its completion channels, and its engine as number 0. */
    private final Map<Integer, Doorbell> bells = new ConcurrentHashMap<>();
    private final Map<Long, OwnLane> ownLanes = new HashMap<>();
    /** Protection domains whose memory the peer is told of, and memories that it has been told of. */
    private final Set<Integer> sharedPds = new HashSet<>();
    private final Set<Long> sentMemories = new HashSet<>();
    private final ArrayDeque<Outgoing> outbox = new ArrayDeque<>();
    /** Where messages are put for the kernel; used under the outbox's lock. */
    private final MemorySegment scratch = Arena.ofAuto().allocate(ControlMessage.MAX_BYTES, 8);
    private final DatagramRings rings;
    private volatile boolean dead;

    private record Outgoing(ControlMessage.Writer message, @Nullable Fd fd) {}

    /** Memory that came and could not be taken. It is asked for once; if it is missed again, that is another object. */
    private static final class Missing {
        final int errno;
        private final long since = System.nanoTime();
        private final AtomicBoolean asked = new AtomicBoolean();

        Missing(int errno) {
            this.errno = errno;
        }

        boolean mayAsk() {
            return System.nanoTime() - since > ASK_AGAIN_NANOS && asked.compareAndSet(false, true);
        }
    }

    /** The peer's memory files, mapped here; we write to its commons only. */
    record PeerFiles(Mapping adapter, Mapping arena, Mapping commons) {}

    /** A lane that we write; its memory is free again when neither end uses it. */
    private static final class OwnLane {
        final long at;
        final long bytes;
        boolean writerDone;
        boolean readerDone;

        OwnLane(long at, long bytes) {
            this.at = at;
            this.bytes = bytes;
        }
    }

    Session(ShmContext context, long peerInstance, int peerPid, @Nullable UnixSocket socket, SharedFile arena,
            PeerFiles peer) {
        this.context = context;
        this.peerInstance = peerInstance;
        this.peerPid = peerPid;
        this.socket = socket;
        this.arena = arena;
        this.peer = peer;
        this.pools = new SessionPools(context, this);
        rings = new DatagramRings(context, this);
    }

    /** Makes the arena that this side of a new session writes. */
    static SharedFile makeArena(long ownInstance, long peerInstance) throws LinuxException {
        SharedFile f = new SharedFile("verbena-lanes", LaneLayout.SIZE, LaneLayout.HEAP);
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

    /** Pools of either side that the other takes receives from without a connection. */
    SessionPools pools() {
        return pools;
    }

    boolean isDead() {
        return dead;
    }

    private boolean isLoopback() {
        return socket == null;
    }

    String peerName() {
        return isLoopback() ? "this process" : "process " + peerPid;
    }

    // ---- queue pairs and lanes

    void add(ShmQueuePair qp) {
        queuePairs.add(qp);
    }

    void remove(ShmQueuePair qp) {
        queuePairs.remove(qp);
        for (int pd : qp.pds()) {
            unshare(pd);
        }
    }

    /** The peer's counts for those of our queue pairs. */
    ReadySet.Counts counts(List<Integer> indexes) {
        return new ReadySet.Counts(this, peerArenaBase() + LaneLayout.HINTS, indexes);
    }

    /** Address of our count for a queue pair of the peer, see {@link ReadySet}. */
    long hint(int peerNumber) {
        return arena.address() + LaneLayout.HINTS + 2L * ReadySet.index(peerNumber);
    }

    /** Makes a lane for a peer's queue pair, known by its link; answers its address. */
    long makeLane(long link, int entries) throws VerbsException {
        long bytes = (long) entries << LaneLayout.ENTRY_SHIFT;
        synchronized (ownLanes) {
            long at = lanes.take(bytes);
            try {
                if (at < 0) {
                    throw new VerbsException("make a lane to " + peerName(), Errno.ENOMEM, "the arena is full");
                }
                arena.reserve(at, bytes);
            } catch (IllegalStateException e) {
                lanes.give(at, bytes);
                throw new VerbsException("make a lane to " + peerName(), Errno.ECONNRESET, peerName() + " has ended");
            } catch (LinuxException e) {
                lanes.give(at, bytes);
                throw new VerbsException("make a lane to " + peerName(), e);
            }
            // a sequence left from an earlier lane could be taken for a commit
            RawMemory.fill(arena.address() + at, bytes, (byte) 0);
            ownLanes.put(link, new OwnLane(at, bytes));
            return arena.address() + at;
        }
    }

    DatagramRings rings() {
        return rings;
    }

    /** Takes a part of the arena, without pages yet; answers its address. */
    long takeArena(String verb, long bytes) throws VerbsException {
        long at = lanes.take(bytes);
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
        lanes.give(address - arena.address(), bytes);
    }

    /** Offset of a lane in the arena. */
    long laneOffset(long laneAddress) {
        return laneAddress - arena.address();
    }

    /** One end of a lane that we write is done with it. */
    void laneDone(long link, boolean writer) {
        synchronized (ownLanes) {
            OwnLane l = ownLanes.get(link);
            if (l != null) {
                l.writerDone |= writer;
                l.readerDone |= !writer;
                if (l.writerDone && l.readerDone) {
                    ownLanes.remove(link);
                    lanes.give(l.at, l.bytes);
                }
            }
        }
    }

    /** We shall not read the lane any more that the peer made for {@code link}. */
    void tellLaneDone(long link) {
        if (isLoopback()) {
            laneDone(link, false);
        } else {
            send(new ControlMessage.Writer(ControlMessage.LANE_DONE).putLong(link), null);
        }
    }

    // ---- memory

    /** The peer's memory of that id, mapped here; null if it has not arrived, or is gone. */
    @Nullable
    Mapping memory(long id) {
        if (isLoopback()) {
            Allocation a = context.memories().allocation(id);
            return a == null ? null : a.mapping;
        }
        return memories.get(id);
    }

    /** Lets the peer map the memory of a protection domain, now and as it is allocated. */
    void share(int pd) {
        if (isLoopback()) {
            return;
        }
        synchronized (sharedPds) {
            if (sharedPds.add(pd)) {
                for (Allocation a : context.memories().allocations(pd)) {
                    sendMemory(a);
                }
            }
        }
    }

    /** A queue pair or guest has left: the peer is told nothing more of its protection domain, if it was the last one there. */
    void unshare(int pd) {
        synchronized (sharedPds) {
            if (queuePairs.stream().noneMatch(q -> q.uses(pd)) && !pools.hasGuestsOf(pd)) {
                sharedPds.remove(pd);
            }
        }
    }

    void allocated(Allocation a, int pd) {
        synchronized (sharedPds) {
            if (sharedPds.contains(pd)) {
                sendMemory(a);
            }
        }
    }

    private void sendMemory(Allocation a) {
        if (sentMemories.add(a.id)) {
            transfer(a);
        }
    }

    private void transfer(Allocation a) {
        var m = new ControlMessage.Writer(a.isForeign() ? ControlMessage.MEMORY_DMABUF : ControlMessage.MEMORY)
                .putLong(a.id).putLong(a.mapping.length());
        send(a.isForeign() ? m.putLong(a.fileOffset) : m, a.fd);
    }

    /** Memory that came could not be taken; it is asked for again when somebody needs it. Engine's thread only. */
    private void miss(long id, LinuxException why) throws ProtocolException {
        if (memories.size() + missing.size() >= MAX_MEMORIES) {
            throw new ProtocolException("too many memories");
        }
        missing.put(id, new Missing(why.errno()));
        EngineLog.logSometimes(System.Logger.Level.WARNING, "memory of " + peerName() + " has to wait", why);
    }

    /**
     * Somebody needs memory of the peer that is not there: asks for it again if it was missed, now and then.
     *
     * @return why it was missed, an errno; 0 if it has not come yet
     */
    int want(long id) {
        Missing m = missing.get(id);
        if (m == null) {
            return 0;
        }
        if (m.mayAsk()) {
            send(new ControlMessage.Writer(ControlMessage.MEMORY_AGAIN).putLong(id), null);
        }
        return m.errno;
    }

    /** A protection domain has no region in the memory any more: the peer keeps it only if another one has. */
    void unused(Allocation a) {
        synchronized (sharedPds) {
            if (sharedPds.stream().noneMatch(a::isUsedBy)) {
                freed(a);
            }
        }
    }

    void freed(Allocation a) {
        synchronized (sharedPds) {
            if (sentMemories.remove(a.id)) {
                send(new ControlMessage.Writer(ControlMessage.MEMORY_GONE).putLong(a.id), null);
            }
        }
    }

    // ---- waking the peer

    /** Rings a completion channel of the peer, or, as number 0, its engine, which has work that waits for us. */
    void ring(int bell) {
        Doorbell d = bells.get(bell);
        if (d == null) {
            d = connect(bell);
        }
        if (d != null) {
            d.ring();
        }
    }

    /**
     * Makes ready to ring, so that no wake-up is lost later because this process is out of descriptors then.
     *
     * @throws VerbsException if this process is out of something; that the peer has no such bell is not said here
     */
    void reach(String verb, int bell) throws VerbsException {
        try {
            if (bells.get(bell) == null) {
                open(bell);
            }
        } catch (LinuxException e) {
            if (e.errno() != Errno.ECONNREFUSED) {
                throw new VerbsException(verb, e);
            }
        }
    }

    private @Nullable Doorbell connect(int bell) {
        try {
            return open(bell);
        } catch (LinuxException e) {
            EngineLog.log(System.Logger.Level.DEBUG, "cannot wake " + peerName(), e);
            return null;
        }
    }

    private Doorbell open(int bell) throws LinuxException {
        synchronized (bells) {
            if (bells.size() >= MAX_BELLS) {
                bells.values().forEach(Doorbell::close);
                bells.clear();
            }
            Doorbell d = Doorbell.connect(ShmCompletionChannel.name(peerInstance, bell));
            Doorbell old = bells.put(bell, d);
            if (old != null) {
                old.close();
            }
            return d;
        }
    }

    // ---- the control socket

    /** Sends a message, or leaves it to the engine if the socket is full; what cannot be sent ends the session. */
    void send(ControlMessage.Writer message, @Nullable Fd fd) {
        if (isLoopback()) {
            context.engine().submit(() -> context.control().receiveOwn(this, message));
            return;
        }
        int error;
        synchronized (outbox) {
            if (dead) {
                return;
            }
            if (outbox.size() >= MAX_OUTBOX) {
                context.engine().submit(() -> context.sessionEnded(this, peerName() + " does not take its messages"));
                return;
            }
            if (!outbox.isEmpty()) {
                outbox.add(new Outgoing(message, fd));
                return;
            }
            error = transmit(message, fd);
            if (error == Errno.EAGAIN) {
                outbox.add(new Outgoing(message, fd));
                watch(Epoll.IN | Epoll.OUT);
                return;
            }
        }
        if (error != 0) {
            context.engine().submit(() -> context.sessionEnded(this, "the control socket failed: " + Errno.describe(
                    error)));
        }
    }

    /** The socket has room again; engine's thread only. */
    void flushOutbox() {
        synchronized (outbox) {
            while (!outbox.isEmpty()) {
                Outgoing o = outbox.peek();
                if (transmit(o.message, o.fd) == Errno.EAGAIN) {
                    return;
                }
                outbox.remove();
            }
            watch(Epoll.IN);
        }
    }

    private void watch(int events) {
        try {
            context.engine().rewatch(socket().fd(), events);
        } catch (LinuxException | IllegalStateException e) {
            context.engine().submit(() -> context.sessionEnded(this, "the control socket failed: " + e.getMessage()));
        }
    }

    private int transmit(ControlMessage.Writer message, @Nullable Fd fd) {
        try {
            long length = message.copyTo(scratch);
            return socket().send(scratch, 0, length, fd == null ? NO_FDS : new int[] {fd.value()});
        } catch (IllegalStateException e) {
            // the memory or channel was closed meanwhile, or the session has ended: nobody needs the message
            return 0;
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
            case ControlMessage.MEMORY, ControlMessage.MEMORY_DMABUF -> {
                boolean foreign = m.type() == ControlMessage.MEMORY_DMABUF;
                long id = m.getLong();
                long size = m.getLong();
                long offset = foreign ? m.getLong() : 0;
                m.end();
                if (fdCount == 0 && socket().lostFds()) {
                    miss(id, new LinuxException("take memory of " + peerName(), Errno.EMFILE));
                    return true;
                }
                Fd fd = oneFd(fds, fdCount);
                try (fd) {
                    if (foreign ? !isPartOfDmaBuf(fd, offset, size) : !isSealed(fd, size)) {
                        throw new ProtocolException("memory is not sealed or has a wrong size");
                    }
                    if (memories.size() >= MAX_MEMORIES || memories.containsKey(id)) {
                        throw new ProtocolException("too many memories, or one of the same number twice");
                    }
                    try {
                        memories.put(id, Mapping.map(fd, offset, size, true));
                        missing.remove(id);
                    } catch (LinuxException e) {
                        miss(id, e);
                    }
                }
            }
            case ControlMessage.MEMORY_AGAIN -> {
                long id = m.getLong();
                m.end();
                synchronized (sharedPds) {
                    Allocation a = context.memories().allocation(id);
                    if (a != null && sentMemories.contains(id)) {
                        transfer(a);
                    }
                }
            }
            case ControlMessage.MEMORY_GONE -> {
                long id = m.getLong();
                m.end();
                missing.remove(id);
                Mapping gone = memories.remove(id);
                if (gone != null) {
                    gone.discard();
                }
            }
            case ControlMessage.LANE_DONE -> {
                long link = m.getLong();
                m.end();
                laneDone(link, false);
            }
            case ControlMessage.QP_ERROR -> {
                long link = m.getLong();
                int event = m.getInt();
                String text = m.getText();
                m.end();
                if (event != AsyncEventType.QP_ACCESS_ERR && event != AsyncEventType.QP_REQ_ERR) {
                    throw new ProtocolException("event " + event + " is not the peer's to raise");
                }
                for (ShmQueuePair qp : queuePairs) {
                    if (qp.isLinkedAs(link)) {
                        qp.enterError(text, event);
                    }
                }
            }
            default -> {
                return pools.receive(m) || rings.receive(m);
            }
        }
        return true;
    }

    /** True for a file of that size that nobody can make shorter. */
    private static boolean isSealed(Fd fd, long size) throws LinuxException {
        int seals = Memfd.SEAL_SHRINK | Memfd.SEAL_GROW | Memfd.SEAL_SEAL;
        return (Memfd.seals(fd) & seals) == seals && size > 0 && Memfd.size(fd) == size;
    }

    /** True for pages of a shared buffer, which cannot become shorter. */
    private static boolean isPartOfDmaBuf(Fd fd, long offset, long size) throws LinuxException {
        return DmaBuf.isDmaBuf(fd) && size > 0 && offset >= 0 && offset % Sys.pageSize() == 0
                && offset <= DmaBuf.size(fd) - size;
    }

    private static Fd oneFd(int[] fds, int count) throws ProtocolException {
        if (count != 1) {
            throw new ProtocolException("a message carries " + count + " descriptors instead of 1");
        }
        int fd = fds[0];
        fds[0] = -1;
        return Fd.of(fd);
    }

    /** The peer is gone: its queue pairs fail, its descriptors and mappings are given back. */
    void end(String reason) {
        synchronized (outbox) {
            if (dead) {
                return;
            }
            dead = true;
            outbox.clear();
        }
        for (ShmQueuePair qp : queuePairs) {
            qp.peerDied(reason);
        }
        pools.end();
        if (socket != null) {
            context.engine().forget(socket.fd());
            socket.close();
        }
        bells.values().forEach(Doorbell::close);
        rings.clear();
        // mappings stay valid while a queue pair still holds them; then the garbage collector takes them
        memories.clear();
        missing.clear();
        if (!isLoopback()) {
            arena.close();
        }
    }
}
