// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.DmaBuf;
import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Mapping;
import org.verbena.linux.Memfd;
import org.verbena.linux.Sys;

/**
 * Memory that the two ends of a session let each other map: which of ours the peer has been told of, and what the peer
 * has given us. Safe for use by several threads.
 */
final class SessionMemories {
    /** More memories of one peer than the kernel could map anyway are not taken. */
    private static final int MAX_MEMORIES = 16384;
    private static final long ASK_AGAIN_NANOS = 20_000_000;

    private final ShmContext context;
    private final Session session;
    private final Map<Long, Mapping> memories = new ConcurrentHashMap<>();
    private final Map<Long, Missing> missing = new ConcurrentHashMap<>();
    /** What a dead peer had given us, as long as it may be in use. */
    private final List<Mapping> left = new ArrayList<>();
    /** Protection domains whose memory the peer is told of, and memories that it has been told of. */
    private final Set<Integer> sharedPds = new HashSet<>();
    private final Set<Long> sentMemories = new HashSet<>();

    /** Memory that came and could not be taken. It is asked for once; if it is missed again, that is another object. */
    private static final class Missing {
        /** Why; 0 as long as it may still come by the spare descriptor. */
        final int errno;
        private final long since = System.nanoTime();
        private final AtomicBoolean asked;

        Missing(int errno, boolean isAsked) {
            this.errno = isAsked ? 0 : errno;
            this.asked = new AtomicBoolean(isAsked);
        }

        boolean mayAsk() {
            return System.nanoTime() - since > ASK_AGAIN_NANOS && asked.compareAndSet(false, true);
        }
    }

    SessionMemories(ShmContext context, Session session) {
        this.context = context;
        this.session = session;
    }

    // ---- ours

    /** Lets the peer map the memory of a protection domain, now and as it is allocated. */
    void share(int pd) {
        if (session.isLoopback()) {
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
            if (!session.uses(pd)) {
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
        session.send(a.isForeign() ? m.putLong(a.fileOffset) : m, a.fd);
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
                session.send(new ControlMessage.Writer(ControlMessage.MEMORY_GONE).putLong(a.id), null);
            }
        }
    }

    // ---- the peer's

    /** The peer's memory of that id, mapped here; null if it has not arrived, or is gone. */
    @Nullable
    Mapping find(long id) {
        if (session.isLoopback()) {
            Allocation a = context.memories().allocation(id);
            return a == null ? null : a.mapping;
        }
        return memories.get(id);
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
            askFor(id);
        }
        return m.errno;
    }

    private void askFor(long id) {
        session.send(new ControlMessage.Writer(ControlMessage.MEMORY_AGAIN).putLong(id), null);
    }

    /** Whether memory that could not be taken was asked for again, and has not come. */
    boolean isComing() {
        for (Missing m : missing.values()) {
            if (m.asked.get()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Memory that came could not be taken. It is asked for again at once, for then there is the spare descriptor; and if it is
     * missed again, when somebody needs it. Engine's thread only.
     */
    private void miss(long id, LinuxException why) throws ProtocolException {
        if (memories.size() + missing.size() >= MAX_MEMORIES) {
            throw new ProtocolException("too many memories");
        }
        boolean first = !missing.containsKey(id);
        missing.put(id, new Missing(why.errno(), first));
        if (first) {
            askFor(id);
        }
        EngineLog.logSometimes(System.Logger.Level.WARNING, "memory of " + session.peerName() + " has to wait", why);
    }

    /** Handles a message about memory; answers false if it is none. Engine's thread only. */
    boolean receive(ControlMessage.Reader m, int[] fds, int fdCount) throws ProtocolException, LinuxException {
        switch (m.type()) {
            case ControlMessage.MEMORY, ControlMessage.MEMORY_DMABUF -> take(m, fds, fdCount);
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
            default -> {
                return false;
            }
        }
        return true;
    }

    private void take(ControlMessage.Reader m, int[] fds, int fdCount) throws ProtocolException, LinuxException {
        boolean foreign = m.type() == ControlMessage.MEMORY_DMABUF;
        long id = m.getLong();
        long size = m.getLong();
        long offset = foreign ? m.getLong() : 0;
        m.end();
        if (fdCount == 0 && session.socket().lostFds()) {
            miss(id, new LinuxException("take memory of " + session.peerName(), Errno.EMFILE));
            return;
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

    /** The peer is dead: what it shared is found no more, and stays mapped until {@link #release()}. */
    void end() {
        synchronized (left) {
            left.addAll(memories.values());
        }
        memories.clear();
        missing.clear();
    }

    /**
     * No queue pair reaches into the memory of the dead peer any more: its pages go at once, for who knows when the garbage
     * collector comes; that one takes the address range.
     */
    void release() {
        synchronized (left) {
            for (Mapping m : left) {
                try {
                    m.discard();
                } catch (LinuxException e) {
                    EngineLog.logSometimes(System.Logger.Level.WARNING, "memory of " + session.peerName()
                            + ", which has ended, stays until it is collected", e);
                }
            }
            left.clear();
        }
    }
}
