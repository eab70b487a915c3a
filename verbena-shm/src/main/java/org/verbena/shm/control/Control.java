// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.control;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Epoll;
import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Mapping;
import org.verbena.linux.PeerCredentials;
import org.verbena.linux.PeerIdentity;
import org.verbena.linux.Sys;
import org.verbena.linux.UnixSocket;
import org.verbena.linux.UserIds;
import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.CommonsLayout;
import org.verbena.shm.layout.ControlMessage;
import org.verbena.shm.layout.LaneLayout;
import org.verbena.shm.layout.PeerMapping;
import org.verbena.shm.layout.ProtocolException;
import org.verbena.shm.layout.SharedFile;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.Gid;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.VerbsException;

/**
 * The control side of a context: finds other contexts, makes sessions with them and takes their messages. All of it runs
 * on the engine's thread; other threads submit to it and wait.
 *
 * <p>Two contexts have one session, whichever begins it. If both begin at once, the one with the smaller instance
 * wins: it refuses the other's HELLO, and the other accepts its.
 */
public final class Control {
    private static final int MAX_FDS = 4;
    private static final Duration SESSION_TIMEOUT = Duration.ofSeconds(5);
    private static final int BACKLOG = 1024;
    /** A peer that sends endlessly must not keep the engine from the others. */
    private static final int MESSAGES_AT_ONCE = 64;

    private final ContextParts own;
    private final SessionOwner owner;
    private final UnixSocket listener;
    private final Acceptor acceptor;
    private final Map<Long, Session> sessions = new ConcurrentHashMap<>();
    private final Map<Long, PendingSession> pending = new ConcurrentHashMap<>();
    /** Handshakes in progress; engine's thread only. */
    private final Set<Handshake> handshakes = ConcurrentHashMap.newKeySet();
    private final MemorySegment buffer = Arena.ofAuto().allocate(ControlMessage.MAX_BYTES, 8);
    private final int[] fds = new int[MAX_FDS];

    public Control(ContextParts own, SessionOwner owner) throws LinuxException {
        this.own = own;
        this.owner = owner;
        listener = UnixSocket.listen(name(own.instance()), BACKLOG);
        acceptor = new Acceptor(own.engine(), listener, this::accepted);
    }

    private static String name(long instance) {
        return "verbena-shm/" + Long.toHexString(instance);
    }

    /** A session that callers wait for. */
    private static final class PendingSession {
        final CompletableFuture<Session> session = new CompletableFuture<>();
        /** True once the handshake was retried after a refused HELLO; engine's thread only. */
        boolean retried;
    }

    /** A socket without a session yet. */
    private static final class Handshake {
        final UnixSocket socket;
        /** The context that we connect to; 0 if the other side has connected. */
        final long instance;
        @Nullable SharedFile arena;

        Handshake(UnixSocket socket, long instance) {
            this.socket = socket;
            this.instance = instance;
        }
    }

    public ContextParts own() {
        return own;
    }

    SessionOwner owner() {
        return owner;
    }

    // ---- for other threads

    /** The session with a context, made if there is none yet. */
    public Session session(String verb, long instance, Duration timeout) throws VerbsException {
        return get(verb, ask(instance), timeout, () -> "the process does not answer: is it stopped?");
    }

    /** The session with a context, made if there is none yet; waits while the peer has many messages to take. */
    public Session session(String verb, long instance) throws VerbsException {
        Session s = session(verb, instance, SESSION_TIMEOUT);
        s.awaitRoom();
        return s;
    }

    /** The future session with a context, made if there is none yet; for callers that do not block. */
    public CompletableFuture<Session> ask(long instance) {
        Session s = sessions.get(instance);
        if (s != null && !s.isDead()) {
            return CompletableFuture.completedFuture(s);
        }
        PendingSession w = pending.computeIfAbsent(instance, i -> new PendingSession());
        own.engine().submit(() -> begin(instance, w));
        return w.session;
    }

    /** Waits for an answer of the engine or a peer and unwraps its failure. */
    public static <T> T get(String verb, CompletableFuture<T> f, Duration timeout,
            java.util.function.Supplier<String> late)
            throws VerbsException {
        try {
            return f.get(Math.max(0, timeout.toMillis()), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            Throwable t = e.getCause();
            if (t instanceof LinuxException l) {
                throw new VerbsException(verb, l);
            }
            if (t instanceof VerbsException v) {
                throw v;
            }
            throw new VerbsException(verb, Errno.EIO, String.valueOf(t));
        } catch (TimeoutException e) {
            throw new VerbsException(verb, Errno.ETIMEDOUT, "no answer within " + timeout.toMillis() + " ms: " + late
                    .get());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VerbsException(verb, Errno.EINTR, "the thread was interrupted");
        }
    }

    public List<Session> sessions() {
        return List.copyOf(sessions.values());
    }

    /** The GID of the peer that the address vector names. */
    public static Gid destination(String queuePair, QueuePairAttributes a) throws VerbsException {
        AddressVector av = a.addressVector();
        if (av == null || av.port() != 1 || av.sourceGidIndex() != 0) {
            throw new VerbsException("modify " + queuePair, Errno.EINVAL, "AV must be from port 1, GID index 0");
        }
        return av.destination();
    }

    /** Throws unless the process at the other end belongs to this user, or to one named by configuration. */
    static void checkUser(String verb, UnixSocket socket) throws VerbsException {
        try {
            PeerIdentity identity = PeerIdentity.of(socket);
            PeerCredentials peer = socket.peerCredentials();
            boolean oneUser = UserIds.isOneUser(peer.uid());
            if (identity != PeerIdentity.SAME_USER && !(oneUser && trustedUsers().contains(peer.uid()))) {
                String process = peer.pid() == 0 ? "the other process " : "process " + peer.pid() + " ";
                String why = !oneUser
                        ? process + PeerIdentity.UNMAPPED_USER
                        : identity != PeerIdentity.OTHER_USER
                                ? process + identity
                                : process + "belongs to user " + Integer.toUnsignedString(peer.uid())
                                        + ", this one to user " + Integer.toUnsignedString(Sys.uid());
                throw new VerbsException(verb, Errno.EACCES, why + ": shm0 connects processes of one user, in one user"
                        + " and PID namespace" + (oneUser
                                ? " (others by -Dverbena.shm.trusted-uids=<uid,…>)"
                                : ""));
            }
        } catch (LinuxException e) {
            throw new VerbsException(verb, e);
        }
    }

    /** Users named by configuration whose processes may connect, beside our own. */
    static Set<Integer> trustedUsers() {
        String list = System.getProperty("verbena.shm.trusted-uids", "");
        return Arrays.stream(list.split(",")).map(String::trim).filter(s -> s.matches("[0-9]{1,10}"))
                .map(Long::parseLong).filter(uid -> uid <= 0xffff_ffffL).map(Long::intValue)
                .collect(Collectors.toSet());
    }

    // ---- handshake, on the engine's thread

    private void begin(long instance, PendingSession w) {
        Session s = sessions.get(instance);
        if (s != null) {
            pending.remove(instance, w);
            w.session.complete(s);
            return;
        }
        if (handshakes.stream().anyMatch(h -> h.instance == instance)) {
            return;
        }
        Handshake h = null;
        try {
            if (instance == own.instance()) {
                SharedFile arena = PeerMapping.makeArena(instance, instance);
                established(new Session(this, instance, Sys.pid(), null, arena,
                        new PeerMapping.Files(own.adapter().file().mapping(), arena.mapping(),
                                own.commons().file().mapping())));
                return;
            }
            h = new Handshake(connect(name(instance)), instance);
            handshakes.add(h);
            checkUser("connect to process", h.socket);
            SharedFile arena = PeerMapping.makeArena(own.instance(), instance);
            h.arena = arena;
            sendHello(h.socket, arena);
            watch(h);
        } catch (VerbsException e) {
            giveUp(h, instance, e);
        } catch (LinuxException e) {
            giveUp(h, instance, e.errno() == Errno.ECONNREFUSED
                    ? new VerbsException("connect to " + PeerMapping.gid(instance), Errno.EHOSTUNREACH,
                            "no process on this host, in this network namespace, has that address any more")
                    : new VerbsException("connect to " + PeerMapping.gid(instance), e));
        }
    }

    private void giveUp(@Nullable Handshake h, long instance, VerbsException e) {
        if (h == null) {
            fail(instance, e);
        } else {
            drop(h, e);
        }
    }

    private static UnixSocket connect(String name) throws LinuxException {
        UnixSocket s = UnixSocket.connect(name);
        s.setNonBlocking(true);
        return s;
    }

    private void sendHello(UnixSocket socket, SharedFile arena) throws LinuxException {
        MemorySegment m = new ControlMessage.Writer(ControlMessage.HELLO).putInt(ControlMessage.VERSION)
                .putLong(own.instance()).putInt(Sys.pid()).putLong(AdapterLayout.SIZE).putLong(LaneLayout.SIZE)
                .putLong(CommonsLayout.SIZE).segment();
        int error = socket.send(m, 0, m.byteSize(), new int[] {own.adapter().fd().value(), arena.fd().value(),
            own.commons().fd().value()});
        if (error != 0) {
            throw new LinuxException("send HELLO to another process", error);
        }
    }

    private void accepted(UnixSocket s) throws LinuxException {
        Handshake h = new Handshake(s, 0);
        handshakes.add(h);
        try {
            watch(h);
        } catch (LinuxException e) {
            drop(h, null);
            throw e;
        }
    }

    private void watch(Handshake h) throws LinuxException {
        own.engine().watch(h.socket.fd(), Epoll.IN, events -> onMessage(h));
    }

    private void onMessage(Handshake h) {
        int n = h.socket.receive(buffer, fds);
        if (n == -Errno.EAGAIN) {
            return;
        }
        int count = n > 0 ? h.socket.receivedFds() : 0;
        try {
            if (n <= 0) {
                throw new ProtocolException("the other process closed the connection");
            }
            if (h.socket.lostFds()) {
                throw new LinuxException("receive the memory files of another process", Errno.EMFILE);
            }
            checkUser("accept a connection", h.socket);
            handshake(h, new ControlMessage.Reader(buffer.asSlice(0, n)), count, h.socket.peerCredentials());
        } catch (ProtocolException e) {
            refused(h, e);
        } catch (VerbsException | LinuxException e) {
            drop(h, e);
        } finally {
            closeFds(count);
        }
    }

    /**
     * A handshake failed. If this context started it with one of a smaller instance, that one may have refused it because it
     * has started one itself; a retry shows whether it has, or has died.
     */
    private void refused(Handshake h, ProtocolException e) {
        PendingSession w = pending.get(h.instance);
        if (w == null || h.instance > own.instance()) {
            drop(h, e);
        } else {
            drop(h, null);
            if (!w.retried) {
                w.retried = true;
                begin(h.instance, w);
            }
        }
    }

    private void drop(Handshake h, @Nullable Exception e) {
        handshakes.remove(h);
        own.engine().forget(h.socket.fd());
        h.socket.close();
        SharedFile arena = h.arena;
        if (arena != null) {
            arena.close();
        }
        if (h.instance != 0 && e != null) {
            fail(h.instance, e);
        }
    }

    private void handshake(Handshake h, ControlMessage.Reader m, int count, PeerCredentials peer)
            throws ProtocolException, LinuxException {
        int version = m.getInt();
        long instance = m.getLong();
        int pid = m.getInt();
        long adapterSize = m.getLong();
        long arenaSize = m.getLong();
        long commonsSize = version == ControlMessage.VERSION ? m.getLong() : 0;
        m.end();
        if (m.type() == ControlMessage.HELLO && version == ControlMessage.VERSION && pid != peer.pid()) {
            throw new ProtocolException("process " + peer.pid() + " calls itself " + pid
                    + ": it is in another process namespace, and shm0 does not reach across those");
        }
        if (m.type() != ControlMessage.HELLO || version != ControlMessage.VERSION || count != 3 || pid != peer.pid()
                || adapterSize != AdapterLayout.SIZE || arenaSize != LaneLayout.SIZE
                || commonsSize != CommonsLayout.SIZE || instance == 0
                || instance == own.instance() || h.instance != 0 && h.instance != instance) {
            throw new ProtocolException("the other process uses protocol version " + version + ", this one "
                    + ControlMessage.VERSION + ", or its HELLO is invalid");
        }
        boolean startedHere = handshakes.stream().anyMatch(o -> o != h && o.instance == instance);
        if (h.instance == 0 && (sessions.containsKey(instance) || startedHere && own.instance() < instance)) {
            throw new ProtocolException("there is a session already");
        }
        Mapping adapter;
        Mapping lanes;
        Mapping commons;
        try (Fd first = take(0); Fd second = take(1); Fd third = take(2)) {
            adapter = SharedFile.mapPeer(first, AdapterLayout.SIZE);
            lanes = SharedFile.mapPeer(second, LaneLayout.SIZE);
            commons = SharedFile.mapPeerCommons(third, CommonsLayout.SIZE);
        }
        if (RawMemory.getLongAcquire(adapter.address()) != AdapterLayout.MAGIC
                || RawMemory.getLong(adapter.address() + AdapterLayout.HEADER_VERSION) != AdapterLayout.VERSION
                || RawMemory.getLong(adapter.address() + AdapterLayout.HEADER_INSTANCE) != instance
                || RawMemory.getLongAcquire(lanes.address()) != LaneLayout.MAGIC
                || RawMemory.getLong(lanes.address() + LaneLayout.HEADER_READER) != own.instance()
                || RawMemory.getLongAcquire(commons.address()) != CommonsLayout.MAGIC) {
            throw new ProtocolException("the other process's memory files are invalid");
        }
        SharedFile arena = h.arena;
        if (arena == null) {
            arena = PeerMapping.makeArena(own.instance(), instance);
            h.arena = arena;
            sendHello(h.socket, arena);
        }
        handshakes.remove(h);
        own.engine().forget(h.socket.fd());
        Session s = new Session(this, instance, pid, h.socket, arena,
                new PeerMapping.Files(adapter, lanes, commons));
        own.engine().watch(h.socket.fd(), Epoll.IN, events -> ready(s, events));
        established(s);
    }

    private Fd take(int i) {
        Fd fd = Fd.of(fds[i]);
        fds[i] = -1;
        return fd;
    }

    private void closeFds(int count) {
        for (int i = 0; i < count; i++) {
            if (fds[i] >= 0) {
                Fd.of(fds[i]).close();
                fds[i] = -1;
            }
        }
    }

    private void established(Session s) {
        sessions.put(s.mapping().instance(), s);
        owner.sessionStarted(s);
        PendingSession w = pending.remove(s.mapping().instance());
        if (w != null) {
            w.session.complete(s);
        }
    }

    private void fail(long instance, Exception e) {
        PendingSession w = pending.remove(instance);
        if (w != null) {
            w.session.completeExceptionally(e instanceof ProtocolException
                    ? new VerbsException("connect to " + PeerMapping.gid(instance), Errno.EPROTO, String.valueOf(e
                            .getMessage()))
                    : e);
        }
    }

    // ---- messages, on the engine's thread

    private void ready(Session s, int events) {
        if ((events & Epoll.OUT) != 0) {
            s.flushOutbox();
        }
        if (s.peerMemories().isRequested()) { // sent again with its descriptor, which is mapped and closed here
            acceptor.spare().lend();
        }
        try {
            receive(s);
        } finally {
            acceptor.spare().takeBack();
        }
    }

    private void receive(Session s) {
        for (int i = 0; i < MESSAGES_AT_ONCE && !s.isDead(); i++) {
            int n = s.socket().receive(buffer, fds);
            if (n == -Errno.EAGAIN) {
                return;
            }
            if (n <= 0) {
                owner.peerGone(s, n == 0 || n == -Errno.ECONNRESET
                        ? s.peerName() + " has ended or closed the device"
                        : "the control socket failed: " + Errno.describe(-n));
                return;
            }
            int count = s.socket().receivedFds();
            try {
                dispatch(s, new ControlMessage.Reader(buffer.asSlice(0, n)), count);
            } catch (ProtocolException e) {
                owner.sessionEnded(s, s.peerName() + " broke the protocol: " + e.getMessage());
            } catch (LinuxException e) {
                owner.sessionEnded(s, "memory of " + s.peerName() + " cannot be mapped: " + e.getMessage());
            } finally {
                closeFds(count);
            }
        }
    }

    private void dispatch(Session s, ControlMessage.Reader m, int count) throws ProtocolException, LinuxException {
        if (!s.receive(m, fds, count) && !owner.receive(s, m)) {
            throw new ProtocolException("unknown control message " + m.type());
        }
    }

    /** Handles a message that the context sent to itself. */
    void receiveOwn(Session s, ControlMessage.Writer message) {
        try {
            dispatch(s, new ControlMessage.Reader(message.segment()), 0);
        } catch (ProtocolException | LinuxException e) {
            throw new IllegalStateException("own control message", e);
        }
    }

    public void forget(Session s) {
        sessions.remove(s.mapping().instance(), s);
    }

    /** Ends everything; on the engine's thread. */
    public void close() {
        acceptor.close();
        for (Handshake h : List.copyOf(handshakes)) {
            drop(h, new ProtocolException("the device was closed"));
        }
        for (Session s : sessions()) {
            owner.sessionEnded(s, "the device was closed");
        }
    }
}
