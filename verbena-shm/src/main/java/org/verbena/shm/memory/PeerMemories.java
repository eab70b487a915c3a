// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongConsumer;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.DmaBuf;
import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Mapping;
import org.verbena.linux.Memfd;
import org.verbena.linux.Sys;
import org.verbena.shm.layout.ControlMessage;
import org.verbena.shm.layout.EngineLog;
import org.verbena.shm.layout.PeerMapping;
import org.verbena.shm.layout.ProtocolException;

/**
 * Memory that the peer of a session shares with us, mapped here; in a loopback session it is our own. Safe for use by several threads.
 */
public final class PeerMemories {
    /** The limit of memories of one peer, about as many as the kernel can map. */
    private static final int MAX_MEMORIES = 16384;
    private static final long REQUEST_AGAIN_NANOS = 20_000_000;

    public final PeerMapping peer;
    private final Memories own;
    private final SessionCounts counts;
    private final LongConsumer requestAgain;
    private final Map<Long, Mapping> memories = new ConcurrentHashMap<>();
    private final Map<Long, Missing> missing = new ConcurrentHashMap<>();
    /** Mappings of a dead peer that may still be in use. */
    private final List<Mapping> left = new ArrayList<>();

    /** Memory that arrived and could not be mapped. It is requested once more; if that fails too, another object takes this one's place. */
    private static final class Missing {
        /** The cause; 0 as long as it may still arrive by the spare descriptor. */
        final int errno;
        private final long since = System.nanoTime();
        private final AtomicBoolean asked;

        Missing(int errno, boolean isAsked) {
            this.errno = isAsked ? 0 : errno;
            this.asked = new AtomicBoolean(isAsked);
        }

        boolean mayAsk() {
            return System.nanoTime() - since > REQUEST_AGAIN_NANOS && asked.compareAndSet(false, true);
        }
    }

    /**
     * Makes one.
     *
     * @param requestAgain requests memory of that id from the peer once more
     */
    public PeerMemories(Memories own, PeerMapping peer, SessionCounts counts, LongConsumer requestAgain) {
        this.own = own;
        this.peer = peer;
        this.counts = counts;
        this.requestAgain = requestAgain;
    }

    /** The counts of accesses to the memory. */
    SessionCounts counts() {
        return counts;
    }

    /** The peer's memory of that id, mapped here; null if it has not arrived, or is gone. */
    @Nullable
    public Mapping find(long id) {
        if (peer.isLoopback()) {
            Allocation a = own.allocation(id);
            return a == null ? null : a.mapping;
        }
        return memories.get(id);
    }

    /**
     * A request needs memory of the peer that is missing: requests it again if it could not be mapped, at a limited rate.
     *
     * @return the errno for which it could not be mapped; 0 if it has not arrived yet
     */
    int request(long id) {
        Missing m = missing.get(id);
        if (m == null) {
            return 0;
        }
        if (m.mayAsk()) {
            requestAgain.accept(id);
        }
        return m.errno;
    }

    /** Whether memory that could not be mapped was requested again, and has not arrived. */
    public boolean isRequested() {
        for (Missing m : missing.values()) {
            if (m.asked.get()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Memory that arrived could not be mapped. It is requested again at once, for then there is the spare descriptor; and if that
     * fails, when a request needs it. Engine's thread only.
     */
    private void miss(long id, LinuxException why) throws ProtocolException {
        if (memories.size() + missing.size() >= MAX_MEMORIES) {
            throw new ProtocolException("too many memories");
        }
        boolean first = !missing.containsKey(id);
        missing.put(id, new Missing(why.errno(), first));
        if (first) {
            requestAgain.accept(id);
        }
        EngineLog.logSometimes(System.Logger.Level.WARNING, "memory of " + peer.name() + " cannot be mapped yet", why);
    }

    /** Takes the memory of a message; {@code lostFds} if the kernel has dropped descriptors of it. Engine's thread only. */
    public void take(ControlMessage.Reader m, int[] fds, int fdCount, boolean lostFds)
            throws ProtocolException, LinuxException {
        boolean foreign = m.type() == ControlMessage.MEMORY_DMABUF;
        long id = m.getLong();
        long size = m.getLong();
        long offset = foreign ? m.getLong() : 0;
        m.end();
        if (lostFds) {
            miss(id, new LinuxException("take memory of " + peer.name(), Errno.EMFILE));
            return;
        }
        Fd fd = oneFd(fds, fdCount);
        try (fd) {
            if (foreign ? !isPartOfDmaBuf(fd, offset, size) : !isSealed(fd, size)) {
                throw new ProtocolException("memory is not sealed or has a wrong size");
            }
            if (memories.size() >= MAX_MEMORIES || memories.containsKey(id)) {
                throw new ProtocolException("too many memories, or a duplicate id");
            }
            try {
                memories.put(id, Mapping.map(fd, offset, size, true));
                missing.remove(id);
            } catch (LinuxException e) {
                miss(id, e);
            }
        }
    }

    /** True for a file of that size that is sealed against shrinking. */
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

    /** The peer has freed memory. */
    public void freed(long id) throws LinuxException {
        missing.remove(id);
        Mapping gone = memories.remove(id);
        if (gone != null) {
            gone.discard();
        }
    }

    /** The peer is dead: its memory is found no more, and stays mapped until {@link #release()}. */
    public void end() {
        synchronized (left) {
            left.addAll(memories.values());
        }
        memories.clear();
        missing.clear();
    }

    /**
     * No queue pair accesses the memory of the dead peer any more: its pages are released at once, for the next garbage
     * collection may be far away; that releases the address range.
     */
    public void release() {
        synchronized (left) {
            for (Mapping m : left) {
                try {
                    m.discard();
                } catch (LinuxException e) {
                    EngineLog.logSometimes(System.Logger.Level.WARNING, "memory of " + peer.name()
                            + ", which has ended, stays until it is collected", e);
                }
            }
            left.clear();
        }
    }
}
