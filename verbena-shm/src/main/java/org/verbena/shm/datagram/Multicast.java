// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.datagram;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.ProcUnix;
import org.verbena.linux.Sys;
import org.verbena.linux.UnixSocket;
import org.verbena.shm.control.Control;
import org.verbena.shm.control.Session;
import org.verbena.shm.layout.ControlMessage;
import org.verbena.shm.layout.EngineLog;
import org.verbena.shm.layout.ProtocolException;
import org.verbena.verbs.Gid;
import org.verbena.verbs.VerbsException;

/**
 * The multicast groups of a context: which of its queue pairs are attached, and those of all other contexts of this user.
 *
 * <p>A context that participates in multicast, as receiver or sender, binds a name and then makes a session with all
 * others that have bound one; of two that start at the same time, the later one finds the other. Over each session both
 * sides announce their attachments, at its beginning and when they change. So every sender has the list of all members, and sends
 * a copy of the datagram to each. Safe for use by several threads.
 */
public final class Multicast {
    /** Attachments of one context. */
    public static final int MAX_ATTACHED = 4096;
    /** Limit of groups of peers. */
    private static final int MAX_GROUPS = 16384;
    /** Limit of groups that one queue pair is attached to. */
    private static final int MAX_GROUPS_OF_QP = 256;

    private static final String NAME = "verbena-multicast/";
    /** The timeout of attaching for the peers' answers; a peer that does not answer is assumed to be stopped. */
    private static final long TIMEOUT_MILLIS = 500;

    private final long instance;
    private final Control control;
    private final Map<Gid, MulticastGroup> groups = new ConcurrentHashMap<>();
    /** Attachments of this context; guarded by itself. */
    private final Set<Attached> attached = new LinkedHashSet<>();
    private final Map<Long, CompletableFuture<Boolean>> questions = new ConcurrentHashMap<>();
    private final Map<Long, Integer> attachedByPeer = new ConcurrentHashMap<>();
    private final AtomicLong tokens = new AtomicLong();
    private @Nullable UnixSocket name;

    private record Attached(Gid gid, DatagramQueuePair qp) {}

    public Multicast(long instance, Control control) {
        this.instance = instance;
        this.control = control;
    }

    // ---- for applications' threads

    /** The group as a destination, whose members are tracked from now on. */
    public MulticastGroup group(String verb, Gid gid) throws VerbsException {
        participate(verb);
        sync();
        return groups.computeIfAbsent(gid, MulticastGroup::new);
    }

    public void attach(String verb, DatagramQueuePair qp, Gid gid) throws VerbsException {
        participate(verb);
        synchronized (attached) {
            Attached a = new Attached(gid, qp);
            if (attached.contains(a)) {
                return;
            }
            if (attached.size() >= MAX_ATTACHED || gidsOf(qp).size() >= MAX_GROUPS_OF_QP) {
                throw new VerbsException(verb, Errno.ENOMEM, "a queue pair can be in " + MAX_GROUPS_OF_QP
                        + " groups, and a context can have " + MAX_ATTACHED + " attachments");
            }
            attached.add(a);
            qp.attachedTo(gidsOf(qp));
            groups.computeIfAbsent(gid, MulticastGroup::new)
                    .add(new MulticastGroup.Member(instance, qp.number()));
            sendAll(ControlMessage.MULTICAST_JOIN, gid, qp.number());
        }
        sync();
    }

    public void detach(String verb, DatagramQueuePair qp, Gid gid) throws VerbsException {
        synchronized (attached) {
            if (!attached.remove(new Attached(gid, qp))) {
                throw new VerbsException(verb, Errno.EINVAL, "it is not attached");
            }
            left(qp, gid);
        }
    }

    /** The queue pair is closed. */
    public void detachAll(DatagramQueuePair qp) {
        synchronized (attached) {
            for (Gid gid : gidsOf(qp)) {
                attached.remove(new Attached(gid, qp));
                left(qp, gid);
            }
        }
    }

    private void left(DatagramQueuePair qp, Gid gid) {
        qp.attachedTo(gidsOf(qp));
        MulticastGroup g = groups.get(gid);
        if (g != null) {
            g.remove(new MulticastGroup.Member(instance, qp.number()));
        }
        sendAll(ControlMessage.MULTICAST_LEAVE, gid, qp.number());
    }

    private List<Gid> gidsOf(DatagramQueuePair qp) {
        return attached.stream().filter(a -> a.qp == qp).map(Attached::gid).toList();
    }

    private void sendAll(int type, Gid gid, int number) {
        for (Session s : control.sessions()) {
            if (s.mapping().instance() != instance) {
                send(s, type, gid, number);
            }
        }
    }

    private static void send(Session s, int type, Gid gid, int number) {
        s.send(new ControlMessage.Writer(type).putLong(gid.high()).putLong(gid.low()).putInt(number), null);
    }

    /** Announces this context to the others, and makes sessions with them; waits for them until the timeout. */
    private void participate(String verb) throws VerbsException {
        synchronized (tokens) {
            if (name == null) {
                try {
                    name = UnixSocket.listen(NAME + Sys.uid() + "/" + Long.toHexString(instance), 1);
                } catch (LinuxException e) {
                    throw new VerbsException(verb, e);
                }
            }
        }
        List<CompletableFuture<?>> sessions = new ArrayList<>();
        for (long other : participants()) {
            sessions.add(control.ask(other));
        }
        await(sessions);
    }

    /** The contexts of this user that have bound a name, this one among them. */
    private static List<Long> participants() {
        Pattern mine = Pattern.compile(NAME + Sys.uid() + "/([0-9a-f]{1,16})");
        try {
            return ProcUnix.abstractNames().stream().map(mine::matcher).filter(Matcher::matches)
                    .map(m -> Long.parseUnsignedLong(m.group(1), 16)).distinct().toList();
        } catch (IOException e) {
            EngineLog.log(Level.WARNING, "the contexts that take part in multicast cannot be listed", e);
            return List.of();
        }
    }

    /** Waits until the peers have read our messages, and we those that they had sent before. */
    private void sync() {
        List<CompletableFuture<?>> answers = new ArrayList<>();
        List<Long> asked = new ArrayList<>();
        for (Session s : control.sessions()) {
            if (s.mapping().instance() != instance) {
                long token = tokens.incrementAndGet();
                CompletableFuture<Boolean> f = new CompletableFuture<>();
                questions.put(token, f);
                asked.add(token);
                answers.add(f);
                s.send(new ControlMessage.Writer(ControlMessage.MULTICAST_SYNC).putLong(token), null);
            }
        }
        await(answers);
        asked.forEach(questions::remove);
    }

    private static void await(List<CompletableFuture<?>> all) {
        try {
            CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get(TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            EngineLog.log(Level.DEBUG, "a peer does not take part in multicast", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    // ---- on the engine's thread

    /** A session has begun: this context's attachments are announced to the peer. */
    public void begin(Session s) {
        if (s.mapping().instance() != instance) {
            synchronized (attached) {
                for (Attached a : attached) {
                    send(s, ControlMessage.MULTICAST_JOIN, a.gid, a.qp.number());
                }
            }
        }
    }

    /** A session has ended, and with it the attachments of its peer. */
    public void end(Session s) {
        attachedByPeer.remove(s.mapping().instance());
        for (MulticastGroup g : groups.values()) {
            g.removeAll(s.mapping().instance());
        }
    }

    /** Handles a message; false if it is another kind. */
    public boolean receive(Session s, ControlMessage.Reader m) throws ProtocolException {
        switch (m.type()) {
            case ControlMessage.MULTICAST_JOIN, ControlMessage.MULTICAST_LEAVE -> {
                Gid gid = new Gid(m.getLong(), m.getLong());
                MulticastGroup.Member member = new MulticastGroup.Member(s.mapping().instance(), m.getInt() & 0xffffff);
                m.end();
                change(s, m.type() == ControlMessage.MULTICAST_JOIN, gid, member);
            }
            case ControlMessage.MULTICAST_SYNC -> {
                long token = m.getLong();
                m.end();
                s.send(new ControlMessage.Writer(ControlMessage.MULTICAST_SYNCED).putLong(token), null);
            }
            case ControlMessage.MULTICAST_SYNCED -> {
                CompletableFuture<Boolean> f = questions.remove(m.getLong());
                m.end();
                if (f != null) {
                    f.complete(true);
                }
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private void change(Session s, boolean join, Gid gid, MulticastGroup.Member member) throws ProtocolException {
        if (!gid.isMulticast()) {
            throw new ProtocolException("a multicast group has no multicast GID");
        }
        int known = attachedByPeer.getOrDefault(s.mapping().instance(), 0);
        if (join && known >= MAX_ATTACHED) {
            throw new ProtocolException("too many multicast attachments");
        }
        if (join && groups.size() >= MAX_GROUPS && !groups.containsKey(gid)) {
            throw new ProtocolException("too many multicast groups");
        }
        MulticastGroup g = join ? groups.computeIfAbsent(gid, MulticastGroup::new) : groups.get(gid);
        if (g != null && (join ? g.add(member) : g.remove(member))) {
            attachedByPeer.put(s.mapping().instance(), join ? known + 1 : known - 1);
        }
    }

    /** The context closes. */
    public void close() {
        synchronized (tokens) {
            UnixSocket s = name;
            if (s != null) {
                s.close();
            }
        }
    }
}
