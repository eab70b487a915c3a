// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.ring;

import java.lang.invoke.VarHandle;
import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.ArenaHeap;
import org.verbena.shm.layout.LaneLayout;
import org.verbena.shm.layout.Link;
import org.verbena.shm.layout.PeerMapping;
import org.verbena.shm.layout.SharedFile;
import org.verbena.verbs.VerbsException;

/**
 * The lanes that we write in a session. The lane directory of the arena, see {@link LaneLayout}, has each at the index of the
 * queue pair that reads it: so it is found as long as that one is in the connection, whatever has become of the queue pair
 * that wrote it. Its memory is free again when neither end uses it. Safe for use by several threads.
 */
public final class OwnLanes {
    private final PeerMapping peer;
    private final SharedFile arena;
    private final ArenaHeap heap;
    private final Map<Long, OwnLane> byLink = new HashMap<>();

    /** A lane that we write. */
    public static final class OwnLane {
        /** Address of its first entry. */
        public final long address;
        private final long bytes;
        private final long link;
        private long sent;
        private boolean writerDone;

        private OwnLane(long address, long bytes, long link) {
            this.address = address;
            this.bytes = bytes;
            this.link = link;
        }

        /** Entries committed before it was made, by a queue pair that was reset since. */
        public long sent() {
            return sent;
        }
    }

    public OwnLanes(PeerMapping peer) {
        this.peer = peer;
        this.arena = peer.arena();
        this.heap = peer.heap();
    }

    /**
     * Makes a lane to a queue pair of the peer. A queue pair that has been reset since it wrote to the same connection continues where
     * it was.
     *
     * @param reader address of the peer's directory entry
     * @param link identity of the connection, see {@link Link}
     * @return null if the peer has left the connection
     */
    synchronized @Nullable public OwnLane make(long reader, int number, long link, int entries) throws VerbsException {
        // under the lock: a thread that read the link before another connection began does not replace that one's lane
        if ((RawMemory.getLongAcquire(reader + AdapterLayout.QP_LINK) & Link.IDENTITY) != link) {
            return null;
        }
        OwnLane known = byLink.get(link);
        if (known != null) {
            known.writerDone = false;
            return known;
        }
        long bytes = (long) entries << LaneLayout.ENTRY_SHIFT;
        long address = heap.take("make a lane to " + peer.name(), bytes);
        try {
            heap.reserve(address, bytes);
            arena.reserve(LaneLayout.lane(number), LaneLayout.LANE_BYTES);
        } catch (IllegalStateException e) {
            heap.give(address, bytes);
            throw new VerbsException("make a lane to " + peer.name(), Errno.ECONNRESET, peer.name()
                    + " has ended");
        } catch (LinuxException e) {
            heap.give(address, bytes);
            throw new VerbsException("make a lane to " + peer.name(), e);
        }
        // a sequence left from an earlier lane could be taken for a commit
        RawMemory.fill(address, bytes, (byte) 0);
        publish(number, heap.offset(address), link, entries);
        OwnLane made = new OwnLane(address, bytes, link);
        byLink.put(link, made);
        return made;
    }

    private void publish(int number, long at, long link, int entries) {
        long e = entry(number);
        RawMemory.putLong(e + LaneLayout.LANE_TARGET, 0);
        VarHandle.releaseFence();
        RawMemory.putLong(e + LaneLayout.LANE_OFFSET, at);
        RawMemory.putLong(e + LaneLayout.LANE_ENTRIES, entries);
        RawMemory.putLong(e + LaneLayout.LANE_NOTIFIED, 0);
        RawMemory.putLongRelease(e + LaneLayout.LANE_TARGET, link);
        long pages = arena.address() + LaneLayout.HEADER_LANE_PAGES;
        RawMemory.putLongRelease(pages, RawMemory.getLong(pages) | 1L << LaneLayout.lanePage(number));
    }

    /** Address of the directory entry of the lane to a queue pair of the peer; valid once a lane was made. */
    public long entry(int number) {
        return arena.address() + LaneLayout.lane(number);
    }

    /** Nothing is written into it any more; {@code sent} entries have been committed. The peer may not have read them yet. */
    public synchronized void writerDone(OwnLane l, long sent) {
        l.writerDone = true;
        l.sent = sent;
        if (byLink.get(l.link) != l) {
            heap.give(l.address, l.bytes);
        }
    }

    /** The peer does not read the lane of a connection any more, if there is one. */
    public synchronized void readerDone(long link) {
        OwnLane l = byLink.remove(link);
        if (l != null && l.writerDone) {
            heap.give(l.address, l.bytes);
        }
    }
}
